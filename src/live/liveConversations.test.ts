import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { testClock } from '../../test/servers/testClock';
import { createSmartProvider } from '../core/condense';
import { SONNET_PRICES } from '../core/condense/summary/testing';
import { findNewViolations } from '../core/messages/firewall';
import type { ApiMessage } from '../core/messages/types';
import type { CondensationThreshold } from '../core/condense/trigger/thresholds';
import { assistant, makeToolExchange, makeLines, user } from '../core/testing';
import {
  DUE_MESSAGES,
  stringify,
  createTestBed,
  countMarkers,
  makeRead,
  makeReads,
  createRequest,
  SMALL_MESSAGES,
  createModel,
  makeUsage,
} from './testing';

/** The cache lasts five minutes. */
const MINUTES_5 = { cacheLifetime: '5m', cacheSpan: { warmMs: 300_000, coldMs: 300_000 } } as const;

describe('a request of a running conversation', () => {
  it('below the threshold is sent unchanged', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const prepared = await live.prepare(createRequest(SMALL_MESSAGES));
      expect(prepared.messages).toEqual(SMALL_MESSAGES);
      expect(prepared.outcome).toBeUndefined();
      expect(prepared.notes).toEqual([]);
      expect(prepared.tokens).toBe(prepared.countedTokens);
      expect(events.map(({ kind }) => kind)).toEqual(['changed']);
    }));

  it('at the threshold is condensed to the target, and valid', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const prepared = await live.prepare(createRequest(DUE_MESSAGES));
      expect(prepared.outcome?.kind).toBe('condensed');
      expect(prepared.tokens).toBeLessThanOrEqual(20_000);
      expect(findNewViolations(DUE_MESSAGES, prepared.messages)).toEqual([]);
      const reported = events.find((event) => event.kind === 'condensed');
      expect(reported?.decision).toMatchObject({
        reason: 'threshold',
        tokensAfter: prepared.tokens,
        contextWindow: 40_000,
      });
    }));

  it('causes one warning that the window is too small if it must be condensed each time', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const problems = () => events.flatMap((event) => (event.kind === 'problem' ? [event.message] : []));
      // Each result fills a third of the window.
      const all = makeReads(2, 180);
      for (let step = 0; step < 12; step++) {
        all.push(...makeRead(`more${step}`, 180));
        const prepared = await live.prepare(createRequest(all, { model: createModel({ contextWindow: 4_500 }) }));
        if (step < 3) expect(problems()).toEqual([]);
        expect(prepared.tokens).toBeLessThanOrEqual(4_500);
      }
      expect(problems()).toEqual([expect.stringMatching(/window of 4,500 tokens.*too small/)]);
      await live.prepare(createRequest(makeReads(25), { conversationId: 'roomy' }));
      for (let step = 0; step < 4; step++)
        await live.prepare(createRequest(makeReads(26 + step), { conversationId: 'roomy' }));
      expect(problems()).toHaveLength(1);
    }));

  it('is sent unchanged if the window is unknown', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const prepared = await live.prepare(createRequest(DUE_MESSAGES, { model: createModel({ contextWindow: 0 }) }));
      expect(prepared.messages).toEqual(DUE_MESSAGES);
      expect(prepared.notes).toEqual([]);
    }));

  it('stays the same after a condensation, with an unchanged beginning', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const first = await live.prepare(createRequest(DUE_MESSAGES));
      const again = await live.prepare(createRequest(DUE_MESSAGES));
      expect(again.outcome).toBeUndefined();
      expect(stringify(again.messages)).toBe(stringify(first.messages));
      const grown = await live.prepare(createRequest([...DUE_MESSAGES, ...makeRead('more')]));
      expect(stringify(grown.messages.slice(0, first.messages.length))).toBe(stringify(first.messages));
      expect(grown.messages.slice(-2)).toEqual(makeRead('more'));
    }));

  it('has cache breakpoints at the condensed prefix, at the previously newest message and at the newest', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const first = await live.prepare(createRequest(DUE_MESSAGES));
      live.recordAnswer(first, makeUsage(first.tokens));
      const grown = await live.prepare(createRequest([...DUE_MESSAGES, ...makeRead('more')]));
      const last = grown.messages.length - 1;
      expect(grown.cacheMarks.slice(1)).toEqual([last - 2, last]);
      const [prefix = 0] = grown.cacheMarks;
      expect(countMarkers([grown.messages[prefix] as ApiMessage])).toBe(1);
      expect(countMarkers(grown.messages.slice(prefix + 1))).toBe(0);
      const plain = await live.prepare(createRequest(SMALL_MESSAGES, { conversationId: 'other' }));
      expect(plain.cacheMarks).toEqual([SMALL_MESSAGES.length - 1]);
    }));

  it('is not prepared if it was aborted', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const reason = new Error('stopped');
      await expect(live.prepare(createRequest(DUE_MESSAGES), AbortSignal.abort(reason))).rejects.toBe(reason);
    }));

  it('is condensed by the default provider if the configured one is missing', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root, { settings: { provider: 'gone' } });
      expect((await live.prepare(createRequest(DUE_MESSAGES))).outcome?.provider).toBe('lossless');
      await live.prepare(createRequest([...DUE_MESSAGES, ...makeRead('more')]));
      const problems = events.flatMap((event) => (event.kind === 'problem' ? [event.message] : []));
      expect(problems).toEqual([expect.stringContaining('no provider "gone"; Lossless condenses')]);
    }));

  it('is condensed at once if the passes call no model', () =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root, {
        providers: [createSmartProvider()],
        settings: { provider: 'smart' },
      });
      const { live, events } = bed;
      bed.settings = { ...bed.settings, config: 'file-aware', backgroundPercent: 10 };
      const prepared = await live.prepare(createRequest(DUE_MESSAGES));
      expect(prepared.outcome).toMatchObject({ kind: 'condensed', provider: 'smart' });
      expect(events.map(({ kind }) => kind)).not.toContain('preparing');
    }));

  it('loses more facts than the minimum allows only if it would not fit otherwise', () =>
    inTemporaryFolder(async (root) => {
      // The settings forbid the loss of error lines, and the result contains one.
      const failing = [
        ...makeToolExchange('call-e', 'Bash', { command: 'npm test' }, `Error: boom\n${makeLines('log', 90)}`),
      ];
      const messages = [...DUE_MESSAGES.slice(0, 2), ...failing, ...DUE_MESSAGES.slice(2)];
      const settings = { config: { toolResults: { mode: 'suppress' } }, coherenceFloor: { errors: 100 } };
      const { live } = createTestBed(root, { settings });
      const due = await live.prepare(createRequest(messages));
      expect(due.outcome?.notes.join('\n')).toContain('the minimum is 100%');
      expect(stringify(due.messages)).toContain('Error: boom');
      const grown = [...messages, ...makeReads(4, 100, 'g').slice(2)];
      const must = await live.prepare(createRequest(grown));
      expect(must.outcome?.kind).toBe('condensed');
      expect(must.tokens).toBeLessThanOrEqual(32_000);
    }));
});

