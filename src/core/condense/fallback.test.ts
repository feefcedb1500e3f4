import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../messages/types';
import { checkConversation } from '../messages/firewall';
import { assistant, makeToolExchange, makeLines, user } from '../testing';
import { createCounter } from '../testingCounter';
import { condenseIfNeeded, type AutomaticRequest } from './automatic';
import { applyEdits } from './edits/applyEdits';
import { condenseWithFallback, computeFittingTokens, type FallbackPolicy } from './fallback';
import type { CondensationRequest } from './condensation';
import { CondensationManager } from './manager';
import { losslessProvider } from './providers/lossless';
import { createNativeProvider } from './providers/native';
import { createSmartProvider } from './providers/smart';
import { truncationProvider } from './providers/truncation';
import { selectSummarizer } from './summarizer';
import { createTestSummarizer } from './summary/testing';
import type { CondensationProvider } from './types';

const counter = createCounter();

const messages: ApiMessage[] = [
  user('task'),
  ...Array.from({ length: 20 }, (_, index) =>
    makeToolExchange(`${index}`, 'Read', { path: `f${index}` }, makeLines(`f${index}`, 60)),
  ).flat(),
  assistant('done'),
];
const TOKENS = counter.countMessages(messages);

const broken: CondensationProvider = {
  ...(losslessProvider as CondensationProvider),
  id: 'smart',
  name: 'Smart',
  condense: () => Promise.reject(new Error('it broke')),
};

function bed(replies: readonly string[] = [`## Goal\n${makeLines('goal', 3)}`]) {
  const summarizer = createTestSummarizer(replies);
  const native = createNativeProvider({ select: () => selectSummarizer({ condensing: summarizer }) });
  const providers = [broken, native, losslessProvider, truncationProvider] as const;
  const manager = new CondensationManager(counter, providers);
  const request: CondensationRequest = { conversation: 'c', messages, trigger: 'automatic', maxCost: 1 };
  const condense = (policy: FallbackPolicy, changes: Partial<CondensationRequest> = {}) =>
    condenseWithFallback(manager, { ...request, ...changes }, policy);
  return { manager, summarizer, condense };
}

/** A window that the messages exceed. */
const small = { contextWindow: TOKENS, maxOutputTokens: Math.round(TOKENS / 4) };
/** A window in which the messages have room. */
const large = { contextWindow: TOKENS * 4 };

describe('a condensation that loses too many facts', () => {
  const error = 'error: nothing is where it was';
  const failing = [user('task'), ...makeToolExchange('1', 'Bash', { command: 'x' }, `${error}\n${makeLines('a', 60)}`)];
  const twice = [
    ...failing,
    ...makeToolExchange('2', 'Read', { path: 'f' }, makeLines('f', 200)),
    ...messages.slice(1),
  ];
  const suppressing = {
    provider: 'truncation',
    config: { toolResults: { mode: 'suppress' }, preserveRecentCount: 0 },
    messages: twice,
    trigger: 'manual',
  } as const;

  it('is refused and reported, and Lossless runs instead', async () => {
    const { condense } = bed();
    const repeated = [
      ...twice,
      ...makeToolExchange('3', 'Read', { path: 'f' }, makeLines('f', 200)),
      assistant('done'),
    ];
    const asked = { ...suppressing, messages: repeated, coherenceFloor: { errors: 100 } };
    const outcome = await condense({ mayUseNative: true }, asked);
    expect(outcome).toMatchObject({ kind: 'condensed', provider: 'lossless', coherence: { errors: { kept: 1 } } });
    expect(outcome.notes).toContain('Truncation: only 0% of the error lines would remain; the minimum is 100%.');
    const nothingTwice = await condense({ mayUseNative: true }, { ...suppressing, coherenceFloor: { errors: 100 } });
    expect(nothingTwice).toMatchObject({ kind: 'unchanged', reason: 'incoherent', provider: 'truncation' });
  });

  it('is accepted if no minimum of kept facts is set, or if the request would not fit the window without it', async () => {
    const { condense } = bed();
    expect(await condense({ mayUseNative: false }, suppressing)).toMatchObject({ kind: 'condensed' });
    const asked = { ...suppressing, provider: 'lossless', coherenceFloor: { errors: 100 } };
    const limitTokens = 200;
    expect(await condense({ mayUseNative: false, limitTokens, hasFloor: true }, asked)).toMatchObject({
      kind: 'condensed',
      coherence: { errors: { kept: 0, recallable: 1 } },
    });
  });
});

