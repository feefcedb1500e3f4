/** Every section in every theme, wide, and in two of them narrow (in the long lane in all): judged by axe-core, and kept as pictures to be looked at. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { root } from '../../../scripts/vscode.mjs';
import type { Bed, Scenario } from '../bed';
import { axe, openPanel, sections, showSection, violations, type OpenedPanel } from '../panelPage';
import { panelSettings } from '../panelSettings';
import { notification, pick, quickInput, runCommand, screenshot, setTheme, until } from '../workbench/index';

const settings = {
  ...panelSettings.settings,
  // A window as narrow as the panel has no room for what stands beside it.
  'workbench.activityBar.location': 'hidden',
  'workbench.statusBar.visible': false,
};

/** The panel in a window of this width, with one condensation in its history. */
async function open(bed: Bed, width: number): Promise<OpenedPanel> {
  const sample = readFileSync(join(root, 'sample', 'conversation.jsonl'), 'utf8');
  const bench = await bed.open({
    folder: bed.folder({ 'readme.txt': 'A workspace.' }),
    home: bed.folder({ '.claude/projects/-home-me-notes/sample.jsonl': sample }),
    size: { width, height: 1600 },
    machineSettings: panelSettings.machineSettings,
    settings,
  });
  await runCommand(bench, 'Context Condenser: Condense Context Now');
  await quickInput(bench, ({ items }) => items.some(({ detail }) => / tokens · /.test(detail)));
  await pick(bench, /tags/i);
  await notification(bench, 'Context condensed using');
  await runCommand(bench, 'Notifications: Clear All Notifications');
  await runCommand(bench, 'View: Close All Editors');
  if (width < 800) await runCommand(bench, 'View: Close Primary Side Bar');
  return openPanel(bench);
}

/** The pictures of the account, which are there once a person asks for them. */
async function addUp(frame: Frame): Promise<void> {
  const pictures = frame.locator('#account svg');
  if ((await pictures.count()) > 0) return;
  await frame.locator('#account vscode-button', { hasText: 'Add Up' }).click();
  await until('the account', async () => (await pictures.count()) > 0);
}

const THEMES = ['dark', 'light', 'high contrast', 'high contrast light'] as const;

const looks =
  (width: number, themes: readonly (typeof THEMES)[number][] = THEMES) =>
  async (bed: Bed): Promise<void> => {
    const { bench, panel } = await open(bed, width);
    const wrong: string[] = [];
    for (const theme of themes) {
      await setTheme(bench, theme);
      const frame = await panel();
      await frame.evaluate(axe());
      for (const id of await sections(frame)) {
        await showSection(frame, id);
        if (id === 'account') await addUp(frame);
        await until(`${id} to be read`, async () => (await frame.locator(`#${id} .progress`).count()) === 0);
        wrong.push(...(await violations(frame)).map((violation) => `${theme}, ${id}: ${violation}`));
        await screenshot(bench, `panel-${id}-${theme.replaceAll(' ', '-')}-${width}`);
      }
    }
    assert.deepEqual(wrong, []);
    const reports = bench.errors.filter((text) => /Content Security Policy|context-condenser/i.test(text));
    assert.deepEqual(reports, []);
  };

export const isAccessibleInEveryThemeWide: Scenario = looks(1400);
/** A theme has no say in what fits, nor a width in colours: one of each kind tells both. */
export const isAccessibleNarrow: Scenario = looks(320, ['dark', 'high contrast light']);
export const isAccessibleInEveryThemeNarrow: Scenario = Object.assign(looks(320), { lane: 'long' as const });