describe('a request that does not fit the window', () => {
  const HUGE = makeReads(80);

  it('is truncated if the provider is not enough, leaving room for later requests', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
      const prepared = await live.prepare(createRequest(HUGE));
      expect(prepared.outcome?.notes.join()).toContain('truncated');
      expect(prepared.tokens).toBeLessThanOrEqual(32_000 - 4_000);
      expect(prepared.notes.join()).not.toContain('nothing more');
    }));

  it('loses its oldest results as a last resort, which stay removed and can be recalled', () =>
    inTemporaryFolder(async (root) => {
      const configs = { truncation: { toolResults: { mode: 'keep' }, toolParameters: { mode: 'keep' } } };
      const { live } = createTestBed(root, { settings: { provider: 'lossless', configs } });
      const prepared = await live.prepare(createRequest(HUGE));
      expect(prepared.tokens).toBeLessThanOrEqual(32_000);
      expect(prepared.outcome?.notes.join()).toContain('suppressed');
      expect(stringify(prepared.messages.at(-1))).toContain('f79 line 99');
      const again = await live.prepare(createRequest([...HUGE, ...makeRead('more')]));
      expect(stringify(again.messages.slice(0, -2))).toBe(stringify(prepared.messages));
    }));

  it('is shortened even if a single new result is too long', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
      const prepared = await live.prepare(createRequest([...SMALL_MESSAGES, ...makeRead('huge', 6_000)]));
      expect(prepared.tokens).toBeLessThanOrEqual(32_000);
    }));

  it("is sent with a note if people's text alone is too long", () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const prepared = await live.prepare(
        createRequest([user(makeLines('much', 6_000)), assistant('ok'), user('go on')]),
      );
      expect(prepared.notes.at(-1)).toContain('nothing more could be removed');
      expect(events.some(({ kind }) => kind === 'not-condensed')).toBe(true);
    }));

  it('is condensed further after each rejection until nothing is left to remove', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const sent = createRequest(makeReads(24));
      const prepared = await live.prepare(sent);
      const smaller = await live.prepareAfterOverflow(prepared, sent);
      expect(smaller?.tokens).toBeLessThanOrEqual(prepared.tokens * 0.6);
      expect(events.find((event) => event.kind === 'condensed')?.decision.reason).toBe('too-long');
      const again = await live.prepareAfterOverflow(smaller!, sent);
      expect(again?.tokens).toBeLessThanOrEqual(smaller!.tokens * 0.6);
      let last = again;
      for (let smallest = again; smallest; smallest = await live.prepareAfterOverflow(smallest, sent)) {
        expect(smallest.countedTokens).toBeLessThanOrEqual(last!.countedTokens);
        last = smallest;
      }
      // The rejected size is known, so the next request stays below it.
      const next = await live.prepare(
        createRequest([...makeReads(24), ...makeRead('a', 1_000), ...makeRead('b', 1_000)]),
      );
      expect(next.countedTokens).toBeLessThan(smaller!.countedTokens);
    }));

  it('is condensed at once to the size that the rejection states', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const sent = createRequest(makeReads(24));
      const prepared = await live.prepare(sent);
      // The model counts 2.2 tokens for each of ours, and its window is smaller than assumed.
      const tokens = Math.round(prepared.countedTokens * 2.2);
      const smaller = await live.prepareAfterOverflow(prepared, sent, undefined, { tokens, limit: 30_000 });
      expect(smaller!.countedTokens * 2.2).toBeLessThan(30_000);
      expect(smaller!.tokens).toBeCloseTo(smaller!.countedTokens * 2.2, -1);
      expect(smaller!.contextWindow).toBe(30_000);
      const next = await live.prepare(createRequest([...makeReads(24), user('go on')]));
      expect(next.tokens).toBeLessThan(30_000);
    }));

  it('is sent unchanged with a shorter answer if the prompt alone fits', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const sent = createRequest(makeReads(6));
      const prepared = await live.prepare(sent);
      const overflow = { tokens: prepared.countedTokens, limit: 38_000 };
      const again = await live.prepareAfterOverflow(prepared, sent, undefined, overflow);
      expect(again?.messages).toEqual(prepared.messages);
      expect(again?.contextWindow).toBe(38_000);
    }));

  it("is reported if it was rejected and can't be shortened", () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const sent = createRequest([user('a short task')]);
      expect(await live.prepareAfterOverflow(await live.prepare(sent), sent)).toBeUndefined();
    }));
});

