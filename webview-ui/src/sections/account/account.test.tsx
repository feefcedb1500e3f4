import { expect, it, vi } from 'vitest';
import * as vscode from 'vscode';
import { makeAccountOverview, type DayUsage } from '../../../../src/core/account/account';
import { markUsageReplayed, makeSessionAccount } from '../../../../src/core/account/testing';
import { openPage, type TestPage } from '../../testing';
import { formatMoney } from './Groups';

const usage = (day: string, cost: number, more: Partial<DayUsage> = {}): DayUsage => ({
  ...{ day, model: 'claude-opus-4-6', requests: 10, fresh: 1_000, cacheWrite: 0, cacheRead: 3_000, output: 500 },
  ...{ cost, unpriced: 0, block: 0, replayed: 0, replayedCost: 0 },
  ...more,
});

const session = (title: string, agent: string, days: readonly DayUsage[]) =>
  makeSessionAccount({ title, agent, usage: days });

const OVERVIEW = makeAccountOverview([
  session('Mend the parser', 'Claude Code', [usage('2026-01-01', 1.5), usage('2026-01-02', 3)]),
  session('Write a test', 'Codex', [usage('2026-01-02', 0, { model: 'nobody-knows', unpriced: 10 })]),
]);

const open = async (computeStoredAccount: unknown): Promise<TestPage> => {
  const page = await openPage({ backend: { computeStoredAccount }, view: { open: ['account'] } });
  await page.until(() => page.find('vscode-button', 'Analyze'));
  return page;
};

const textOf = (page: TestPage): string => page.find('#account').textContent;

it('the chart of a single day names that day once', async () => {
  const overview = makeAccountOverview([session('Mend the parser', 'Claude Code', [usage('2026-01-01', 1.5)])]);
  const page = await open(() => Promise.resolve({ overview, leftOut: 0, problems: [] }));
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('Cost on Jan 1, 2026: $1.50'));
  expect(textOf(page)).not.toContain('Cost per day');
});

it('the chart of costs per day has a time axis, whose ends have dates', async () => {
  const days = ['2026-01-01', '2026-01-02', '2026-01-11'].map((day) => usage(day, 1));
  const overview = makeAccountOverview([session('Mend the parser', 'Claude Code', days)]);
  const page = await open(() => Promise.resolve({ overview, leftOut: 0, problems: [] }));
  await page.click(() => page.find('vscode-button', 'Analyze'));
  const bars = await page.until(
    () => page.all('#account .chart rect').length === 3 && page.all('#account .chart rect'),
  );
  const [first = 0, second = 0, last = 0] = bars.map((bar) => Number(bar.getAttribute('x')));
  expect((last - first) / (second - first)).toBeCloseTo(10);
  expect(page.all('#account .chart-dates span').map(({ textContent }) => textContent)).toEqual([
    'Jan 1, 2026',
    'Jan 11, 2026',
  ]);
});

it('the account reads sessions only on request, then shows sums, charts and tables', async () => {
  const computeStoredAccount = vi.fn(() => Promise.resolve({ overview: OVERVIEW, leftOut: 2, problems: [] }));
  const page = await open(computeStoredAccount);
  expect(computeStoredAccount).not.toHaveBeenCalled();
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('2 sessions: $4.50 for 20 of 30 requests; 10 have no known price.'));
  expect(computeStoredAccount).toHaveBeenCalledWith(expect.anything(), { days: undefined });
  expect(textOf(page)).toContain('2 sessions could not be read');
  expect(textOf(page)).toContain('Cost per day; highest $3.00');
  expect(page.all('#account .chart rect')).toHaveLength(2);
  expect(page.all('#account .sparkline')).toHaveLength(2);
  const tables = page.all('#account table').map((table) => table.textContent);
  expect(tables[0]).toContain('Claude Code$4.5020');
  expect(tables[0]).toContain('CodexCost not known10');
  // Columns without a figure are left out.
  expect(tables[0]).not.toContain('Estimated requests');
  expect(tables[0]).not.toContain('Cache writes');
  expect(tables[1]).toContain('files, first read75%');
  expect(tables[2]).toContain('/a.ts3900Mend the parser');
  expect(tables[3]).toContain('Bash make7400');
  expect(tables[4]).toContain('Costliest sessionsCost');
  expect(tables[4]).toContain('Mend the parser$4.5075075%51%1');
  expect(tables[4]).toContain('Write a test– (the price of its model is not known)750');
  expect(page.find('#account [aria-label="Costliest sessions"] tbody td').className).toBe('number');
  // A table that is wider than its place can be scrolled by keyboard, and each picture names the
  // table with its figures.
  for (const frame of page.all('#account .table-frame')) {
    expect([frame.tabIndex, frame.getAttribute('aria-label') === '']).toEqual([0, false]);
  }
  for (const picture of page.all('#account svg:not([aria-hidden])')) {
    expect(picture.getAttribute('aria-label')).toContain('the table');
  }
});

