import type { PlacedContent } from '../../messages/exchanges';
import { isSingleMarker } from '../../messages/markers';
import type { Draft } from './draft';

/** The task (the first user message) and text that is only a marker must not change. */
export const isProtectedContent = (draft: Draft, content: PlacedContent): boolean =>
  content.message <= draft.task || isSingleMarker(content.text);
