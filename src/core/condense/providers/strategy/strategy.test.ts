import { describe, expect, it } from 'vitest';
import { generateConversation } from '../../../../../test/generators/conversation';
import { findNewViolations } from '../../../messages/firewall';
import type { ApiMessage } from '../../../messages/types';
import { assistant, makeToolExchange, makeLines, user } from '../../../testing';
import { createCounter } from '../../../testingCounter';
import { Draft } from '../../draft/draft';
import { applyEdits } from '../../edits/applyEdits';
import { selectLastEditPerPlace } from '../../edits/edits';
import { findCutsWithBrokenReferences } from '../../lossless/integrity';
import { losslessProvider } from '../lossless';
import { createNativeProvider } from '../native';
import { createSmartProvider } from '../smart';
import { createStrategyProvider } from '.';
import { truncationProvider } from '../truncation';
import { selectSummarizer } from '../../summarizer';
import { createTestSummarizer } from '../../summary/testing';
import { ProviderFailure, type CondensationOptions, type CondensationProvider, type StepReport } from '../../types';
import { BUILT_IN_STRATEGIES } from './builtIn';
import { prepareStrategyStep } from './run';
import { strategySchema } from './strategy';

const counter = createCounter();

const MESSAGES: readonly ApiMessage[] = [
  user('task'),
  ...Array.from({ length: 16 }, (_, at) =>
    makeToolExchange(`${at}`, 'Read', { path: `f${at % 12}` }, makeLines(`f${at % 12}`, 120)),
  ).flat(),
  assistant('done'),
];
const TOKENS = counter.countMessages(MESSAGES);

const SUMMARY = '## Goal\nRead the files, and say what each of them is there for.\n## State\nAll were read.';

function bed(replies: readonly string[] = [SUMMARY]) {
  const summarizer = createTestSummarizer(replies);
  const select = () => selectSummarizer({ condensing: summarizer });
  const providers: readonly CondensationProvider[] = [
    losslessProvider,
    truncationProvider,
    createNativeProvider({ select }),
    createSmartProvider({ select }),
  ];
  const strategy = createStrategyProvider({ providers: () => providers });
  const configOf = (wanted: unknown) => {
    const checked = strategy.validateConfig(wanted);
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    return checked.config;
  };
  const context = { messages: MESSAGES, edits: [], counter };
  return {
    summarizer,
    strategy,
    estimate: (wanted: unknown, options: CondensationOptions) => strategy.estimate(context, configOf(wanted), options),
    run: async (wanted: unknown, options: CondensationOptions) => {
      const result = await strategy.condense(context, configOf(wanted), options);
      const { messages, origins } = applyEdits(MESSAGES, result.edits);
      expect(findNewViolations(MESSAGES, messages, { origins })).toEqual([]);
      return { ...result, tokens: counter.countMessages(messages), did: listRemovingProviders(result.steps) };
    },
  };
}

/** Returns the providers that removed something. */
const listRemovingProviders = (steps: readonly StepReport[]): string[] => [
  ...new Set(
    steps
      .filter(({ tokensBefore, tokensAfter }) => tokensAfter < tokensBefore)
      .map(({ name }) => name.split(':')[0] ?? ''),
  ),
];

const share = (part: number): CondensationOptions => ({ targetTokens: Math.round(TOKENS * part), maxCost: 1 });

it.each([
  ['file-aware', { steps: [{ provider: 'lossless' }, { preset: 'file-aware' }] }, false],
  ['a provider that isn’t there', { steps: [{ provider: 'gone' }, { preset: 'gone' }] }, false],
  ['passes with summaries', { steps: [{ provider: 'lossless' }, { preset: 'quality' }] }, true],
  ['Summary', { steps: [{ provider: 'native' }] }, true],
])('a strategy with %s says beforehand whether it may call a model', (_what, steps, asks) => {
  const checked = bed().strategy.validateConfig({ id: 's', name: 'S', ...steps });
  expect(checked.valid && bed().strategy.asksModel?.(checked.config)).toBe(asks);
});

