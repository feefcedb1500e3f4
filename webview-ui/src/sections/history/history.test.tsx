import { beforeEach, describe, expect, it } from 'vitest';
import { fake, workspace } from '../../../../test/support/vscode';
import type { TestBackend } from '../../../../src/panel/testing';
import { openPage, type TestPage } from '../../testing';

const saved = (name: string): unknown => fake.settings[`contextCondenser.${name}`];

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
});

const entry = (condensation: string, changes: object = {}): object => ({
  condensation,
  conversation: 'c1',
  title: 'Make the header sticky',
  place: 'stored',
  path: '/home/me/session.jsonl',
  at: '2026-11-20T01:00:00.000Z',
  provider: 'smart',
  preset: 'balanced',
  passes: [{ name: 'Old results', tokensBefore: 1_000, tokensAfter: 250 }],
  tokensBefore: 1_000,
  tokensAfter: 250,
  timeMs: 1_500,
  cost: 0.004,
  savedPerRequest: 0.002,
  isFallback: true,
  isInUse: true,
  state: 'shown',
  change: 'undo',
  ...changes,
});

const run = (changes: object = {}): object => ({
  at: '2026-11-20T02:00:00.000Z',
  provider: 'native',
  outcome: 'condensed',
  fallback: false,
  tokensBefore: 1_000,
  tokensAfter: 250,
  timeMs: 1_500,
  cost: 0.3,
  estimatedCost: 0.27,
  calls: [{ profile: 'Work', cost: 0.3 }],
  ...changes,
});

const shown = (history: object, backend: TestBackend = {}): Promise<TestPage> =>
  openPage({
    view: { open: ['history'] },
    backend: { readHistory: () => Promise.resolve({ entries: [], runs: [], ...history }), ...backend },
  });

const buttons = (page: TestPage): string[] =>
  page.all('#history .actions vscode-button').map(({ textContent }) => textContent);