it('the account lists the costliest sessions by their own cost, ten at first', async () => {
  const parent = makeSessionAccount({ title: 'Parent', usage: [usage('2026-01-02', 0.5)] });
  const child = makeSessionAccount({
    title: 'Child',
    usage: [usage('2026-01-02', 9)],
    above: { path: parent.path, relation: 'subagent' },
  });
  const others = Array.from({ length: 14 }, (_, index) =>
    session(`Other ${index}`, 'Codex', [usage('2026-01-02', 1 + index / 10)]),
  );
  const overview = makeAccountOverview([parent, child, ...others]);
  const page = await open(() => Promise.resolve({ overview, leftOut: 0, problems: [] }));
  await page.click(() => page.find('vscode-button', 'Analyze'));
  const rows = (): string[] =>
    page.all('#account [aria-label="Costliest sessions"] tbody tr').map(({ textContent }) => textContent);
  await page.until(() => rows().length === 10);
  expect(rows()[0]).toContain('Child$9.00');
  expect(rows()[1]).toContain('Other 13$2.30');
  await page.click(() => page.all('#account .table-more button').at(-1)!);
  await page.until(() => rows().length === 16);
  expect(rows().at(-1)).toContain('Parent$0.50');
});

it('the account groups by the selected field over the selected days', async () => {
  const computeStoredAccount = vi.fn(() => Promise.resolve({ overview: OVERVIEW, leftOut: 0, problems: [] }));
  const page = await open(computeStoredAccount);
  const choose = (at: number, value: string): void => {
    const list = page.all('#account vscode-dropdown')[at]!;
    Object.assign(list, { value });
    list.dispatchEvent(new Event('change', { bubbles: true }));
  };
  choose(0, '7');
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => page.all('#account table').length > 0);
  expect(computeStoredAccount).toHaveBeenCalledWith(expect.anything(), { days: 7 });
  choose(2, 'day');
  await page.until(() => page.all('#account table')[0]?.textContent.includes('Jan 2, 2026$3.00'));
});

it('the account compares with another provider as a range, and states what the comparison is based on', async () => {
  const whatIf = {
    ...{ choice: 'File-Aware', sessions: 2, condensed: 1, unknown: 1, cost: 4.5, after: 3, atMost: 3.25 },
    ...{ condensations: 4, needed: 250, missing: 3, recallable: 3 },
  };
  const computeStoredAccount = vi.fn(() => Promise.resolve({ overview: OVERVIEW, leftOut: 0, problems: [], whatIf }));
  const page = await open(computeStoredAccount);
  const list = page.all('#account vscode-dropdown')[1]!;
  Object.assign(list, { value: 'file-aware' });
  list.dispatchEvent(new Event('change', { bubbles: true }));
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('$4.50; with File-Aware: $3.00 to $3.25'));
  expect(computeStoredAccount).toHaveBeenCalledWith(expect.anything(), { choice: 'file-aware' });
  expect(textOf(page)).toContain('needed lines lost: 1.2% (3 of 250), all recallable');
  expect(textOf(page)).toContain('It would have condensed 4 times in 1 of 2 sessions. 1 session is counted unchanged');
  expect(textOf(page)).toContain('Assumptions: the agent says and does the same');
});

