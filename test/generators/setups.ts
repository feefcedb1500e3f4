/** Generates providers with random configurations, and condenses a history with them. */
import fc from 'fast-check';
import { loadRanks } from '../../scripts/ranks.mjs';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import type { Edit } from '../../src/core/condense/edits/edits';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import type { CondensationProvider, ProviderResult } from '../../src/core/condense/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { MessageCounter } from '../../src/core/tokens/messageCounter';
import { createO200kCounter } from '../../src/core/tokens/o200k/counter';

/** A configured provider. */
export interface Setup {
  readonly provider: 'lossless' | 'truncation';
  readonly config: Readonly<Record<string, unknown>>;
  /** Target share of tokens; undefined to remove as much as possible. */
  readonly target: number | undefined;
}

const target = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined, freq: 2 });

const lossless: fc.Arbitrary<Setup> = fc.record({
  provider: fc.constant('lossless'),
  config: fc.record(
    {
      deduplicateFileReads: fc.boolean(),
      deduplicateResults: fc.boolean(),
      consolidateToolResults: fc.boolean(),
      removeObsoleteState: fc.boolean(),
      keep: fc.constantFrom('latest', 'first'),
      strictOnly: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  target,
});

const operation = fc.record(
  {
    mode: fc.constantFrom('keep', 'suppress', 'truncate', 'truncate'),
    maxLines: fc.constantFrom(1, 2, 5, 20),
    maxChars: fc.constantFrom(1, 7, 100, 2_000),
    keep: fc.constantFrom('head', 'tail', 'both'),
  },
  { requiredKeys: ['mode'] },
);

const truncation: fc.Arbitrary<Setup> = fc.record({
  provider: fc.constant('truncation'),
  config: fc.record(
    {
      preserveRecentCount: fc.nat(6),
      toolResults: operation,
      toolParameters: operation,
      messageText: operation,
      preserveUserMessages: fc.boolean(),
      preserveAssistantText: fc.boolean(),
      minimumTokens: fc.constantFrom(0, 0, 10, 50),
    },
    { requiredKeys: ['preserveRecentCount'] },
  ),
  target,
});

export const setup: fc.Arbitrary<Setup> = fc.oneof(lossless, truncation);
export const losslessSetup = lossless;

const counter = createO200kCounter(loadRanks());

/** Creates a counter with an empty cache. */
export const freshCounter = (): MessageCounter => new MessageCounter(counter);

export interface Outcome {
  readonly result: ProviderResult;
  readonly edits: readonly Edit[];
  readonly view: readonly ApiMessage[];
  readonly stale: readonly Edit[];
}

export async function condense(
  { provider, config, target: share }: Setup,
  messages: readonly ApiMessage[],
  active: readonly Edit[] = [],
): Promise<Outcome> {
  const messageCounter = freshCounter();
  const targetTokens = share === undefined ? undefined : Math.round(share * messageCounter.countMessages(messages));
  const result = await runProvider(
    // The cast gives all configurations one type; the providers validate them.
    provider === 'lossless' ? losslessProvider : truncationProvider,
    config,
    { messages, edits: active, counter: messageCounter },
    targetTokens === undefined ? {} : { targetTokens },
  );
  const edits = [...active, ...result.edits];
  const { messages: view, stale } = applyEdits(messages, edits);
  return { result, edits, view, stale };
}

async function runProvider(
  provider: CondensationProvider,
  config: unknown,
  ...[context, options]: [
    Parameters<CondensationProvider['condense']>[0],
    Parameters<CondensationProvider['condense']>[2],
  ]
): Promise<ProviderResult> {
  const checked = provider.validateConfig(config);
  if (!checked.valid) throw new Error(`wrong configuration: ${JSON.stringify(checked.problems)}`);
  return provider.condense(context, checked.config, options);
}
