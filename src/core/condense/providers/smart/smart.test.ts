import { describe, expect, it } from 'vitest';
import { contentsOf } from '../../../messages/content';
import { valueAt } from '../../../messages/path';
import type { ApiMessage } from '../../../messages/types';
import { assistant, call, exchange, lines, result, user } from '../../../testing';
import { freshCounter } from '../../../testingCounter';
import { applyEdits } from '../../edits';
import { testSummarizer, type TestSummarizer } from '../../summary/testing';
import { NoSummarizerError } from '../../summary/selectSummarizer';
import type { CondensationOptions, ConversationContext, ProviderResult } from '../../types';
import { smartProvider, type SmartOptions } from './index';
import type { SmartConfigInput } from './config';

type PassInput = NonNullable<SmartConfigInput['passes']>[number];
type Individual = NonNullable<Extract<PassInput, { mode: 'individual' }>['individualConfig']>;

const TASK = user('Fix the tests.');

const individual = (
  defaults: Individual['defaults'],
  more: Partial<PassInput> = {},
  config: Individual = {},
): PassInput =>
  ({
    id: 'one',
    name: 'One',
    selection: { type: 'preserve_recent', count: 0 },
    mode: 'individual',
    individualConfig: { ...config, defaults },
    ...more,
  }) as PassInput;

const withModel = (summarizer: TestSummarizer): SmartOptions => ({
  select: () => ({ summarizer, chosen: 'condensing-profile' }),
});

interface Ran {
  readonly result: ProviderResult;
  readonly view: readonly ApiMessage[];
  /** The text at a place of the view, markers as `[what]`. */
  readonly at: (message: number, ...path: (string | number)[]) => string;
}

async function run(
  messages: readonly ApiMessage[],
  passes: readonly PassInput[],
  smart: SmartOptions = {},
  options: CondensationOptions = {},
  more: Partial<SmartConfigInput> = {},
  context: Partial<ConversationContext> = {},
): Promise<Ran> {
  const provider = smartProvider(smart);
  const checked = provider.validateConfig({ version: 1, losslessPrelude: { enabled: false }, ...more, passes });
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  const made = await provider.condense(
    { messages, edits: [], counter: freshCounter(), ...context },
    checked.config,
    options,
  );
  const { messages: view } = applyEdits(messages, made.edits);
  const at = (message: number, ...path: (string | number)[]): string =>
    (valueAt(view[message], path) as string).replace(/⟦condensed: ([^⟧]*?)(?:; never[^⟧]*)? · ref \w+⟧/g, '[$1]');
  return { result: made, view, at };
}

const RESULT = ['content', 0, 'content'] as const;
const input = (name: string) => ['content', 0, 'input', name] as const;
const LONG = lines('a', 40);

describe('suppress', () => {
  it('leaves a result a result, and of a call what it was about', async () => {
    const messages = [
      TASK,
      ...exchange('a', 'Write', { file_path: 'src/a.ts', content: LONG }, LONG),
      ...exchange('b', 'Bash', { command: `cat <<EOF\n${LONG}\nEOF` }, LONG, { is_error: true }),
    ];
    const operation = { operation: 'suppress' } as const;
    const { at } = await run(messages, [individual({ toolParameters: operation, toolResults: operation })]);
    expect(at(1, ...input('file_path'))).toBe('src/a.ts');
    expect(at(1, ...input('content'))).toBe('[40 lines suppressed]');
    expect(at(2, ...RESULT)).toBe('[40 lines suppressed]');
    expect(at(3, ...input('command'))).toMatch(/^cat <<EOF\na line 0 .*\n?\[\d+ lines suppressed\]$/s);
    expect(at(4, ...RESULT)).toBe('[40 lines suppressed]');
  });

  it('says what the configuration says', async () => {
    const messages = [TASK, ...exchange('a', 'Bash', {}, LONG)];
    const { at } = await run(messages, [
      individual({ toolResults: { operation: 'suppress', marker: 'output omitted' } }),
    ]);
    expect(at(2, ...RESULT)).toBe('[output omitted]');
  });

  it('leaves what a person said in a result', async () => {
    const said = `${LONG}\n<feedback>\nNot like that!\n</feedback>\n${LONG}`;
    const { at } = await run(
      [TASK, ...exchange('a', 'Bash', {}, said)],
      [individual({ toolResults: { operation: 'suppress' } })],
    );
    expect(at(2, ...RESULT)).toBe(
      '[40 lines suppressed]\n<feedback>\nNot like that!\n</feedback>\n[40 lines suppressed]',
    );
  });
});

