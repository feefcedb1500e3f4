import type { ApiMessage } from '../../messages/types';
import type { Edit } from './edits';

/** The messages that the model receives, derived from a conversation by edits. */
export interface View {
  /** The whole conversation. */
  readonly original: readonly ApiMessage[];
  readonly messages: readonly ApiMessage[];
  /** For each message, its index in the original, or {@link SUMMARY_ORIGIN} for a summary. */
  readonly origins: readonly number[];
  /** The edits that lead from the original to the messages. */
  readonly edits: readonly Edit[];
}

/** The view of a conversation without edits. */
export const createView = (original: readonly ApiMessage[]): View => ({
  original,
  messages: original,
  origins: original.map((_, index) => index),
  edits: [],
});

/**
 * Adds the messages by which a conversation has grown; existing messages stay the same.
 * @param original the grown conversation
 */
export function extendView(view: View, original: readonly ApiMessage[]): View {
  const known = view.original.length;
  const added = original.slice(known);
  return {
    original,
    messages: [...view.messages, ...added],
    origins: [...view.origins, ...added.map((_, index) => known + index)],
    edits: view.edits,
  };
}
