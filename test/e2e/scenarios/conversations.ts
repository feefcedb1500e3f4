import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeHome } from '../../fixtures/conversations/home';
import type { Scenario } from '../bed';
import {
  activeTab,
  answer,
  chooseInMenu,
  clearNotifications,
  clickNotification,
  clickRow,
  diffEditor,
  notification,
  openContainer,
  pick,
  quickInput,
  runCommand,
  screenshot,
  setTheme,
  textEditor,
  treeRows,
  until,
} from '../workbench/index';

const VIEW = 'Context Condenser';
const TASK = 'Rename value7';

/** Each agent of the home folder; the file of one of its conversations is the first that the view shows. */
const AGENTS = [
  'Claude Code',
  'Codex',
  'VS Code',
  'Copilot CLI',
  'Roo Code',
  'Zoo Code',
  'Kilo Code',
  'Cline',
  'OpenCode',
  'Gemini CLI',
] as const;

const everyAgent: Scenario = async (bed) => {
  const home = bed.folder();
  writeHome(home);
  writeFileSync(join(home, '.claude/projects/-home-dev-app/broken.jsonl'), '{"type":"user","message":{');
  const folder = bed.folder();
  const bench = await bed.open({ home, folder });
  await openContainer(bench, VIEW);
  const shown = await treeRows(bench, (texts) => AGENTS.every((agent) => texts.some((text) => text.includes(agent))));
  assert.equal(shown.length, AGENTS.length);
  await screenshot(bench, 'conversations-dark');

  await clickRow(bench, 'Claude Code');
  await treeRows(bench, (texts) => texts.some((text) => /\d+ % · Rename value7 .*[\d,]+ tokens · /.test(text)));
  await treeRows(bench, (texts) => texts.some((text) => text.includes('can’t be read')));
  const log = await until('the log', () => {
    const text = bench.server.outputText('Context Condenser');
    return text.includes('broken.jsonl') ? text : undefined;
  });
  assert.equal(log.split('broken.jsonl').length, 2, 'a broken file is named once');

  await clickRow(bench, TASK);
  await textEditor(bench, (lines) => lines.some((line) => line.includes(TASK)));
  assert.match(await activeTab(bench), /Rename value7/);

  await chooseInMenu(bench, TASK, 'Preview Condensing');
  await notification(bench, 'Preview; nothing was applied.');
  await diffEditor(bench);
  await clearNotifications(bench);

  await chooseInMenu(bench, TASK, 'Condense');
  await notification(bench, 'Context condensed using');
  await clearNotifications(bench);
  await treeRows(bench, (texts) => texts.some((text) => /Rename value7 .*-\d+%/.test(text)));
  await screenshot(bench, 'conversations-condensed-dark');
  await setTheme(bench, 'light');
  await screenshot(bench, 'conversations-condensed-light');

  await chooseInMenu(bench, TASK, 'Export…');
  await pick(bench, /^Markdown \(condensed\)/);
  const file = join(folder, 'exported.md');
  await quickInput(bench, ({ value }) => value.endsWith('.export.md'), 'the box for the file');
  await answer(bench, file);
  await notification(bench, 'Exported to exported.md.');
  assert.match(readFileSync(file, 'utf8'), /Rename value7[^]*⟦condensed: /);
  await clearNotifications(bench);

  await chooseInMenu(bench, TASK, 'Undo the Condensation');
  await notification(bench, 'Undone; the conversation is shown as it was.');
  await treeRows(bench, (texts) => texts.every((text) => !/-\d+%/.test(text)));
};
export const showsEveryAgentsConversations: Scenario = Object.assign(everyAgent, { seconds: 300 });

export const searchesAndExplainsAnEmptyList: Scenario = async (bed) => {
  const home = bed.folder();
  writeHome(home);
  const bench = await bed.open({ home, folder: bed.folder() });
  await openContainer(bench, VIEW);
  await treeRows(bench, (texts) => texts.some((text) => text.includes('Codex')));
  await runCommand(bench, 'Context Condenser: Search Conversations');
  await answer(bench, 'no such conversation');
  const welcome = bench.page.locator('.part.sidebar .welcome-view-content');
  await until('the welcome text', async () => (await welcome.innerText()).includes('No conversation fits.'));
  await screenshot(bench, 'conversations-filtered-dark');
  await welcome.getByText('Show All').click();
  await treeRows(bench, (texts) => texts.some((text) => text.includes('Codex')));

  const empty = await bed.open({ home: bed.folder(), folder: bed.folder() });
  await openContainer(empty, VIEW);
  const explained = empty.page.locator('.part.sidebar .welcome-view-content');
  await until('the welcome text', async () => (await explained.innerText()).includes('No agent'));
  await screenshot(empty, 'conversations-empty-dark');
};

export const exportsWhereGivingBackIsNotSafe: Scenario = async (bed) => {
  const home = bed.folder();
  writeHome(home);
  const bench = await bed.open({ home, folder: bed.folder() });
  await openContainer(bench, VIEW);
  await treeRows(bench, (texts) => texts.some((text) => text.includes('Codex')));
  await clickRow(bench, 'Codex');
  await treeRows(bench, (texts) => texts.some((text) => /Rename value7 .*tokens/.test(text)));
  await chooseInMenu(bench, TASK, 'Condense');
  await notification(bench, 'Context condensed using');
  await clearNotifications(bench);
  await treeRows(bench, (texts) => texts.some((text) => /Rename value7 .*-\d+%/.test(text)));
  await chooseInMenu(bench, TASK, 'Give Back…');
  await clickNotification(bench, 'does not go on with what others write', 'Export…');
  await pick(bench, /^Hand-over Prompt \(condensed\)/);
  await notification(bench, 'The hand-over prompt is on the clipboard.');
};