describe('truncate', () => {
  it('keeps head, tail and the lines that tell of an error', async () => {
    const output = `${lines('a', 20)}\nsrc/a.ts(3,1): error TS2339: no such property\n${lines('b', 20)}`;
    const operation = { operation: 'truncate', maxLines: 2 } as const;
    const { at } = await run([TASK, ...exchange('a', 'Bash', {}, output)], [individual({ toolResults: operation })]);
    expect(at(2, ...RESULT).split('\n')).toEqual([
      'a line 0 with some words in it',
      '[19 lines truncated]',
      'src/a.ts(3,1): error TS2339: no such property',
      '[19 lines truncated]',
      'b line 19 with some words in it',
    ]);
    const without = await run(
      [TASK, ...exchange('a', 'Bash', {}, output)],
      [individual({ toolResults: { ...operation, keepErrorLines: false } })],
    );
    expect(without.at(2, ...RESULT)).not.toContain('TS2339');
    // What a file says of errors is code.
    const read = await run(
      [TASK, ...exchange('a', 'Read', { file_path: 'a' }, output)],
      [individual({ toolResults: operation })],
    );
    expect(read.at(2, ...RESULT)).not.toContain('TS2339');
  });

  it('shortens each string inside parameters on its own', async () => {
    const edits = [{ old_string: LONG, new_string: 'short' }, { old_string: LONG }];
    const messages = [TASK, ...exchange('a', 'MultiEdit', { file_path: 'a.ts', edits }, 'done')];
    const { at } = await run(messages, [individual({ toolParameters: { operation: 'truncate', maxLines: 1 } })]);
    for (const index of [0, 1]) {
      expect(at(1, 'content', 0, 'input', 'edits', index, 'old_string')).toBe(
        'a line 0 with some words in it\n[39 lines truncated]',
      );
    }
    expect(at(1, 'content', 0, 'input', 'edits', 0, 'new_string')).toBe('short');
  });
});

const SUMMARIZE = { operation: 'summarize', maxTokens: 40 } as const;

/** Calls with results that no two share. */
const many = (count: number): ApiMessage[] => [
  TASK,
  ...Array.from({ length: count }, (_, index) =>
    exchange(`id${index}`, 'Bash', { command: `run ${index}` }, lines(`r${index}`, 40)),
  ).flat(),
];

