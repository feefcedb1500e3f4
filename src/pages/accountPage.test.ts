import { expect, it } from 'vitest';
import { makeAccountOverview } from '../core/account/account';
import { renderAccountPage } from './accountPage';
import { markUsageReplayed, makeSessionAccount } from '../core/account/testing';

const session = makeSessionAccount({
  title: 'One <script>alert(1)</script>',
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
});

const wordsOf = (page: string): string =>
  page
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

it('the account page’s chart of costs per day has a time axis, whose ends have dates', () => {
  const usage = ['2026-01-01', '2026-01-02', '2026-01-11'].map((day) => ({ ...session.usage[0]!, day }));
  const page = renderAccountPage(makeAccountOverview([makeSessionAccount({ title: 'One', usage })]), {
    version: '1.2.3',
  });
  const [first = 0, second = 0, last = 0] = [...page.matchAll(/<rect class="after" x="([^"]*)"/g)].map(([, x]) =>
    Number(x),
  );
  expect((last - first) / (second - first)).toBeCloseTo(10, 1);
  expect(wordsOf(page)).toContain(
    '$1.50 $0 2026-01-01: $1.50 2026-01-02: $1.50 2026-01-11: $1.50 2026-01-01 2026-01-11',
  );
});

it("the account page has its charts' figures as text, and escapes all session content", () => {
  const page = renderAccountPage(makeAccountOverview([session]), { version: '1.2.3' });
  expect(page).not.toContain('<script');
  const words = wordsOf(page);
  expect(words).toContain('All time: $1.50 (without 1 request whose price is not known) for 3 requests in 1 session ');
  expect(words).toContain('2026-01-02 1 10 20 30 40 cost not known');
  expect(words).toContain('files, first read 75%');
  expect(words).toContain(
    '50% of these tokens had already been sent at least 10 times; they are included in the shares above.',
  );
  expect(words).toContain('at most 750 tokens, 75% of the window');
  expect(words).toContain('/a.ts: 3 reads, 900 tokens');
  expect(words).toContain('about $0.25 that the agents do not record');
});

it('the account page shows no key from a command, a path or a title', () => {
  const key = `sk-ant-api03-${'Ab1'.repeat(30)}`;
  const told = makeAccountOverview([
    {
      ...session,
      title: `use ${key}`,
      files: [{ path: `/tmp/${key}`, reads: 3, tokens: 900 }],
      unused: [{ tool: 'Bash', what: `curl -H ${key}`, tokens: 400, sent: 7 }],
    },
  ]);
  expect(JSON.stringify(told)).not.toContain(key);
});

it('the account page shows zeros without sessions', () => {
  expect(wordsOf(renderAccountPage(makeAccountOverview([]), { version: '1.2.3' }))).toContain(
    '0 requests in 0 sessions',
  );
});

it('the account page shows its days, what was estimated, and the cost with another provider', () => {
  const sum = {
    ...{ sessions: 1, condensed: 1, unknown: 0, cost: 1.5, after: 1, atMost: 1.25 },
    ...{ condensations: 1, needed: 250, missing: 3, recallable: 3 },
  };
  const overview = makeAccountOverview([markUsageReplayed(session)], '2026-01-02');
  const words = wordsOf(renderAccountPage(overview, { version: '1', days: 7, whatIf: { sum, name: 'File-Aware' } }));
  expect(words).toContain('The last 7 days: cost not known for 1 request in 1 session');
  expect(words).toContain('1 request was replayed from the conversation');
  expect(words).toContain(
    'The last 7 days: $1.50; with File-Aware: $1.00 to $1.25; needed lines lost: 1.2% (3 of 250), all recallable',
  );
  expect(words).toContain('It would have condensed 1 time in 1 of 1 session. Assumptions:');
  expect(wordsOf(renderAccountPage(overview, { version: '1', days: 1 }))).toContain('Today: cost not known');
});

it('the account page shows simulated costs as a range beside the recorded ones', () => {
  const [usage] = session.usage;
  const priced = { ...session, usage: [{ ...usage!, cost: 2, unpriced: 0 }] };
  const overview = makeAccountOverview([priced, markUsageReplayed({ ...priced, path: '/other', agent: 'Other' })]);
  expect(overview.total).toMatchObject({ cost: 4, replayedCost: 2 });
  const words = wordsOf(renderAccountPage(overview, { version: '1' }));
  // $2 are recorded. Another $2 are estimated, which in reality may be up to $5.
  expect(words).toContain('$4.00 to $7.00 for 4 requests in 2 sessions; estimated: 1 session of Other');
  expect(words).toContain(
    '2 requests were replayed from the conversation, since the agent does not record usage: an estimate. Content that is not in its files is missing: the real cost is usually up to 2.5 times as much.',
  );
  expect(words).toContain('$2.00 to $5.00, 2 requests estimated');
});
