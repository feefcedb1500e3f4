/**
 * Measures how long the extension blocks the thread of the extension host when it is first used.
 */
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import type { Scenario } from '../bed';
import { KEY, openCondensedModel, PROFILE_NAME } from '../condensedModel';
import { freshSample, homeWith, SESSION } from '../home';
import { profileHost, type Stretch } from '../hostProfile';
import { openPanel } from '../panelPage';
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

/**
 * Measures each round in a reloaded window. @returns the longest block of each round, in ascending
 * order
 */
async function measureBlocks(bench: Workbench, use: () => Promise<unknown>): Promise<Stretch[]> {
  const found: Stretch[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await bench.reload();
    found.push((await profileHost(bench, use)).own);
  }
  return found.toSorted((a, b) => a.ms - b.ms);
}

const firstUse: Scenario = async (bed) => {
  const tell = async (name: string, bench: Workbench, use: () => Promise<unknown>): Promise<void> => {
    const stretches = await measureBlocks(bench, use);
    const times = stretches.map(({ ms }) => ms.toFixed(0)).join(', ');
    bed.report(`${name}, first in a window: at most ${times} ms at a stretch; the longest: ${stretches.at(-1)?.calls}`);
  };
  const plain = await bed.open({ home: bed.folder(), folder: bed.folder() });
  await tell('a command', plain, async () => {
    homeWith(plain, { [SESSION]: freshSample() });
    await runCommand(plain, 'Context Condenser: Condense Context Now');
    await quickInput(plain, ({ items }) => items.some(({ detail }) => / tokens in messages · /.test(detail)));
    await pick(plain, /tags/i);
    await notification(plain, 'Condensed “');
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
  // After this first request, the key is stored.
  await sayHello();
  await tell('a chat request', chat, sayHello);
};

export const keepsTheThread: Scenario = Object.assign(firstUse, { lane: 'long' as const, seconds: 300 });
