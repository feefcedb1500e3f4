import { beforeEach, expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
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
  expect(page.root.textContent).toContain('12 conversations were read; in 9 of them, edits needed 300 lines');
  expect(page.all('polyline.chart-line')).toHaveLength(2);
  expect(page.root.textContent).toContain('Truncation (current)');
});

it('a cancelled evaluation shows nothing and can be started again', async () => {
  const judgeStored = vi.fn(() => Promise.reject(new vscode.CancellationError()));
  const page = await openPage({ backend: { judgeStored }, view: { open: ['comparison'] } });
  await page.click(() => page.find('vscode-button', 'Compare on my conversations'));
  await page.until(() => judgeStored.mock.calls.length === 1);
  await page.click(() => page.find('vscode-button', 'Compare on my conversations'));
  await page.until(() => judgeStored.mock.calls.length === 2);
  expect(page.all('.chart-line')).toHaveLength(0);
});
