import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SharedScenarios, SharedScenario } from '../bed';
import { freshSample, homeWith, SESSION } from '../home';
import { openPanel } from '../panelPage';
import { plainWindow } from '../windows';
import {
  clickNotification,
  diffEditor,
  dismiss,
  filter,
  notification,
  pick,
  quickInput,
  offersCommand,
  runCommand,
  saveAs,
  screenshot,
  setTheme,
  until,
  webview,
  type Workbench,
} from '../workbench/index';
import { MARKER_START } from '../../../src/core/messages/markers';

const CONDENSE = 'Context Condenser: Condense Context Now';
const SAMPLE_TITLE = /tags/i;

const ROO = JSON.stringify([
  { role: 'user', content: [{ type: 'text', text: '<task>\nMake the header sticky\n</task>' }], ts: 1 },
  { role: 'assistant', content: [{ type: 'text', text: 'Which header?' }], ts: 2 },
]);

/** Condenses the only stored conversation, once the list is up to date. */
async function condense(bench: Workbench, title: RegExp): Promise<void> {
  await runCommand(bench, CONDENSE);
  await quickInput(bench, ({ items, busy }) => !busy && items.length === 2, 'the one conversation');
  await pick(bench, title);
}

const condensesATranscriptShowsTheDiffSavesAndUndoes: SharedScenario = async (bench) => {
  const { folder = '' } = bench;
  const sample = freshSample();
  const own = homeWith(bench, {
    [SESSION]: sample,
    '.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/t1/api_conversation_history.json': ROO,
    '.claude/projects/-home-me-notes/broken.jsonl': '{"type":"user","message":{',
  });

  await runCommand(bench, CONDENSE);
  const shown = await quickInput(
    bench,
    ({ items, busy }) => !busy && items.length === 4 && !items.some(({ detail }) => detail.includes('counting')),
  );
  assert.equal(shown.title, 'Condense Context Now');
  assert.match(shown.items[0]?.label ?? '', SAMPLE_TITLE);
  assert.match(
    shown.items[0]?.detail ?? '',
    /^Claude Code · just now · (?:≈ )?\d+% full · [\d,]+ tokens in messages · /,
  );
  assert.match(shown.items[1]?.label ?? '', /Make the header sticky/);
  assert.match(shown.items[1]?.detail ?? '', /^Roo Code · 2 h ago · (?:≈ )?(?:<?\d+% full · )?\d+ tokens in messages$/);
  assert.match(shown.items[2]?.detail ?? '', /can’t be read · /);
  assert.match(shown.items[3]?.label ?? '', /Open file…$/);
  await screenshot(bench, 'pick-dark');
  await bench.page.keyboard.type('sticky');
  await quickInput(bench, ({ value, items }) => value === 'sticky' && items[0]?.label.includes('sticky') === true);
  await filter(bench, '');
  await pick(bench, SAMPLE_TITLE);

  const done = await notification(bench, 'Condensed “');
  assert.match(
    done.text,
    /^Condensed “.+” with Lossless: [\d,]+ → [\d,]+ tokens \(−\d+%\)(?:; .*% → ≈ .*% full once given back)?\.$/,
  );
  const before = / ([\d,]+) tokens in messages/.exec(shown.items[0]?.detail ?? '')?.[1] ?? '';
  assert.ok(done.text.includes(`: ${before} → `), 'the result begins with the size in the list');
  assert.deepEqual(done.buttons, ['Show Diff', 'Give Back…', 'Condense With…', 'Undo', 'Details']);
  assert.deepEqual(done.cutShort, []);
  await screenshot(bench, 'summary-dark');

  await clickNotification(bench, 'Condensed “', 'Show Diff');
  const diff = await diffEditor(bench);
  assert.match(diff.title, /: before ↔ after condensing$/);
  await screenshot(bench, 'diff-dark');

  await clickNotification(bench, 'Condensed “', 'Details');
  const page = await webview(bench, 'a.button');
  await page.getByRole('heading', { name: 'Removed content' }).waitFor();
  assert.match(await page.locator('.lead').innerText(), new RegExp(`^${before} → `));
  // The picture is for the README, so it should show no hover.
  await bench.page.mouse.move(0, 0);
  await until('no hover', async () => (await bench.page.locator('.monaco-hover:visible').count()) === 0);
  await screenshot(bench, 'details-dark');
  // The notification still has the same buttons.
  const again = await notification(bench, 'Condensed “');
  assert.deepEqual(again.buttons, done.buttons);
  assert.deepEqual(again.cutShort, []);
  await page.getByRole('link', { name: 'Export…' }).click();
  await pick(bench, /^Anthropic Messages \(condensed\)/);
  const copy = join(folder, 'copy.json');
  await saveAs(bench, copy);
  const saved = await until('the copy', () => JSON.parse(readFileSync(copy, 'utf8')) as { messages: unknown[] });
  assert.match(JSON.stringify(saved.messages), new RegExp(MARKER_START));

  await clickNotification(bench, 'Condensed “', 'Undo');
  await notification(bench, /^Undone\. The conversation is as it was/);
  await until('the difference and the details to close', async () => (await bench.page.locator('.tab').count()) === 0);
  await screenshot(bench, 'undone-dark');
  assert.equal(readFileSync(join(own, SESSION), 'utf8'), sample, 'the agent’s file is only read');

  await setTheme(bench, 'light');
  await runCommand(bench, CONDENSE);
  await quickInput(bench, ({ items, busy }) => !busy && items.some(({ detail }) => detail.includes('tokens')));
  await screenshot(bench, 'pick-light');
  await filter(bench, 'sticky');
  await quickInput(bench, ({ items }) => items.length === 2);
  await dismiss(bench);
  await runCommand(bench, CONDENSE);
  await pick(bench, SAMPLE_TITLE);
  await notification(bench, 'Condensed “');
  await screenshot(bench, 'summary-light');
};

