import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import type { Bed, Scenario } from '../bed';
import type { ServerOptions, Workbench, WorkbenchOptions } from '../workbench/index';
import { runCommand, screenshot, screenshots, setTheme, until, webview } from '../workbench/index';

const profiles = [
  { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4-20250514', threshold: 60 },
  { id: 'local', name: 'Local', vendor: 'openai', model: 'qwen3-coder', baseUrl: 'http://127.0.0.1:11434/v1' },
];
const pass = (id: string, name: string): object => ({
  id,
  name,
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 10 },
  individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 20 } } },
});
const smart = { version: 1, passes: [pass('a', 'Old results'), pass('b', 'Cold files'), pass('c', 'The rest')] };

interface Opened {
  readonly bench: Workbench;
  /** The panel's own document. */
  readonly panel: () => Promise<Frame>;
}

async function open(bed: Bed, options: ServerOptions & WorkbenchOptions = {}): Promise<Opened> {
  const bench = await bed.open({
    folder: bed.folder({ 'readme.txt': 'A workspace.' }),
    ...options,
    settings: { 'contextCondenser.profiles': profiles, 'contextCondenser.smart': smart, ...options.settings },
  });
  await runCommand(bench, 'Context Condenser: Open Settings');
  return { bench, panel: () => webview(bench, '.main') };
}

/** "Developer: Reload Window", which lets VS Code keep what is open; gives the panel as it comes back. */
async function reloaded({ bench, panel }: Opened, before: Frame): Promise<Frame> {
  await runCommand(bench, 'Developer: Reload Window');
  await until('the window to reload', () => before.isDetached());
  return panel();
}

interface UserSettings {
  readonly [name: string]: unknown;
  readonly 'contextCondenser.smart'?: { readonly passes: readonly { readonly name: string }[] };
}

/** The user's settings as they stand on disk; VS Code keeps those of the machine in a file of their own. */
function onDisk({ server }: Workbench): UserSettings {
  const files = ['User', 'Machine'].map((folder) => join(server.data, folder, 'settings.json')).filter(existsSync);
  return Object.assign(
    {},
    ...files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as UserSettings),
  ) as UserSettings;
}
const saved = (bench: Workbench, what: string, is: (settings: UserSettings) => boolean): Promise<unknown> =>
  until(`${what} in settings.json`, () => is(onDisk(bench)));

const names = (bench: Workbench): string =>
  (onDisk(bench)['contextCondenser.smart']?.passes ?? []).map(({ name }) => name).join(', ');

/** Unfolds exactly these sections. */
async function unfold(frame: Frame, ids: readonly string[]): Promise<void> {
  for (const section of await frame.locator('.section').all()) {
    const toggle = section.locator('.section-toggle');
    const isOpen = (await toggle.getAttribute('aria-expanded')) === 'true';
    if (isOpen !== ids.includes((await section.getAttribute('id')) ?? '')) await toggle.click();
  }
}

const sections = (frame: Frame): Promise<string[]> =>
  frame.locator('.section').evaluateAll((found) => found.map((section) => section.id));

export const isUsableSoonAndFollowsSettings: Scenario = async (bed) => {
  const opened = await open(bed, { settings: { 'contextCondenser.threshold': 60 } });
  const { bench, panel } = opened;
  let frame = await panel();
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    await runCommand(bench, 'View: Close Editor');
    await until('the panel to close', () => !bench.page.frames().includes(frame) || frame.isDetached());
    await runCommand(bench, 'Context Condenser: Open Settings');
    // It comes back as soon as the command is clicked.
    const started = performance.now();
    frame = await panel();
    await frame.locator('.card').first().waitFor();
    times.push(performance.now() - started);
  }
  const median = times.toSorted((a, b) => a - b)[2] ?? 0;
  console.log(
    `     from the command to usable: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms, median ${median.toFixed(0)} ms`,
  );

  assert.match(await frame.locator('[data-setting="threshold"] output').innerText(), /^60\s?%$/);
  await frame.locator('input[value="truncation"]').click();
  await saved(bench, 'the provider', (settings) => settings['contextCondenser.provider'] === 'truncation');
  const limit = frame.locator('[data-setting="maxCostPerCondensation"] vscode-text-field');
  await limit.locator('input.control').fill('-1');
  await frame.locator('[data-setting="maxCostPerCondensation"] .problem').waitFor();
  await limit.locator('input.control').fill('0.25');
  await limit.locator('input.control').press('Enter');
  await saved(bench, 'the limit', (settings) => settings['contextCondenser.maxCostPerCondensation'] === 0.25);

  // By hand in the editor, as VS Code in the browser doesn't look at the file.
  bench.server.writeSettings({
    'contextCondenser.threshold': 42,
    'contextCondenser.truncation': { minimumTokens: 'few' },
  });
  frame = await reloaded(opened, frame);
  await until('the threshold that was written by hand', async () =>
    /^42/.test(await frame.locator('[data-setting="threshold"] output').innerText()),
  );
  await unfold(frame, ['overview', 'truncation']);
  await frame.locator('[data-setting="truncation.minimumTokens"] .problem').waitFor();
  await screenshot(bench, 'panel-broken-setting-dark');
  await unfold(frame, ['overview', 'smart']);
  frame = await reloaded(opened, frame);
  await until('the sections that were unfolded', async () => (await frame.locator('#smart .pass').count()) === 3);
};

