import type { PlacedContent } from '../../messages/exchanges';
import { isOneMarker } from '../../messages/markers';
import type { Draft } from './draft';

/** The task (the first user message) and text that is only a marker must not change. */
export const isProtectedFrom = (draft: Draft, content: PlacedContent): boolean =>
  content.message <= draft.task || isOneMarker(content.text);
