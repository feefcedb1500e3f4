import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import type { CacheState } from '../live/cacheState';
import type { LiveDecision } from '../live/events';
import { DUE_MESSAGES, createTestBed, createRequest, SMALL_MESSAGES, createModel } from '../live/testing';
import { estimateCondensationSaving } from '../core/cost/saving';
import { formatLastCondensation } from './statusBar';
import { explainDecision } from './notices';

const prices = { input: { base: 3 }, output: { base: 15 }, cacheRead: { base: 0.3 } };

it('the cache status does not call a recently read cache of unknown lifetime expired', () =>
  inTemporaryFolder(async (root) => {
    const { live, events } = createTestBed(root);
    const model = createModel({ prices });
    const first = await live.prepare(createRequest(SMALL_MESSAGES, { model }));
    live.recordAnswer(first, {
      ...{ accounting: 'openai', source: 'reported', inputTokens: 88_396, outputTokens: 10 },
      ...{ cacheReadTokens: 76_888, cacheWriteTokens: 0 },
    });
    await live.prepare(createRequest(DUE_MESSAGES, { model }));
    const decision = events.find((event) => event.kind === 'condensed')!.decision;
    const words = [explainDecision(decision), ...formatLastCondensation(live.active()!)].join('\n');
    expect(words).not.toMatch(/expired|\$|[Pp]ays|broken/);
    expect(words.match(/Prompt cache: unknown/g)).toHaveLength(2);
    expect(words).toContain('it read 76,888 of 88,396 tokens from the cache');
  }));

const ms = fc.nat(1e9);
const states = fc.oneof(
  fc.record({
    state: fc.constantFrom('warm', 'cold'),
    basis: fc.constantFrom('vendor', 'answers'),
    ageMs: ms,
    spanMs: ms,
  }),
  fc.constantFrom(
    { state: 'cold', basis: 'other-model' },
    { state: 'none', basis: 'model' },
    { state: 'none', basis: 'answers' },
    { state: 'unknown', basis: 'not-answered' },
  ),
  fc.record({ state: fc.constant('unknown'), basis: fc.constant('missed'), ageMs: ms }),
  fc.record({
    state: fc.constant('unknown'),
    basis: fc.constant('between'),
    ageMs: ms,
    span: fc.record({ warmMs: ms, coldMs: ms }),
  }),
  fc.record(
    { state: fc.constant('unknown'), basis: fc.constant('span'), ageMs: ms, read: fc.record({ tokens: ms, of: ms }) },
    { requiredKeys: ['state', 'basis', 'ageMs'] },
  ),
) as fc.Arbitrary<CacheState>;

it("an explanation of a condensation always names the cache's state and its basis, and gives only known figures", () => {
  fc.assert(
    fc.property(
      states,
      fc.boolean(),
      fc.nat(200_000),
      fc.nat(200_000),
      fc.option(fc.double({ min: 0, max: 5, noNaN: true }), { nil: undefined }),
      (cache, isPriced, tokensAfter, freed, cost) => {
        const effect = { tokensBefore: tokensAfter + freed, tokensAfter, keptPrefixTokens: 0, cost };
        const decision: LiveDecision = {
          ...{ reason: 'threshold', ...effect, contextWindow: 400_000, cache },
          ...(isPriced &&
            cache.state !== 'unknown' && {
              saving: estimateCondensationSaving(effect, { prices, accounting: 'openai', cache: cache.state }),
            }),
        };
        const words = explainDecision(decision);
        expect(words).toMatch(new RegExp(`Prompt cache: ${cache.state} \\(.{8,}\\)\\.`));
        expect(words).not.toMatch(/expired|undefined|NaN|-\$|\$-|\b0 requests|costs \$0\.0000 once/);
        if (!isPriced || cache.state === 'unknown') expect(words).not.toMatch(/\$|Pays|Saves/);
        if (cost === undefined) expect(words).not.toMatch(/Pays|Saves/);
      },
    ),
  );
});
