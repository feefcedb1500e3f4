/**
 * Checks every section in every theme with axe-core and takes screenshots: two themes wide and two
 * narrow, and all combinations in `npm run test:long`.
 */
import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import type { Scenario, SharedScenarios, SharedScenario } from '../bed';
import { freshSample, homeWith, SESSION } from '../home';
import { readAxeScript, openPanel, listSections, showSection, findViolations, type OpenedPanel } from '../panelPage';
import { panelSettings } from '../panelSettings';
import { panelWindow } from '../windows';
import {
  closeParts,
  notification,
  pick,
  quickInput,
  runCommand,
  screenshot,
  setTheme,
  until,
  useSettings,
  type Workbench,
} from '../workbench/index';

const settings = {
  ...panelSettings,
  // In a narrow window, the panel needs all the width.
  'workbench.activityBar.location': 'hidden',
  'workbench.statusBar.visible': false,
};

/** Opens the panel at this width, with one condensation in its history. */
async function open(bench: Workbench, width: number): Promise<OpenedPanel> {
  homeWith(bench, { [SESSION]: freshSample() });
  await useSettings(bench, settings);
  await bench.page.setViewportSize({ width, height: 1600 });
  await runCommand(bench, 'Context Condenser: Condense Context Now');
  await quickInput(bench, ({ items }) => items.some(({ detail }) => / tokens in messages · /.test(detail)));
  await pick(bench, /tags/i);
  await notification(bench, 'Condensed “');
  await closeParts(bench, 'notifications', 'editors', ...(width < 800 ? (['sideBar'] as const) : []));
  return openPanel(bench);
}

/** Shows the account's charts, which appear only on request. */
async function addUp(frame: Frame): Promise<void> {
  const pictures = frame.locator('#account svg');
  if ((await pictures.count()) > 0) return;
  await frame.locator('#account vscode-button', { hasText: 'Analyze' }).click();
  await until('the account', async () => (await pictures.count()) > 0);
}

const THEMES = ['dark', 'light', 'high contrast', 'high contrast light'] as const;

const looks =
  (width: number, themes: readonly (typeof THEMES)[number][] = THEMES): SharedScenario =>
  async (bench) => {
    const { panel } = await open(bench, width);
    const wrong: string[] = [];
    for (const theme of themes) {
      await setTheme(bench, theme);
      const frame = await panel();
      await frame.evaluate(readAxeScript());
      for (const id of await listSections(frame)) {
        await showSection(frame, id);
        if (id === 'account') await addUp(frame);
        await until(`${id} to be read`, async () => (await frame.locator(`#${id} .progress`).count()) === 0);
        wrong.push(
          ...(await findViolations(frame, theme === themes[0] ? 'all' : 'colours')).map(
            (violation) => `${theme}, ${id}: ${violation}`,
          ),
        );
        await screenshot(bench, `panel-${id}-${theme.replaceAll(' ', '-')}-${width}`);
      }
    }
    assert.deepEqual(wrong, []);
    const reports = bench.errors.filter((text) => /Content Security Policy|context-condenser/i.test(text));
    assert.deepEqual(reports, []);
  };

export const panelLooks: SharedScenarios = {
  open: panelWindow,
  scenarios: {
    // Two themes per width are enough, because themes don't affect the layout, and the width
    // doesn't affect colors.
    isAccessibleWide: looks(1400, ['dark', 'high contrast light']),
    isAccessibleNarrow: looks(320, ['light', 'high contrast']),
  },
  seconds: 120,
};

const inEveryTheme: Scenario = async (bed) => {
  const bench = await panelWindow(bed);
  await looks(1400)(bench, bed);
  await looks(320)(bench, bed);
};
export const isAccessibleInEveryTheme: Scenario = Object.assign(inEveryTheme, { lane: 'long' as const });
