/**
 * Condensing new results: every recorded session, request by request through the live engine, with it and without, and
 * what the input of its requests would have cost by the rules of Anthropic's prompt cache. The sessions have no system prompt,
 * no tools and no times: the first two are left out, and the cache is taken to be warm.
 *
 * Two things are asserted for every request: what was sent before is sent again byte for byte unless a condensation came in
 * between, and each line that was left out of new results stands in the request.
 */
import type { LiveSettings } from '../../src/live/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { sessionFiles, type BenchConversation, type SessionFile } from './corpus';
import { asSent, isBelow, READ, replay, listRequests, WRITE, type ReplayedRun } from './liveReplay';
import { freshCounter } from './measure';
import { boundByMessage, countChars } from './repeatBound';

/** Windows in tokens, in addition to an unlimited one without condensations. */
const WINDOWS: readonly number[] = [200_000, 128_000, 64_000];

export interface NewResultsPoint {
  readonly name: string;
  readonly agent: string;
  readonly window: number;
  readonly without: ReplayedRun;
  readonly with: ReplayedRun;
  /**
   * Without protection of reread content, and with terminal noise removed; unlimited window only.
   */
  readonly careless?: ReplayedRun;
  readonly quiet?: ReplayedRun;
  readonly bound: NewResultsBound;
}

/** What brute force could leave out of new results, as shares of the characters and of what they cost where no condensation is due. */
export interface NewResultsBound {
  readonly chars: number;
  readonly cost: number;
  /** Removable if lines of a file are above in a display of the file. */
  readonly sameFile: readonly [chars: number, cost: number];
  /** Removable if they are above in any text. */
  readonly anywhere: readonly [chars: number, cost: number];
}

/**
 * @param wanted a number takes so many sessions, spread over all; a text those whose name holds it.
 * @param told how far it is.
 */
export async function benchNewResults(
  wanted: string | undefined,
  told: (text: string) => void,
  windows = WINDOWS,
): Promise<NewResultsPoint[]> {
  const files = sampleFiles(sessionFiles(), wanted);
  const points: NewResultsPoint[] = [];
  const began = performance.now();
  for (const [index, file] of files.entries()) {
    for (const session of file.read(told)) {
      const messages = asSent(session.messages);
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
  const about = { name, agent, bound: newResultsBound(messages) };
  const counter = freshCounter();
  const timed = (settings: Partial<LiveSettings>): Promise<ReplayedRun> =>
    replay({ name, messages, window: Infinity, settings });
  const run = (window: number, settings: Partial<LiveSettings>): Promise<ReplayedRun> =>
    replay({ name, messages, window, settings, counter });
  const endless: NewResultsPoint = {
    ...about,
    window: Infinity,
    without: await timed({ newResults: 'off' }),
    with: await timed({}),
    careless: await run(Infinity, { isCautious: false }),
    quiet: await run(Infinity, { newResultsNoise: true }),
  };
  const points = [endless];
  for (const window of windows) {
    const isSame = isBelow(window, endless.without) && isBelow(window, endless.with);
    points.push({
      ...about,
      window,
      without: isSame ? endless.without : await run(window, { newResults: 'off' }),
      with: isSame ? endless.with : await run(window, {}),
    });
  }
  return points;
}

export function newResultsBound(messages: readonly ApiMessage[]): NewResultsBound {
  const requests = listRequests(messages);
  /** Cost of a message's token: written once, then read by each later request. */
  const price = (at: number): number => {
    const after = requests.filter((end) => end > at).length;
    return after === 0 ? 0 : WRITE + READ * (after - 1);
  };
  const bound = boundByMessage(messages);
  const both = (chars: ReadonlyMap<number, number>): readonly [number, number] => [
    sum([...chars], ([, own]) => own),
    sum([...chars], ([at, own]) => own * price(at)),
  ];
  const [chars, cost] = both(new Map(messages.map((message, at) => [at, countChars(message)])));
  return { chars, cost, sameFile: both(bound.sameFile), anywhere: both(bound.anywhere) };
}

export const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((all, item) => all + of(item), 0);
