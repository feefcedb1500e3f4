import type { PlacedContent } from '../../messages/exchanges';
import type { Draft } from '../draft';

/** True for content that no operation touches: the task (the first user message). */
export const protectedFrom = (draft: Draft, content: PlacedContent): boolean => content.message <= draft.task;
