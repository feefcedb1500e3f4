import { readFileSync } from 'node:fs';
import { beforeEach, expect, it, vi } from 'vitest';
import { fake, workspace } from '../../../../test/support/vscode';
import { openPage } from '../../testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const point = (choice: string, left: number, lost: number, target?: number) => ({
  choice,
  left,
  gone: 0,
  lost: { share: lost, low: lost - 0.05, high: lost + 0.05 },
  ...(target !== undefined && { target }),
});

const JUDGED = {
  read: 12,
  others: 1,
  sessions: 9,
  lines: 300,
  isOther: false,
  choices: [
    { id: 'current', name: 'Truncation', provider: 'truncation', config: {} },
    { id: 'file-aware', name: 'File-Aware', provider: 'smart', config: 'file-aware' },
  ],
  points: [point('current', 0.4, 0.6), point('file-aware', 0.35, 0.2, 0.35)],
  verdict: {
    kind: 'change',
    choice: 'file-aware',
    target: 0.35,
    difference: { share: -0.4, low: -0.5, high: -0.3 },
  },
} as const;

it('evaluating stored conversations shows verdict, curve and figures', async () => {
  const judgeStored = vi.fn(() => Promise.resolve(JUDGED));
  const page = await openPage({ backend: { judgeStored }, view: { open: ['comparison'] } });
  await page.click(() => page.find('vscode-button', 'Compare on my conversations'));
  await page.until(() => page.root.textContent.includes('With a target of 35%, '));
  expect(page.root.textContent).toContain(
    '12 conversations were read; in 9 of them, later edits used 300 lines from the condensed part',
  );
  expect(page.all('polyline.chart-line')).toHaveLength(2);
  expect(page.root.textContent).toContain('Truncation (current)');
});

it('the lines in the curve that compares configurations differ in color and dashes, and the legend shows both', async () => {
  const page = await openPage({
    backend: { judgeStored: () => Promise.resolve(JUDGED) },
    view: { open: ['comparison'] },
  });
  await page.click(() => page.find('vscode-button', 'Compare on my conversations'));
  await page.until(() => page.all('polyline.chart-line').length === 2);
  const looks = (selector: string): string[] =>
    page.all(selector).map((line) => `${line.getAttribute('class')} ${line.getAttribute('stroke-dasharray')}`);
  const lines = looks('polyline.chart-line');
  expect(new Set(lines).size).toBe(2);
  expect(looks('.chart-legend line')).toEqual(lines);
  const css = readFileSync('webview-ui/src/styles/history.css', 'utf8');
  const colors = lines.map((look) => new RegExp(`\\.${look.split(' ')[1]} \\{([^}]+)`).exec(css)?.[1]);
  expect(colors.every((color) => color?.includes('--line-color'))).toBe(true);
  expect(new Set(colors).size).toBe(2);
});

it('the curve that compares configurations joins only the points with a target', async () => {
  const points = [point('current', 0.7, 0.1, 0.7), point('current', 0.6, 0.5), point('current', 0.5, 0.3, 0.5)].map(
    ({ lost, ...rest }) => ({ ...rest, lost, lostShare: lost.share }),
  );
  const page = await openPage({
    backend: { judgeStored: () => Promise.resolve({ ...JUDGED, points }) },
    view: { open: ['comparison'] },
  });
  await page.click(() => page.find('vscode-button', 'Compare on my conversations'));
  await page.until(() => page.all('circle.chart-point').length === 3);
  expect(page.find('polyline.chart-line').getAttribute('points')).toBe('120.0,16.0 200.0,48.0');
});

it('the comparison of configurations shows its progress in its section, and can be canceled and started again', async () => {
  let round = 0;
  const judgeStored = vi.fn(
    (_services: unknown, signal: AbortSignal, report: (done: number, of: number) => void) =>
      new Promise((resolve, reject) => {
        report(1, 36);
        if (round++ > 0) resolve(JUDGED);
        signal.addEventListener('abort', () => {
          reject(new Error('canceled'));
        });
      }),
  );
  const page = await openPage({ backend: { judgeStored }, view: { open: ['comparison'] } });
  const start = (): HTMLElement => page.find('vscode-button', 'Compare on my conversations');
  await page.click(start);
  await page.until(() => page.find('#comparison [role="status"]', 'Comparing on your conversations: 1 of 36'));
  await page.click(() => page.find('#comparison vscode-button', 'Cancel'));
  await page.until(start);
  expect(judgeStored.mock.calls[0]?.[1].aborted).toBe(true);
  expect(page.all('.chart-line')).toHaveLength(0);
  expect(page.all('#comparison .problem')).toEqual([]);
  await page.click(start);
  await page.until(() => page.all('.chart-line').length > 0);
});