describe('the history section', () => {
  it('says that nothing was condensed yet', async () => {
    const page = await shown({});
    await page.until(() => page.root.textContent.includes('Nothing has been condensed yet'));
    expect(buttons(page)).toEqual(['Refresh']);
  });

  it('offers to clear only the metrics if nothing was condensed, but runs were recorded', async () => {
    const page = await shown({ runs: [run({ outcome: 'failed', reason: 'No answer' })] });
    await page.until(() => page.root.textContent.includes('Runs that condensed nothing: 1'));
    expect(buttons(page)).toEqual(['Refresh', 'Clear the metrics…']);
  });

  it('names providers and strategies in words, and new results', async () => {
    const newResult = { provider: 'on-arrival', preset: undefined };
    const page = await shown({
      entries: [entry('1', newResult), entry('2', { provider: 'strategy', preset: 'pipeline' })],
    });
    await page.until(() => page.all('#history .item').length === 2);
    const tags = page.all('#history .item .tag').map(({ textContent }) => textContent);
    expect(tags.filter((text) => text !== 'fallback')).toEqual(['New results', 'Strategy · Pipeline']);
    await page.type(() => page.find('#history vscode-text-field', 'Search'), 'new results', false);
    await page.until(() => page.all('#history .item').length === 1);
  });

  it('sums up all entries and says how far back the search reaches', async () => {
    const entries = Array.from({ length: 600 }, (_, index) => entry(String(index), { title: `Task ${index}` }));
    const page = await shown({ entries });
    const figure = (name: string): string | undefined =>
      page.all('#history .figure').find(({ textContent }) => textContent.startsWith(name))?.textContent;
    await page.until(() => figure('Condensations')?.includes('600'));
    expect(figure('Tokens removed')).toContain('450,000');
    expect(figure('Saved with each later request')).toContain('$1.20');
    await page.type(() => page.find('#history vscode-text-field', 'Search'), 'task 550', false);
    await page.until(() => page.find('#history .row-note', '0 found in the newest 500'));
  });

  it('lists condensations with provider, passes, tokens, time, cost and saving', async () => {
    const page = await shown({
      entries: [entry('1')],
      runs: [run(), run({ outcome: 'failed', reason: 'no answer', tokensAfter: 1_000 })],
    });
    const item = await page.until(() => page.find('#history .item', 'Make the header sticky'));
    expect(item.textContent).toContain('1,000 → 250 tokens (−75%)');
    expect(item.textContent).toContain('Smart · Balanced');
    expect(item.textContent).toContain('fallback');
    await page.click(() => page.find('#history .item-name'));
    await page.until(() => item.textContent.includes('Old results: 1,000 → 250 tokens'));
    expect(item.textContent).toContain('Each later request costs $0.0020 less.');
    expect(item.textContent).toContain('/home/me/session.jsonl');
    expect(page.find('.figures').textContent).toContain('Failures50%');
    expect(page.find('.figures').textContent).toContain('Spent per condensation$');
    expect(page.find('.figures').textContent).toContain('Estimation error10%');
    expect(page.find('table', 'Work').textContent).toContain('750');
    await page.click(() => page.find('.disclosure', 'Runs that condensed nothing: 1'));
    await page.until(() => page.root.textContent.includes('no answer'));
  });

  it('says how often the agent read again what a reference replaced', async () => {
    const newResult = { provider: 'on-arrival', preset: undefined };
    const page = await shown({
      entries: [
        entry('1', { ...newResult, title: 'Never' }),
        entry('2', { ...newResult, title: 'Once', rereads: 1 }),
        entry('3', { ...newResult, title: 'Often', rereads: 4 }),
      ],
    });
    const item = async (title: string): Promise<string> => {
      const found = await page.until(() => page.find('#history .item', title));
      await page.click(() => page.find('#history .item-name', title));
      await page.until(() => found.textContent.includes('Old results: 1,000'));
      return found.textContent;
    };
    expect(await item('Never')).not.toContain('Read again');
    expect(await item('Once')).toContain(
      'Read again right after a reference: once; that file has been sent whole since then.',
    );
    expect(await item('Often')).toContain(
      'Read again right after a reference: 4 times; those files have been sent whole since then.',
    );
  });

  it('can be searched and shows more on request', async () => {
    const many = Array.from({ length: 25 }, (_, index) => entry(String(index), { title: `Task ${index}` }));
    const page = await shown({ entries: many });
    const items = (): number => page.all('#history .items .item').length;
    await page.until(() => items() === 20);
    expect(page.root.textContent).toContain('20 of 25');
    await page.click(() => page.find('vscode-button', 'Show more'));
    await page.until(() => items() === 25);
    await page.type(() => page.find('#history vscode-text-field'), 'task 24');
    await page.until(() => items() === 1);
  });

  it('undoes and redoes condensations, and shows the difference', async () => {
    let isUndone = false;
    const asked: unknown[] = [];
    const page = await shown(
      {},
      {
        readHistory: () => {
          const state = isUndone ? { state: 'undone', change: 'redo' } : {};
          return Promise.resolve({ entries: [entry('1', state)], runs: [] });
        },
        undoOrRedoCondensation: (_services: unknown, subject: unknown, wanted: boolean) => {
          asked.push(subject);
          isUndone = wanted;
          return Promise.resolve();
        },
        showCondensation: () => Promise.reject(new Error('The file is gone.')),
      },
    );
    await page.click(() => page.find('#history .item vscode-button', 'Undo'));
    await page.click(() => page.find('#history .item vscode-button', 'Redo'));
    await page.until(() => page.find('#history .item vscode-button', 'Undo'));
    expect(asked).toEqual(Array(2).fill({ place: 'stored', conversation: 'c1', condensation: '1' }));
    await page.click(() => page.find('#history .item vscode-button', 'Show diff'));
    await page.until(() => page.find('#history .problem', 'The file is gone.'));
  });

  it('leaves condensations of deleted conversations out of the sum, and offers no diff for them', async () => {
    const page = await shown({ entries: [entry('1'), entry('2', { isGone: true })] });
    await page.until(() => page.all('#history .items .item').length === 2);
    const figures = page.find('#history dl').textContent;
    expect(figures).toContain('Tokens removed750');
    const [kept, gone] = page.all('#history .items .item');
    expect(kept?.textContent).toContain('Show diff');
    expect(gone?.textContent).toContain('file deleted');
    expect(gone?.textContent).not.toContain('Show diff');
  });

  it('updates with new condensations', async () => {
    let entries = [entry('1')];
    const page = await shown({}, { readHistory: () => Promise.resolve({ entries, runs: [] }) });
    await page.until(() => page.all('#history .items .item').length === 1);
    entries = [entry('2'), entry('1')];
    page.host.condensed.fire({});
    await page.until(() => page.all('#history .items .item').length === 2);
  });

  it('can be exported and cleared', async () => {
    const asked: unknown[] = [];
    const note = (result: boolean) => (_services: unknown, what: unknown) => {
      asked.push(what);
      return Promise.resolve(result);
    };
    const page = await shown({ entries: [entry('1')] }, { exportHistory: note(true), clearHistory: note(true) });
    for (const name of ['Export as JSON', 'Export as CSV', 'Clear the metrics', 'Clear the history']) {
      await page.click(() => page.find('vscode-button', name));
    }
    await page.until(() => asked.length === 4);
    expect(asked).toEqual(['json', 'csv', 'metrics', 'ledgers']);
  });

  it('says why it can’t be shown, and can be retried', async () => {
    let isLocked = true;
    const page = await shown(
      {},
      {
        readHistory: () =>
          isLocked ? Promise.reject(new Error('The file is locked.')) : Promise.resolve({ entries: [], runs: [] }),
      },
    );
    await page.until(() => page.root.textContent.includes('The file is locked.'));
    isLocked = false;
    await page.click(() => page.find('vscode-button', 'Refresh'));
    await page.until(() => page.root.textContent.includes('Nothing has been condensed yet'));
  });
});

