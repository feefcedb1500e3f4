/**
 * Measures how long the extension blocks the extension host's event loop, with texts of any size
 * and kind.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { root } from '../../../scripts/vscode.mjs';
import { OWN_VSCODE_VENDOR } from '../../../src/core/vendors/ownVendor';
import { generateConversation } from '../../generators/conversation';
import { makeConversationWith, HOSTILE_TEXTS } from '../../generators/hostileTexts';
import { startAnthropicServer } from '../../servers/anthropicServer';
import { reply } from '../../servers/behaviour';
import { convertToSentForm, listRequests } from '../../bench/liveReplay';
import type { Scenario } from '../bed';
import { chatProfile, condensedOptions, KEY, setKey } from '../condensedModel';
import { freshSample, homeWith, openConversations } from '../home';
import { profileHost, type HostProfile } from '../hostProfile';
import { openPanel, showSection } from '../panelPage';
import { runInHelper } from '../workbench/helper';
import { closeParts, notification, treeRows, type Workbench } from '../workbench/index';

/** Length of each hostile text, in UTF-16 code units. */
const HOSTILE_CHARS = 2_000_000;
const SESSIONS = 2_000;
/** How long the test waits while stored conversations are listed. */
const INDEXING_MS = 20_000;
const IDLE_MS = 10_000;

const TASK_TOKENS = [50_000, 200_000, 400_000];
/** The window is larger than the largest task. */
const WINDOW = 500_000;

const figures = ({ own, loopMs }: HostProfile): string =>
  `the extension ${own.ms.toFixed(1)} ms, the loop ${loopMs.toFixed(0)} ms${own.ms < 20 ? '' : `; ${own.calls}`}`;

async function chats(
  bench: Workbench,
  tell: (name: string, use: () => Promise<unknown>) => Promise<void>,
  folder: string,
) {
  const send = (messages: readonly unknown[], requests: readonly number[]): Promise<unknown> => {
    const file = join(folder, 'task.json');
    writeFileSync(file, JSON.stringify({ vendor: OWN_VSCODE_VENDOR, messages, requests }));
    return runInHelper(bench, { commands: [['condenser-heavy-extension.send', file]] });
  };
  // This first request isn't measured, because another scenario tests what it loads.
  await send([{ role: 'user', content: 'Say hello.' }], [1]);
  for (const targetTokens of TASK_TOKENS) {
    const messages = convertToSentForm(generateConversation({ seed: targetTokens, targetTokens }));
    await tell(`three requests of a task with ${targetTokens} tokens`, () =>
      send(messages, listRequests(messages).slice(-3)),
    );
  }
  // Each of these conversations ends with one result of this text.
  const first = {
    'of 10 MB': HOSTILE_TEXTS['numbered lines']?.(10_000_000) ?? '',
    'with two million short lines': 'ab\n'.repeat(2_000_000),
    'with 60 MB on one line': HOSTILE_TEXTS['one line of code']?.(60_000_000) ?? '',
  };
  for (const [name, text] of Object.entries(first))
    await tell(`a first request ${name}`, () => send(makeConversationWith(text).slice(0, 5), [5]));
}

const whileItWorks: Scenario = async (bed) => {
  const server = await startAnthropicServer({ apiKey: KEY, maxContextTokens: 1e9, script: () => reply('Done.') });
  bed.atEnd(() => server.close());
  const bench = await bed.open({
    ...condensedOptions(chatProfile(server, { contextWindow: WINDOW }), { 'contextCondenser.provider': 'truncation' }),
    developmentExtensions: [join(root, 'test', 'e2e', 'heavy-extension')],
    home: bed.folder(),
    folder: bed.folder(),
  });
  await setKey(bench);
  const tell = async (name: string, use: () => Promise<unknown>): Promise<void> => {
    bed.report(`${name}: ${figures(await profileHost(bench, use))}`);
  };
  await tell('nothing is done', () => wait(IDLE_MS));
  const folder = bed.folder();
  await chats(bench, tell, folder);
  for (const [name, make] of Object.entries(HOSTILE_TEXTS)) {
    const path = join(folder, 'session.json');
    writeFileSync(path, JSON.stringify({ messages: makeConversationWith(make(HOSTILE_CHARS)) }));
    const row = { kind: 'conversation', found: { agent: 'claude-code', path }, children: [] };
    let condensing: Promise<unknown> | undefined;
    await tell(`${name}, condensed`, async () => {
      // The command ends only after its notification is closed.
      condensing = runInHelper(bench, { commands: [['contextCondenser.conversations.condense', row]] });
      await notification(bench, /^Condensed |Nothing|can’t/);
    });
    await closeParts(bench, 'notifications');
    await condensing;
  }
  const sessions = Array.from({ length: SESSIONS }, (_, at) => [
    `.claude/projects/-home-me-p${at % 40}/session-${at}.jsonl`,
    freshSample(),
  ]);
  homeWith(bench, Object.fromEntries(sessions) as Record<string, string>);
  await tell(`${SESSIONS} sessions are listed`, async () => {
    await openConversations(bench);
    await treeRows(bench, (texts) => texts.some((text) => text.includes('Claude Code')));
    await wait(INDEXING_MS);
  });
  await closeParts(bench, 'sideBar');
  const { panel } = await openPanel(bench);
  const frame = await panel();
  // The account is computed when its section is shown.
  await tell(`${SESSIONS} sessions are accounted`, () => showSection(frame, 'account'));
};

export const holdsTheHostBriefly: Scenario = Object.assign(whileItWorks, { lane: 'long' as const, seconds: 300 });