describe('after a condensation failed,', () => {
  it('no paid provider runs unless a profile and a budget are set, and a note says so', async () => {
    const { condense, summarizer } = bed();
    const outcome = await condense({ mayUseNative: false, window: large });
    expect(outcome).toMatchObject({ kind: 'failed', provider: 'smart', cost: 0, error: { message: 'it broke' } });
    expect(summarizer.requests).toHaveLength(0);
  });

  it('Summary runs if the policy allows it', async () => {
    const { condense } = bed();
    const outcome = await condense({ mayUseNative: true, window: large });
    expect(outcome).toMatchObject({ kind: 'condensed', provider: 'native' });
    expect(outcome.cost).toBeGreaterThan(0);
    expect(outcome.calls).toHaveLength(1);
    expect(outcome.notes).toEqual(['Smart: it broke', 'Summary was used instead.']);
  });

  it('Summary spends only what is left of the budget', async () => {
    const { condense, summarizer } = bed();
    const outcome = await condense({ mayUseNative: true, window: large }, { maxCost: 0.0001 });
    expect(outcome).toMatchObject({ kind: 'failed', provider: 'smart' });
    expect(outcome.notes.join()).toContain('at most $0.0001 may be spent');
    expect(summarizer.requests).toHaveLength(0);
  });

  it('Truncation runs only if the window would be exceeded, and only until the request fits', async () => {
    const { condense } = bed(['failed']);
    const fits = await condense({ mayUseNative: true, window: large });
    expect(fits).toMatchObject({ kind: 'failed' });
    expect(fits.cost).toBeGreaterThan(0);
    const outcome = await bed(['failed']).condense({ mayUseNative: true, window: small });
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    expect(outcome.provider).toBe('truncation');
    expect(outcome.tokensAfter).toBeLessThanOrEqual(computeFittingTokens(small));
    expect(outcome.notes).toEqual([
      'Smart: it broke',
      'Summary: The model said: failed.',
      'The window would have been exceeded, so old content was truncated.',
    ]);
    expect(outcome.cost).toBeGreaterThan(0);
    expect(checkConversation(outcome.view)).toEqual([]);
  });

  it('File-Aware runs before Truncation unless Smart was what failed', async () => {
    const manager = new CondensationManager(counter, [losslessProvider, createSmartProvider(), truncationProvider]);
    const request = { conversation: 'c', messages, trigger: 'automatic', provider: 'lossless' } as const;
    const fits = await condenseWithFallback(manager, request, { mayUseNative: false, window: large });
    expect(fits.kind).toBe('unchanged');
    const outcome = await condenseWithFallback(manager, request, { mayUseNative: false, window: small });
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    expect(outcome.provider).toBe('smart');
    expect(outcome.tokensAfter).toBeLessThanOrEqual(computeFittingTokens(small));
    expect(outcome.notes).toContain(
      'The window would have been exceeded, so what is least likely to be needed was removed.',
    );
    expect(checkConversation(outcome.view)).toEqual([]);
    const chosen = await condenseWithFallback(
      manager,
      { ...request, provider: 'truncation' },
      { mayUseNative: false, window: small },
    );
    expect(chosen.provider).toBe('truncation');
  });

  it('Lossless and File-Aware are not applied if together they free too little', async () => {
    const same = makeLines('same', 20);
    const twice = [
      ...messages,
      ...makeToolExchange('a', 'Read', {}, same),
      ...makeToolExchange('b', 'Read', {}, same),
      assistant('x'),
    ];
    const idle: CondensationProvider = {
      ...broken,
      condense: () => Promise.resolve({ edits: [], steps: [], cost: 0 }),
    };
    const manager = new CondensationManager(counter, [losslessProvider, idle]);
    const request = { conversation: 'c', messages: twice, trigger: 'automatic', targetTokens: 1 } as const;
    const policy = { mayUseNative: false, fileAwareFollows: true };
    const outcome = await condenseWithFallback(manager, request, policy);
    expect(outcome).toMatchObject({ kind: 'unchanged', reason: 'below-minimum-gain', provider: 'lossless' });
    const enough = { ...request, conversation: 'd', minimumGain: { percent: 0, tokens: 1 } };
    expect(await condenseWithFallback(manager, enough, policy)).toMatchObject({ kind: 'condensed' });
  });

  it('Truncation goes down to its own target, but only if the request does not fit', async () => {
    const fittingTargetTokens = Math.round(TOKENS * 0.58);
    const fits = await bed(['failed']).condense({ mayUseNative: true, window: large, fittingTargetTokens });
    expect(fits.kind).toBe('failed');
    const outcome = await bed(['failed']).condense({ mayUseNative: true, window: small, fittingTargetTokens });
    expect(outcome).toMatchObject({ kind: 'condensed', provider: 'truncation' });
    expect(outcome.kind === 'condensed' && outcome.tokensAfter).toBeLessThanOrEqual(fittingTargetTokens);
    const barely = await bed(['failed']).condense({ mayUseNative: true, window: small });
    expect(barely.kind === 'condensed' && barely.tokensAfter).toBeGreaterThan(fittingTargetTokens);
  });

  it('Truncation runs on top of a fallback that succeeded but did not free enough', async () => {
    const { condense } = bed();
    const same = makeLines('same', 80);
    const repeated = [
      ...messages.slice(0, -1),
      ...makeToolExchange('a', 'Read', { path: 'same' }, same),
      ...makeToolExchange('b', 'Read', { path: 'same' }, same),
      ...Array.from({ length: 5 }, (_, index) => [assistant(`text ${index}`), user(`words ${index}`)]).flat(),
    ];
    const window = { contextWindow: Math.round(TOKENS * 0.8), maxOutputTokens: 100 };
    const outcome = await condense(
      { mayUseNative: false, window },
      { messages: repeated, provider: 'lossless', minimumGain: { percent: 0, tokens: 1 } },
    );
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    expect(outcome.tokensAfter).toBeLessThanOrEqual(computeFittingTokens(window));
    expect(new Set(outcome.edits.map(({ step }) => step)).size).toBeGreaterThan(1);
    expect(applyEdits(repeated, outcome.edits).messages).toEqual(outcome.view);
  });

  it('an unknown cost does not reduce the budget, and a missing provider is not used as a fallback', async () => {
    const alone = new CondensationManager(counter, [broken]);
    const outcome = await condenseWithFallback(
      alone,
      { conversation: 'c', messages, trigger: 'manual' },
      { mayUseNative: true, window: small },
    );
    expect(outcome).toMatchObject({ kind: 'failed', provider: 'smart' });
  });

  it('no fallback runs if the condensation was cancelled', async () => {
    const { condense, summarizer } = bed();
    const signal = AbortSignal.abort(new Error('stop'));
    expect(await condense({ mayUseNative: true, window: small }, { signal })).toMatchObject({ kind: 'cancelled' });
    expect(summarizer.requests).toHaveLength(0);
    const abort = new AbortController();
    const stopping = createTestSummarizer(async () => {
      abort.abort();
      return 'aborted';
    });
    const native = createNativeProvider({ select: () => selectSummarizer({ condensing: stopping }) });
    const manager = new CondensationManager(counter, [broken, native]);
    const request = { conversation: 'c', messages, trigger: 'manual', signal: abort.signal } as const;
    expect(await condenseWithFallback(manager, request, { mayUseNative: true })).toMatchObject({ kind: 'cancelled' });
  });

  it('the conversation stays unchanged if all fallbacks fail, and every reason is reported', async () => {
    const { condense } = bed(['failed']);
    const outcome = await condense({
      mayUseNative: true,
      window: { contextWindow: 100, maxOutputTokens: 1 },
      configs: { truncation: { preserveRecentCount: 1_000 } },
    });
    expect(outcome).toMatchObject({ kind: 'failed', provider: 'smart' });
    expect(outcome.notes).toHaveLength(3);
  });
});

