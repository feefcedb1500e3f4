import type { PlacedContent } from '../../messages/exchanges';
import { isOneMarker } from '../../messages/markers';
import type { Draft } from './draft';

/**
 * True for content that no operation touches: the task (the first user message), and what is a marker and nothing else.
 */
export const protectedFrom = (draft: Draft, content: PlacedContent): boolean =>
  content.message <= draft.task || isOneMarker(content.text);
