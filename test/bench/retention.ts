/**
 * Measures, without a model, how much is kept of what the agent needs later. A session is cut at a
 * turn, and its prefix is condensed. Items count if the next turns used them in tool parameters,
 * knew them only from the prefix, and were not shown them again. The measures are the shares of
 * these items that the view contains, and that can be recalled. This is necessary but not
 * sufficient, because the model may not use a line that is there.
 */
import { listContents } from '../../src/core/messages/content';
import type { ApiMessage } from '../../src/core/messages/types';
import { estimateShare, type Estimate } from './bootstrap';
import { chooseSessionCuts, findTurnStarts, type SessionCutOptions } from '../../src/core/condense/futureNeed/cuts';
import { findNeededLines } from '../../src/core/condense/futureNeed/neededLater';
import { findNeededNames, KeptNames } from './neededNames';
import type { View } from '../../src/core/condense/edits/view';
import { NeededLineChecker, type LineOutcome } from '../../src/core/condense/futureNeed/kept';

/** Condenses a prefix without changing it. */
export type CondensingPolicy = (prefix: readonly ApiMessage[]) => View | Promise<View>;

export interface RetentionOptions extends SessionCutOptions {
  /** Minimum number of turns; shorter sessions are skipped. */
  readonly minTurns?: number;
  /** Returns the size of messages. Default: their characters. */
  readonly size?: (messages: readonly ApiMessage[]) => number;
  readonly resamples?: number;
  readonly seed?: number;
}

export const ITEM_KINDS = ['lines', 'names', 'paths'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

export interface Retention {
  /** Number of items that are needed. */
  readonly needed: number;
  readonly verbatim: Estimate;
  /** Items that are in the view verbatim, or can be recalled by a reference in it. */
  readonly recallable: Estimate;
}

export interface RetentionReport extends Readonly<Record<ItemKind, Retention>> {
  readonly sessions: number;
  readonly cuts: number;
  /** Share of the prefixes that was removed. */
  readonly removed: Estimate;
  /** Examples of lost items. */
  readonly lost: readonly string[];
}

interface RetentionTally {
  cuts: number;
  before: number;
  after: number;
  readonly kept: Record<ItemKind, Record<LineOutcome, number>>;
}

const LOST_EXAMPLES = 20;

export async function measureRetention(
  conversations: readonly (readonly ApiMessage[])[],
  policy: CondensingPolicy,
  options: RetentionOptions = {},
): Promise<RetentionReport> {
  const { minTurns = 12, resamples = 1_000, seed = 1 } = options;
  const tallies: RetentionTally[] = [];
  const lostExamples: string[] = [];
  for (const messages of conversations) {
    if (findTurnStarts(messages).length >= minTurns)
      tallies.push(await measureSession(messages, policy, options, lostExamples));
  }
  const estimateRatio = (part: (tally: RetentionTally) => number, whole: (tally: RetentionTally) => number): Estimate =>
    estimateShare(
      tallies.map((tally) => ({ part: part(tally), whole: whole(tally) })),
      resamples,
      seed,
    );
  const computeRetention = (kind: ItemKind): Retention => {
    const countNeeded = ({ kept }: RetentionTally): number =>
      kept[kind].verbatim + kept[kind].recallable + kept[kind].lost;
    return {
      needed: tallies.reduce((sum, tally) => sum + countNeeded(tally), 0),
      verbatim: estimateRatio(({ kept }) => kept[kind].verbatim, countNeeded),
      recallable: estimateRatio(({ kept }) => kept[kind].verbatim + kept[kind].recallable, countNeeded),
    };
  };
  return {
    sessions: tallies.length,
    cuts: tallies.reduce((sum, tally) => sum + tally.cuts, 0),
    removed: estimateRatio(
      ({ before, after }) => before - after,
      ({ before }) => before,
    ),
    lines: computeRetention('lines'),
    names: computeRetention('names'),
    paths: computeRetention('paths'),
    lost: lostExamples,
  };
}

async function measureSession(
  messages: readonly ApiMessage[],
  policy: CondensingPolicy,
  options: RetentionOptions,
  lost: string[],
): Promise<RetentionTally> {
  const { size = countChars } = options;
  const makeZeroCounts = (): Record<LineOutcome, number> => ({ verbatim: 0, recallable: 0, lost: 0 });
  const tally: RetentionTally = {
    cuts: 0,
    before: 0,
    after: 0,
    kept: { lines: makeZeroCounts(), names: makeZeroCounts(), paths: makeZeroCounts() },
  };
  for (const { cut, end } of chooseSessionCuts(messages, options)) {
    const prefix = messages.slice(0, cut);
    const view = await policy(prefix);
    const lineChecker = new NeededLineChecker(view);
    const keptNames = new KeptNames(view, lineChecker);
    const { names, paths } = findNeededNames(messages, cut, end);
    const countItem = (kind: ItemKind, what: string, kept: LineOutcome): void => {
      tally.kept[kind][kept]++;
      if (kept === 'lost' && lost.length < LOST_EXAMPLES) lost.push(`${kind}: ${what}`);
    };
    for (const quotedLine of findNeededLines(messages, cut, end))
      countItem('lines', quotedLine.line, lineChecker.checkLine(quotedLine));
    for (const name of names) countItem('names', name, keptNames.name(name));
    for (const path of paths) countItem('paths', path, keptNames.path(path));
    tally.cuts++;
    tally.before += size(prefix);
    tally.after += size(view.messages);
  }
  return tally;
}

const countChars = (messages: readonly ApiMessage[]): number =>
  messages.reduce((sum, message) => sum + listContents(message).reduce((chars, { text }) => chars + text.length, 0), 0);
