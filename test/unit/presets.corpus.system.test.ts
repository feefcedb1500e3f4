/**
 * Checks properties of presets, strategies and documented examples on real conversations, even if
 * the model fails; skipped if there are none. Each case runs on a fifth of the conversations, and
 * each conversation with a fifth of the cases; all are combined in `npm run test:long`.
 */
import { describe, expect, it } from 'vitest';
import { applyEdits, restoreMessagesBeforeEdits } from '../../src/core/condense/edits/applyEdits';
import { getOriginalText, type Edit } from '../../src/core/condense/edits/edits';
import { BUILT_IN_PRESETS } from '../../src/core/condense/providers/smart/presets';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { createNativeProvider } from '../../src/core/condense/providers/native';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { createStrategyProvider } from '../../src/core/condense/providers/strategy';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import { BUILT_IN_STRATEGIES } from '../../src/core/condense/providers/strategy/builtIn';
import { selectSummarizer } from '../../src/core/condense/summarizer';
import { createTestSummarizer } from '../../src/core/condense/summary/testing';
import type { CondensationOptions, CondensationProvider, ProviderResult } from '../../src/core/condense/types';
import { findNewViolations, SUMMARY_ORIGIN } from '../../src/core/messages/firewall';
import type { ApiMessage } from '../../src/core/messages/types';
import { loadCorpus } from '../bench/corpus';
import { DOCUMENTED_CONFIGS } from '../fixtures/documentedConfigs';
import { freshCounter } from '../generators/setups';
import { shouldTry } from '../support/long';

const { isReal, conversations } = loadCorpus(() => undefined);
/** One counter is shared, so that tokens are counted only once. */
const counter = freshCounter();

type Answer = (call: number) => string;
const GOOD: Answer = () => 'The result was as expected; nothing else of it matters.';

/** Creates providers with a scripted model, whose calls are numbered from 0. */
function bed(answer?: Answer) {
  let calls = 0;
  const summarizer = createTestSummarizer(() => Promise.resolve((answer ?? GOOD)(calls++)));
  const select = () => selectSummarizer(answer ? { condensing: summarizer } : {});
  const smart = createSmartProvider({ select });
  const steps = [losslessProvider, truncationProvider, createNativeProvider({ select }), smart] as const;
  const providers: Readonly<Record<Case['provider'], CondensationProvider>> = {
    smart,
    strategy: createStrategyProvider({ providers: () => steps }),
  };
  return {
    summarizer,
    condense: ({ provider, config, share }: Case, messages: readonly ApiMessage[], edits: readonly Edit[] = []) => {
      const checked = providers[provider].validateConfig(config);
      if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
      const options: CondensationOptions =
        share === undefined ? {} : { targetTokens: Math.round(counter.countMessages(messages) * share) };
      return providers[provider].condense({ messages, edits, counter }, checked.config, options);
    },
  };
}

interface Case {
  readonly name: string;
  readonly provider: 'smart' | 'strategy';
  readonly config: unknown;
  /** Target share of tokens; undefined to remove as much as possible. */
  readonly share?: number;
}

const CASES: readonly Case[] = [
  ...BUILT_IN_PRESETS.map(({ id, config }): Case => ({ name: id, provider: 'smart', config })),
  { name: 'file-aware to 40 %', provider: 'smart', config: 'file-aware', share: 0.4 },
  ...BUILT_IN_STRATEGIES.map(({ id }): Case => ({ name: id, provider: 'strategy', config: id, share: 0.4 })),
  ...Object.entries(DOCUMENTED_CONFIGS).map(([name, config]): Case => ({ name, provider: 'smart', config })),
];

function check(messages: readonly ApiMessage[], edits: readonly Edit[]): void {
  const { messages: view, origins, stale } = applyEdits(messages, edits);
  expect(stale).toEqual([]);
  expect(findNewViolations(messages, view, { origins })).toEqual([]);
  const kept = origins.filter((origin) => origin !== SUMMARY_ORIGIN);
  expect(kept).toEqual(kept.toSorted((a, b) => a - b));
  const isTask = ({ role }: ApiMessage): boolean => role === 'user';
  expect(view.find(isTask)).toBe(messages.find(isTask));
  expect(counter.countMessages(view)).toBeLessThanOrEqual(counter.countMessages(messages));
  const originals = new Map(edits.map((edit) => [edit.before, getOriginalText(messages, edit)]));
  const restored = restoreMessagesBeforeEdits(view, edits, (hash) => originals.get(hash));
  expect(JSON.stringify(restored)).toBe(JSON.stringify(messages));
}

/** On an idle machine, a tenth of this time is enough. */
const TIMEOUT_MS = 300_000;

describe.runIf(isReal)('a preset on real conversations', () => {
  it.each(CASES)(
    'called $name keeps them valid, in order, no larger and reversible, and is final after one run',
    async (each) => {
      for (const [index, { messages }] of conversations.entries()) {
        if (!shouldTry(index, CASES.indexOf(each), 7)) continue;
        const { edits } = await bed(GOOD).condense(each, messages);
        check(messages, edits);
        const withoutModel = bed();
        const made = (await withoutModel.condense(each, messages).catch(nothing)).edits;
        check(messages, made);
        if (isMissed(each, messages, made)) continue;
        const again = await withoutModel.condense(each, messages, made).catch(nothing);
        expect(again.edits).toEqual([]);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'keeps them valid and reversible if the model fails at any call, or at every call',
    async () => {
      for (const [index, { messages }] of conversations.filter((_, index) => index % 6 === 3).entries()) {
        for (const [row, each] of CASES.entries()) {
          if (!shouldTry(index, row, 7)) continue;
          const { summarizer, condense } = bed(GOOD);
          await condense(each, messages);
          const calls = summarizer.requests.length;
          if (calls === 0) continue;
          const failing: readonly Answer[] = [
            () => 'failed',
            ...[0, calls >> 1, calls - 1].map(
              (at): Answer =>
                (call) =>
                  call === at ? 'empty' : GOOD(call),
            ),
          ];
          for (const answer of failing)
            check(messages, (await bed(answer).condense(each, messages).catch(nothing)).edits);
        }
      }
    },
    TIMEOUT_MS,
  );
});

const countSize = (messages: readonly ApiMessage[], edits: readonly Edit[]): number =>
  counter.countMessages(applyEdits(messages, edits).messages);

/**
 * True if a strategy missed its target. A second run may then continue from the result, because the
 * strategy's conditions depend on the conversation.
 */
const isMissed = ({ provider, share = 1 }: Case, messages: readonly ApiMessage[], edits: readonly Edit[]): boolean =>
  provider === 'strategy' && countSize(messages, edits) > share * counter.countMessages(messages);

/** A run that fails changes nothing. */
const nothing = (): Pick<ProviderResult, 'edits'> => ({ edits: [] });
