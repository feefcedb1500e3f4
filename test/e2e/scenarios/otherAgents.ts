/**
 * Tests agents' stored sessions: those of Codex and OpenCode are listed, previewed in panel and
 * diff editor, and condensed; Claude Code's are used to evaluate settings.
 */
import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import { MARKER_START } from '../../../src/core/messages/markers';
import { assistant, jsonl, result, user } from '../../fixtures/conversations/claudeCodeLines';
import { ASKED, FIRST_FILE, writeSameWork } from '../../fixtures/conversations/sameWork';
import type { Scenario, SharedScenarios, SharedScenario } from '../bed';
import { homeWith, openConversations } from '../home';
import { plainWindow } from '../windows';
import { openPanel, waitForSettings, unfold } from '../panelPage';
import {
  closeParts,
  chooseInMenu,
  rowsBelow,
  diffEditor,
  notification,
  pick,
  screenshot,
  setTheme,
  tooltip,
  treeRows,
  until,
  type DiffEditor,
  type Workbench,
} from '../workbench/index';
import { toTabName } from '../../../src/window/fileName';

/** Start of the first path that is read, because the end of the path may be off screen. */
const FOLDER = FIRST_FILE.slice(0, FIRST_FILE.lastIndexOf('/'));

/**
 * Waits until the diff shows its first change, which is a marker for lines of the file that is
 * named above it.
 */
const atFirstChange = (bench: Workbench, title: string): Promise<DiffEditor> =>
  // All lines are read at once, because an editor that is being drawn shows only some of them.
  diffEditor(bench, (diff) => {
    const { original, modified } = diff;
    const first = modified.findIndex((line) => line.includes(MARKER_START));
    const above = modified.slice(0, Math.max(0, first));
    return (
      diff.title === title &&
      /lines 1-\d+, shown later/.test(modified[first] ?? '') &&
      // Long lines wrap differently on both sides, so the lines are joined before they are
      // compared.
      original.join('').startsWith(above.join('')) &&
      /◀ result of/.test(above.join('')) &&
      above.join('').includes(FOLDER) &&
      !original.some((line) => line.includes(MARKER_START))
    );
  });

const figure = async (frame: Frame, name: string): Promise<string> =>
  frame.locator('#preview .figure', { hasText: name }).locator('dd').first().innerText();

/** Previews condensing in the view and in the panel, and then condenses. */
const looksAt =
  (agent: 'Codex' | 'OpenCode', asked: string): SharedScenario =>
  async (bench) => {
    const shot = (name: string): Promise<string> => screenshot(bench, `${agent.toLowerCase()}-${name}`);
    writeSameWork(homeWith(bench));
    await openConversations(bench);
    const label = asked.slice(0, 12).trim();
    // The tab's title omits the period at the end of the prompt.
    const tab = toTabName(asked);
    await rowsBelow(bench, agent, (texts) => texts.some((text) => text.includes(label)));
    // A row shows only the start of a long title.
    const sized = /can be condensed: ([\d,]+) tokens/;
    const tokens = await until('its size', async () => sized.exec(await tooltip(bench, label))?.[1]);
    await chooseInMenu(bench, label, 'Preview Condensing');
    const said = await notification(bench, 'Preview of condensing with');
    const [, before, after, percent] =
      /condensing with Lossless: ([\d,]+) → ([\d,]+) tokens \(−(\d+)%\)/.exec(said.text) ?? [];
    assert.equal(before, tokens);
    assert.ok(Number(percent) >= 20, said.text);
    await atFirstChange(bench, `${tab} (preview)`);
    await shot('diff-dark');

    const opened = await openPanel(bench);
    await closeParts(bench, 'notifications');
    const frame = await opened.panel();
    await unfold(frame, ['preview']);
    await frame.getByText('Choose a conversation…').click();
    await pick(bench, asked);
    await until('the session', async () =>
      (await frame.locator('#preview .preview-title').innerText()).includes(asked),
    );
    assert.deepEqual([await figure(frame, 'Tokens now'), await figure(frame, 'Tokens afterwards')], [before, after]);
    assert.match(await frame.locator('#preview .excerpt-after').first().innerText(), /⟦condensed: .*lines \d+-\d+/);
    const showsPart = (part: string): Promise<unknown> =>
      frame
        .locator(`#preview ${part}`)
        .first()
        .evaluate((element) => element.scrollIntoView({ block: 'center' }));
    await showsPart('.figure');
    await shot('panel-dark');
    await showsPart('.excerpt');
    await shot('panel-changes-dark');
    await setTheme(bench, 'light');
    await showsPart('.excerpt');
    await shot('panel-changes-light');
    await showsPart('.figure');
    await shot('panel-light');
    await frame.getByText('Show all in the diff editor').click();
    await atFirstChange(bench, `${tab} (preview)`);

    await chooseInMenu(bench, label, 'Condense');
    await notification(bench, `Lossless: ${before} → ${after} tokens`);
    await closeParts(bench, 'notifications');
    await treeRows(bench, (texts) => texts.some((text) => text.includes(label) && text.includes(`−${percent}%`)));
    await chooseInMenu(bench, label, 'Show Diff');
    await atFirstChange(bench, `${tab}: before ↔ after condensing`);
    await shot('diff-light');
  };

