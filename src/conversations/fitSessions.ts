/** Fits weights of relevance to stored sessions, and judges them on half of these. Runs in a worker or a process of its own. */
import {
  halvesOf,
  isEnough,
  neededIn,
  ownWeights,
  samplesIn,
  tallyOwn,
  verdictOn,
  type Half,
  type OwnFit,
  type Splittable,
} from '../core/condense/futureNeed/ownWeights';
import type { SessionTally } from '../core/condense/futureNeed/judge';
import type { FitSample } from '../core/condense/relevance/fitWeights';
import { forEachSession, type JudgeOptions } from './judgeSessions';

/** A session in which something was needed. */
interface FoundSession extends Splittable {
  readonly location: string;
  readonly lines: number;
}

/**
 * Reads each session twice, for no more than one is held at a time: what is needed in it, then to learn from it or to judge by it.
 * @param locations as `judgeSessions` takes them.
 * @throws the signal's reason where it was aborted.
 */
export async function fitSessions(
  locations: readonly string[],
  { tokens, signal, onProgress }: JudgeOptions,
): Promise<OwnFit> {
  const found: FoundSession[] = [];
  await forEachSession(locations, { signal }, ({ messages, location, key, workspace: project }) => {
    const lines = neededIn(messages, tokens);
    if (lines > 0) found.push({ location, key, project, lines });
  });
  const [learning, judging] = halvesOf(found);
  const halves = { learnt: halfOf(learning), judged: halfOf(judging) };
  if (!isEnough(halves.learnt, halves.judged)) return { ...halves, verdict: { kind: 'too-little' } };
  const progressFrom = (before: number) => (done: number) => onProgress?.(before + done, found.length);
  const samples: FitSample[] = [];
  await forEachSession(
    learning.map(({ location }) => location),
    { signal, onProgress: progressFrom(0) },
    async ({ messages, format, workspace, key }) => {
      samples.push(...(await samplesIn(messages, { agent: format, project: workspace ?? key }, tokens, signal)));
    },
  );
  const weights = await ownWeights(samples, signal);
  const tallies: SessionTally[] = [];
  await forEachSession(
    judging.map(({ location }) => location),
    { signal, onProgress: progressFrom(learning.length) },
    async ({ messages }) => {
      const tally = await tallyOwn(messages, weights, tokens, signal);
      if (tally) tallies.push(tally);
    },
  );
  return { ...halves, verdict: verdictOn(weights, tallies) };
}

const halfOf = (sessions: readonly FoundSession[]): Half => ({
  sessions: sessions.length,
  lines: sessions.reduce((sum, { lines }) => sum + lines, 0),
});