describe('the strategy Pipeline', () => {
  it('runs further steps only while the target is missed', async () => {
    expect((await bed().run('pipeline', share(0.9))).did).toEqual(['Lossless']);
    expect((await bed().run('pipeline', share(0.5))).did).toEqual(['Lossless', 'Truncation']);
    const all = await bed().run('pipeline', share(0.1));
    expect(all.did).toEqual(['Lossless', 'Truncation', 'Summary']);
    expect(all.tokens).toBeLessThan(TOKENS * 0.5);
    expect(all.cost).toBeGreaterThan(0);
  });

  it('is the default strategy', async () => {
    expect((await bed().run(undefined, share(0.9))).did).toEqual(['Lossless']);
  });

  it('reports why a step did not run', async () => {
    const { steps } = await bed().run('pipeline', share(0.9));
    expect(steps.at(-1)).toMatchObject({ name: 'Summary', outcome: { reason: 'the target was already met' } });
  });
});

describe('the strategy Adaptive Threshold', () => {
  it.each([
    [0.9, ['Lossless']],
    [0.6, ['Truncation']],
    [0.4, ['Summary']],
    [0.2, ['Aggressive']],
  ])('chooses the provider by the distance to the target: %s', async (part, did) => {
    expect((await bed().run('adaptive-threshold', share(part))).did).toEqual(did);
  });

  it('runs nothing without a target', async () => {
    const { edits, steps } = await bed().run('adaptive-threshold', {});
    expect(edits).toEqual([]);
    expect(steps[0]?.outcome).toMatchObject({ reason: 'no target is set' });
  });
});

describe('the strategy Cost-Aware', () => {
  it('pays what the budget allows, and nothing without a budget', async () => {
    expect((await bed().run('cost-aware', share(0.3))).did).toEqual(['Summary']);
    const { run, summarizer } = bed();
    const free = await run('cost-aware', { ...share(0.3), maxCost: 0 });
    expect(free.did).not.toContain('Summary');
    expect(free.did.length).toBeGreaterThan(0);
    expect(free.cost).toBe(0);
    expect(summarizer.requests).toHaveLength(0);
    expect(JSON.stringify(free.steps)).toContain('may be spent');
  });
});

describe('the strategy Quality-First with Fallback', () => {
  it('suppresses content only if the models failed', async () => {
    const good = await bed().run('quality-first', share(0.2));
    expect(good.did).not.toContain('Truncation');
    const failed = await bed(['failed']).run('quality-first', share(0.2));
    expect(failed.did).toContain('Truncation');
    expect(failed.notes?.join(' ')).toContain('Summary');
  });
});

describe('the strategy Progressive Enhancement', () => {
  it('calls models only if the budget allows it', async () => {
    const { run, summarizer } = bed();
    const free = await run('progressive-enhancement', { ...share(0.1), maxCost: 0.005 });
    expect(summarizer.requests).toHaveLength(0);
    expect(free.did).toEqual(['Lossless', 'Truncation']);
    expect((await bed().run('progressive-enhancement', share(0.05))).did).toContain('Summary');
  });
});

