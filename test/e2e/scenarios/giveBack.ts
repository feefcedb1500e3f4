import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readConversation } from '../../../src/conversations/read';
import { selectEffectiveHistory } from '../../../src/conversations/formats/roo';
import { applyCompactionSidecar } from '../../../src/conversations/write/clineCompaction';
import { writeClaudeSession, writeClineSession, writeZooTask } from '../../../src/giveBack/testing';
import type { SharedScenarios, SharedScenario } from '../bed';
import { homeWith, openConversations } from '../home';
import { plainWindow } from '../windows';
import type { Workbench } from '../workbench/index';
import {
  closeParts,
  chooseInMenu,
  clickDialog,
  clickNotification,
  foldAll,
  rowsBelow,
  dialog,
  notification,
  screenshot,
  setTheme,
  treeRows,
  until,
  useSettings,
  webview,
} from '../workbench/index';
import { MARKER_START } from '../../../src/core/messages/markers';

const settings = { 'contextCondenser.provider': 'truncation', 'contextCondenser.manual.targetPercent': 30 };

/** Matches the end of a row's description. */
const AGE = /(?:\d+[mhd]|now)$/;

/** Matches the beginning of a row's description. */
const DESCRIPTION = /(?:≈ )?<?\d+%|−\d+%/;

/**
 * Returns the start of the title in the agent's row with this text. If the sample was condensed in
 * this window, it also has a row.
 */
async function findLabel(bench: Workbench, words: RegExp): Promise<string> {
  const isWanted = (text: string): boolean => words.test(text) && !text.startsWith('Sample: ');
  const rows = await treeRows(bench, (texts) => texts.some(isWanted));
  const [title = ''] = rows.find(isWanted)?.split(DESCRIPTION) ?? [];
  return title.slice(0, 12);
}

/** Condenses an agent's conversation, which is the only one in the home folder. */
async function condense(bench: Workbench, agent: string): Promise<void> {
  await useSettings(bench, settings);
  await openConversations(bench);
  // Until the view is redrawn, it also shows agents of the previous home folder. If the sample was
  // condensed in this window, it stays.
  await until('the one agent', async () => {
    await foldAll(bench);
    const texts = await treeRows(bench, (shown) => shown.length > 0);
    const others = texts.filter((text) => !text.includes(agent) && !text.startsWith('Claude Code'));
    return others.length === 0 && texts[0]?.includes(agent) === true;
  });
  await rowsBelow(bench, agent, (texts) => texts.some((text) => AGE.test(text)));
  await chooseInMenu(bench, await findLabel(bench, AGE), 'Condense');
  await notification(bench, 'Condensed “');
  await closeParts(bench, 'notifications');
}

async function giveBack(bench: Workbench, shot: string): Promise<void> {
  await chooseInMenu(bench, await findLabel(bench, /−\d+%/), 'Give Back to the Agent…');
  await dialog(bench);
  await screenshot(bench, shot);
  await clickDialog(bench, 'Give Back');
  await notification(bench, /^Given back/);
}

async function undo(bench: Workbench): Promise<void> {
  await clickNotification(bench, /^Given back/, 'Undo Giving Back');
  await notification(bench, 'Undone. The agent’s files are as they were before.');
}

const json = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

const givesAZooTaskBackInPlace: SharedScenario = async (bench) => {
  const path = writeZooTask(join(homeWith(bench), '.config/Cursor/User'));
  const files = [path, join(dirname(path), 'ui_messages.json')];
  const before = files.map((file) => readFileSync(file));
  const messages = readConversation(before[0]!, { path }).messages;
  await condense(bench, 'Zoo Code');
  await giveBack(bench, 'give-back-zoo-dark');
  const after = readConversation(readFileSync(path), { path }, { history: 'all' }).messages;
  assert.ok(after.length > messages.length, 'all messages stay');
  const sent = selectEffectiveHistory(after);
  assert.match(JSON.stringify(sent), new RegExp(MARKER_START));
  assert.ok(JSON.stringify(sent).length < JSON.stringify(messages).length);
  assert.match(JSON.stringify(json(files[1]!)), /"say":"condense_context"/);
  await undo(bench);
  assert.deepEqual(
    files.map((file) => readFileSync(file)),
    before,
  );
};

const givesAClineSessionASidecar: SharedScenario = async (bench) => {
  const path = writeClineSession(homeWith(bench));
  const before = readFileSync(path);
  await condense(bench, 'Cline');
  await giveBack(bench, 'give-back-cline-dark');
  assert.deepEqual(readFileSync(path), before);
  const sidecar = path.replace('.messages.json', '.compaction.json');
  const sent = applyCompactionSidecar(json(sidecar), json(path));
  assert.match(JSON.stringify(sent), new RegExp(MARKER_START));
  await undo(bench);
  assert.ok(!existsSync(sidecar));
};

const givesANewClaudeCodeSession: SharedScenario = async (bench) => {
  const path = writeClaudeSession(homeWith(bench));
  const before = readFileSync(path);
  await condense(bench, 'Claude Code');
  await giveBack(bench, 'give-back-claude-dark');
  const others = () => globSync(join(dirname(path), '*.jsonl')).filter((file) => file !== path);
  const [session = ''] = await until('the new session', () => (others().length === 1 ? others() : undefined));
  const { messages } = readConversation(readFileSync(session), { path: session });
  assert.match(JSON.stringify(messages), new RegExp(MARKER_START));
  assert.deepEqual(readFileSync(path), before);
  await undo(bench);
  assert.deepEqual(others(), []);
};

const offersToCondenseAnIdleTask: SharedScenario = async (bench) => {
  // This is another task, because one that was condensed in this window isn't idle for long enough.
  const id = '0198c7a2-5f0e-7000-8000-3a1b2c3d4e60';
  const path = writeZooTask(join(homeWith(bench), '.config/Cursor/User'), undefined, id);
  const before = readFileSync(path);
  await useSettings(bench, {
    ...settings,
    'contextCondenser.conversations.offerIdleTasks': true,
    'contextCondenser.conversations.contextWindow': 10_000,
  });
  await openConversations(bench);
  const offer = await notification(bench, 'Condense it before you resume it?');
  assert.match(offer.text, /\(Zoo Code\) is idle and has [\d,]+ tokens, ≈ 1\d\d% of the window\./);
  assert.deepEqual(offer.buttons, ['Condense', 'Not Now', 'Never for This Task']);
  await screenshot(bench, 'idle-task-dark');
  await setTheme(bench, 'light');
  await screenshot(bench, 'idle-task-light');
  await clickNotification(bench, 'Condense it before you resume it?', 'Condense');
  await notification(bench, 'Condensed “');
  await clickNotification(bench, 'Condensed “', 'Details');
  await (await webview(bench, 'a.button')).getByRole('link', { name: 'Give Back to the Agent…' }).click();
  await dialog(bench);
  await screenshot(bench, 'give-back-zoo-light');
  await clickDialog(bench, 'Give Back');
  await notification(bench, /^Given back/);
  assert.notDeepEqual(readFileSync(path), before);
  await undo(bench);
  assert.deepEqual(readFileSync(path), before);
};

export const givingBack: SharedScenarios = {
  open: plainWindow,
  scenarios: {
    givesAZooTaskBackInPlace,
    givesAClineSessionASidecar,
    givesANewClaudeCodeSession,
    offersToCondenseAnIdleTask,
  },
};