describe('recommendations from the history', () => {
  it('can be applied and undone with one click each', async () => {
    fake.settings['contextCondenser.threshold'] = 75;
    const runs = Array.from({ length: 5 }, () => run({ trigger: 'window' }));
    const page = await shown({ runs });
    await page.until(() => page.find('.advice', 'Condense at 65% of the window.'));
    expect(page.find('.advice').textContent).toContain(
      '5 of the last 5 automatic runs started only when the window was full.',
    );
    await page.click(() => page.find('.advice vscode-button', 'Apply'));
    await page.until(() => saved('threshold') === 65);
    await page.click(() => page.find('.advice .link-button', 'Undo'));
    await page.until(() => saved('threshold') === 75);
  });

  it('name a profile or configuration and what it would have saved', async () => {
    fake.settings['contextCondenser.profiles'] = [
      { id: 'work', name: 'Work', vendor: 'anthropic', model: 'large' },
      { id: 'small', name: 'Small', vendor: 'anthropic', model: 'small' },
    ];
    fake.settings['contextCondenser.condensingProfile'] = 'work';
    fake.settings['contextCondenser.provider'] = 'native';
    const five = (changes: object): object[] => Array.from({ length: 5 }, () => run(changes));
    const small = { calls: [{ profile: 'Small' }], cost: 0.1 };
    const free = { provider: 'smart', preset: 'speed', calls: [], cost: 0, tokensAfter: 100 };
    const page = await shown({ runs: [...five({}), ...five(small), ...five(free)] });
    await page.until(() => page.find('.advice', 'Condense with the model Small.'));
    await page.click(() => page.find('.advice vscode-button', 'Apply'));
    await page.until(() => saved('condensingProfile') === 'small');
    await page.until(() => page.find('.advice', /Condense with Smart, Speed\..*\$2\.00, 1,500 tokens/));
    await page.click(() => page.find('.advice vscode-button', 'Apply'));
    await page.until(() => saved('provider') === 'smart' && saved('smart') === 'speed');
  });
});
