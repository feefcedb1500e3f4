/** What the extension host's thread does while something happens in a window. */
import type { Profiler } from 'node:inspector';
import { basename } from 'node:path';
import { help } from './workbench/helper';
import type { Workbench } from './workbench/index';

/** What the helper in the window tells. */
interface Profiled {
  readonly profile: Profiler.Profile;
  /** When the thread's loop came round, in microseconds on the profile's clock. */
  readonly turns: readonly number[];
}

export interface Stretch {
  readonly ms: number;
  /** The calls it is made of, as far as they take a tenth of it: the deepest of ours in each sample. */
  readonly calls: string;
}

export interface HostProfile {
  /** The longest of the times that one turn of the loop spent in calls which the extension's files began or took part in. */
  readonly own: Stretch;
  /** The longest time between two turns of the loop, in milliseconds: whoever held it, and what else the machine did. */
  readonly loopMs: number;
}

/** Watches the host's thread while something is done. */
export async function profileHost(bench: Workbench, use: () => Promise<unknown>): Promise<HostProfile> {
  await help(bench, { profiler: 'begin' });
  await use();
  // As the helper sends it.
  const profiled = JSON.parse(await help(bench, { profiler: 'end' })) as Profiled;
  const { turns } = profiled;
  const loopUs = turns.reduce((longest, at, index) => Math.max(longest, at - (turns[index - 1] ?? at)), 0);
  return { own: longestStretch(profiled, bench.server.extensionsDir), loopMs: loopUs / 1000 };
}

/** The longest of the times that one turn of the thread's loop spent in calls which the extension's files began or took part in. */
function longestStretch({ profile, turns }: Profiled, extensionsDir: string): Stretch {
  const { nodes, samples = [], timeDeltas = [], startTime } = profile;
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const ours = (id: number | undefined): Profiler.Profile['nodes'][number]['callFrame'] | undefined => {
    for (let at = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      // The helper beside it is one file, without this folder.
      if (frame?.url.includes(extensionsDir) === true && frame.url.includes('/dist/')) return frame;
    }
    return undefined;
  };
  let longest: { us: number; calls: Map<string, number> } = { us: 0, calls: new Map() };
  let now = { us: 0, calls: new Map<string, number>() };
  let at = startTime;
  let turn = 0;
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index] ?? 0;
    while (turn < turns.length && (turns[turn] ?? 0) <= at) {
      turn++;
      now = { us: 0, calls: new Map() };
    }
    const frame = ours(id);
    if (!frame) continue;
    const us = timeDeltas[index + 1] ?? 0;
    const call = `${frame.functionName || 'the file'} in ${basename(frame.url)}`;
    now.us += us;
    now.calls.set(call, (now.calls.get(call) ?? 0) + us);
    if (now.us > longest.us) longest = now;
  }
  const calls = [...longest.calls].filter(([, us]) => us >= longest.us / 10).toSorted(([, a], [, b]) => b - a);
  return {
    ms: longest.us / 1000,
    calls: calls.map(([call, us]) => `${(us / 1000).toFixed(0)} ms ${call}`).join(', '),
  };
}
