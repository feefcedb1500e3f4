/** Where a session is cut to measure what a condensation of its beginning costs its end. */
import type { ApiMessage } from '../../messages/types';

export interface CutOptions {
  /** Turns behind the cut that are looked at. Default 20. */
  readonly turns?: number;
  /** Where sessions are cut, as shares of their turns. Default a quarter, a half and three quarters. */
  readonly cuts?: readonly number[];
}

export interface SessionCut {
  /** Index of the first message behind the prefix, an assistant's. */
  readonly cut: number;
  /** Index behind the last message that is looked at. */
  readonly end: number;
}

/** Where turns begin: each assistant's message that follows another's. */
export const turnsOf = (messages: readonly ApiMessage[]): number[] =>
  messages.flatMap(({ role }, index) =>
    role === 'assistant' && messages[index - 1]?.role !== 'assistant' ? [index] : [],
  );

/** The cuts of a session; none where it is too short for them. */
export function cutsOf(messages: readonly ApiMessage[], options: CutOptions = {}): SessionCut[] {
  const { turns: ahead = 20, cuts = [0.25, 0.5, 0.75] } = options;
  const turns = turnsOf(messages);
  return cuts.flatMap((share) => {
    const turn = Math.floor(share * turns.length);
    const cut = turns[turn];
    return cut === undefined || cut === 0 ? [] : [{ cut, end: turns[turn + ahead] ?? messages.length }];
  });
}
