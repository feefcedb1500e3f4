import type { PlacedContent } from '../../messages/exchanges';
import { isOneMarker } from '../../messages/markers';
import type { Draft } from './draft';

/** Operations must not change the task (the first user message) or text that is only a marker. */
export const isProtectedFrom = (draft: Draft, content: PlacedContent): boolean =>
  content.message <= draft.task || isOneMarker(content.text);
