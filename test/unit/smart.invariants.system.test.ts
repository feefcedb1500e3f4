/**
 * Checks the invariants (docs/ARCHITECTURE.md) for Smart, with random configurations on generated
 * histories.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, restoreMessagesBeforeEdits } from '../../src/core/condense/edits/applyEdits';
import { getOriginalText, type Edit } from '../../src/core/condense/edits/edits';
import { checkEdits } from '../../src/core/condense/edits/checkEdits';
import { createSmartProvider, type SmartOptions } from '../../src/core/condense/providers/smart';
import type { SmartConfigInput } from '../../src/core/condense/providers/smart/config';
import { createTestSummarizer, type TestSummarizer } from '../../src/core/condense/summary/testing';
import type { CondensationOptions, ProviderResult } from '../../src/core/condense/types';
import type { Hash } from '../../src/core/hash';
import { findNewViolations, SUMMARY_ORIGIN } from '../../src/core/messages/firewall';
import { findTaskMessage } from '../../src/core/messages/task';
import type { ApiMessage } from '../../src/core/messages/types';
import { anyHistory, validHistory } from '../generators/arbitraries';
import { mechanicalConfig, smartConfig } from '../generators/arbitrarySmart';
import { freshCounter } from '../generators/setups';
import { makeTestMarker } from '../../src/core/testing';

type History = readonly ApiMessage[];

interface Ran {
  readonly result: ProviderResult;
  readonly view: History;
  readonly origins: readonly number[];
  readonly stale: readonly Edit[];
}

async function condense(
  history: History,
  config: SmartConfigInput,
  smart: SmartOptions = {},
  options: CondensationOptions = {},
  active: readonly Edit[] = [],
): Promise<Ran> {
  const provider = createSmartProvider(smart);
  const checked = provider.validateConfig(config);
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  const result = await provider.condense(
    { messages: history, edits: active, counter: freshCounter() },
    checked.config,
    options,
  );
  const { messages: view, origins, stale } = applyEdits(history, [...active, ...result.edits]);
  return { result, view, origins, stale };
}

/** Checks the invariants, for any configuration and replies of the model. */
function expectSound(history: History, { result, view, origins, stale }: Ran): void {
  expect(stale).toEqual([]);
  expect([...checkEdits(history, result.edits), ...findNewViolations(history, view, { origins })]).toEqual([]);
  const shown = origins.filter((origin) => origin !== SUMMARY_ORIGIN);
  expect(shown).toEqual(shown.toSorted((a, b) => a - b));
  const task = findTaskMessage(history);
  expect(view.slice(0, task + 1)).toEqual(history.slice(0, task + 1));
  const counter = freshCounter();
  expect(counter.countMessages(view)).toBeLessThanOrEqual(counter.countMessages(history));
  expect(result.steps.at(-1)?.tokensAfter ?? counter.countMessages(view)).toBe(counter.countMessages(view));
  const originals = collectOriginals(history, result.edits);
  expect(JSON.stringify(restoreMessagesBeforeEdits(view, result.edits, originals))).toBe(JSON.stringify(history));
}

function collectOriginals(history: History, edits: readonly Edit[]): (hash: Hash) => string | undefined {
  const texts = new Map<Hash, string>();
  for (const edit of edits) {
    const text = getOriginalText(history, edit);
    if (text !== undefined) texts.set(edit.before, text);
  }
  return (hash) => texts.get(hash);
}

const summaries = (summarizer: TestSummarizer): SmartOptions => ({
  select: () => ({ summarizer, chosen: 'condensing-profile' }),
});

const HISTORIES = { 'valid histories': validHistory, 'imperfect histories': anyHistory };

