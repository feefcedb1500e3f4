import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { assistant, jsonl, makeTextBlock, user } from '../../fixtures/conversations/claudeCodeLines';
import { writeHome } from '../../fixtures/conversations/home';
import type { Scenario, SharedScenarios, SharedScenario } from '../bed';
import { freshSample, homeWith, openConversations, refreshConversations, SESSION } from '../home';
import { plainWindow } from '../windows';
import type { Workbench } from '../workbench/index';
import {
  activeTab,
  answerInput,
  chooseInMenu,
  clickRow,
  diffEditor,
  closeParts,
  notification,
  pick,
  readMenu,
  runCommand,
  saveAs,
  screenshot,
  setTheme,
  sideBarWidth,
  textEditor,
  tooltip,
  foldAll,
  rowsBelow,
  treeRows,
  until,
  webview,
} from '../workbench/index';
import { MARKER_START } from '../../../src/core/messages/markers';

const TASK = 'Rename value7';

/** Agents whose conversations are in the home folder; all conversations have the same title. */
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
  'Pi',
  'Oh My Pi',
  'Cursor',
  'Qwen Code',
  'Continue',
] as const;

/**
 * Agents with which every action is tested: one with files, one with a database, and one whose file
 * is open in the chat. The actions are the same for all agents, but reading differs, so every
 * agent's row and text are checked.
 */
const WITH_EVERY_ACTION: readonly string[] = ['Claude Code', 'OpenCode', 'VS Code'];

const everyAgent =
  (isEveryAction: (agent: string) => boolean): SharedScenario =>
  async (bench) => {
    const logged = bench.server.outputText('Context Condenser').length;
    const home = homeWith(bench);
    writeHome(home);
    writeFileSync(join(home, '.claude/projects/-home-dev-app/broken.jsonl'), '{"type":"user","message":{');
    const { folder = '' } = bench;
    await openConversations(bench);
    await treeRows(bench, (texts) => AGENTS.every((agent) => texts.some((text) => text.includes(agent))));
    const title = bench.page.locator('.part.sidebar .title-label h2');
    assert.equal(await title.innerText(), 'Context Condenser');
    assert.ok(await title.evaluate((one) => one.scrollWidth <= one.clientWidth), 'the title is cut');
    await screenshot(bench, 'conversations-dark');
    await foldAll(bench);
    await treeRows(bench, (texts) => texts.length === AGENTS.length);

    // Cursor stores no results, so there is nothing to condense. Tests of the command line cover
    // the two newest agents.
    for (const agent of AGENTS.filter((name) => !['Cursor', 'Qwen Code', 'Continue'].includes(name))) {
      // Only one agent is expanded at a time, so the first row with the title is that agent's. The
      // row must start with the name, because “Oh My Pi” also ends in “Pi”.
      const row = new RegExp(`^\\s*${agent}`);
      await clickRow(bench, row);
      await treeRows(bench, (texts) => texts.some((text) => /^Rename value7.*(?:now|\d+[mhd])$/.test(text)));
      await opens(bench);
      if (isEveryAction(agent)) await previewsCondensesAndExports(bench, join(folder, `${agent}.md`));
      if (agent === 'Claude Code') {
        await treeRows(bench, (texts) => texts.some((text) => text.includes('can’t be read')));
        await screenshot(bench, 'conversations-condensed-dark');
        await setTheme(bench, 'light');
        await screenshot(bench, 'conversations-condensed-light');
      }
      await closeParts(bench, 'editors');
      await clickRow(bench, row);
      await treeRows(bench, (texts) => texts.every((text) => !text.includes(TASK)));
    }

    const log = await until('the log', () => {
      const text = bench.server.outputText('Context Condenser').slice(logged);
      return text.includes('broken.jsonl') ? text : undefined;
    });
    assert.equal(log.split('broken.jsonl').length, 2, 'a broken file is named once');

    await rowsBelow(bench, 'Claude Code', (texts) => texts.some((text) => text.includes(TASK)));
    await chooseInMenu(bench, TASK, 'Undo the Condensation');
    await notification(bench, 'Undone. The conversation is as it was before');
    // Only rows of this task count, because the sample of an earlier scenario may be condensed,
    // too.
    await treeRows(bench, (texts) => texts.every((text) => !text.includes(TASK) || !/−\d+%/.test(text)));
  };