/**
 * Tests that a marker in the diff is a link: hovering shows the first lines, and following it shows
 * the whole original.
 */
const opensTheOriginalOfAMarker: SharedScenario = async (bench) => {
  homeWith(bench, { [SESSION]: freshSample() });
  await condense(bench, SAMPLE_TITLE);
  await notification(bench, 'Condensed “');
  await clickNotification(bench, 'Condensed “', 'Show Diff');
  await diffEditor(bench);
  // The search finds a marker, because the first change is often only a line number.
  await bench.page.keyboard.press('Control+f');
  await bench.page.keyboard.type(MARKER_START);
  await bench.page.keyboard.press('Enter');
  await bench.page.keyboard.press('Escape');
  const link = bench.page.locator('.editor.modified .detected-link', { hasText: MARKER_START }).first();
  await until('a marker that is a link', async () => (await link.count()) > 0);
  await link.hover({ position: { x: 30, y: 5 } });
  // The link's tooltip also contains “Open Original”, so the text that follows is matched, too.
  const hover = bench.page.locator('.monaco-hover:visible', { hasText: /Open Original\s+\d+\s+lines/ }).first();
  await hover.waitFor();
  assert.match(await hover.innerText(), /\bimport\b/);
  await screenshot(bench, 'original-hover-dark', true);
  await link.click({ modifiers: ['Control'], position: { x: 30, y: 5 } });
  const tab = bench.page.locator('.tab.active', { hasText: /^[0-9a-f]{6,}\.txt/ });
  await tab.waitFor();
  await screenshot(bench, 'original-dark');
  assert.doesNotMatch(await bench.page.locator('.editor-instance .view-lines').first().innerText(), /is not available/);
};

const saysWhenThereIsNothingToGain: SharedScenario = async (bench) => {
  const tasks = '.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks';
  homeWith(bench, { [`${tasks}/t1/api_conversation_history.json`]: ROO });
  await condense(bench, /sticky/);
  const said = await notification(bench, 'Nothing was condensed');
  assert.deepEqual(said.buttons, ['Use Truncation', 'Details']);
  await screenshot(bench, 'nothing-dark');
};

/** This scenario must run first, because it needs a window in which nothing was condensed yet. */
const cancelsInTheMiddle: SharedScenario = async (bench) => {
  // The conversation is long and has many reads, so that there is time to click during the run.
  const lines = [
    { role: 'user', content: 'Look at everything' },
    ...Array.from({ length: 3_000 }, (_, index) => exchange(index)).flat(),
  ];
  homeWith(bench);
  writeFileSync(join(bench.folder ?? '', 'large.json'), JSON.stringify(lines));
  await runCommand(bench, CONDENSE);
  await pick(bench, /Open file…/);
  await pick(bench, 'large.json');
  const working = await notification(bench, 'Condensing “large.json”');
  assert.equal(working.busy, true);
  await clickNotification(bench, 'Condensing “large.json”', 'Cancel');
  await until('the word that it was cancelled', () =>
    bench.server.outputText('Context Condenser').includes('Canceled. Nothing was condensed.'),
  );
  assert.equal(await offersCommand(bench, 'Context Condenser: Undo the Last Condensation'), false);
};

function exchange(index: number): unknown[] {
  const id = `toolu_${index}`;
  const text = Array.from(
    { length: 200 },
    (_, line) => `${line}: value ${index * 7919 + line * 104_729} of ${index}`,
  ).join('\n');
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Read', input: { file_path: `/p/${index}.txt` } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
  ];
}