it('the account says that one request “has” no known price, and that several “have” none', () => {
  const money = { cost: 4.5, replayedCost: 0, requests: 10 };
  expect(formatMoney({ ...money, unpriced: 1 })).toBe('$4.50 for 9 of 10 requests; 1 has no known price');
  expect(formatMoney({ ...money, unpriced: 2 })).toBe('$4.50 for 8 of 10 requests; 2 have no known price');
});

it.each([1, 2])(
  'the account never shows a negative number of requests with a known price (%i unpriced of 1)',
  (unpriced) => {
    expect(formatMoney({ cost: 4.5, replayedCost: 0, requests: 1, unpriced })).toBe('$4.50; some prices are not known');
  },
);

it('the account shows replayed costs as a range', async () => {
  const overview = makeAccountOverview([
    session('Recorded', 'Codex', [usage('2026-01-02', 1)]),
    markUsageReplayed(session('Replayed', 'Copilot CLI', [usage('2026-01-02', 2)])),
  ]);
  const page = await open(() => Promise.resolve({ overview, leftOut: 0, problems: [] }));
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('$3.00 to $6.00 for 20 requests'));
  expect(textOf(page)).toContain('10 requests were replayed from the conversation');
  expect(textOf(page)).toContain('Average cost per request$0.15 to $0.30');
  const rows = page.all('#account tbody tr').map((row) => row.textContent);
  expect(rows.some((row) => row.startsWith('Copilot CLI$2.00 to $5.00'))).toBe(true);
  expect(rows.some((row) => row.startsWith('Codex$1.00'))).toBe(true);
});

it("the account's export contains what the page would sum, with the selected days and comparison", async () => {
  const saveAccount = vi.fn().mockRejectedValueOnce(new vscode.CancellationError()).mockResolvedValue(undefined);
  const page = await openPage({ backend: { saveAccount }, view: { open: ['account'] } });
  await page.until(() => page.find('vscode-button', 'Save as a page'));
  for (const [at, value] of [
    [0, '30'],
    [1, 'truncation'],
  ] as const) {
    const list = page.all('#account vscode-dropdown')[at]!;
    Object.assign(list, { value });
    list.dispatchEvent(new Event('change', { bubbles: true }));
  }
  for (const count of [1, 2]) {
    await page.click(() => page.find('vscode-button', 'Save as a page'));
    await page.until(() => saveAccount.mock.calls.length === count);
    await page.until(() => page.find('vscode-button', 'Analyze'));
  }
  expect(saveAccount).toHaveBeenLastCalledWith(expect.anything(), { days: 30, choice: 'truncation' });
  expect(page.find('#account .problems').textContent).toBe('');
});

it('the account says so if it covers only one session', async () => {
  const overview = makeAccountOverview([session('One', 'Codex', [usage('2026-01-02', 1, { requests: 1 })])]);
  const page = await open(() => Promise.resolve({ overview, leftOut: 1, problems: [] }));
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('for 1 request in 1 session.'));
  expect(textOf(page)).toContain('1 session could not be read');
});

it('the account shows partial results after a cancellation, and reports failures', async () => {
  const computeStoredAccount = vi
    .fn()
    .mockRejectedValueOnce(new vscode.CancellationError())
    .mockRejectedValueOnce(new Error('the disk is gone'))
    .mockResolvedValue({ overview: makeAccountOverview([]), leftOut: 0, problems: [] });
  const page = await open(computeStoredAccount);
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => computeStoredAccount.mock.calls.length === 1);
  await page.until(() => page.find('vscode-button', 'Analyze'));
  expect(page.all('#account table')).toHaveLength(0);
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('The disk is gone'));
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('No agent stored a session'));
});

const tool = (name: string, tokens: number, calls: number, more: object = {}): object => ({
  ...{ name, tokens, calls, callsElsewhere: 0 },
  ...more,
});
const WEIGHTS = [
  {
    title: 'Mend the parser',
    agent: 'Claude Code',
    tools: [
      tool('mcp__browser__click', 900, 0, { server: 'browser' }),
      tool('Bash', 700, 5),
      tool('mcp__browser__open', 600, 0, { server: 'browser', callsElsewhere: 2 }),
      tool('Grep', 300, 0),
    ],
  },
  { title: 'Write a test', agent: 'VS Code', tools: [tool('read_file', 1_200, 1)] },
];