describe('summarize', () => {
  it('puts the reply before a marker, and asks with what the call was', async () => {
    const summarizer = testSummarizer(['<summary>All 40 tests pass ⟦x⟧.</summary>']);
    const { at, result: made } = await run(many(1), [individual({ toolResults: SUMMARIZE })], withModel(summarizer));
    expect(at(2, ...RESULT)).toBe('All 40 tests pass x.\n[summarized from 40 lines]');
    const [request] = summarizer.requests;
    expect(request?.prompt).toContain('Result of the agent\'s call Bash command="run 0"');
    expect(request?.prompt).toContain('At most 24 words.');
    expect(request?.maxOutputTokens).toBe(92);
    expect(made.calls).toMatchObject([{ askedTokens: 40, outcome: 'complete', chosen: 'condensing-profile' }]);
    expect(made.steps.at(-1)).toMatchObject({ name: 'One', calls: 1, edits: 1, cost: made.cost });
  });

  it('puts one summary of all parameters into the longest, beside those that say what the call was', async () => {
    const parameters = { file_path: 'a.ts', old_string: lines('old', 20), new_string: LONG };
    const summarizer = testSummarizer(['A constant was renamed.']);
    const messages = [TASK, ...exchange('a', 'Edit', parameters, 'done')];
    const { at } = await run(messages, [individual({ toolParameters: SUMMARIZE })], withModel(summarizer));
    expect(summarizer.requests).toHaveLength(1);
    expect(at(1, ...input('file_path'))).toBe('a.ts');
    expect(at(1, ...input('new_string'))).toBe('A constant was renamed.\n[summarized from 40 lines]');
    expect(at(1, ...input('old_string'))).toBe('[20 lines, summarized beside]');
  });

  it('asks at most so many at once, and tells which call runs', async () => {
    let running = 0;
    let most = 0;
    const summarizer = testSummarizer(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return 'short';
    });
    const told: string[] = [];
    const onProgress = ({ step }: { step: string }): void => void told.push(step);
    await run(
      many(9),
      [individual({ toolResults: SUMMARIZE })],
      withModel(summarizer),
      { onProgress },
      { parallelCalls: 3 },
    );
    expect(summarizer.requests).toHaveLength(9);
    expect(most).toBe(3);
    expect(told).toContain('One: call 3 of 9');
    expect(told).toContain('One: call 9 of 9');
  });

  it('pays for the same content once, in a run and in the next', async () => {
    const summarizer = testSummarizer(['short']);
    const messages = [
      TASK,
      ...exchange('a', 'Bash', { command: 'x' }, LONG),
      ...exchange('b', 'Bash', { command: 'x' }, LONG),
    ];
    const provider = smartProvider(withModel(summarizer));
    const checked = provider.validateConfig({
      losslessPrelude: { enabled: false },
      passes: [individual({ toolResults: SUMMARIZE })],
    });
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    for (let times = 0; times < 2; times++) {
      const made = await provider.condense({ messages, edits: [], counter: freshCounter() }, checked.config, {});
      expect(made.edits).toHaveLength(2);
    }
    expect(summarizer.requests).toHaveLength(1);
  });

  it.each(['truncate', 'keep'] as const)('does without where it fails: %s', async (onFailure) => {
    const summarizer = testSummarizer(['short', 'failed', 'short']);
    const pass = individual({ toolResults: { ...SUMMARIZE, onFailure } });
    const { at, result: made } = await run(many(3), [pass], withModel(summarizer), {}, { parallelCalls: 1 });
    expect(at(2, ...RESULT)).toContain('short');
    expect(at(6, ...RESULT)).toContain('short');
    if (onFailure === 'keep') expect(at(4, ...RESULT)).toBe(lines('r1', 40));
    else expect(at(4, ...RESULT)).toMatch(/^r1 line 0 .*\[\d+ lines truncated\].*$/s);
    expect(made.notes?.join()).toContain('1 of 3 summaries were not made: The model said: failed.');
  });

  it('stops asking a model that fails three times in a row', async () => {
    const summarizer = testSummarizer(['failed']);
    const { result: made } = await run(
      many(9),
      [individual({ toolResults: SUMMARIZE })],
      withModel(summarizer),
      {},
      { parallelCalls: 1 },
    );
    expect(summarizer.requests).toHaveLength(3);
    expect(made.edits).toHaveLength(9);
  });

  it('does not use a summary that is not shorter', async () => {
    const summarizer = testSummarizer([lines('longer', 60)]);
    const { result: made } = await run(many(1), [individual({ toolResults: SUMMARIZE })], withModel(summarizer));
    expect(made.edits).toEqual([]);
    expect(made.calls).toHaveLength(1);
  });

  it('truncates where there is no model, and says so', async () => {
    const { at, result: made } = await run(many(1), [individual({ toolResults: SUMMARIZE })]);
    expect(at(2, ...RESULT)).toContain('lines truncated');
    expect(made.notes?.[0]).toContain('No model is set up for condensing.');
    expect(made.cost).toBe(0);
  });

  it('masks keys for another vendor', async () => {
    const key = `sk-${'ant0'.repeat(6)}`;
    const messages = [TASK, ...exchange('a', 'Bash', {}, `${LONG}\n${key}`)];
    const own = testSummarizer(['short']);
    await run(messages, [individual({ toolResults: SUMMARIZE })], withModel(own), {}, {}, { vendor: 'anthropic' });
    expect(own.requests[0]?.prompt).toContain(key);
    const other = testSummarizer(['short'], { vendor: 'openai' });
    await run(messages, [individual({ toolResults: SUMMARIZE })], withModel(other), {}, {}, { vendor: 'anthropic' });
    expect(other.requests[0]?.prompt).not.toContain(key);
  });

  it('asks with what fits the window of the model', async () => {
    const summarizer = testSummarizer(['short'], { contextWindow: 4_000 });
    const messages = [TASK, ...exchange('a', 'Bash', {}, lines('a', 4_000))];
    await run(messages, [individual({ toolResults: SUMMARIZE })], withModel(summarizer));
    expect(freshCounter().text(summarizer.requests[0]?.prompt ?? '')).toBeLessThan(3_600);
  });
});