describe('condensing automatically', () => {
  const automatic = (changes: Partial<AutomaticRequest> = {}) => {
    const { manager } = bed();
    const request: AutomaticRequest = {
      conversation: 'c',
      messages,
      provider: 'truncation',
      window: { contextWindow: TOKENS * 2, maxOutputTokens: 100 },
      threshold: { percent: 75 },
      ...changes,
    };
    return condenseIfNeeded(manager, counter, request, { mayUseNative: false });
  };

  it('does nothing below the threshold', async () => {
    expect(await automatic()).toMatchObject({ kind: 'not-due' });
    expect(await automatic({ messages: [] })).toMatchObject({ kind: 'not-due' });
  });

  it('condenses to two thirds of the threshold', async () => {
    const window = { contextWindow: Math.floor(TOKENS / 0.76), maxOutputTokens: 100 };
    const ran = await automatic({ window });
    if (ran.kind !== 'ran' || ran.outcome.kind !== 'condensed') throw new Error(JSON.stringify(ran));
    expect(ran.reason).toBe('threshold');
    expect(ran.outcome.tokensAfter).toBeLessThanOrEqual(window.contextWindow * 0.75 * 0.67);
  });

  it('counts tokens as the model does and includes system prompt and tools', async () => {
    const window = { contextWindow: TOKENS * 2, maxOutputTokens: 100, tokenFactor: 1.5 };
    expect(await automatic({ window })).toMatchObject({ kind: 'ran' });
    const below = { ...window, tokenFactor: 1.45 };
    expect(await automatic({ window: below })).toMatchObject({ kind: 'not-due', percent: expect.closeTo(72.5, 0) });
    expect(await automatic({ overheadTokens: TOKENS })).toMatchObject({ kind: 'ran' });
  });

  it('happens above window × 0.9 less the reply that the caller reserves, whatever the threshold', async () => {
    const threshold = { percent: 100 };
    const fitting = Math.ceil((TOKENS + 8_000) / 0.9) + 1;
    const roomy = { contextWindow: fitting, maxOutputTokens: 8_000 };
    expect(await automatic({ threshold, window: roomy })).toMatchObject({ kind: 'not-due' });
    const tight = { contextWindow: fitting, maxOutputTokens: 8_100 };
    expect(await automatic({ threshold, window: tight })).toMatchObject({ kind: 'ran', reason: 'window' });
  });

  it('accepts a threshold in tokens', async () => {
    const threshold = { percent: 75, tokens: TOKENS };
    const window = { contextWindow: TOKENS * 5 };
    expect(await automatic({ window, threshold })).toMatchObject({ kind: 'ran', outcome: { kind: 'condensed' } });
    expect(await automatic({ window, threshold: { ...threshold, tokens: TOKENS + 1 } })).toMatchObject({
      kind: 'not-due',
    });
  });

  it('condenses down to the given target', async () => {
    const ran = await automatic({ threshold: { percent: 40 }, targetTokens: Math.round(TOKENS * 0.7) });
    if (ran.kind !== 'ran' || ran.outcome.kind !== 'condensed') throw new Error(JSON.stringify(ran));
    expect(ran.outcome.tokensAfter).toBeLessThanOrEqual(TOKENS * 0.7);
    expect(ran.outcome.tokensAfter).toBeGreaterThan(TOKENS * 0.6);
  });
});