it('the account shows the tools’ tokens in running conversations by server and tool, including tools never called', async () => {
  const overview = makeAccountOverview([
    makeSessionAccount({
      title: 'Old',
      usage: [usage('2026-01-02', 1)],
      calls: [
        { tool: 'Grep', calls: 8 },
        { tool: 'Bash', calls: 4 },
      ],
    }),
    makeSessionAccount({
      title: 'Other',
      agent: 'Codex',
      usage: [usage('2026-01-02', 1)],
      calls: [{ tool: 'mcp__browser__click', calls: 1 }],
    }),
  ]);
  const page = await openPage({
    backend: {
      listToolWeights: () => WEIGHTS,
      computeStoredAccount: () => Promise.resolve({ overview, leftOut: 0, problems: [] }),
    },
    view: { open: ['account'] },
  });
  await page.until(() => page.find('#account .disclosure', 'Mend the parser, Claude Code: 2,500 tokens in each'));
  await page.click(() => page.find('#account .disclosure', 'Mend the parser'));
  await page.until(() => page.all('#account table').length === 2);
  const rows = (): string[][] =>
    page.all('#account table').map((table) => [...table.querySelectorAll('tr')].map(({ textContent }) => textContent));
  expect(rows()[0]!.slice(1)).toEqual(['browser21,50002', 'Built in and from extensions21,00050']);
  expect(rows()[1]!.slice(1)).toEqual([
    'mcp__browser__clickbrowser90000',
    'Bash70050',
    'mcp__browser__openbrowser60002',
    'Grep30000',
  ]);
  expect(textOf(page)).toContain('Never called: 2 of 4 tools, 1,200 tokens.');
  // Stored sessions of the same agent count, but not another agent's.
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('Never called: 1 of 4 tools, 900 tokens.'));
  const [, tools] = rows().slice(-2);
  expect(tools!.slice(1)).toEqual([
    'mcp__browser__clickbrowser900000',
    'Bash700504',
    'mcp__browser__openbrowser600020',
    'Grep300008',
  ]);
});

it('the account shows calls as unknown for an agent without stored sessions', async () => {
  const overview = makeAccountOverview([
    makeSessionAccount({ title: 'Old', usage: [usage('2026-01-02', 1)], calls: [{ tool: 'Grep', calls: 8 }] }),
  ]);
  const page = await openPage({
    backend: {
      listToolWeights: () => [{ title: 'Mend', agent: 'Agent', tools: [tool('Grep', 300, 0)] }],
      computeStoredAccount: () => Promise.resolve({ overview, leftOut: 0, problems: [] }),
    },
    view: { open: ['account'] },
  });
  await page.until(() => page.find('#account .disclosure', 'Mend, Agent: 300 tokens in each'));
  await page.click(() => page.find('#account .disclosure', 'Mend, Agent'));
  await page.until(() => textOf(page).includes('“Analyze” also counts'));
  await page.click(() => page.find('vscode-button', 'Analyze'));
  await page.until(() => textOf(page).includes('No calls are known from stored sessions of “Agent”'));
  expect(textOf(page)).not.toContain('“Analyze” also counts');
  const last = page.all('#account table').at(-1)!;
  expect(last.textContent).not.toContain('In stored sessions');
});

it('the account reports that no conversation runs, that all tools were called, and failures', async () => {
  const none = await openPage({ backend: { listToolWeights: () => [] }, view: { open: ['account'] } });
  await none.until(() => textOf(none).includes('No running conversation is being condensed, so'));
  const one = await openPage({ backend: { listToolWeights: () => [WEIGHTS[1]] }, view: { open: ['account'] } });
  await one.click(() => one.find('#account .disclosure', 'Write a test, VS Code: 1,200 tokens in each'));
  await one.until(() => one.all('#account table').length === 1);
  expect(textOf(one)).not.toContain('Never called');
  const listToolWeights = (): never => {
    throw new Error('the engine is gone');
  };
  const failed = await openPage({ backend: { listToolWeights }, view: { open: ['account'] } });
  await failed.until(() => textOf(failed).includes('The engine is gone'));
});