describe('the budget', () => {
  const pass = individual({ toolResults: SUMMARIZE });

  it('is asked before each call: what is over it is not begun', async () => {
    const summarizer = testSummarizer(['short']);
    const provider = smartProvider(withModel(summarizer));
    const checked = provider.validateConfig({ losslessPrelude: { enabled: false }, passes: [pass] });
    if (!checked.valid) throw new Error('wrong configuration');
    const context = { messages: many(6), edits: [], counter: freshCounter() };
    const whole = (await provider.estimateCost(context, checked.config, {})) ?? NaN;
    expect(summarizer.requests).toEqual([]);
    const made = await provider.condense({ ...context }, checked.config, { maxCost: whole / 2 });
    expect(summarizer.requests.length).toBeGreaterThan(0);
    expect(summarizer.requests.length).toBeLessThan(6);
    expect(made.cost).toBeLessThanOrEqual(whole / 2);
    expect(made.notes?.join()).toMatch(/of 6 summaries were not made: It would cost about/);
  });

  it('allows nothing of an unknown price', async () => {
    const priced = testSummarizer(['short']);
    const { profile, vendor, model, accounting, tokenFactor, billing, cacheLifetime } = priced.model;
    const unpriced = { ...priced, model: { profile, vendor, model, accounting, tokenFactor, billing, cacheLifetime } };
    const { result: made } = await run(many(2), [pass], withModel(unpriced), { maxCost: 1 });
    expect(unpriced.requests).toEqual([]);
    expect(made.notes?.join()).toContain('The price of claude-sonnet-4 is not known');
  });
});

describe('what is left alone', () => {
  const suppressAll = individual({
    messageText: { operation: 'suppress' },
    toolParameters: { operation: 'suppress' },
    toolResults: { operation: 'suppress' },
  });
  const messages = [
    user(LONG),
    ...exchange('a', 'Read', { file_path: '/p/docs/guide.md' }, LONG),
    ...exchange('b', 'mcp__db__query', { query: 'select' }, LONG),
    ...exchange('c', 'TodoWrite', { todos: [{ content: LONG, status: 'pending' }] }, LONG),
    ...exchange('d', 'TodoWrite', { todos: [{ content: LONG, status: 'done' }] }, LONG),
    user(lines('words of a person', 40)),
    assistant(LONG),
    ...exchange('e', 'Bash', { command: 'x' }, LONG),
  ];
  const edited = async (
    more: Partial<SmartConfigInput>,
    context: Partial<ConversationContext> = {},
  ): Promise<number[]> => {
    const { result: made } = await run(messages, [suppressAll], {}, {}, more, context);
    return made.edits.map((edit) => (edit.kind === 'summary' ? -1 : edit.place.message));
  };

  it('are the task, a person’s words and the last to-do list', async () => {
    expect(await edited({})).toEqual([2, 4, 5, 6, 10, 12]);
    expect(await edited({ protect: { userMessages: false } })).toEqual([2, 4, 5, 6, 9, 10, 12]);
  });

  it('are protected tools, files and pinned messages', async () => {
    expect(await edited({ protect: { tools: ['mcp__*'], files: ['docs/**/*.md'] } })).toEqual([5, 6, 10, 12]);
    expect(await edited({}, { pinned: new Set([4, 10]) })).toEqual([2, 5, 6, 12]);
  });
});