describe('token counts of running conversations', () => {
  it('are calibrated by what the model reports', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const sent = createRequest(makeReads(18));
      const prepared = await live.prepare(sent);
      expect(prepared.outcome).toBeUndefined();
      live.recordAnswer(prepared, makeUsage(prepared.countedTokens * 2));
      const again = await live.prepare(sent);
      expect(again.outcome?.kind).toBe('condensed');
      expect(again.tokens).toBe(Math.ceil(again.countedTokens * 2));
    }));

  it('are reported with the cost of each conversation', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const prepared = await live.prepare(
        createRequest(SMALL_MESSAGES, { model: createModel({ prices: SONNET_PRICES }) }),
      );
      live.recordUsage(prepared, makeUsage(1_000_000));
      const summary = live.active();
      expect(summary).toMatchObject({ title: 'A task', contextWindow: 40_000, thresholdTokens: 30_000, messages: 18 });
      expect(summary?.spent).toBeCloseTo(3, 2);
      live.recordUsage(prepared, undefined);
      expect(live.active()?.spent).toBeUndefined();
    }));
});

it('a changed threshold is visible at once, before the next request', () =>
  inTemporaryFolder(async (root) => {
    const bed = createTestBed(root);
    await bed.live.prepare(createRequest(SMALL_MESSAGES, { model: createModel({ profile: 'mine' }) }));
    const shown = (byProfile: Readonly<Record<string, CondensationThreshold>>): number | undefined => {
      bed.settings = { ...bed.settings, thresholds: { default: { percent: 50 }, byProfile } };
      return bed.live.active()?.thresholdTokens;
    };
    expect(bed.live.active()?.thresholdTokens).toBe(30_000);
    expect(shown({})).toBe(20_000);
    expect(shown({ mine: { percent: 40 } })).toBe(16_000);
  }));