/**
 * Creates a session that reads thirty files, and then edits lines from the middle of the newest
 * ones.
 */
function longSession(name: string): string {
  const makeLines = (file: number): string[] =>
    Array.from({ length: 100 }, (_, line) => `${name}${file} line ${line} with some words`);
  const calls = [
    ...Array.from({ length: 30 }, (_, file) => ({
      tool: 'Read',
      input: { file_path: `/src/${name}${file}.ts` },
      gives: makeLines(file).join('\n'),
    })),
    ...Array.from({ length: 8 }, (_, edit) => 22 + edit).map((file) => ({
      tool: 'Edit',
      input: {
        file_path: `/src/${name}${file}.ts`,
        old_string: makeLines(file).slice(48, 52).join('\n'),
        new_string: 'gone',
      },
      gives: 'ok',
    })),
  ];
  return jsonl(
    user('u', null, `Mend ${name}`),
    ...calls.flatMap(({ tool, input, gives }, at) => [
      assistant(`a${at}`, at === 0 ? 'u' : `r${at - 1}`, `m${at}`, {
        type: 'tool_use',
        id: `c${at}`,
        name: tool,
        input,
      }),
      user(`r${at}`, `a${at}`, [result(`c${at}`, gives)]),
    ]),
  );
}

const TREES = ['ash', 'birch', 'cedar', 'elm', 'fir', 'gorse', 'hazel', 'ivy', 'juniper', 'larch'];

/**
 * Tests the panel's button “Compare on my conversations” with Truncation, which removes lines that
 * File-Aware keeps.
 */
const judgesByTheSessionsOnThisMachine: SharedScenario = async (bench) => {
  homeWith(bench, Object.fromEntries(TREES.map((name) => [`.claude/projects/-src/${name}.jsonl`, longSession(name)])));
  const { panel } = await openPanel(bench);
  const frame = await panel();
  await unfold(frame, ['comparison']);
  await frame.locator('input[value="truncation"]').click();
  await waitForSettings(bench, 'the provider', (settings) => settings['contextCondenser.provider'] === 'truncation');
  await frame.locator('#comparison vscode-button', { hasText: 'Compare on my conversations' }).click();
  const verdict = frame.getByRole('status').filter({ hasText: 'fewer of the needed lines' });
  await verdict.waitFor();
  assert.match(await verdict.innerText(), /\d+ conversations were read; in 10 of them, later edits used \d+ lines/);
  await verdict.evaluate((element) => {
    element.scrollIntoView();
  });
  await screenshot(bench, 'panel-judged-dark');
  await frame.locator('input[value="lossless"]').click();
  await waitForSettings(bench, 'the provider', (settings) => settings['contextCondenser.provider'] !== 'truncation');
};

export const agentsSessions: SharedScenarios = {
  open: plainWindow,
  scenarios: {
    previewsAndCondensesASessionOfCodex: looksAt('Codex', ASKED.codex),
    judgesByTheSessionsOnThisMachine,
  },
};

const ofADatabase: Scenario = async (bed) => looksAt('OpenCode', ASKED.openCode)(await plainWindow(bed), bed);
/**
 * Runs only with the long tests: in every run, `conversations` previews, condenses and exports an
 * OpenCode session, and the panel is the same for all agents.
 */
export const previewsAndCondensesASessionOfOpenCode: Scenario = Object.assign(ofADatabase, { lane: 'long' as const });
