/** Generates session trees whose agents copy history like real ones. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupAccountInRows, GROUPINGS, sumSessionAccounts, type SessionAccount } from './account';
import { countCopiedRequestsOnce, type PaidRequest, type ReadSession } from './once';
import { makeSessionAccount } from './testing';

/** Copies are recognized by the record, by the file's age, or by comparison with the origin. */
type Way = 'marked' | 'older' | 'in-lineage';

interface GrownSession {
  readonly session: ReadSession;
  readonly made: readonly PaidRequest[];
}

const SIZES = [100, 200];

/** A step in generating a family of sessions; the numbers select existing sessions and requests. */
const step = fc.record({
  kind: fc.constantFrom('ask', 'ask', 'ask', 'fork', 'subagent', 'part'),
  session: fc.nat(20),
  keep: fc.nat(10),
  size: fc.constantFrom(...SIZES),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function grow(way: Way, steps: readonly Step[], isRestamped: boolean): GrownSession[] {
  let clock = 1_000;
  let count = 0;
  const families: { session: ReadSession; requests: PaidRequest[]; made: PaidRequest[]; total: number }[] = [];
  const begin = (copied: readonly PaidRequest[], total: number, forkOf?: string, startedBy?: string): void => {
    clock += 2_000;
    const id = `id-${families.length}`;
    const { usage: _, source: __, ...fields } = makeSessionAccount({ title: id, usage: [] });
    const session: ReadSession = {
      ...fields,
      id,
      compactions: { count: 0, isEstimate: false },
      requests: [],
      calls: [],
      identity: {
        keys: way === 'in-lineage' ? 'in-lineage' : 'everywhere',
        ...{ id, began: clock },
        ...(way === 'in-lineage' && forkOf !== undefined && { forkOf }),
      },
      ...(startedBy !== undefined && { startedBy }),
    };
    const requests = copied.map((request) => ({
      ...request,
      ...(way === 'marked' && { isCopy: true }),
      ...(way === 'in-lineage' && isRestamped && { at: clock }),
    }));
    families.push({ session, requests, made: [], total });
  };
  begin([], 0);
  for (const { kind, session: chosen, keep, size } of steps) {
    const at = families[chosen % families.length];
    if (!at) continue;
    clock += 2_000;
    if (kind === 'fork') {
      const copied = at.requests.slice(0, Math.max(0, at.requests.length - (keep % 3)));
      const last = copied.at(-1);
      begin(copied, last ? Number(last.key?.split('/')[0] ?? 0) : 0, at.session.id);
    } else if (kind === 'subagent') begin([], 0, undefined, at.session.path);
    else {
      count += 1;
      at.total += size;
      const isPart = kind === 'part' && at.requests.length > 0;
      const request: PaidRequest = {
        ...{
          at: clock,
          model: `m${size}`,
          requests: isPart ? 0 : 1,
          fresh: size,
          cacheWrite: 1,
          cacheRead: 2,
          output: 3,
        },
        cost: size / 1_000,
        calls: [{ tool: `tool ${size}`, calls: 1 }],
        // If keys are unique only in a lineage, the running total is the key. Identical forks share
        // it.
        key: way === 'in-lineage' ? `${at.total}/${size}` : `request-${count}`,
      };
      at.requests.push(request);
      at.made.push(request);
    }
  }
  return families.map(({ session, requests, made }) => ({ session: { ...session, requests }, made }));
}

const sumSessions = (sessions: readonly SessionAccount[]) => {
  const { requests, fresh, cacheWrite, cacheRead, output, cost, calls } = sumSessionAccounts(sessions);
  return { requests, fresh, cacheWrite, cacheRead, output, cost: cost.toFixed(6), calls: sumCalls(calls) };
};

const sumCalls = (calls: NonNullable<PaidRequest['calls']>): number => calls.reduce((sum, each) => sum + each.calls, 0);

const paidSum = (made: readonly PaidRequest[]) => {
  const sum = (of: (request: PaidRequest) => number): number => made.reduce((all, each) => all + of(each), 0);
  return {
    requests: sum(({ requests }) => requests),
    fresh: sum(({ fresh }) => fresh),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    output: sum(({ output }) => output),
    cost: sum(({ cost = 0 }) => cost).toFixed(6),
    calls: sum(({ calls = [] }) => sumCalls(calls)),
  };
};

describe.each<Way>(['marked', 'older', 'in-lineage'])(
  'requests copied between sessions with their calls and recognized by being %s',
  (way) => {
    const trees = fc.record({
      steps: fc.array(step, { maxLength: 30 }),
      isRestamped: fc.boolean(),
      order: fc.infiniteStream(fc.nat()),
    });

    it('count once, in the session that made them, whatever the order of the files', () => {
      fc.assert(
        fc.property(trees, ({ steps, isRestamped, order }) => {
          const grown = grow(way, steps, isRestamped);
          const accounts = countCopiedRequestsOnce(grown.map(({ session }) => session));
          for (const [index, { made }] of grown.entries()) {
            const account = accounts[index];
            expect(account && sumSessions([account])).toEqual(paidSum(made));
          }
          const shuffled = grown
            .map(({ session }) => ({ session, place: order.next().value }))
            .sort((a, b) => a.place - b.place)
            .map(({ session }) => session);
          const byPath = (a: SessionAccount, b: SessionAccount): number => (a.path < b.path ? -1 : 1);
          expect(countCopiedRequestsOnce(shuffled).sort(byPath)).toEqual([...accounts].sort(byPath));
        }),
      );
    });

    it('add up to the total, by every grouping and along the tree of sessions', () => {
      fc.assert(
        fc.property(trees, ({ steps, isRestamped }) => {
          const grown = grow(way, steps, isRestamped);
          const accounts = countCopiedRequestsOnce(grown.map(({ session }) => session));
          const whole = sumSessionAccounts(accounts);
          for (const grouping of GROUPINGS) {
            const rows = groupAccountInRows(accounts, grouping);
            expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(whole.requests);
            expect(rows.reduce((sum, { cost }) => sum + cost, 0)).toBeCloseTo(whole.cost, 6);
          }
          const roots = groupAccountInRows(accounts, 'session').filter(({ tree }) => tree?.depth === 0);
          expect(roots.reduce((sum, { tree }) => sum + (tree?.requests ?? 0), 0)).toBe(whole.requests);
          expect(roots.reduce((sum, { tree }) => sum + (tree?.cost ?? 0), 0)).toBeCloseTo(whole.cost, 6);
        }),
      );
    });
  },
);

it("a fork of a fork whose file is gone does not count the first session's requests again", () => {
  const { usage: _, source: __, ...fields } = makeSessionAccount({ title: 'a', usage: [] });
  const at = (time: number, key: string): PaidRequest => ({
    ...{ at: time, key, requests: 1, fresh: 10, cacheWrite: 0, cacheRead: 0, output: 1, cost: 1 },
  });
  const session = (
    id: string,
    began: number,
    requests: PaidRequest[],
    origins: readonly string[] = [],
  ): ReadSession => {
    const [forkOf, ...furtherOrigins] = origins;
    const identity = {
      keys: 'in-lineage' as const,
      id,
      began,
      ...(forkOf !== undefined && { forkOf, furtherOrigins }),
    };
    return { ...fields, id, path: `/${id}`, compactions: { count: 0, isEstimate: false }, requests, identity };
  };
  const accounts = countCopiedRequestsOnce([
    session('a', 0, [at(1, '1'), at(2, '2')]),
    session('c', 50_000, [at(1, '1'), at(2, '2'), at(20_000, '3'), at(60_000, '4')], ['b', 'a']),
    session('d', 90_000, [at(1, '1'), at(2, '2'), at(20_000, '3'), at(99_000, '5')], ['b', 'a']),
  ]);
  expect(accounts.map((account) => sumSessions([account]).requests)).toEqual([2, 2, 1]);
});

it('usage in an agent’s totals that no request explains counts once per session', () => {
  const { usage: _, source: __, ...fields } = makeSessionAccount({ title: 'a', usage: [] });
  const none = { cacheWrite: 0, cacheRead: 0 };
  const file = (path: string, asked: number, sum: number): ReadSession => ({
    ...{ ...fields, id: path, path, compactions: { count: 1, isEstimate: false } },
    requests: Array.from({ length: asked }, (_, index) => ({
      ...{ at: index, key: `${index}`, model: 'm', requests: 1, fresh: 10, output: 0, cost: 1 },
      ...none,
    })),
    identity: { keys: 'everywhere', id: 's', began: 0 },
    totals: [{ at: asked, after: asked, compactions: 1, models: [{ model: 'm', fresh: sum, output: 0, ...none }] }],
  });
  const files = [file('/archived/s', 2, 27), file('/s', 3, 40), file('/other/s', 3, 40)];
  for (const order of [files, files.toReversed()]) {
    expect(sumSessions(countCopiedRequestsOnce(order))).toMatchObject({ fresh: 40, requests: 4 });
  }
});