describe('selection, overrides and thresholds', () => {
  const suppress = { operation: 'suppress' } as const;
  const editedBy = async (pass: PassInput, options: CondensationOptions = {}): Promise<number[]> => {
    const { result: made } = await run(many(5), [pass], {}, options);
    return made.edits.map((edit) => (edit.kind === 'cut' ? edit.place.message : -1));
  };

  it.each<[PassInput['selection'], number[]]>([
    [{ type: 'preserve_recent', count: 4 }, [2, 4, 6]],
    // The newest would begin with a result: its call is kept with it.
    [{ type: 'preserve_recent', count: 3 }, [2, 4, 6]],
    [{ type: 'preserve_percent', percentage: 40 }, [2, 4, 6]],
    [{ type: 'preserve_percent', percentage: 0 }, [2, 4, 6, 8, 10]],
    [{ type: 'custom', filter: { contains: 'R3 LINE' } }, [8]],
    [{ type: 'custom', filter: { age: { min: 4, max: 6 } } }, [4, 6]],
    [{ type: 'custom', filter: { or: [{ contains: 'r0' }, { contains: 'r4' }] } }, [2, 10]],
    [{ type: 'custom', filter: { not: { age: { max: 6 } } } }, [2]],
    [{ type: 'custom', filter: { kinds: ['read'] } }, []],
    [{ type: 'custom', selector: (_message, index) => index === 6 }, [6]],
  ])('%j', async (selection, expected) => {
    expect(await editedBy(individual({ toolResults: suppress }, { selection }))).toEqual(expected);
  });

  it('an override holds for its message alone', async () => {
    const overrides = [{ messageIndex: 4, operations: { toolResults: { operation: 'keep' as const } } }];
    expect(await editedBy(individual({ toolResults: suppress }, {}, { overrides }))).toEqual([2, 6, 8, 10]);
  });

  it('content under the threshold is kept', async () => {
    const kept = individual({ toolResults: suppress }, {}, { messageTokenThresholds: { toolResults: 10_000 } });
    expect(await editedBy(kept)).toEqual([]);
  });

  it('the oldest go first, and no more than the target asks for', async () => {
    const targetTokens = freshCounter().messages(many(5)) - 300;
    expect(await editedBy(individual({ toolResults: suppress }), { targetTokens })).toEqual([2]);
  });
});

describe('passes', () => {
  const suppress = { operation: 'suppress' } as const;

  it('run in order until the target is met, where their condition holds', async () => {
    const passes = [
      individual({ toolResults: { operation: 'truncate', maxLines: 2 } }, { id: 'a', name: 'A' }),
      individual(
        { toolResults: suppress },
        {
          id: 'b',
          name: 'B',
          execution: { type: 'conditional', condition: { tokenThreshold: 1_000_000 } },
        },
      ),
      individual(
        { toolResults: suppress },
        { id: 'c', name: 'C', execution: { type: 'conditional', condition: { windowPercent: 1 } } },
      ),
      individual({ toolResults: suppress }, { id: 'd', name: 'A' }),
      individual({ toolResults: suppress }, { id: 'e', name: 'E', enabled: false }),
    ];
    const { result: made } = await run(many(4), passes);
    expect(made.steps.map(({ name, outcome }) => [name, outcome.kind])).toEqual([
      ['A', 'done'],
      ['B', 'skipped'],
      ['C', 'skipped'],
      ['A (2)', 'done'],
    ]);
    const met = await run(many(4), passes, {}, { targetTokens: 700 });
    expect(met.result.steps.map(({ outcome }) => outcome.kind)).toEqual(['done', 'skipped', 'skipped', 'skipped']);
  });

  it('that fail are dropped whole, and the others run', async () => {
    let asked = 0;
    const selector = (): boolean => {
      if (++asked > 3) throw new Error('broken');
      return true;
    };
    const passes = [
      individual({ toolResults: suppress }, { id: 'a', name: 'Broken', selection: { type: 'custom', selector } }),
      individual({ toolResults: { operation: 'truncate', maxLines: 2 } }, { id: 'b', name: 'Whole' }),
    ];
    const { result: made } = await run(many(4), passes);
    expect(made.steps[0]?.outcome).toEqual({ kind: 'failed', reason: 'broken' });
    expect(new Set(made.edits.map(({ step }) => step))).toEqual(new Set(['Whole']));
  });

  it('of a cancelled run apply nothing, and what was spent is told', async () => {
    const abort = new AbortController();
    const summarizer = testSummarizer(() => {
      if (summarizer.requests.length === 2) abort.abort(new Error('enough'));
      return Promise.resolve('short');
    });
    const ran = run(
      many(4),
      [individual({ toolResults: SUMMARIZE })],
      withModel(summarizer),
      { signal: abort.signal },
      { parallelCalls: 1 },
    );
    await expect(ran).rejects.toMatchObject({ message: 'enough', spent: { calls: [{}, {}] } });
  });
});

