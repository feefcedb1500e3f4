import { expect, it } from 'vitest';
import type { PreviewRequest, PreviewResult } from '../../background/preview/messages';
import type { PreviewThread } from '../../engine/previewThread';
import type { PreviewSetupOfProfile } from '../../commands/previewSetup';
import type { PanelDependencies } from '../parts';
import { compareProfiles } from './compareProfiles';

const signal = new AbortController().signal;
const PRICES = { input: { base: 3 }, output: { base: 15 }, cacheRead: { base: 0.3 }, cacheWrite: { base: 3.75 } };

const cell = (outcome: string, tokensAfter: number): object => ({ outcome, tokensAfter });

const made = (changes: Partial<PreviewResult> = {}): PreviewResult =>
  ({
    title: 'A task',
    model: 'gpt-5',
    tokensBefore: 100_000,
    tokensAfter: 40_000,
    cost: 0.3,
    cells: [cell('kept', 10_000), cell('summarized', 0), cell('kept', 30_000)],
    ...changes,
  }) as PreviewResult;

const setup = (id: string): PreviewSetupOfProfile =>
  ({
    id,
    name: id.toUpperCase(),
    model: `model-${id}`,
    setup: { provider: 'native', config: id },
  }) as PreviewSetupOfProfile;

/** @param answers the estimates, by the configuration for which each is made */
function compare(profiles: readonly PreviewSetupOfProfile[], answers: Record<string, PreviewResult>, isPriced = true) {
  const commands = {
    getDefaultConversation: () => ({ kind: 'file', path: 'sample' }),
    findOwnConversation: () => Promise.resolve(undefined),
    loadLiveView: () => Promise.resolve(),
    resolveConversation: (_services: unknown, name: unknown) => name,
    readPreviewSetup: () => Promise.resolve({ provider: 'lossless', config: 'lossless' }),
    findModelPricing: () => Promise.resolve(isPriced ? { prices: PRICES, accounting: 'anthropic' } : undefined),
    createPreviewSetupsOfProfiles: () => Promise.resolve(profiles),
  };
  const thread = {
    askPreviewQuestion: (request: PreviewRequest) => Promise.resolve(answers[String(request.setup.config)] ?? made()),
  };
  // The doubles have only what the comparison uses.
  const parts = { services: {}, commands: () => commands } as unknown as PanelDependencies;
  return compareProfiles(parts, thread as unknown as PreviewThread, { kind: 'default' }, signal);
}

it('comparing profiles gives cost, saving and break-even with a warm cache', async () => {
  const small = made({ cost: 0.03, tokensAfter: 50_000, cells: [] });
  const reported = await compare([setup('a'), setup('b')], { b: small });
  expect(reported).toMatchObject({
    conversation: { kind: 'file', path: 'sample' },
    title: 'A task',
    tokens: 100_000,
    model: 'gpt-5',
    recommended: 'b',
  });
  // Each later request reads 60,000 fewer tokens from the cache. Once, the 30,000 tokens after the
  // unchanged prefix are written to the cache again.
  const perRequest = (60_000 * 0.3) / 1e6;
  const cacheBreak = (30_000 * (3.75 - 0.3)) / 1e6;
  expect(reported.profiles[0]).toEqual({
    id: 'a',
    name: 'A',
    model: 'model-a',
    estimate: {
      tokensAfter: 40_000,
      cost: 0.3,
      savedPerRequest: expect.closeTo(perRequest, 10),
      breakEvenRequests: Math.ceil((0.3 + cacheBreak) / perRequest),
    },
  });
});

it('comparing profiles says why a profile can’t be used, and gives no saving for an unknown price', async () => {
  const broken: PreviewSetupOfProfile = { id: 'x', name: 'X', model: 'm', setup: { problem: 'no key' } };
  const unpriced = made();
  Reflect.deleteProperty(unpriced, 'cost');
  const reported = await compare([broken, setup('a')], { a: unpriced }, false);
  expect(reported.profiles).toEqual([
    { id: 'x', name: 'X', model: 'm', estimate: { problem: 'no key' } },
    { id: 'a', name: 'A', model: 'model-a', estimate: { tokensAfter: 40_000 } },
  ]);
  expect(reported.recommended).toBeUndefined();
  const nameless = made();
  Reflect.deleteProperty(nameless, 'model');
  expect((await compare([], { lossless: nameless })).model).toBeUndefined();
});