describe('a strategy of any kind', () => {
  it('stays within the budget', async () => {
    for (const { id } of BUILT_IN_STRATEGIES) {
      for (const maxCost of [0, 0.01, 0.05]) {
        const { cost } = await bed().run(id, { ...share(0.05), maxCost });
        expect(cost).toBeLessThanOrEqual(maxCost);
      }
    }
  });

  it('is estimated without a call', async () => {
    const { estimate, summarizer } = bed();
    const { cost, ...reduction } = await estimate('pipeline', share(0.1));
    expect(summarizer.requests).toHaveLength(0);
    expect(reduction.tokensBefore).toBe(TOKENS);
    expect(reduction.tokensAfter).toBeLessThan(TOKENS * 0.5);
    // The preview shows a view of the estimated size.
    const { messages } = applyEdits(MESSAGES, reduction.edits ?? []);
    expect(counter.countMessages(messages)).toBe(reduction.tokensAfter);
    expect(cost).toBeGreaterThan(0);
    expect((await estimate('pipeline', share(0.9))).cost).toBe(0);
  });

  it('estimates each step once, without effects', async () => {
    const asked: string[] = [];
    const counted = <Config>(id: string, provider: CondensationProvider<Config>): CondensationProvider<Config> => ({
      ...provider,
      id,
      condense: () => Promise.reject(new Error(`${id} was run`)),
      estimate: (...input) => {
        asked.push(id);
        return provider.estimate(...input);
      },
    });
    const select = () => selectSummarizer({ condensing: createTestSummarizer([]) });
    const providers = [
      counted('free', losslessProvider),
      counted('affordable', truncationProvider),
      counted('paid', createNativeProvider({ select })),
      counted('passes', createSmartProvider({ select })),
    ];
    const strategy = createStrategyProvider({ providers: () => providers });
    const checked = strategy.validateConfig({
      id: 'counted',
      name: 'Counted',
      steps: [
        { provider: 'free' },
        { provider: 'affordable', affordable: true },
        { provider: 'paid', affordable: true },
        { provider: 'passes' },
      ],
    });
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    const context = { messages: MESSAGES, edits: [], counter };
    await strategy.estimate(context, checked.config, { maxCost: 5 });
    expect(asked).toEqual(['free', 'affordable', 'paid', 'passes']);
  });

  it('continues if a step names an unknown provider or throws', async () => {
    const steps = [
      { provider: 'magic' },
      { preset: 'magic' },
      { provider: 'truncation', config: 3 },
      { provider: 'lossless' },
    ];
    const result = await bed().run({ id: 'x', name: 'X', steps }, share(0.5));
    expect(result.did).toEqual(['Lossless']);
    expect(result.notes).toEqual([
      'magic: there is no provider "magic"',
      'magic: there is no preset "magic"',
      expect.stringContaining('Truncation: configuration: must be'),
    ]);
  });

  it('explains the absence of Summary in a program without models', () => {
    const parts = { provider: () => undefined, preset: () => undefined };
    const [step] = strategySchema.parse({ id: 'x', name: 'X', steps: [{ provider: 'native' }] }).steps;
    expect(prepareStrategyStep(step!, parts)).toMatch(/^it needs a model, and no model is called here/);
  });

  it('drops changes that make the conversation larger or invalid', async () => {
    const bad: CondensationProvider = {
      ...(losslessProvider as CondensationProvider),
      id: 'bad',
      name: 'Bad',
      condense: async (context, config, options) => {
        const { edits, ...rest } = await losslessProvider.condense(context, losslessConfig(config), options);
        return { ...rest, edits: edits.map((edit) => ({ ...edit, before: 'x' as typeof edit.before })) };
      },
    };
    const strategy = createStrategyProvider({ providers: () => [bad, truncationProvider] });
    const checked = strategy.validateConfig({
      id: 'x',
      name: 'X',
      steps: [{ provider: 'bad' }, { provider: 'truncation' }],
    });
    if (!checked.valid) throw new Error('unreachable');
    const { edits, steps } = await strategy.condense(
      { messages: MESSAGES, edits: [], counter },
      checked.config,
      share(0.5),
    );
    expect(steps.find(({ name }) => name === 'Bad')?.outcome).toMatchObject({ kind: 'failed' });
    expect(edits.every(({ step }) => step === 'Truncation')).toBe(true);
  });

  it("puts text back if a step removes the copy that an earlier step's reference points to", async () => {
    const same = makeLines('same', 60);
    const messages = [
      user('task'),
      ...makeToolExchange('a', 'Bash', { command: 'a' }, `${same}\nfirst`),
      ...makeToolExchange('b', 'Bash', { command: 'b' }, `${same}\nlast`),
      assistant('done'),
    ];
    // This provider removes the copy that Lossless keeps, without looking for references.
    const rude: CondensationProvider = {
      ...(losslessProvider as CondensationProvider),
      id: 'rude',
      name: 'Rude',
      condense: (context) => {
        const draft = new Draft(context.messages, context.counter, context.edits);
        const place = { message: 4, path: ['content', 0, 'content'] };
        draft.cutText('rude', place, [{ start: 0, end: draft.getText(place).length, marker: 'taken' }], {
          contentType: 'toolResults',
          operation: 'cut',
          reason: 'test',
          strict: false,
        });
        return Promise.resolve({ edits: draft.edits, steps: [], cost: 0 });
      },
    };
    const strategy = createStrategyProvider({ providers: () => [losslessProvider, rude] });
    const checked = strategy.validateConfig({
      id: 'x',
      name: 'X',
      steps: [{ provider: 'lossless' }, { provider: 'rude' }],
    });
    if (!checked.valid) throw new Error('unreachable');
    const { edits } = await strategy.condense({ messages, edits: [], counter }, checked.config, {});
    const { messages: view } = applyEdits(messages, edits);
    expect(
      findCutsWithBrokenReferences(
        messages,
        view,
        selectLastEditPerPlace(edits).filter((edit) => edit.kind === 'cut'),
      ),
    ).toEqual([]);
  });

  it('changes nothing if cancelled, and reports its spending', async () => {
    const abort = new AbortController();
    const summarizer = createTestSummarizer(() => {
      abort.abort(new Error('enough'));
      return Promise.resolve('aborted');
    });
    const select = () => selectSummarizer({ condensing: summarizer });
    const strategy = createStrategyProvider({
      providers: () => [createNativeProvider({ select }), truncationProvider],
    });
    const checked = strategy.validateConfig({
      id: 'x',
      name: 'X',
      steps: [{ provider: 'native' }, { provider: 'truncation' }],
    });
    if (!checked.valid) throw new Error('unreachable');
    const run = strategy.condense({ messages: MESSAGES, edits: [], counter }, checked.config, {
      ...share(0.1),
      signal: abort.signal,
    });
    const error: unknown = await run.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderFailure);
    expect((error as ProviderFailure).spent.calls).toHaveLength(1);
  });

  it('requires a provider or a preset in each step', () => {
    const { strategy } = bed();
    const problemsOf = (config: unknown): unknown => {
      const checked = strategy.validateConfig(config);
      return checked.valid ? [] : checked.problems;
    };
    expect(problemsOf('magic')).toMatchObject([
      { message: expect.stringContaining('known strategies: pipeline') as string },
    ]);
    expect(problemsOf({ id: 'x', name: 'x', steps: [{}] })).toMatchObject([{ path: 'steps.0' }]);
    expect(problemsOf({ id: 'x', name: 'x', steps: [] })).toMatchObject([{ path: 'steps' }]);
  });
});

