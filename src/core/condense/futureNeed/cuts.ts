import type { ApiMessage } from '../../messages/types';

export interface SessionCutOptions {
  /** Number of turns to look at after the cut. Default 20. */
  readonly turns?: number;
  /** Where to cut the session, as shares of its turns. Default 0.25, 0.5 and 0.75. */
  readonly cuts?: readonly number[];
}

export interface SessionCut {
  /** Index of the first message after the prefix; it is from the assistant. */
  readonly cut: number;
  /** Index after the last message. */
  readonly end: number;
}

export const findTurnStarts = (messages: readonly ApiMessage[]): number[] =>
  messages.flatMap(({ role }, index) =>
    role === 'assistant' && messages[index - 1]?.role !== 'assistant' ? [index] : [],
  );

export function chooseSessionCuts(messages: readonly ApiMessage[], options: SessionCutOptions = {}): SessionCut[] {
  const { turns: turnsAhead = 20, cuts = [0.25, 0.5, 0.75] } = options;
  const turnStarts = findTurnStarts(messages);
  return cuts.flatMap((share) => {
    const turnIndex = Math.floor(share * turnStarts.length);
    const cutIndex = turnStarts[turnIndex];
    return cutIndex === undefined || cutIndex === 0
      ? []
      : [{ cut: cutIndex, end: turnStarts[turnIndex + turnsAhead] ?? messages.length }];
  });
}
