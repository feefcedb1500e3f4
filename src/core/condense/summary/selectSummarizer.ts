import type { Summarizer } from './summarizer';

/** A profile that can't be used now, and why. */
export interface Unavailable {
  readonly profile: string;
  readonly reason: string;
}

export interface SummarizerCandidates {
  /** The profile that was chosen for condensing. */
  readonly condensing?: Summarizer | Unavailable;
  /** The conversation's own. */
  readonly conversation?: Summarizer | Unavailable;
}

export interface SelectedSummarizer {
  readonly summarizer: Summarizer;
  readonly chosen: 'condensing-profile' | 'conversation';
  /** Set where it is not the one that the user chose. */
  readonly warning?: string;
}

/** There is no model to summarize with; the message says what to do. */
export class NoSummarizerError extends Error {
  override readonly name = 'NoSummarizerError';
}

const isThere = (candidate: Summarizer | Unavailable | undefined): candidate is Summarizer =>
  candidate !== undefined && 'summarize' in candidate;

/**
 * The condensing profile, else the conversation's own model (FR-PR-002).
 * @throws NoSummarizerError
 */
export function selectSummarizer({ condensing, conversation }: SummarizerCandidates): SelectedSummarizer {
  if (isThere(condensing)) return { summarizer: condensing, chosen: 'condensing-profile' };
  const why = condensing ? `The profile "${condensing.profile}" can't be used: ${condensing.reason}` : '';
  if (isThere(conversation)) {
    const warning = `${why} The conversation's own model (${conversation.model.profile}, ${conversation.model.model}) is used.`;
    return { summarizer: conversation, chosen: 'conversation', ...(condensing && { warning }) };
  }
  const second = conversation ? `The conversation's own model can't be used: ${conversation.reason}` : '';
  throw new NoSummarizerError(
    [why, second].filter((text) => text !== '').join(' ') ||
      'No model is set up for condensing. Add an API profile, or choose one of the models in VS Code.',
  );
}