describe('batch', () => {
  const batch = (more: Partial<PassInput> = {}): PassInput => ({
    id: 'b',
    name: 'Batch',
    selection: { type: 'preserve_recent', count: 4 },
    mode: 'batch',
    batchConfig: { operation: 'summarize', keepLast: 1 },
    ...more,
  });
  const range = ({ result: made }: Ran): unknown =>
    made.edits.map((edit) => (edit.kind === 'summary' ? [edit.start, edit.end] : edit.kind));

  it('sums up the selection between what is kept at both ends', async () => {
    const summarizer = testSummarizer(['All is well.']);
    expect(range(await run(many(8), [batch()], withModel(summarizer)))).toEqual([[1, 11]]);
    const first = batch({ batchConfig: { operation: 'summarize', keepFirst: 2, keepLast: 0 } });
    expect(range(await run(many(8), [first], withModel(summarizer)))).toEqual([[3, 13]]);
  });

  it('goes round what is pinned or protected', async () => {
    const pinned = new Set([6]);
    const summarizer = testSummarizer(['All is well.']);
    expect(range(await run(many(8), [batch()], withModel(summarizer), {}, {}, { pinned }))).toEqual([[7, 11]]);
  });

  it('keeps what a person wrote word for word, however long and however often it is summed up anew', async () => {
    const [early, late] = [`Use tabs,\n\tnot blanks.\n${lines('rule', 500)}`, 'Not like that.\n\nLike this.'];
    const [task, ...units] = many(150);
    const messages = [task, ...units.slice(0, 100), user(early), ...units.slice(100, 200)] as ApiMessage[];
    const grown = [...messages, user(late), ...units.slice(200)];
    const summarizer = testSummarizer(['All is well.', 'All is better.', 'All is well.']);
    const summary = ({ result: { edits } }: Ran): string =>
      edits
        .flatMap((edit) => (edit.kind === 'summary' ? contentsOf(edit.message) : []))
        .map(({ text }) => text)
        .join();
    const first = await run(messages, [batch()], withModel(summarizer));
    expect(summary(first)).toContain(early);
    const again = await run(grown, [batch()], withModel(summarizer), {}, {}, { edits: first.result.edits });
    for (const words of [early, late]) expect(summary(again)).toContain(words);
    const loose = { protect: { userMessages: false } };
    expect(summary(await run(messages, [batch()], withModel(summarizer), {}, loose))).not.toContain(early);
  });

  it('is done once', async () => {
    const summarizer = testSummarizer(['All is well.']);
    const messages = many(8);
    const { result: made } = await run(messages, [batch()], withModel(summarizer));
    const again = await run(messages, [batch()], withModel(summarizer), {}, {}, { edits: made.edits });
    expect(again.result.edits).toEqual([]);
    expect(summarizer.requests).toHaveLength(1);
  });

  it('leaves the messages where the model fails, where there is none, and where it would cost too much', async () => {
    const failing = await run(many(8), [batch()], withModel(testSummarizer(['failed'])));
    expect(failing.result).toMatchObject({
      edits: [],
      steps: [{ outcome: { kind: 'failed', reason: 'The model said: failed.' }, calls: 1 }],
    });
    const none = await run(many(8), [batch()], {
      select: () => {
        throw new NoSummarizerError('Set up a model.');
      },
    });
    expect(none.result).toMatchObject({ edits: [], notes: ['Set up a model.', 'Batch: Set up a model.'] });
    const dear = await run(many(8), [batch()], withModel(testSummarizer(['short'])), { maxCost: 0.000_001 });
    expect(dear.result.edits).toEqual([]);
    expect(dear.result.notes?.[0]).toMatch(/^Batch: It would cost about/);
    const kept = await run(many(8), [batch({ batchConfig: { operation: 'keep' } })]);
    expect(kept.result.edits).toEqual([]);
    const small = testSummarizer(['short'], { contextWindow: 100 });
    const { result: narrow } = await run(many(8), [batch()], withModel(small));
    expect(narrow.steps[0]?.outcome).toMatchObject({ kind: 'failed' });
  });
});