describe('the cold or warm cache of a running conversation', () => {
  it.each([
    ['a known span', MINUTES_5, 60, 24_000],
    ['a known span, turned off', MINUTES_5, undefined, undefined],
    ['a known span, and the threshold comes first', MINUTES_5, 90, undefined],
    ['a span that nobody knows', {}, 60, undefined],
    ['no cache', { cacheSpan: 'none' as const }, 60, undefined],
  ])('if cold, leads to a condensation from the right number of tokens on: %s', (_, cache, coldPercent, expected) =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: coldPercent === undefined ? {} : { coldPercent } });
      await live.prepare(createRequest(SMALL_MESSAGES, { model: createModel({ contextWindow: 40_000, ...cache }) }));
      expect(live.list()[0]?.coldTokens).toBe(expected);
    }),
  );

  it('is tracked for the model that answered, like cost and tokens, even if another model was called meanwhile', () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { live, events } = createTestBed(root, { clock, settings: { coldPercent: 60 } });
      const main = createModel({ ...MINUTES_5, prices: SONNET_PRICES });
      const cheap = createModel({ ...MINUTES_5, key: 'cheap', contextWindow: 400_000 });
      const sent = createRequest(makeReads(23), { model: main });
      const first = await live.prepare(sent);
      await live.prepare(createRequest(makeReads(23), { model: cheap }));
      live.recordAnswer(first, makeUsage(first.countedTokens * 1.1));
      live.recordUsage(first, makeUsage(1_000_000));
      expect(live.active()?.spent).toBeCloseTo(3, 2);
      clock.advance(60_000);
      const second = await live.prepare(sent);
      expect(second.tokens).toBe(Math.ceil(second.countedTokens * 1.1));
      expect(events.filter(({ kind }) => kind === 'condensed')).toEqual([]);
    }));

  it.each([
    ['unknown', 'begun before a restart', makeReads(23)],
    ['cold', 'begun here', makeReads(0)],
  ])('is reported as %s after another model answered in a conversation that was %s', (state, _where, begun) =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root, { clock: testClock() });
      const other = await live.prepare(createRequest(begun, { model: createModel({ ...MINUTES_5, key: 'cheap' }) }));
      live.recordAnswer(other, makeUsage(other.tokens));
      await live.prepare(createRequest(DUE_MESSAGES, { model: createModel(MINUTES_5) }));
      expect(events.find((event) => event.kind === 'condensed')?.decision.cache.state).toBe(state);
    }),
  );

  it('if cold, leads to a condensation from a lower threshold on, which loses no cached tokens', () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { live, events } = createTestBed(root, { clock, settings: { coldPercent: 60 } });
      const sent = createRequest(makeReads(23), { model: createModel({ ...MINUTES_5, prices: SONNET_PRICES }) });
      const first = await live.prepare(sent);
      expect(first.outcome).toBeUndefined();
      live.recordAnswer(first, makeUsage(first.tokens));
      clock.advance(4 * 60_000);
      expect((await live.prepare(sent)).outcome).toBeUndefined();
      clock.advance(2 * 60_000);
      const second = await live.prepare(sent);
      expect(second.outcome?.kind).toBe('condensed');
      const decision = events.find((event) => event.kind === 'condensed')?.decision;
      expect(decision).toMatchObject({
        reason: 'cold-cache',
        cache: { state: 'cold', basis: 'vendor' },
        saving: { cacheBreak: expect.any(Number) as number },
      });
      expect(decision?.saving?.cacheBreak).toBeLessThan(0);
      expect(decision?.saving?.perRequest).toBeGreaterThan(0);
    }));

  it('has an age counted from the request, however long the answer took', () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { live } = createTestBed(root, { clock, settings: { coldPercent: 60 } });
      const sent = createRequest(makeReads(23), { model: createModel(MINUTES_5) });
      const first = await live.prepare(sent);
      clock.advance(4 * 60_000);
      live.recordAnswer({ ...first }, makeUsage(first.tokens));
      clock.advance(2 * 60_000);
      expect((await live.prepare(sent)).outcome?.kind).toBe('condensed');
    }));

  it('if cold, is not broken by a condensation; if warm, the break has a computed cost', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const model = createModel({ ...MINUTES_5, prices: SONNET_PRICES });
      const first = await live.prepare(createRequest(SMALL_MESSAGES, { model }));
      live.recordAnswer(first, makeUsage(first.tokens));
      await live.prepare(createRequest(DUE_MESSAGES, { model }));
      const decision = events.find((event) => event.kind === 'condensed')?.decision;
      expect(decision).toMatchObject({ reason: 'threshold', cache: { state: 'warm', basis: 'vendor' } });
      expect(decision?.saving?.cacheBreak).toBeGreaterThan(0);
      expect(decision?.saving?.breakEvenRequests).toBeGreaterThan(0);
      expect(decision).not.toHaveProperty('dearerAbove');
    }));

  it('is reported with the higher prices of long prompts that a request avoided', () =>
    inTemporaryFolder(async (root) => {
      const { live, events } = createTestBed(root);
      const input = { base: 3, tiers: [20_000, 25_000, 35_000].map((aboveTokens) => ({ aboveTokens, price: 6 })) };
      await live.prepare(createRequest(DUE_MESSAGES, { model: createModel({ prices: { ...SONNET_PRICES, input } }) }));
      const decision = events.find((event) => event.kind === 'condensed')?.decision;
      expect(decision?.tokensBefore).toBeGreaterThan(25_000);
      expect(decision?.tokensAfter).toBeLessThan(25_000);
      expect(decision?.dearerAbove).toBe(25_000);
    }));
});
