/** Chooses the points at which to cut a session, to measure what condensing the beginning costs the rest. */
import type { ApiMessage } from '../../messages/types';

export interface CutOptions {
  /** Turns to look at after the cut. Default 20. */
  readonly turns?: number;
  /** Shares of the turns at which to cut. Default 0.25, 0.5 and 0.75. */
  readonly cuts?: readonly number[];
}

export interface SessionCut {
  /** Index of the first message after the prefix, from the assistant. */
  readonly cut: number;
  /** Index after the last message to look at. */
  readonly end: number;
}

/** Turns begin with an assistant message that follows another message. */
export const findTurnStarts = (messages: readonly ApiMessage[]): number[] =>
  messages.flatMap(({ role }, index) =>
    role === 'assistant' && messages[index - 1]?.role !== 'assistant' ? [index] : [],
  );

/** Empty if the session is too short. */
export function chooseCuts(messages: readonly ApiMessage[], options: CutOptions = {}): SessionCut[] {
  const { turns: ahead = 20, cuts = [0.25, 0.5, 0.75] } = options;
  const turns = findTurnStarts(messages);
  return cuts.flatMap((share) => {
    const turn = Math.floor(share * turns.length);
    const cut = turns[turn];
    return cut === undefined || cut === 0 ? [] : [{ cut, end: turns[turn + ahead] ?? messages.length }];
  });
}
