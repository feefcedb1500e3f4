/** Providers that begin with Lossless share its runs, and this must not change their results. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyHistory } from '../../../../test/generators/arbitraries';
import { generateConversation } from '../../../../test/generators/conversation';
import type { ApiMessage } from '../../messages/types';
import { createCounter } from '../../testingCounter';
import type { CachedLosslessRunsByMessages } from '../types';
import { losslessConfigSchema, runLossless } from '../lossless/run';
import { losslessProvider } from './lossless';
import { resolveSmartConfig, createSmartProvider } from './smart';

const counter = createCounter();

/** A provider and its target, as a share of the history's tokens, or none. */
const providerArbitrary = fc.record({
  provider: fc.constantFrom('lossless', 'strict', 'speed'),
  target: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
});

async function condense(
  { provider, target }: { readonly provider: string; readonly target: number | undefined },
  messages: readonly ApiMessage[],
  losslessRuns?: CachedLosslessRunsByMessages,
) {
  const context = { messages, edits: [], counter, ...(losslessRuns && { losslessRuns }) };
  const options = target === undefined ? {} : { targetTokens: Math.round(counter.countMessages(messages) * target) };
  const preset = resolveSmartConfig('speed', []);
  if (!preset.valid) throw new Error('there is no preset speed');
  const { edits, steps } =
    provider === 'speed'
      ? await createSmartProvider().condense(context, preset.config, options)
      : await losslessProvider.condense(
          context,
          losslessConfigSchema.parse({ strictOnly: provider === 'strict' }),
          options,
        );
  return { edits, steps: steps.map((step) => ({ ...step, timeMs: 0 })) };
}

it('a run of Lossless from the cache gives the result of a new run for any target', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.array(providerArbitrary, { minLength: 2, maxLength: 6 }),
      async (history, questions) => {
        const shared: CachedLosslessRunsByMessages = new WeakMap();
        for (const question of questions)
          expect(await condense(question, history, shared)).toEqual(await condense(question, history));
      },
    ),
  );
});

it('Lossless runs once for all providers that begin with it, and for all targets that it does not reach', async () => {
  const messages = generateConversation({ seed: 1, targetTokens: 10_000 });
  const losslessRuns: CachedLosslessRunsByMessages = new WeakMap();
  const config = losslessConfigSchema.parse({});
  const run = (targetTokens: number) =>
    runLossless({ messages, edits: [], counter, losslessRuns }, config, { targetTokens });
  const { steps, draft } = await run(1);
  expect((await run(2)).steps).toBe(steps);
  await condense({ provider: 'speed', target: 0.01 }, messages, losslessRuns);
  expect(losslessRuns.get(messages)).toHaveLength(1);
  // If an earlier step meets the target, the run ends sooner.
  const soon = await run((steps[0]?.tokensBefore ?? 0) - 1);
  expect(soon.steps).not.toBe(steps);
  expect(soon.draft.tokens).toBeGreaterThan(draft.tokens);
  // A provider that continues from a remembered run does not change it.
  const { edits } = draft;
  await run(1);
  expect((await run(1)).draft.edits).toEqual(edits);
});
