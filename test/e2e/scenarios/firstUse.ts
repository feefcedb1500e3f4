/** How long the extension keeps the extension host's thread, which it shares with all others, when it is first used in a window. */
import type { Profiler } from 'node:inspector';
import { basename } from 'node:path';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import type { Scenario } from '../bed';
import { KEY, openCondensedModel, PROFILE_NAME } from '../condensedModel';
import { freshSample, homeWith, SESSION } from '../home';
import { openPanel } from '../panelPage';
import { help } from '../workbench/helper';
import {
  answerText,
  ask,
  notification,
  openChat,
  pick,
  quickInput,
  runCommand,
  type Workbench,
} from '../workbench/index';

const ROUNDS = 5;

/** What the helper in the window tells. */
interface Profiled {
  readonly profile: Profiler.Profile;
  /** When the thread's loop came round, in microseconds on the profile's clock. */
  readonly turns: readonly number[];
}

interface Stretch {
  readonly ms: number;
  /** The calls it is made of, as far as they take a tenth of it: the deepest of ours in each sample. */
  readonly calls: string;
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

/** @returns of each round, in a window that was loaded anew, the longest stretch of it, the longest last. */
async function stretchesOf(bench: Workbench, use: () => Promise<unknown>): Promise<Stretch[]> {
  const found: Stretch[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await bench.reload();
    await help(bench, { profiler: 'begin' });
    await use();
    // As the helper sends it.
    const profiled = JSON.parse(await help(bench, { profiler: 'end' })) as Profiled;
    found.push(longestStretch(profiled, bench.server.extensionsDir));
  }
  return found.toSorted((a, b) => a.ms - b.ms);
}

const firstUse: Scenario = async (bed) => {
  const tell = async (name: string, bench: Workbench, use: () => Promise<unknown>): Promise<void> => {
    const stretches = await stretchesOf(bench, use);
    const times = stretches.map(({ ms }) => ms.toFixed(0)).join(', ');
    bed.report(`${name}, first in a window: at most ${times} ms at a stretch; the longest: ${stretches.at(-1)?.calls}`);
  };
  const plain = await bed.open({ home: bed.folder(), folder: bed.folder() });
  await tell('a command', plain, async () => {
    homeWith(plain, { [SESSION]: freshSample() });
    await runCommand(plain, 'Context Condenser: Condense Context Now');
    await quickInput(plain, ({ items }) => items.some(({ detail }) => / tokens · /.test(detail)));
    await pick(plain, /tags/i);
    await notification(plain, 'Context condensed using');
  });
  await tell('the panel', plain, async () => (await openPanel(plain)).panel());
  await plain.close();

  const server = await startAnthropicServer({ apiKey: KEY, script: () => reply('Hello there.') });
  bed.atEnd(() => server.close());
  const chat = await openCondensedModel(bed, server, { folder: bed.folder() });
  const sayHello = async (): Promise<void> => {
    await openChat(chat, PROFILE_NAME);
    await ask(chat, 'Say hello.');
    await answerText(chat, (text) => text.includes('Hello there.'));
  };
  // Then the key is stored.
  await sayHello();
  await tell('a chat request', chat, sayHello);
};

export const keepsTheThread: Scenario = Object.assign(firstUse, { lane: 'long' as const, seconds: 300 });
