/** Opens and unfolds the settings panel, and checks it with axe-core. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Frame } from 'playwright-core';
import { runInHelper, readSettingsFromDisk } from './workbench/helper';
import type { Workbench } from './workbench/index';
import { runCommand, until, webview } from './workbench/index';

export interface OpenedPanel {
  readonly bench: Workbench;
  readonly panel: () => Promise<Frame>;
}

/** Opens the panel by its command, as a user does; `panel` then finds its frame. */
export async function openPanel(bench: Workbench): Promise<OpenedPanel> {
  await runInHelper(bench, { commands: [['contextCondenser.openSettings']] });
  return { bench, panel: () => webview(bench, '.main') };
}

/**
 * Runs “Developer: Reload Window”.
 * @returns the restored panel
 */
export async function reloadPanel({ bench, panel }: OpenedPanel, before: Frame): Promise<Frame> {
  await runCommand(bench, 'Developer: Reload Window');
  await until('the window to reload', () => before.isDetached());
  return panel();
}

export interface UserSettings {
  readonly [name: string]: unknown;
  readonly 'contextCondenser.smart'?: { readonly passes: readonly { readonly name: string }[] } | string;
}

/** Reads the user's settings from disk. */
export const readUserSettings = ({ server }: Workbench): UserSettings => readSettingsFromDisk(server);

export const waitForSettings = (
  bench: Workbench,
  what: string,
  is: (settings: UserSettings) => boolean,
): Promise<unknown> => until(`${what} in settings.json`, () => is(readUserSettings(bench)));

/** Lists the names of the passes in settings.json, in their order. */
export function passNames(bench: Workbench): string {
  const smart = readUserSettings(bench)['contextCondenser.smart'];
  return typeof smart === 'object' ? smart.passes.map(({ name }) => name).join(', ') : '';
}

/**
 * Unfolds exactly these sections in the page itself, because no scenario tests unfolding this way.
 */
export const unfold = (frame: Frame, ids: readonly string[]): Promise<void> =>
  frame.locator('.section-toggle').evaluateAll(async (toggles, ids) => {
    for (const toggle of toggles) {
      const isOpen = toggle.getAttribute('aria-expanded') === 'true';
      const isWanted = ids.includes(toggle.closest('.section')?.id ?? '');
      if (isOpen === isWanted) continue;
      toggle.dispatchEvent(new Event('click', { bubbles: true }));
      // The pause lets the page update before the next click.
      await new Promise((resolve) => setTimeout(resolve));
    }
  }, ids);

/** Drags a pass to the top by its handle. */
export async function dragToTop(
  { page: { mouse } }: Workbench,
  frame: Frame,
  name: string,
  count: number,
): Promise<void> {
  await frame.locator('.pass').first().scrollIntoViewIfNeeded();
  const from = await frame.getByRole('button', { name: `Move ${name}`, exact: true }).boundingBox();
  const to = await frame.locator('.pass').first().boundingBox();
  assert.ok(from && to);
  await mouse.move(from.x + 8, from.y + 8);
  await mouse.down();
  await mouse.move(from.x + 10, from.y - 4, { steps: 4 });
  await mouse.move(from.x + 10, to.y + 4, { steps: 12 });
  await frame.getByText(`${name}, position 1 of ${count}.`).waitFor({ state: 'attached' });
  await mouse.up();
}

/**
 * Waits until a pass that was picked up by keyboard accepts keys. The KeyboardSensor of dnd-kit
 * starts to listen in a timer after its announcement (`attach` in @dnd-kit/core), and earlier keys
 * are lost.
 */
export async function waitForPickUp(frame: Frame, words: string): Promise<void> {
  await frame.getByText(words).waitFor({ state: 'attached' });
  // Timers with equal delays run in the order in which they were set.
  await frame.evaluate('new Promise((resolve) => { setTimeout(resolve); })');
}

export const listSections = (frame: Frame): Promise<string[]> =>
  frame.locator('.section').evaluateAll((found) => found.map((section) => section.id));

/** Returns the code of axe-core, which runs in the page. */
export const readAxeScript = (): string =>
  readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * Lists the violations that axe-core finds, once {@link readAxeScript} was evaluated in the page.
 * @param what `colours` checks only rules that depend on the theme; for the same page, the others
 *   were checked in a first theme.
 */
export async function findViolations(frame: Frame, what: 'all' | 'colours' = 'all'): Promise<string[]> {
  const only = what === 'all' ? '' : `, runOnly: ['color-contrast', 'link-in-text-block']`;
  let found: readonly Violation[] = [];
  const isClean = async (): Promise<boolean> => {
    found = await frame.evaluate<Violation[]>(
      `axe.run(document, { resultTypes: ['violations']${only} }).then(({ violations }) => violations)`,
    );
    return found.length === 0;
  };
  // Components get a new theme's colors slightly later than the page.
  await until('no violations', isClean, 5_000).catch(() => undefined);
  return found.map(({ id, nodes }) =>
    nodes
      .slice(0, 3)
      .map(({ html, failureSummary = '' }) => `${id} (${nodes.length}): ${html.slice(0, 160)} ${failureSummary}`)
      .join('\n'),
  );
}

/** Unfolds only this section, with everything in it. */
export async function showSection(frame: Frame, id: string): Promise<void> {
  await unfold(frame, [id]);
  // The section may still be loading its content.
  await frame.locator(`#${id} .section-content > *`).filter({ visible: true }).first().waitFor();
  await until(`${id} to be read`, async () => (await frame.locator(`#${id} .progress`).count()) === 0);
  // The coherence report, which can be unfolded, appears after the strip.
  if (id === 'preview') await frame.locator('#preview .coherence .disclosure').waitFor();
  // The account is computed only on request.
  if (id === 'account') {
    await frame.locator('#account vscode-button', { hasText: 'Analyze' }).click();
    await frame.locator('#account table').first().waitFor();
  }
  const folded = frame.locator(`#${id} .disclosure[aria-expanded="false"]`);
  if (id !== 'smart')
    // Unfolded content may contain more to unfold.
    for (let left = await folded.count(); left > 0; left = await folded.count())
      await folded.evaluateAll((found) => {
        for (const each of found) each.dispatchEvent(new Event('click', { bubbles: true }));
      });
  await frame.locator(`#${id}`).evaluate((section) => {
    section.scrollIntoView();
  });
}
