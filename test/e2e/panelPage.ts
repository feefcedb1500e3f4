/** The settings panel in an end-to-end scenario: opened, unfolded, driven by keys, judged by axe-core. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import type { Workbench } from './workbench/index';
import { runCommand, until, webview } from './workbench/index';

export interface OpenedPanel {
  readonly bench: Workbench;
  /** The panel's own document. */
  readonly panel: () => Promise<Frame>;
}

/** Opens the panel with its command. */
export async function openPanel(bench: Workbench): Promise<OpenedPanel> {
  await runCommand(bench, 'Context Condenser: Open Settings');
  return { bench, panel: () => webview(bench, '.main') };
}

/** "Developer: Reload Window", which lets VS Code keep what is open; gives the panel as it comes back. */
export async function reloaded({ bench, panel }: OpenedPanel, before: Frame): Promise<Frame> {
  await runCommand(bench, 'Developer: Reload Window');
  await until('the window to reload', () => before.isDetached());
  return panel();
}

export interface UserSettings {
  readonly [name: string]: unknown;
  readonly 'contextCondenser.smart'?: { readonly passes: readonly { readonly name: string }[] } | string;
}

/** The user's settings as they stand on disk; VS Code keeps those of the machine in a file of their own. */
export function onDisk({ server }: Workbench): UserSettings {
  const files = ['User', 'Machine'].map((folder) => join(server.data, folder, 'settings.json')).filter(existsSync);
  return Object.assign(
    {},
    ...files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as UserSettings),
  ) as UserSettings;
}

export const saved = (bench: Workbench, what: string, is: (settings: UserSettings) => boolean): Promise<unknown> =>
  until(`${what} in settings.json`, () => is(onDisk(bench)));

/** The names of the passes in settings.json, in their order. */
export function passNames(bench: Workbench): string {
  const smart = onDisk(bench)['contextCondenser.smart'];
  return typeof smart === 'object' ? smart.passes.map(({ name }) => name).join(', ') : '';
}

/** Unfolds exactly these sections. */
export async function unfold(frame: Frame, ids: readonly string[]): Promise<void> {
  for (const section of await frame.locator('.section').all()) {
    const toggle = section.locator('.section-toggle');
    const isOpen = (await toggle.getAttribute('aria-expanded')) === 'true';
    if (isOpen !== ids.includes((await section.getAttribute('id')) ?? '')) await toggle.click();
  }
}

export const sections = (frame: Frame): Promise<string[]> =>
  frame.locator('.section').evaluateAll((found) => found.map((section) => section.id));

/** axe-core's rules, in the page; it lies beside the runner's own packages. */
export const axe = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe-core finds wrong, once {@link axe} was evaluated in the page. */
export async function violations(frame: Frame): Promise<string[]> {
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
export async function showSection(frame: Frame, id: string): Promise<void> {
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

/** What has the keyboard's focus in the panel. */
interface Focused {
  /** The accessible name, as the panel gives it. */
  readonly name: string;
  /** The id of the setting around it. */
  readonly setting: string;
  /** The section around it. */
  readonly section: string;
  /** In the entry of a preset of the user's own. */
  readonly isOwnPreset: boolean;
  readonly isOutlined: boolean;
}

/** Runs in the page: the toolkit's elements have their field, and its outline, in a shadow root. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const inner = element.shadowRoot?.activeElement;
  const shown = (one) => {
    const style = one && getComputedStyle(one);
    return Boolean(style) && (style.outlineStyle !== 'none' || style.borderTopStyle !== 'none' || style.boxShadow !== 'none');
  };
  return {
    // The body: nothing in the page has the focus.
    name: element === document.body ? '' : (element.getAttribute('aria-label') || element.textContent || '').trim(),
    setting: element.closest('[data-setting]')?.getAttribute('data-setting') ?? '',
    section: element.closest('.section')?.id ?? '',
    isOwnPreset: element.closest('.item')?.textContent.includes('yours') ?? false,
    isOutlined: shown(element) || shown(inner) || shown(inner?.closest('.root')),
  };
})()`;

/** Stops on the way that a person would not go. */
const MOST_STOPS = 200;

/**
 * Presses Tab until something has the focus; each stop on the way must be seen.
 * @param wanted the accessible name, or what it is by its place.
 */
export async function tabTo(
  bench: Workbench,
  frame: Frame,
  wanted: string | ((focused: Focused) => boolean),
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  const seen: string[] = [];
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    // It may be there already.
    if (stop > 0) await bench.page.keyboard.press(key);
    const now = await frame.evaluate<Focused>(FOCUSED);
    if (now.name !== '' && !now.isOutlined) throw new Error(`the focus can't be seen on "${now.name}"`);
    if (typeof wanted === 'string' ? now.name === wanted : wanted(now)) return;
    seen.push(now.name.slice(0, 40));
  }
  throw new Error(`no way by ${key} to ${String(wanted)}: ${seen.join(' | ')}`);
}