const showsEveryAgentsConversations = everyAgent((agent) => WITH_EVERY_ACTION.includes(agent));
const withEveryAction: Scenario = async (bed) => everyAgent(() => true)(await plainWindow(bed), bed);
export const doesEverythingWithEveryAgentsConversations: Scenario = Object.assign(withEveryAction, {
  seconds: 480,
  lane: 'long' as const,
});

/** Opens the view's first conversation as text. */
async function opens(bench: Workbench): Promise<void> {
  await clickRow(bench, TASK);
  await textEditor(bench, (lines) => lines.some((line) => line.includes(TASK)));
  assert.match(await activeTab(bench), /Rename value7/);
}

/** Tests all actions of that conversation except opening it. */
async function previewsCondensesAndExports(bench: Workbench, file: string): Promise<void> {
  await chooseInMenu(bench, TASK, 'Preview Condensing');
  await notification(bench, 'Preview of condensing with');
  await diffEditor(bench);
  await closeParts(bench, 'notifications');

  await chooseInMenu(bench, TASK, 'Condense');
  await notification(bench, 'Condensed “');
  await closeParts(bench, 'notifications');
  await treeRows(bench, (texts) => texts.some((text) => /Rename value7.*−\d+%/.test(text)));

  // The row of a condensed conversation opens its details.
  await clickRow(bench, TASK);
  await (await webview(bench, 'a.button')).getByRole('link', { name: 'Open Conversation' }).click();
  await textEditor(bench, (lines) =>
    lines.some((line) => /^Context window .* full: .* tokens\. Messages: [\d,]+ tokens as counted here/.test(line)),
  );
  const actions = bench.page.locator('.editor-group-container.active .editor-actions .action-label');
  for (const action of ['Condense', 'Details', 'Show Diff'])
    await actions
      .and(bench.page.getByRole('button', { name: action, exact: true }))
      .first()
      .waitFor();
  // The details page is created again, because it was hidden.
  await clickRow(bench, TASK);
  await (await webview(bench, 'a.button')).getByRole('link', { name: 'Export…' }).click();
  await pick(bench, /^Markdown \(condensed\)/);
  await saveAs(bench, file);
  await notification(bench, `Exported to ${basename(file)}.`);
  assert.match(readFileSync(file, 'utf8'), new RegExp(`Rename value7[^]*${MARKER_START}`));
  await closeParts(bench, 'notifications');
}

/** Titles as agents give them; each conversation is two hours older than the one before. */
const TITLES = [
  `Rename value7 ${'and everything that follows from it '.repeat(4)}`,
  'should we close github issue 7670 as a duplicate?',
  'Review OAuth JSON responses of the gateway',
];

