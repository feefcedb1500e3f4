import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import type { SharedScenarios, SharedScenario } from '../bed';
import { condense, freshUser } from '../panelBuilding';
import { openPanel, listSections, showSection, unfold } from '../panelPage';
import { panelWindow } from '../windows';
import { closeParts, screenshot, until, type Workbench } from '../workbench/index';

/**
 * Runs in the page. Lists what is cut off in a section. Tables, code and other two-dimensional
 * content may scroll (WCAG 2.2, 1.4.10).
 */
const cutOff = (id: string): string => `(() => {
  const root = document.documentElement;
  const wrong = root.scrollWidth > root.clientWidth ? ['the page scrolls sideways: ' + root.scrollWidth] : [];
  const scrolls = (one) => one && one !== root && (/auto|scroll/.test(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
  for (const one of document.querySelectorAll('header.top *, .outline *, #${id} *')) {
    const { left, right, width } = one.getBoundingClientRect();
    if (width === 0 || one.closest('svg, .visually-hidden') || scrolls(one)) continue;
    const said = one.tagName + '.' + one.className + ' ' + one.textContent.trim().slice(0, 40);
    if (right > root.clientWidth + 1 || left < -1) wrong.push('outside: ' + said);
    const hides = /hidden|clip/.test(getComputedStyle(one).overflowX);
    if (hides && one.scrollWidth > one.clientWidth + 1) wrong.push('cut: ' + said);
  }
  return wrong;
})()`;

/** Expands the first pass with everything in it. */
async function openPass(frame: Frame): Promise<void> {
  const pass = frame.locator('#smart .pass').first();
  await pass.locator('.item-name').click();
  await pass.locator('.item-content .disclosure').first().click();
  await pass.locator('.item-content .disclosure[aria-expanded="true"]').waitFor();
  await pass.locator('.item-name').scrollIntoViewIfNeeded();
}

const smart = {
  version: 1,
  passes: [
    {
      id: 'a',
      name: 'Results of tools that nobody has needed for a long time',
      mode: 'individual',
      selection: { type: 'custom', filter: { contentTypes: ['toolResults'], tools: ['read_file', 'mcp__*'] } },
      individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 20 } } },
      execution: { type: 'conditional', condition: { tokenThreshold: 5000 } },
    },
    {
      id: 'b',
      name: 'The rest',
      mode: 'individual',
      selection: { type: 'preserve_percent', percentage: 30 },
      individualConfig: { defaults: { toolParameters: { operation: 'truncate', maxLines: 20 } } },
    },
  ],
};
const profiles = [{ id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4-20250514', threshold: 60 }];

const HEIGHT = 900;

/**
 * Simulates zoom by setting the number of device pixels per CSS pixel.
 * @returns a function that resets it
 */
async function zoom({ page }: Workbench, width: number, times: number): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  const metrics = { width, height: HEIGHT, deviceScaleFactor: times, mobile: false };
  await session.send('Emulation.setDeviceMetricsOverride', metrics);
  return () => session.detach();
}

/** Checks all sections, expanded, at this width. */
const nothingIsCut =
  (width: number, times: number): SharedScenario =>
  async (bench) => {
    await freshUser(bench, {
      size: { width, height: HEIGHT },
      settings: {
        'contextCondenser.provider': 'smart',
        'contextCondenser.smart': smart,
        'contextCondenser.profiles': profiles,
        // In a narrow window, the panel needs all the width.
        ...(width < 500 && { 'workbench.activityBar.location': 'hidden' }),
      },
    });
    await condense(bench);
    await closeParts(bench, 'notifications', 'editors', 'sideBar');
    const frame = await (await openPanel(bench)).panel();
    const zoomBack = await zoom(bench, width, times);
    assert.equal(await frame.evaluate('devicePixelRatio'), times);
    const wrong: string[] = [];
    for (const id of await listSections(frame)) {
      await showSection(frame, id);
      if (id === 'smart') await openPass(frame);
      wrong.push(...(await frame.evaluate<string[]>(cutOff(id))).map((what) => `${id}: ${what}`));
      await screenshot(bench, `panel-${id}-${width}-at-${times}00-percent`);
    }
    assert.deepEqual(wrong, []);
    await zoomBack();
  };

/** Narrows the window while Compare is in view, to which the user has scrolled. */
const keepsTheSectionInView: SharedScenario = async (bench) => {
  const { page } = bench;
  await page.setViewportSize({ width: 1400, height: HEIGHT });
  await closeParts(bench, 'notifications', 'editors', 'sideBar');
  const frame = await (await openPanel(bench)).panel();
  await unfold(frame, await listSections(frame));
  await until('the content', async () => (await frame.locator('#preview .progress, #history .progress').count()) === 0);
  const heading = frame.locator('#comparison .section-heading');
  await heading.evaluate((element) => {
    element.scrollIntoView({ block: 'start' });
  });
  const getTop = (): Promise<number> => heading.evaluate((element) => element.getBoundingClientRect().top);
  const before = await getTop();
  for (const width of [1000, 700, 400, 1400]) {
    await page.setViewportSize({ width, height: HEIGHT });
    await until(`the section at ${width} pixels`, async () => Math.abs((await getTop()) - before) < 60);
    await screenshot(bench, `panel-comparison-kept-${width}`);
  }
};

export const panelNarrow: SharedScenarios = {
  open: panelWindow,
  // At 200 % zoom, 1,280 pixels of the screen are 640 pixels of the page.
  scenarios: {
    cutsNothingOffAt320Pixels: nothingIsCut(320, 1),
    cutsNothingOffAtTwiceTheSize: nothingIsCut(640, 2),
    keepsTheSectionInView,
  },
};
