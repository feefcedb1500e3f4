import { expect, it } from 'vitest';
import { overviewOf, type SessionAccount } from './account';
import { accountPage } from './accountPage';
import { PART_KINDS, type PartKind } from './parts';

const none = Object.fromEntries(PART_KINDS.map((kind) => [kind, 0])) as Record<PartKind, number>;

const session: SessionAccount = {
  agent: 'Claude Code',
  path: '/one.jsonl',
  id: 'one',
  title: 'One <script>alert(1)</script>',
  source: 'recorded',
  usage: [
    {
      day: '2026-01-01',
      model: 'm',
      requests: 2,
      fresh: 10,
      cacheWrite: 20,
      cacheRead: 30,
      output: 40,
      cost: 1.5,
      unpriced: 0,
    },
    { day: '2026-01-02', requests: 1, fresh: 10, cacheWrite: 20, cacheRead: 30, output: 40, cost: 0, unpriced: 1 },
  ],
  window: 1_000,
  fill: [100, 750],
  compactions: { count: 1, isEstimate: true, cost: 0.25 },
  parts: { ...none, reads: 75, people: 25 },
  sentOften: 50,
  files: [{ path: '/a.ts', reads: 3, tokens: 900 }],
  unused: [{ tool: 'Bash', what: 'make', tokens: 400, sent: 7 }],
};

it('has the figures of its charts as text, and nothing of a session as markup', () => {
  const page = accountPage(overviewOf([session]), '1.2.3');
  expect(page).not.toContain('<script');
  const words = page
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
  expect(words).toContain('$1.50, and 1 requests whose price is not known');
  expect(words).toContain('2026-01-02 1 10 20 30 40 cost not known');
  expect(words).toContain('files, read first 75.0 %');
  expect(words).toContain('50.0 % of it had been sent at least 10 times before');
  expect(words).toContain('at most 750 tokens, 75 % of the window');
  expect(words).toContain('/a.ts: 3 reads, 900 tokens');
  expect(words).toContain('about $0.25 that the agents do not record');
});

it('shows no key that stands in a command, a path or a title', () => {
  const key = `sk-ant-api03-${'Ab1'.repeat(30)}`;
  const told = overviewOf([
    {
      ...session,
      title: `use ${key}`,
      files: [{ path: `/tmp/${key}`, reads: 3, tokens: 900 }],
      unused: [{ tool: 'Bash', what: `curl -H ${key}`, tokens: 400, sent: 7 }],
    },
  ]);
  expect(JSON.stringify(told)).not.toContain(key);
});

it('of no session says so in figures', () => {
  expect(accountPage(overviewOf([]), '1.2.3').replace(/\s+/g, ' ')).toContain('0 requests in 0 sessions');
});
