import type { ApiMessage } from '../../messages/types';
import type { Edit } from './edits';

/** The messages that the model receives, derived from the original by edits. */
export interface View {
  readonly original: readonly ApiMessage[];
  readonly messages: readonly ApiMessage[];
  /** Each message's index in the original, or `SUMMARY_ORIGIN` for a summary. */
  readonly origins: readonly number[];
  readonly edits: readonly Edit[];
}

export const createUneditedView = (original: readonly ApiMessage[]): View => ({
  original,
  messages: original,
  origins: original.map((_, index) => index),
  edits: [],
});

/** Existing messages keep their identity. */
export function appendToView(view: View, original: readonly ApiMessage[]): View {
  const knownCount = view.original.length;
  const addedMessages = original.slice(knownCount);
  return {
    original,
    messages: [...view.messages, ...addedMessages],
    origins: [...view.origins, ...addedMessages.map((_, index) => knownCount + index)],
    edits: view.edits,
  };
}