const tellsWhatIsWrongWithABrokenFile: SharedScenario = async (bench) => {
  const sample = freshSample();
  // All lines are damaged, because a single damaged line would be skipped.
  const broken = sample.replaceAll(/^.*$/gm, (line) => line.slice(0, 50));
  const own = homeWith(bench, { [SESSION]: broken });
  await condense(bench, new RegExp(basename(SESSION)));
  const said = await notification(bench, 'Nothing was condensed');
  assert.equal(said.severity, 'error');
  assert.match(said.text, new RegExp(`${basename(SESSION)}:1: found .*; expected `));
  assert.deepEqual(said.buttons, ['Retry', 'Details']);
  await screenshot(bench, 'broken-dark');
  await setTheme(bench, 'light');
  await screenshot(bench, 'broken-light');
  writeFileSync(join(own, SESSION), sample);
  const logged = bench.server.outputText('Context Condenser').length;
  await clickNotification(bench, 'Nothing was condensed', 'Retry');
  // On a busy machine, the notification may be gone already, but the log keeps its text.
  await until('the condensation', () =>
    bench.server.outputText('Context Condenser').slice(logged).includes('Context condensed using'),
  );
};

/**
 * After the palette closes, a focused panel may take the focus away from the list that the command
 * has opened.
 */
const filtersTheListByTypingOverAPanel: SharedScenario = async (bench, bed) => {
  const { page } = bench;
  const roo = '.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/t1/api_conversation_history.json';
  homeWith(bench, { [SESSION]: freshSample(), [roo]: ROO });
  const { panel } = await openPanel(bench);
  const frame = await panel();
  for (const time of [1, 2, 3]) {
    await frame.getByRole('searchbox').first().click();
    await page.keyboard.press('F1');
    await page.locator('.quick-input-widget:visible').waitFor();
    await page.keyboard.type(CONDENSE);
    await page.locator('.quick-input-list-row .label-name', { hasText: CONDENSE }).first().waitFor();
    await page.keyboard.press('Enter');
    await quickInput(
      bench,
      ({ title, items, busy }) =>
        title === 'Condense Context Now' &&
        !busy &&
        items.length === 3 &&
        items.some(({ label }) => label.includes('sticky')),
    );
    await page.keyboard.type('sticky');
    const typed = await quickInput(
      bench,
      ({ value, items }) => value.endsWith('sticky') && items[0]?.label.includes('sticky') === true,
      'what was typed to be found',
      5_000,
    );
    bed.report(`typed, time ${time}: ${typed.value}`);
    await dismiss(bench);
  }
};

/** Steps of the walkthrough, each with the heading of its page. */
const WALKTHROUGH = [
  ['Choose a provider', 'Ways to condense'],
  ['Choose a model for the chat', 'A condensed model next to the others'],
  ['Condense automatically', 'What happens in a long task'],
] as const;

const walksThrough: SharedScenario = async (bench) => {
  homeWith(bench);
  await runCommand(bench, 'Welcome: Open Walkthrough...');
  // The button is found by its class, because the step's heading is also a button with that name.
  const button = bench.page.locator('.monaco-button', { hasText: 'Condense the Newest' });
  const choice = bench.page.locator('.quick-input-list-row', { hasText: 'Get started with Context Condenser' });
  // VS Code asks which walkthrough to open, or opens this one directly if the others were shown
  // before.
  await until('the walkthrough', async () => {
    if ((await button.count()) > 0) return true;
    if ((await choice.count()) > 0) await choice.first().click({ timeout: 2_000 });
    return false;
  });
  await screenshot(bench, 'walkthrough-dark');
  for (const [index, [step, heading]] of WALKTHROUGH.entries()) {
    await bench.page.locator('.getting-started-step .step-title', { hasText: step }).first().click();
    await until(`the page of "${step}"`, async () => {
      const shown = await Promise.all(bench.page.frames().map((frame) => frame.locator('h2').allTextContents()));
      return shown.flat().includes(heading);
    });
    await screenshot(bench, `walkthrough-${index + 1}-dark`);
  }
  await bench.page.locator('.getting-started-step .step-title', { hasText: 'Condense a conversation' }).first().click();
  // The home folder has no agent's conversation, so the sample is condensed.
  await button.first().click();
  await notification(bench, /^No agent’s conversation was found on this machine\. Condensed the sample with/);
  await setTheme(bench, 'light');
  await screenshot(bench, 'walkthrough-light');
};

export const condensing: SharedScenarios = {
  open: plainWindow,
  scenarios: {
    cancelsInTheMiddle,
    condensesATranscriptShowsTheDiffSavesAndUndoes,
    opensTheOriginalOfAMarker,
    saysWhenThereIsNothingToGain,
    tellsWhatIsWrongWithABrokenFile,
    filtersTheListByTypingOverAPanel,
    walksThrough,
  },
};
