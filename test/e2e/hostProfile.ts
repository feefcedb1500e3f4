/** Profiles the extension host's thread during an action. */
import type { Profiler } from 'node:inspector';
import { basename } from 'node:path';
import { runInHelper } from './workbench/helper';
import type { Workbench } from './workbench/index';

/** What the helper in the window measures. */
interface ProfileResult {
  readonly profile: Profiler.Profile;
  /**
   * Each turn of the thread's event loop: its time on the profile's clock, and the CPU time that
   * the thread had used by then, both in microseconds.
   */
  readonly turns: readonly (readonly [at: number, used: number])[];
}

export interface Stretch {
  /** Upper limit of the CPU time in milliseconds. */
  readonly ms: number;
  /**
   * The calls that take at least a tenth of the time, each with its milliseconds on the clock. A
   * sample counts for its deepest call in the extension.
   */
  readonly calls: string;
}

export interface HostProfile {
  /** The turn in which calls that involve the extension's files take longest. */
  readonly own: Stretch;
  /**
   * Longest time between two turns of the loop in milliseconds on the clock, whatever blocked it,
   * including other load on the machine.
   */
  readonly loopMs: number;
}

export async function profileHost(bench: Workbench, use: () => Promise<unknown>): Promise<HostProfile> {
  await runInHelper(bench, { profiler: 'begin' });
  await use();
  // The helper returns this format.
  const profiled = JSON.parse(await runInHelper(bench, { profiler: 'end' })) as ProfileResult;
  const { turns } = profiled;
  const loopUs = turns.reduce((longest, [at], index) => Math.max(longest, at - (turns[index - 1]?.[0] ?? at)), 0);
  return { own: longestStretch(profiled, bench.server.extensionsDir), loopMs: loopUs / 1000 };
}

/** Finds the turn in which calls that involve the extension's files take longest. */
function longestStretch({ profile, turns }: ProfileResult, extensionsDir: string): Stretch {
  const { nodes, samples = [], timeDeltas = [], startTime } = profile;
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const findOwnFrame = (id: number | undefined): Profiler.Profile['nodes'][number]['callFrame'] | undefined => {
    for (let at = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      // The helper's frames don't match, because the helper is a single file without a `dist`
      // folder.
      if (frame?.url.includes(extensionsDir) === true && frame.url.includes('/dist/')) return frame;
    }
    return undefined;
  };
  /** For each turn, the time on the clock of each call that was seen in it. */
  const seen = new Map<number, Map<string, number>>();
  let at = startTime;
  let turn = 0;
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index] ?? 0;
    while (turn < turns.length && (turns[turn]?.[0] ?? 0) <= at) turn++;
    const frame = findOwnFrame(id);
    if (!frame) continue;
    const call = `${frame.functionName || 'the file'} in ${basename(frame.url)}`;
    const calls = seen.get(turn) ?? new Map<string, number>();
    seen.set(turn, calls.set(call, (calls.get(call) ?? 0) + (timeDeltas[index + 1] ?? 0)));
  }
  let longest = { us: 0, wallUs: 0, calls: new Map<string, number>() };
  for (const [number, calls] of seen) {
    const wallUs = [...calls.values()].reduce((sum, each) => sum + each, 0);
    // V8's samples measure wall time, and a busy machine may not run the thread during most of it.
    const usedUs = (turns[number]?.[1] ?? 0) - (turns[number - 1]?.[1] ?? 0);
    const us = Math.min(wallUs, usedUs);
    if (us > longest.us) longest = { us, wallUs, calls };
  }
  const { us, wallUs } = longest;
  const calls = [...longest.calls].filter(([, each]) => each >= wallUs / 10).toSorted(([, a], [, b]) => b - a);
  return {
    ms: us / 1000,
    calls: calls.map(([call, each]) => `${(each / 1000).toFixed(0)} ms ${call}`).join(', '),
  };
}