function losslessConfig(config: unknown) {
  const checked = losslessProvider.validateConfig(config);
  if (!checked.valid) throw new Error('unreachable');
  return checked.config;
}

it.each(['adaptive-threshold', 'cost-aware'])(
  'a second run of the strategy %s without a budget finds nothing to do',
  async (id) => {
    const strategy = createStrategyProvider({
      providers: () => [losslessProvider, truncationProvider, createSmartProvider()],
    });
    const checked = strategy.validateConfig(id);
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    for (let seed = 1; seed <= 4; seed++) {
      const messages = generateConversation({ seed, targetTokens: 15_000 });
      for (const part of [0.85, 0.6, 0.45, 0.3]) {
        const options = { maxCost: 0, targetTokens: Math.floor(counter.countMessages(messages) * part) };
        const { edits } = await strategy.condense({ messages, edits: [], counter }, checked.config, options);
        expect(edits.length).toBeGreaterThan(0);
        const estimated = await strategy.estimate({ messages, edits: [], counter }, checked.config, options);
        expect(estimated.tokensAfter).toBe(counter.countMessages(applyEdits(messages, edits).messages));
        const again = await strategy.condense({ messages, edits, counter }, checked.config, options);
        expect(again.edits, `seed ${seed}, target ${part}`).toEqual([]);
      }
    }
  },
);