describe('estimates', () => {
  const passes = [
    individual({ toolResults: SUMMARIZE }, { selection: { type: 'preserve_recent', count: 8 } }),
    {
      id: 'b',
      name: 'Batch',
      selection: { type: 'preserve_recent', count: 2 },
      mode: 'batch',
      batchConfig: { operation: 'summarize' },
    } as const,
  ];

  it('are of the run itself: calls, cost and tokens per pass, without a call', async () => {
    const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');
    const summarizer = testSummarizer(({ maxOutputTokens }) =>
      Promise.resolve(words(maxOutputTokens > 1_000 ? 900 : 32)),
    );
    const provider = smartProvider({ ...withModel(summarizer), samples: () => [] });
    const checked = provider.validateConfig({ losslessPrelude: { enabled: false }, passes });
    if (!checked.valid) throw new Error('wrong configuration');
    const context = { messages: many(8), edits: [], counter: freshCounter() };
    const estimate = await provider.estimateReduction(context, checked.config, {});
    const cost = await provider.estimateCost(context, checked.config, {});
    expect(summarizer.requests).toEqual([]);
    expect(estimate).toMatchObject({ confidence: 'low', steps: [{ calls: 4 }, { calls: 1 }] });
    expect(estimate.costRange?.least).toBeLessThan(cost ?? 0);
    expect(estimate.costRange?.most).toBeGreaterThan(cost ?? 0);
    const made = await provider.condense(context, checked.config, {});
    expect(made.estimatedCost).toBe(cost);
    const after = freshCounter().messages(applyEdits(context.messages, made.edits).messages);
    expect(Math.abs(after - estimate.tokensAfter)).toBeLessThan(0.2 * estimate.tokensBefore);
  });

  it('learn from what earlier calls gave', async () => {
    const seen = Array.from({ length: 6 }, () => ({ inputTokens: 600, outputTokens: 8, askedTokens: 40 }));
    const cost = async (samples: typeof seen): Promise<number> => {
      const provider = smartProvider({ ...withModel(testSummarizer([])), samples: () => samples });
      const checked = provider.validateConfig({ passes: [individual({ toolResults: SUMMARIZE })] });
      if (!checked.valid) throw new Error('wrong configuration');
      const context = { messages: many(4), edits: [], counter: freshCounter() };
      const { confidence } = await provider.estimateReduction(context, checked.config, {});
      expect(confidence).toBe(samples.length > 0 ? 'high' : 'low');
      return (await provider.estimateCost(context, checked.config, {})) ?? NaN;
    };
    expect(await cost(seen)).toBeLessThan(await cost([]));
  });

  it('do not count a call twice that the run makes once', async () => {
    const summarizer = testSummarizer([Array.from({ length: 60 }, () => 'word').join(' ')]);
    const provider = smartProvider(withModel(summarizer));
    // What is so short that its summary is not used stands there for the next pass, too.
    const pass = individual({ toolResults: { operation: 'summarize', maxTokens: 200 } });
    const checked = provider.validateConfig({
      losslessPrelude: { enabled: false },
      passes: [pass, { ...pass, id: 'b' }],
    });
    if (!checked.valid) throw new Error('wrong configuration');
    const messages = [TASK, ...exchange('1', 'Bash', { command: 'ls' }, 'a.ts b.ts '.repeat(6)), assistant('Done.')];
    const context = { messages, edits: [], counter: freshCounter() };
    const { steps } = await provider.estimateReduction(context, checked.config, {});
    const made = await provider.condense(context, checked.config, {});
    expect(made.calls).toHaveLength(1);
    expect(steps.reduce((sum, { calls = 0 }) => sum + calls, 0)).toBe(1);
  });

  it('are exact without a model', async () => {
    const provider = smartProvider();
    const checked = provider.validateConfig({ passes: [individual({ toolResults: { operation: 'suppress' } })] });
    if (!checked.valid) throw new Error('wrong configuration');
    const context = { messages: many(6), edits: [], counter: freshCounter() };
    const { confidence, tokensAfter } = await provider.estimateReduction(context, checked.config, {});
    expect(confidence).toBeUndefined();
    const { edits } = await provider.condense(context, checked.config, {});
    expect(freshCounter().messages(applyEdits(context.messages, edits).messages)).toBe(tokensAfter);
  });
});

