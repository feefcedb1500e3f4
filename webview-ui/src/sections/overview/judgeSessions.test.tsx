import { beforeEach, expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
import { fake, workspace } from '../../../../test/support/vscode';
import { openPage, type PageOptions } from '../../testing';

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const point = (way: string, left: number, lost: number, target?: number) => ({
  way,
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
  ways: [
    { id: 'current', name: 'Truncation', provider: 'truncation', config: {} },
    { id: 'file-aware', name: 'File-Aware', provider: 'smart', config: 'file-aware' },
  ],
  points: [point('current', 0.4, 0.6), point('file-aware', 0.35, 0.2, 0.35)],
  verdict: {
    kind: 'change',
    way: 'file-aware',
    target: 0.35,
    difference: { share: -0.4, low: -0.5, high: -0.3 },
  },
} as const;

it('judges by stored conversations, and shows verdict, curve and figures', async () => {
  const judgeStored = vi.fn(() => Promise.resolve(JUDGED));
  const page = await openPage({ backend: { judgeStored } });
  await page.click(() => page.find('button', 'Compare on my conversations'));
  await page.click(() => page.find('vscode-button', /^Compare$/m));
  await page.until(() => page.root.textContent.includes('With a target of 35%, '));
  expect(page.root.textContent).toContain('12 conversations were read; in 9 of them, edits needed 300 lines');
  expect(page.all('.chart-line')).toHaveLength(2);
  expect(page.root.textContent).toContain('Truncation (current)');
});

const FIT = { learnt: { sessions: 5, lines: 80 }, judged: { sessions: 6, lines: 90 } };
const LOSSES = {
  own: { share: 0.1, low: 0.05, high: 0.15 },
  shipped: { share: 0.2, low: 0.15, high: 0.25 },
  difference: { share: -0.1, low: -0.15, high: -0.05 },
};
const PRESET = { id: 'file-aware', name: 'Mine', description: '', config: { version: 1, weights: { tests: 1.5 } } };

/** The panel, after the conversations were judged, with the answers to fits. */
async function judgedPage(fits: readonly unknown[], view: NonNullable<PageOptions['view']> = {}) {
  const fitStored = vi.fn();
  for (const fit of fits) fitStored.mockResolvedValueOnce(fit);
  const page = await openPage({ view, backend: { judgeStored: () => Promise.resolve(JUDGED), fitStored } });
  await page.click(() => page.find('button', 'Compare on my conversations'));
  await page.click(() => page.find('vscode-button', /^Compare$/m));
  const fit = () => page.click(() => page.find('vscode-button', 'Fit File-Aware to my conversations'));
  return { page, fit, fitStored };
}

it('fits weights only where that is asked for, and saves them as a preset only where that is asked for, too', async () => {
  const { page, fit, fitStored } = await judgedPage([{ ...FIT, verdict: { kind: 'pays', ...LOSSES, preset: PRESET } }]);
  await page.until(() => page.find('vscode-button', 'Fit File-Aware to my conversations'));
  expect(fitStored).not.toHaveBeenCalled();
  await fit();
  await page.until(() => page.root.textContent.includes('Yours are better.'));
  expect(page.root.textContent).toContain(
    'On the 6 conversations that were held out, your own weights lose 10% of the needed lines and the built-in weights 20%: a difference of -10 points (95%: -15 to -5).',
  );
  expect(fake.settings['contextCondenser.presets']).toBeUndefined();
  await page.click(() => page.find('vscode-button', 'Save as a preset'));
  await page.until(() => page.root.textContent.includes('The preset "file-aware-2" was saved.'));
  expect(fake.settings['contextCondenser.presets']).toEqual([{ ...PRESET, id: 'file-aware-2' }]);
});

it('saves them beside the user’s own presets, also from the view on a workspace', async () => {
  workspace.workspaceFolders = [];
  workspace.name = 'demo';
  const own = { ...PRESET, id: 'own', name: 'Own' };
  fake.settings['contextCondenser.presets'] = [own];
  const { page, fit } = await judgedPage([{ ...FIT, verdict: { kind: 'pays', ...LOSSES, preset: PRESET } }], {
    scope: 'workspace',
  });
  await fit();
  await page.click(() => page.find('vscode-button', 'Save as a preset'));
  await page.until(() => page.root.textContent.includes('The preset "file-aware-2" was saved.'));
  expect(fake.settings['contextCondenser.presets']).toEqual([own, { ...PRESET, id: 'file-aware-2' }]);
  expect(fake.workspaceSettings['contextCondenser.presets']).toBeUndefined();
});

it('offers nothing where weights do not pay, or there is too little', async () => {
  const { page, fit } = await judgedPage([
    { ...FIT, verdict: { kind: 'too-little' } },
    { ...FIT, verdict: { kind: 'keep', ...LOSSES } },
  ]);
  await fit();
  await page.until(() => page.root.textContent.includes('one half has 5 conversations, the other 6'));
  await fit();
  await page.until(() => page.root.textContent.includes('The difference is not significant, so nothing is offered.'));
  expect(page.all('vscode-button').map(({ textContent }) => textContent.trim())).not.toContain('Save as a preset');
});

it('shows nothing where it was cancelled, and can be asked again', async () => {
  const judgeStored = vi.fn(() => Promise.reject(new vscode.CancellationError()));
  const page = await openPage({ backend: { judgeStored } });
  await page.click(() => page.find('button', 'Compare on my conversations'));
  await page.click(() => page.find('vscode-button', /^Compare$/m));
  await page.until(() => judgeStored.mock.calls.length === 1);
  await page.click(() => page.find('vscode-button', /^Compare$/m));
  await page.until(() => judgeStored.mock.calls.length === 2);
  expect(page.all('.chart-line')).toHaveLength(0);
});