export const passesByMouseAndByKeyboard: Scenario = async (bed) => {
  const { bench, panel } = await open(bed);
  const frame = await panel();
  await unfold(frame, ['smart']);
  const handle = (name: string) => frame.getByRole('button', { name: `Move ${name}`, exact: true });
  const last = frame.locator('.pass').nth(2);
  // By mouse: the first one below the last.
  const from = await handle('Old results').boundingBox();
  const to = await last.boundingBox();
  assert.ok(from && to);
  await bench.page.mouse.move(from.x + 8, from.y + 8);
  await bench.page.mouse.down();
  await bench.page.mouse.move(from.x + 10, from.y + 20, { steps: 4 });
  await bench.page.mouse.move(from.x + 10, to.y + to.height - 4, { steps: 12 });
  await bench.page.screenshot({ path: join(screenshots, 'panel-drag-dark.png') });
  await bench.page.mouse.up();
  await saved(bench, 'the order by mouse', () => names(bench) === 'Cold files, The rest, Old results');
  // By keyboard: back to where it was.
  await handle('Old results').focus();
  await bench.page.keyboard.press('Space');
  await frame.getByText('Old results picked up, position 3 of 3.').waitFor({ state: 'attached' });
  await bench.page.keyboard.press('ArrowUp');
  await frame.getByText('Old results, position 2 of 3.').waitFor({ state: 'attached' });
  await bench.page.keyboard.press('ArrowUp');
  await frame.getByText('Old results, position 1 of 3.').waitFor({ state: 'attached' });
  await bench.page.keyboard.press('Space');
  await saved(bench, 'the order by keyboard', () => names(bench) === 'Old results, Cold files, The rest');
  // By buttons.
  await frame.getByRole('button', { name: 'Move The rest up' }).click();
  await saved(bench, 'the order by a button', () => names(bench) === 'Old results, The rest, Cold files');
  await frame.getByRole('button', { name: 'Delete The rest' }).click();
  await saved(bench, 'the deletion', () => names(bench) === 'Old results, Cold files');
  await frame.getByRole('button', { name: 'Undo' }).click();
  await saved(bench, 'the undone deletion', () => names(bench) === 'Old results, The rest, Cold files');
  await frame.getByRole('button', { name: 'Cold files', exact: true }).click();
  const field = frame.locator('[data-setting="smart.passes.2.name"] input.control');
  await field.fill('Files gone cold');
  await field.press('Enter');
  await saved(bench, 'the new name', () => names(bench).endsWith('Files gone cold'));
};

/** axe-core's rules, in the page; it lies beside the runner's own packages. */
const axe = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

async function violations(frame: Frame): Promise<string[]> {
  const found = await frame.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) =>
    nodes
      .slice(0, 3)
      .map(({ html, failureSummary = '' }) => `${id} (${nodes.length}): ${html.slice(0, 160)} ${failureSummary}`)
      .join('\n'),
  );
}

/** A folded section shows nothing: each is unfolded alone, and everything in it. */
async function showSection(frame: Frame, id: string): Promise<void> {
  await unfold(frame, [id]);
  const folded = frame.locator(`#${id} .disclosure[aria-expanded="false"]`);
  if (id !== 'smart')
    for (let left = await folded.count(); left > 0; left = await folded.count()) await folded.first().click();
  // It reads a conversation first.
  if (id === 'preview') await frame.locator('#preview .strip .cell').first().waitFor();
  await frame.locator(`#${id}`).evaluate((section) => {
    section.scrollIntoView();
  });
}

const accessible =
  (width: number): Scenario =>
  async (bed) => {
    const { bench, panel } = await open(bed, { size: { width, height: 900 } });
    // VS Code's own frame says nothing about the panel.
    if (width < 800) await runCommand(bench, 'View: Close Primary Side Bar');
    const wrong: string[] = [];
    for (const theme of ['dark', 'light', 'high contrast', 'high contrast light'] as const) {
      await setTheme(bench, theme);
      const frame = await panel();
      await frame.evaluate(axe());
      for (const id of await sections(frame)) {
        await showSection(frame, id);
        wrong.push(...(await violations(frame)).map((violation) => `${theme}, ${id}: ${violation}`));
        await screenshot(bench, `panel-${id}-${theme.replaceAll(' ', '-')}-${width}`);
      }
    }
    assert.deepEqual(wrong, []);
    const reports = bench.errors.filter((text) => /Content Security Policy|context-condenser/i.test(text));
    assert.deepEqual(reports, []);
  };

export const isAccessibleInEveryThemeWide: Scenario = accessible(1400);
export const isAccessibleInEveryThemeNarrow: Scenario = accessible(420);
