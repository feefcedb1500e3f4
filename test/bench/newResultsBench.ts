/**
 * Measures condensing of new results. Every recorded session is sent request by request through the
 * live engine, with new results condensed and without. The cost of the input is computed by the
 * rules of Anthropic's prompt cache. The sessions have no system prompt, no tools and no times, so
 * the first two are left out, and the cache is assumed to be warm.
 * Each request is checked: unless a condensation came in between, it must repeat what was sent
 * before byte for byte, and it must contain each line that was left out of new results.
 */
import type { LiveSettings } from '../../src/live/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { sessionFiles, type BenchConversation, type SessionFile } from './corpus';
import {
  convertToSentForm,
  isBelowThreshold,
  READ_PRICE_FACTOR,
  replay,
  listRequests,
  WRITE_PRICE_FACTOR,
  type ReplayedRun,
} from './liveReplay';
import { freshCounter } from './measure';
import { boundByMessage, countChars } from './repeatBound';

/** Windows in tokens, in addition to an unlimited one, in which nothing is condensed. */
const WINDOW_SIZES: readonly number[] = [200_000, 128_000, 64_000];

export interface NewResultsPoint {
  readonly name: string;
  readonly agent: string;
  readonly window: number;
  readonly without: ReplayedRun;
  readonly with: ReplayedRun;
  /**
   * `withoutProtection` doesn't protect reread content, and `withoutNoise` also removes terminal
   * noise; both are measured only with an unlimited window.
   */
  readonly withoutProtection?: ReplayedRun;
  readonly withoutNoise?: ReplayedRun;
  readonly bound: NewResultsBound;
}

/**
 * What brute force could leave out of new results, as shares of the characters, and of their cost
 * if nothing is condensed.
 */
export interface NewResultsBound {
  readonly chars: number;
  readonly cost: number;
  /**
   * Shares if a file's lines are left out only where an earlier text that shows the same file
   * contains them.
   */
  readonly sameFile: readonly [chars: number, cost: number];
  /** Shares if lines are left out where any earlier text contains them. */
  readonly anywhere: readonly [chars: number, cost: number];
}

/**
 * @param wanted a number selects so many sessions, evenly spread; a text selects those whose names
 *   contain it.
 * @param told called with the progress.
 */
export async function benchNewResults(
  wanted: string | undefined,
  told: (text: string) => void,
  windows = WINDOW_SIZES,
): Promise<NewResultsPoint[]> {
  const files = sampleFiles(sessionFiles(), wanted);
  const points: NewResultsPoint[] = [];
  const began = performance.now();
  for (const [index, file] of files.entries()) {
    for (const session of file.read(told)) {
      const messages = convertToSentForm(session.messages);
      if (messages.length < 4) continue;
      points.push(...(await measureSession(session, messages, windows)));
    }
    const seconds = Math.round((performance.now() - began) / 1_000);
    told(`${index + 1} of ${files.length} after ${seconds} s: ${file.name}`);
  }
  return points;
}

function sampleFiles(files: readonly SessionFile[], wanted: string | undefined): readonly SessionFile[] {
  if (wanted === undefined) return files;
  if (!/^\d+$/.test(wanted)) return files.filter(({ name }) => name.includes(wanted));
  const step = Math.max(1, files.length / Number(wanted));
  return files.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

async function measureSession(
  { name, agent }: BenchConversation,
  messages: readonly ApiMessage[],
  windows: readonly number[],
): Promise<NewResultsPoint[]> {
  const commonFields = { name, agent, bound: newResultsBound(messages) };
  const counter = freshCounter();
  const replayTimed = (settings: Partial<LiveSettings>): Promise<ReplayedRun> =>
    replay({ name, messages, window: Infinity, settings });
  const replayInWindow = (window: number, settings: Partial<LiveSettings>): Promise<ReplayedRun> =>
    replay({ name, messages, window, settings, counter });
  const unlimitedPoint: NewResultsPoint = {
    ...commonFields,
    window: Infinity,
    without: await replayTimed({ newResults: 'off' }),
    with: await replayTimed({}),
    withoutProtection: await replayInWindow(Infinity, { isCautious: false }),
    withoutNoise: await replayInWindow(Infinity, { newResultsNoise: true }),
  };
  const points = [unlimitedPoint];
  for (const window of windows) {
    const isSame = isBelowThreshold(window, unlimitedPoint.without) && isBelowThreshold(window, unlimitedPoint.with);
    points.push({
      ...commonFields,
      window,
      without: isSame ? unlimitedPoint.without : await replayInWindow(window, { newResults: 'off' }),
      with: isSame ? unlimitedPoint.with : await replayInWindow(window, {}),
    });
  }
  return points;
}

export function newResultsBound(messages: readonly ApiMessage[]): NewResultsBound {
  const requests = listRequests(messages);
  /** Cost of one token in this message, which is written once and read by each later request. */
  const computeTokenPrice = (at: number): number => {
    const laterRequests = requests.filter((end) => end > at).length;
    return laterRequests === 0 ? 0 : WRITE_PRICE_FACTOR + READ_PRICE_FACTOR * (laterRequests - 1);
  };
  const bound = boundByMessage(messages);
  const sumCharsAndCost = (chars: ReadonlyMap<number, number>): readonly [number, number] => [
    sumBy([...chars], ([, own]) => own),
    sumBy([...chars], ([at, own]) => own * computeTokenPrice(at)),
  ];
  const [chars, cost] = sumCharsAndCost(new Map(messages.map((message, at) => [at, countChars(message)])));
  return { chars, cost, sameFile: sumCharsAndCost(bound.sameFile), anywhere: sumCharsAndCost(bound.anywhere) };
}

export const sumBy = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((all, item) => all + of(item), 0);
