import { expect, it } from 'vitest';
import { makeSessionAccount } from '../core/account/testing';
import { formatLocalDay } from '../core/localDay';
import { formatAccountLine } from './accountLine';

const NOW = new Date(2026, 10, 20, 16, 30).getTime();
const START = new Date(2026, 10, 20, 14, 0).getTime();

const usage = (cost: number, block = START, unpriced = 0) => ({
  ...{
    day: formatLocalDay(block),
    block,
    requests: 2,
    fresh: 1,
    cacheWrite: 0,
    cacheRead: 0,
    output: 1,
    cost,
    unpriced,
  },
});

const here = makeSessionAccount({ title: 'here', project: '/w', usage: [usage(1), usage(4, START - 20 * 3_600_000)] });
const below = makeSessionAccount({
  ...{ title: 'below', project: '/w', usage: [usage(0.5)] },
  above: { path: here.path, relation: 'subagent' },
});
const elsewhere = makeSessionAccount({ title: 'elsewhere', project: '/other', usage: [usage(2)] });
const codex = makeSessionAccount({ title: 'codex', agent: 'Codex', project: '/x', usage: [usage(8)] });
const all = [here, below, elsewhere, codex];

it('the account’s status line shows the costs of today, the five-hour block, and the session with its subagents', () => {
  expect(formatAccountLine(all, { now: NOW, cwd: '/w' })).toBe(
    'Today $11.50 · 5-hour block $3.50, until 19:00 · session $5.50',
  );
});

it('the account’s status line shows the session named by path or ID', () => {
  expect(formatAccountLine(all, { now: NOW, cwd: '/w', session: codex.path })).toContain(
    'block $8.00, until 19:00 · session $8.00',
  );
  expect(formatAccountLine(all, { now: NOW, cwd: '/w', session: 'elsewhere' })).toContain('session $2.00');
});

it('the account’s status line omits an expired block, and counts requests without a price', () => {
  const late = START + 6 * 3_600_000;
  const unpriced = makeSessionAccount({ title: 'u', project: '/w', usage: [usage(0, START, 2)] });
  expect(formatAccountLine([unpriced], { now: late, cwd: '/w' })).toBe('Today 2 requests · session 2 requests');
  expect(formatAccountLine([], { now: NOW, cwd: '/w' })).toBe('Today $0.00');
});