describe('configurations', () => {
  it.each<[unknown, string]>([
    [
      { passes: [{ id: 'a', name: 'A', mode: 'individual', selection: { type: 'recent' } }] },
      'passes.0.selection.type',
    ],
    [
      { passes: [individual({ toolResults: { operation: 'truncate' } })] },
      'passes.0.individualConfig.defaults.toolResults',
    ],
    [{ passes: [individual({}), individual({})] }, 'passes.1.id'],
    [
      { passes: [individual({}, { selection: { type: 'custom', filter: { tool: ['x'] } } } as never)] },
      'passes.0.selection.filter',
    ],
    [{ version: 2 }, 'version'],
    ['no-such-preset', ''],
    [7, ''],
  ])('%j is wrong at %s', (config, path) => {
    expect(smartProvider().validateConfig(config)).toMatchObject({ valid: false, problems: [{ path }] });
  });

  it('may be the name of a preset, built in or the user’s own; none is File-Aware', () => {
    const own = { id: 'mine', name: 'Mine', description: '', config: { passes: [individual({})] } };
    const provider = smartProvider({ presets: () => [own] });
    expect(provider.validateConfig('mine')).toMatchObject({ valid: true, config: { passes: [{ id: 'one' }] } });
    expect(provider.validateConfig('file-aware')).toEqual(provider.validateConfig(undefined));
  });

  it('keep fields that this version does not know', () => {
    const passes = [{ ...individual({}), colour: 'red' }];
    expect(smartProvider().validateConfig({ passes, theme: 1 })).toMatchObject({
      valid: true,
      config: { theme: 1, passes: [{ colour: 'red' }] },
    });
  });

  it('have a JSON Schema', () => {
    expect(smartProvider().getConfigSchema()).toMatchObject({ properties: { passes: { type: 'array' } } });
  });
});

describe('old thinking and images', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8='.repeat(200) } };
  const thinking = { type: 'thinking', thinking: lines('why', 10), signature: 'c2ln' };
  const messages = [
    user('task'),
    assistant(thinking, call('a', 'Screenshot')),
    user(result('a', [image])),
    assistant(thinking),
    user('go on', image),
    assistant(thinking, 'done'),
    user(image),
  ];

  it('go where the configuration says so, the newest and the last message of the model excepted', async () => {
    const suppress = { operation: 'suppress', keepRecent: 1 } as const;
    const { view, at, result: made } = await run(messages, [], {}, {}, { thinking: suppress, images: suppress });
    expect(made.edits.map(({ step }) => step)).toEqual(['Old thinking', 'Old images', 'Old images']);
    expect(at(2, 'content', 0, 'content', 0, 'text')).toBe('[image]');
    expect(view[3]).toBe(messages[3]);
    expect(at(4, 'content', 1, 'text')).toBe('[image]');
    expect(view.slice(5)).toEqual(messages.slice(5));
    const pinned = new Set([1, 2, 4]);
    expect(
      (await run(messages, [], {}, {}, { thinking: suppress, images: suppress }, { pinned })).result.edits,
    ).toEqual([]);
    expect((await run(messages, [])).result.edits).toEqual([]);
  });
});