describe('a request that must fit the window', () => {
  const KEEP = { toolResults: { mode: 'keep' }, toolParameters: { mode: 'keep' } };
  const policy: FallbackPolicy = { mayUseNative: false, limitTokens: 2_000, hasFloor: true };

  it('loses its oldest results if Truncation is not enough, with one note', async () => {
    const { condense } = bed();
    const outcome = await condense({ ...policy, configs: { truncation: KEEP } }, { provider: 'lossless' });
    expect(outcome).toMatchObject({ kind: 'condensed', provider: 'truncation' });
    expect(outcome.kind === 'condensed' && outcome.tokensAfter).toBeLessThanOrEqual(2_000);
    expect(outcome.notes.filter((note) => note.includes('suppressed'))).toHaveLength(1);
    expect(outcome.notes.join(), 'truncation took something out in the end').not.toContain('Truncation found nothing');
    expect(checkConversation(outcome.kind === 'condensed' ? outcome.view : [])).toEqual([]);
  });

  it('loses content step by step until it fits, the newest result last', async () => {
    const { condense } = bed();
    const few = await condense({ ...policy, limitTokens: 6_000, configs: { truncation: KEEP } });
    expect(JSON.stringify(few.kind === 'condensed' && few.view)).toContain('f19 line 59');
    const none = await condense({ ...policy, limitTokens: 1_000, configs: { truncation: KEEP } });
    expect(JSON.stringify(none.kind === 'condensed' && none.view)).not.toContain('f19 line 30 ');
  });

  it('leaves room for the next request', async () => {
    const { condense } = bed();
    const outcome = await condense({ ...policy, limitTokens: 6_000, roomTokens: 1_000 });
    expect(outcome.kind === 'condensed' && outcome.tokensAfter).toBeLessThanOrEqual(5_000);
  });

  it('loses old results, but not the newest ones, to leave room', async () => {
    const truncation = { provider: 'truncation' } as const;
    const alone = await bed().condense({ mayUseNative: false }, truncation);
    const tokens = alone.kind === 'condensed' ? alone.tokensAfter : NaN;
    const close = { ...policy, limitTokens: tokens + 10 };
    const fits = await bed().condense(close, truncation);
    expect(fits).toMatchObject({ tokensAfter: tokens });
    const roomy = await bed().condense({ ...close, roomTokens: tokens }, truncation);
    expect(roomy.notes.join('\n')).toContain('too little room');
    expect(roomy.kind === 'condensed' && roomy.tokensAfter).toBeLessThan(tokens);
    expect(JSON.stringify(roomy.kind === 'condensed' && roomy.view)).toContain('f19 line 59');
  });

  it('stays unchanged if no last resort is allowed and no fallback helps', async () => {
    const { condense } = bed();
    const outcome = await condense({ ...policy, hasFloor: false, configs: { truncation: KEEP } });
    expect(outcome.kind).toBe('failed');
  });
});
