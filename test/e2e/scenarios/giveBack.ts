import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readConversation } from '../../../src/conversations/read';
import { effectiveHistory } from '../../../src/conversations/formats/roo';
import { projected } from '../../../src/conversations/write/clineCompaction';
import { claudeSession, clineSession, zooTask } from '../../../src/giveBack/testing';
import type { Bed, Scenario } from '../bed';
import type { Workbench } from '../workbench/index';
import {
  chooseInMenu,
  clearNotifications,
  clickDialog,
  clickNotification,
  clickRow,
  dialog,
  notification,
  openContainer,
  screenshot,
  setTheme,
  treeRows,
  until,
} from '../workbench/index';
import { MARKER_START } from '../../../src/core/messages/markers';

/** Opens a window on a home folder, and condenses the one conversation that an agent has in it. */
async function condensed(bed: Bed, home: string, agent: string): Promise<Workbench> {
  const settings = { 'contextCondenser.provider': 'truncation', 'contextCondenser.manual.targetPercent': 30 };
  const bench = await bed.open({ home, folder: bed.folder(), settings });
  await openContainer(bench, 'Context Condenser');
  await treeRows(bench, (texts) => texts.some((text) => text.includes(agent)));
  await clickRow(bench, agent);
  await treeRows(bench, (texts) => texts.some((text) => /\d+% · .* tokens · /.test(text)));
  await chooseInMenu(bench, 'tokens · ', 'Condense');
  await notification(bench, 'Context condensed using');
  await clearNotifications(bench);
  await treeRows(bench, (texts) => texts.some((text) => /-\d+%/.test(text)));
  return bench;
}

async function giveBack(bench: Workbench, shot: string): Promise<void> {
  await chooseInMenu(bench, 'tokens · ', 'Give Back to the Agent…');
  await dialog(bench);
  await screenshot(bench, shot);
  await clickDialog(bench, 'Give Back');
  await notification(bench, /^Given back/);
}

async function undo(bench: Workbench): Promise<void> {
  await clickNotification(bench, /^Given back/, 'Undo Giving Back');
  await notification(bench, 'Undone; the agent’s files are as they were.');
}

const json = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

export const givesAZooTaskBackInPlace: Scenario = async (bed) => {
  const home = bed.folder();
  const path = zooTask(join(home, '.config/Cursor/User'));
  const files = [path, join(dirname(path), 'ui_messages.json')];
  const before = files.map((file) => readFileSync(file));
  const messages = readConversation(before[0]!, { path }).messages;
  const bench = await condensed(bed, home, 'Zoo Code');
  await giveBack(bench, 'give-back-zoo-dark');
  const after = readConversation(readFileSync(path), { path }, { history: 'all' }).messages;
  assert.ok(after.length > messages.length, 'all messages stay');
  const sent = effectiveHistory(after);
  assert.match(JSON.stringify(sent), new RegExp(MARKER_START));
  assert.ok(JSON.stringify(sent).length < JSON.stringify(messages).length);
  assert.match(JSON.stringify(json(files[1]!)), /"say":"condense_context"/);
  await undo(bench);
  assert.deepEqual(
    files.map((file) => readFileSync(file)),
    before,
  );
};

export const givesAClineSessionASidecar: Scenario = async (bed) => {
  const home = bed.folder();
  const path = clineSession(home);
  const before = readFileSync(path);
  const bench = await condensed(bed, home, 'Cline');
  await giveBack(bench, 'give-back-cline-dark');
  assert.deepEqual(readFileSync(path), before);
  const sidecar = path.replace('.messages.json', '.compaction.json');
  const sent = projected(json(sidecar), json(path));
  assert.match(JSON.stringify(sent), new RegExp(MARKER_START));
  await undo(bench);
  assert.ok(!existsSync(sidecar));
};

export const givesANewClaudeCodeSession: Scenario = async (bed) => {
  const home = bed.folder();
  const path = claudeSession(home);
  const before = readFileSync(path);
  const bench = await condensed(bed, home, 'Claude Code');
  await giveBack(bench, 'give-back-claude-dark');
  const others = () => globSync(join(dirname(path), '*.jsonl')).filter((file) => file !== path);
  const [session = ''] = await until('the new session', () => (others().length === 1 ? others() : undefined));
  const { messages } = readConversation(readFileSync(session), { path: session });
  assert.match(JSON.stringify(messages), new RegExp(MARKER_START));
  assert.deepEqual(readFileSync(path), before);
  await undo(bench);
  assert.deepEqual(others(), []);
};

export const offersToCondenseAnIdleTask: Scenario = async (bed) => {
  const home = bed.folder();
  const path = zooTask(join(home, '.config/Cursor/User'));
  const before = readFileSync(path);
  const settings = {
    'contextCondenser.conversations.offerIdleTasks': true,
    'contextCondenser.conversations.contextWindow': 10_000,
    'contextCondenser.provider': 'truncation',
    'contextCondenser.manual.targetPercent': 30,
  };
  const bench = await bed.open({ home, folder: bed.folder(), settings });
  await openContainer(bench, 'Context Condenser');
  const offer = await notification(bench, 'Condense it before it is resumed?');
  assert.match(offer.text, /\(Zoo Code\) is idle and holds [\d,]+ tokens, 1\d\d% of the window\./);
  assert.deepEqual(offer.buttons, ['Condense', 'Not Now', 'Never for This Task']);
  await screenshot(bench, 'idle-task-dark');
  await setTheme(bench, 'light');
  await screenshot(bench, 'idle-task-light');
  await clickNotification(bench, 'Condense it before it is resumed?', 'Condense');
  await notification(bench, 'Context condensed using');
  await clickNotification(bench, 'Context condensed using', 'Give Back to the Agent…');
  await dialog(bench);
  await screenshot(bench, 'give-back-zoo-light');
  await clickDialog(bench, 'Give Back');
  await notification(bench, /^Given back/);
  assert.notDeepEqual(readFileSync(path), before);
  await undo(bench);
  assert.deepEqual(readFileSync(path), before);
};