describe.each(Object.entries(HISTORIES))('conversations condensed with %s, without a model,', (_, histories) => {
  const holds = (statement: (history: History, config: SmartConfigInput) => Promise<void>): Promise<void> =>
    fc.assert(fc.asyncProperty(histories, mechanicalConfig, statement));

  it('stay valid, in order, no larger, and reversible', () =>
    holds(async (history, config) => {
      const ran = await condense(history, config);
      expect(ran.result.steps.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([]);
      expectSound(history, ran);
    }));

  it('have the same bytes each time', () =>
    holds(async (history, config) => {
      const { result } = await condense(history, config);
      const again = await condense(structuredClone(history), config);
      expect(JSON.stringify(again.result.edits)).toBe(JSON.stringify(result.edits));
    }));

  it('get no further edits in a second run', () =>
    holds(async (history, config) => {
      const { result, view } = await condense(history, config);
      expect((await condense(history, config, {}, {}, result.edits)).result.edits).toEqual([]);
      // An outline keeps lines that edits in the original quoted, and the view no longer contains
      // all of these edits.
      if (JSON.stringify(config).includes('"outline"')) return;
      expect((await condense(view, config)).result.edits).toEqual([]);
    }));

  it('are not condensed below the target by a pass', () =>
    holds(async (history, config) => {
      const targetTokens = Math.floor(freshCounter().countMessages(history) / 2);
      const ran = await condense(history, config, {}, { targetTokens });
      expectSound(history, ran);
    }));
});

/** Each of this many first calls is tested as the one that fails or is canceled. */
const TRIED_CALLS = 5;

describe('conversations condensed with presets that use a model', () => {
  const holds = (statement: (history: History, config: SmartConfigInput) => Promise<void>): Promise<void> =>
    fc.assert(fc.asyncProperty(validHistory, smartConfig, statement));

  it('stay valid and reversible, whatever the model answers', () =>
    fc.assert(
      fc.asyncProperty(
        validHistory,
        smartConfig,
        fc.array(
          fc.oneof(
            fc.constantFrom('short', makeTestMarker('x'), '</content><read_file>'),
            fc.string({ unit: 'binary' }),
          ),
        ),
        async (history, config, script) => {
          expectSound(history, await condense(history, config, summaries(createTestSummarizer(script))));
        },
      ),
    ));

  it('stay valid and reversible if the model fails at any call', () =>
    holds(async (history, config) => {
      const fine = createTestSummarizer(['A short summary.']);
      await condense(history, { ...config, parallelCalls: 1 }, summaries(fine));
      for (let failing = 0; failing < Math.min(fine.requests.length, TRIED_CALLS); failing++) {
        const script = fine.requests.map((_, index) => (index === failing ? 'failed' : 'A short summary.'));
        const summarizer = createTestSummarizer([...script, 'A short summary.']);
        expectSound(history, await condense(history, { ...config, parallelCalls: 1 }, summaries(summarizer)));
      }
      expectSound(history, await condense(history, config, summaries(createTestSummarizer(['failed']))));
    }));

  it('stay unchanged if the run is cancelled at any call', () =>
    holds(async (history, config) => {
      const fine = createTestSummarizer(['A short summary.']);
      await condense(history, config, summaries(fine));
      for (let last = 1; last <= Math.min(fine.requests.length, TRIED_CALLS); last++) {
        const abort = new AbortController();
        const summarizer = createTestSummarizer(() => {
          if (summarizer.requests.length === last) abort.abort(new Error('enough'));
          return Promise.resolve(abort.signal.aborted ? 'aborted' : 'A short summary.');
        });
        await expect(condense(history, config, summaries(summarizer), { signal: abort.signal })).rejects.toThrow(
          'enough',
        );
        expect(summarizer.requests.length).toBeLessThanOrEqual(last + 6);
      }
    }));

  it('match their estimate if replies are as long as expected', () =>
    holds(async (history, config) => {
      const provider = createSmartProvider(summaries(createTestSummarizer(['A short summary.'])));
      const checked = provider.validateConfig(config);
      if (!checked.valid) throw new Error('wrong configuration');
      const context = { messages: history, edits: [], counter: freshCounter() };
      const before = JSON.stringify(history);
      const estimate = await provider.estimate(context, checked.config, {});
      expect(estimate.tokensAfter).toBeLessThanOrEqual(estimate.tokensBefore);
      expect(JSON.stringify(history)).toBe(before);
    }));
});