const keepsTheFiguresInANarrowSideBar: SharedScenario = async (bench) => {
  const sessions = TITLES.map((title, index) => [
    `.claude/projects/-home-dev-app/00000000-0000-4000-8000-00000000000${index}.jsonl`,
    jsonl(user('u1', null, title), assistant('a1', 'u1', 'm1', makeTextBlock('word '.repeat(9_000 + 60_000 * index)))),
  ]);
  homeWith(bench, { [SESSION]: freshSample(), ...Object.fromEntries(sessions) });
  await openConversations(bench);
  await rowsBelow(bench, 'Claude Code', (texts) =>
    TITLES.every((title) =>
      texts.some((shown) => shown.startsWith(title.slice(0, 10)) && /… ?(?:≈ )?<?\d+% · (?:now|\d+h)$/.test(shown)),
    ),
  );
  await chooseInMenu(bench, 'Notes should', 'Condense');
  await notification(bench, 'Condensed “');
  await closeParts(bench, 'notifications');
  await treeRows(bench, (texts) => texts.some((text) => /^Notes should.*% · −\d+% · now$/.test(text)));
  await sideBarWidth(bench, 300);
  // Buttons take room in the focused row and in the one under the pointer.
  await bench.page.locator('.part.sidebar .monaco-list').focus();
  await bench.page.keyboard.press('Home');
  await bench.page.mouse.move(900, 400);
  await screenshot(bench, 'conversations-default-width-dark');
  const cut = bench.page.locator('.part.sidebar .monaco-list-row .monaco-icon-label-container');
  assert.deepEqual(
    await cut.evaluateAll((labels) =>
      labels.filter((label) => label.scrollWidth > label.clientWidth).map(({ textContent }) => textContent),
    ),
    [],
    'rows that VS Code cuts off at its default width',
  );
  // The side bar's minimum width, in pixels.
  await sideBarWidth(bench, 180);
  await screenshot(bench, 'conversations-narrow-dark');
  await setTheme(bench, 'light');
  await screenshot(bench, 'conversations-narrow-light');
  assert.match(
    await tooltip(bench, 'Rename value7'),
    /Messages, which can be condensed: [\d,]+ tokens(?: \(≈ [\d,]+ as the vendor counts\))?\s+Context window: (?:≈ )?<?\d+% full: (?:≈ )?[\d,]+ (?:of [\d,]+ )?tokens/,
  );
  await sideBarWidth(bench, 300);
};

const searchesAndExplainsAnEmptyList: SharedScenario = async (bench) => {
  writeHome(homeWith(bench));
  await openConversations(bench);
  await treeRows(bench, (texts) => texts.some((text) => text.includes('Codex')));
  await runCommand(bench, 'Context Condenser: Search Conversations');
  await answerInput(bench, 'no such conversation');
  const welcome = bench.page.locator('.part.sidebar .welcome-view-content');
  await until('the welcome text', async () => (await welcome.innerText()).includes('No conversations match.'));
  await screenshot(bench, 'conversations-filtered-dark');
  await welcome.getByText('Show All').click();
  await treeRows(bench, (texts) => texts.some((text) => text.includes('Codex')));

  homeWith(bench);
  await refreshConversations(bench);
  // If the sample was condensed in this window, it stays in the view.
  await until('the welcome text, or the sample alone', async () => {
    if (await welcome.isVisible()) return (await welcome.innerText()).includes('No conversations were found');
    const rows = await treeRows(bench, () => true);
    return rows.length > 0 && rows.every((text) => /^(?:Claude Code|Sample: )/.test(text));
  });
  await screenshot(bench, 'conversations-empty-dark');
};

const exportsWhereGivingBackIsNotSafe: SharedScenario = async (bench) => {
  writeHome(homeWith(bench));
  await openConversations(bench);
  await treeRows(bench, (texts) => texts.some((text) => text.includes('Codex')));
  await foldAll(bench);
  await rowsBelow(bench, 'Codex', (texts) => texts.some((text) => /Rename value7.*(?:now|\d+[mhd])$/.test(text)));
  await chooseInMenu(bench, TASK, 'Condense');
  await notification(bench, 'Condensed “');
  await closeParts(bench, 'notifications');
  await treeRows(bench, (texts) => texts.some((text) => /Rename value7.*−\d+%/.test(text)));
  const entries = await readMenu(bench, TASK);
  assert.ok(!entries.some((entry) => entry.includes('Give Back')), `Codex takes nothing back: ${entries.join(', ')}`);
  await chooseInMenu(bench, TASK, 'Export…');
  await pick(bench, /^Handover Prompt \(condensed\)/);
  await notification(bench, 'The handover prompt is on the clipboard.');
};

export const conversations: SharedScenarios = {
  open: plainWindow,
  scenarios: {
    showsEveryAgentsConversations,
    keepsTheFiguresInANarrowSideBar,
    searchesAndExplainsAnEmptyList,
    exportsWhereGivingBackIsNotSafe,
  },
};
