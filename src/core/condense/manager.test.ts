import { describe, expect, it } from 'vitest';
import { hashText } from '../hash';
import type { ApiMessage } from '../messages/types';
import { assistant, call, makeToolExchange, makeLines, result, user } from '../testing';
import { createCounter } from '../testingCounter';
import type { Cut, CutEdit, Edit, EditId } from './edits/edits';
import type { CondensationOutcome, CondensationRequest } from './condensation';
import { CondensationManager, UnknownProviderError } from './manager';
import { findMarkers, makeMarker, type ReferenceId } from '../messages/markers';
import { losslessProvider } from './providers/lossless';
import { truncationProvider } from './providers/truncation';
import type { CondensationOptions, CondensationProvider, ConversationContext, ProviderResult } from './types';

const counter = createCounter();

const FILE = makeLines('file', 200);
const conversation: ApiMessage[] = [
  user('task'),
  ...makeToolExchange('a', 'Read', { path: 'x' }, FILE),
  assistant('done'),
];
const PLACE = { message: 2, path: ['content', 0, 'content'] } as const;

/** Creates an edit that cuts the slices out of the file's text. */
const createCutEdit = (original: string, ...cuts: Cut[]): CutEdit => ({
  kind: 'cut',
  id: 'edit' as EditId,
  place: PLACE,
  contentType: 'toolResults',
  operation: 'cut',
  before: hashText(original),
  cuts,
  step: 'fake',
  reason: 'why',
  strict: false,
  tokensBefore: 1,
  tokensAfter: 1,
});
const wholeCut = createCutEdit(FILE, { start: 0, end: FILE.length, text: 'gone' });

/** Creates a provider that condenses as the test wants. */
const createFakeProvider = (
  condense: (context: ConversationContext, options: CondensationOptions) => ProviderResult | Promise<ProviderResult>,
  more: Partial<CondensationProvider> = {},
): CondensationProvider => ({
  ...(truncationProvider as CondensationProvider),
  id: 'fake',
  name: 'Fake',
  condense: (context, _config, options) => Promise.resolve(condense(context, options)),
  ...more,
});
const giving = (...edits: Edit[]): CondensationProvider => createFakeProvider(() => ({ edits, steps: [], cost: 0.25 }));

const request = (fields: Partial<CondensationRequest> = {}): CondensationRequest => ({
  conversation: 'c',
  messages: conversation,
  trigger: 'manual',
  ...fields,
});
const run = (provider: CondensationProvider, fields: Partial<CondensationRequest> = {}): Promise<CondensationOutcome> =>
  new CondensationManager(counter, [provider]).condense(request(fields));

describe('the providers of a manager', () => {
  const manager = (): CondensationManager => new CondensationManager(counter, [losslessProvider, truncationProvider]);

  it('are listed, and the first is the default', async () => {
    const one = manager();
    expect(one.listProviders().map(({ id, name }) => `${id} ${name}`)).toEqual([
      'lossless Lossless',
      'truncation Truncation',
    ]);
    expect(one.listProviders()[0]?.capabilities.supportsLossless).toBe(true);
    expect(one.defaultProvider.id).toBe('lossless');
    expect((await one.condense(request())).provider).toBe('lossless');
    expect((await one.condense(request({ provider: 'truncation' }))).provider).toBe('truncation');
  });

  it('must be known, otherwise an error lists the known ones', async () => {
    expect(() => manager().getProvider('smart')).toThrow(new UnknownProviderError('smart', ['lossless', 'truncation']));
    await expect(manager().condense(request({ provider: '__proto__' }))).rejects.toThrow(
      'There is no provider "__proto__". Known providers: lossless, truncation.',
    );
  });

  it('must have unique IDs', () => {
    expect(() => manager().registerProvider(giving())).not.toThrow();
    expect(() => manager().registerProvider(losslessProvider)).toThrow('already registered');
  });

  it('estimate without condensing', async () => {
    const estimate = await manager().estimate(request({ provider: 'truncation', config: { preserveRecentCount: 1 } }));
    expect(estimate).toMatchObject({ tokensBefore: counter.countMessages(conversation), cost: 0 });
    expect(estimate.tokensAfter).toBeLessThan(estimate.tokensBefore / 2);
  });
});

describe('the outcome of a condensation', () => {
  it('is “condensed” with edits, result, tokens and cost', async () => {
    const outcome = await run(giving(wholeCut));
    expect(outcome).toMatchObject({ kind: 'condensed', provider: 'fake', cost: 0.25, edits: [wholeCut], notes: [] });
    if (outcome.kind !== 'condensed') return;
    expect(outcome.view).toEqual([conversation[0], conversation[1], user(result('a', 'gone')), conversation[3]]);
    expect(outcome.tokensBefore).toBe(counter.countMessages(conversation));
    expect(outcome.tokensAfter).toBe(counter.countMessages(outcome.view));
  });

  it('is “unchanged” if nothing was found to remove, also after a paid attempt', async () => {
    expect(await run(giving())).toMatchObject({ kind: 'unchanged', reason: 'nothing-to-gain', cost: 0.25 });
  });

  it('is “unchanged” if the target is already met', async () => {
    const never = createFakeProvider(() => Promise.reject(new Error('was called')));
    expect(await run(never, { targetTokens: 1_000_000 })).toMatchObject({ kind: 'unchanged', reason: 'target-met' });
  });

  it('is “unchanged” if the result grew', async () => {
    const grown = createCutEdit(FILE, { start: 0, end: 4, text: FILE });
    expect(await run(giving(grown))).toMatchObject({ kind: 'unchanged', reason: 'grew', cost: 0.25 });
  });

  it('is “refused” with the violated rule and a message if a call lost its result', async () => {
    const broken: CutEdit = {
      ...createCutEdit('a', { start: 0, end: 1, text: 'b' }),
      place: { message: 2, path: ['content', 0, 'tool_use_id'] },
    };
    const outcome = await run(giving(wholeCut, broken));
    expect(outcome).toMatchObject({ kind: 'refused', cost: 0.25 });
    expect(outcome.kind === 'refused' && outcome.violations.map(({ rule, message }) => `${rule} ${message}`)).toEqual([
      'result-has-call 2',
      'call-answered 1',
      'ids-kept 2',
      'fields-kept 2',
    ]);
  });

  it.each<[string, string, Cut[]]>([
    [
      'overlap',
      'cuts-in-order',
      [
        { start: 0, end: 900, text: '' },
        { start: 800, end: 1_000, text: '' },
      ],
    ],
    ['run backwards', 'cuts-in-order', [{ start: 900, end: 0, text: '' }]],
    ['lie outside', 'cuts-in-order', [{ start: 0, end: FILE.length + 1, text: 'x' }]],
    ['are no numbers', 'cuts-in-order', [{ start: 0, end: Number.NaN, text: 'x' }]],
    [
      'have a reference of something else',
      'reference-valid',
      [{ start: 0, end: 900, text: makeMarker('x', 'abcdef' as ReferenceId), reference: 'abcdef' as ReferenceId }],
    ],
    [
      'have a reference that no marker shows',
      'reference-valid',
      [{ start: 0, end: 900, text: 'x', reference: hashText(FILE.slice(0, 900)).slice(0, 6) as ReferenceId }],
    ],
  ])('is “refused” with the violated rule if its cuts %s', async (_, rule, cuts) => {
    expect(await run(giving(createCutEdit(FILE, ...cuts)))).toMatchObject({
      kind: 'refused',
      violations: [{ rule, message: 2 }],
    });
  });

  it('is “failed” if the provider throws, returns nonsense, or edits another conversation', async () => {
    const error = async (provider: CondensationProvider): Promise<string> => {
      const outcome = await run(provider);
      return outcome.kind === 'failed' ? outcome.error.message : outcome.kind;
    };
    expect(await error(createFakeProvider(() => Promise.reject(new Error('no network'))))).toBe('no network');
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    expect(await error(createFakeProvider(() => Promise.reject('just a text')))).toBe('just a text');
    expect(await error(createFakeProvider(() => ({}) as ProviderResult))).toMatch(/undefined/);
    expect(await error(giving(createCutEdit('another text', { start: 0, end: 1, text: '' })))).toBe(
      'Fake gave 1 edits of another conversation.',
    );
    expect(
      await error(
        createFakeProvider(() => ({ edits: [], steps: [], cost: 0 }), {
          validateConfig: () => ({ valid: false, problems: [] }),
        }),
      ),
    ).toBe('Fake has no valid defaults.');
  });

  it('is “cancelled” if aborted midway, without changes and with the cost as far as known', async () => {
    const aborted = new AbortController();
    const paid = createFakeProvider(() => {
      aborted.abort();
      return { edits: [wholeCut], steps: [], cost: 0.5 };
    });
    const outcome = await run(paid, { signal: aborted.signal });
    expect(outcome).toMatchObject({ kind: 'cancelled', cost: 0.5 });
    expect(outcome).not.toHaveProperty('view');
    const real = await run(losslessProvider, { signal: AbortSignal.abort() });
    expect(real).toMatchObject({ kind: 'cancelled', cost: 0 });
  });
});

describe('the minimum gain of a condensation', () => {
  const saving = (chars: number): CondensationProvider =>
    giving(createCutEdit(FILE, { start: 0, end: chars, text: '' }));

  it('is 5 % or 1,000 tokens by default', async () => {
    expect(await run(saving(100))).toMatchObject({
      kind: 'unchanged',
      reason: 'below-minimum-gain',
      detail: expect.stringMatching(
        /^Only \d+ of \d+,\d{3} tokens would be removed; the minimum is 5% or 1,000 tokens\.$/,
      ) as string,
    });
    expect(await run(saving(1_000))).toMatchObject({ kind: 'condensed' });
    const long = [user(makeLines('task', 10_000)), ...conversation.slice(1)];
    expect(await run(saving(2_000), { messages: long })).toMatchObject({ kind: 'unchanged' });
    expect(await run(giving(wholeCut), { messages: long })).toMatchObject({ kind: 'condensed' });
  });

  it('can be set, but a result that gains nothing is never applied', async () => {
    const minimumGain = { percent: 0, tokens: 0 };
    expect(await run(saving(100), { minimumGain })).toMatchObject({ kind: 'condensed' });
    const same = createCutEdit('x', { start: 0, end: 1, text: 'y' });
    const place = { message: 1, path: ['content', 0, 'input', 'path'] };
    expect(await run(giving({ ...same, place }), { minimumGain })).toMatchObject({ reason: 'below-minimum-gain' });
    expect(await run(saving(1_000), { minimumGain: { percent: 90, tokens: 100_000 } })).toMatchObject({
      kind: 'unchanged',
    });
  });
});

describe('an invalid configuration of a provider', () => {
  it('is used without its invalid fields, which are reported', async () => {
    const config = { preserveRecentCount: -1, toolResults: { maxLines: 'many' }, colour: 'red' };
    const outcome = await run(truncationProvider, { config });
    expect(outcome.notes).toHaveLength(1);
    expect(outcome.notes[0]).toMatch(/^What is wrong in the settings of Truncation was left out\. /);
    for (const name of ['preserveRecentCount', 'toolResults.maxLines', 'colour'])
      expect(outcome.notes[0]).toContain(name);
    expect((await run(truncationProvider as CondensationProvider, { config: 7 })).notes[0]).toContain(
      'configuration: ',
    );
    expect((await run(truncationProvider as CondensationProvider, { config: null })).notes).toEqual([]);
  });
});

describe('earlier edits of a conversation', () => {
  it('are already applied in the token count before, and are not repeated in the new edits', async () => {
    const earlier = createCutEdit(FILE, { start: 0, end: 2_000, text: '…' });
    const outcome = await run(giving(wholeCut), { edits: [earlier] });
    expect(outcome).toMatchObject({ kind: 'condensed', edits: [wholeCut] });
    expect(outcome.tokensBefore).toBeLessThan(counter.countMessages(conversation));
  });

  it('that no longer fit are dropped with a note', async () => {
    const stale = [
      createCutEdit('older', { start: 0, end: 1, text: '' }),
      createCutEdit('old', { start: 0, end: 1, text: '' }),
    ];
    const outcome = await run(truncationProvider, {
      edits: stale,
      config: { preserveRecentCount: 1 },
    });
    expect(outcome.kind).toBe('condensed');
    expect(outcome.notes[0]).toMatch(/^1 earlier edits no longer fit/);
  });
});

describe('the waiting time between automatic condensations', () => {
  const automatic = { trigger: 'automatic' } as const;
  const grown = (tokens: number): ApiMessage[] => [...conversation, user('word '.repeat(tokens))];

  it('lasts until the request has grown by 13 % after an attempt without effect', async () => {
    let calls = 0;
    const vain = createFakeProvider(() => {
      calls++;
      return { edits: [], steps: [], cost: 0 };
    });
    const manager = new CondensationManager(counter, [vain]);
    const attempt = async (fields: Partial<CondensationRequest> = {}): Promise<string> => {
      const outcome = await manager.condense(request({ ...automatic, ...fields }));
      return outcome.kind === 'unchanged' ? outcome.reason : outcome.kind;
    };
    expect(await attempt()).toBe('nothing-to-gain');
    expect(await attempt()).toBe('cooling-down');
    expect(await attempt({ messages: grown(250) })).toBe('cooling-down');
    expect(calls).toBe(1);
    expect(await attempt({ messages: grown(270) })).toBe('nothing-to-gain');
    expect(await attempt({ conversation: 'another' })).toBe('nothing-to-gain');
    expect(await attempt({ trigger: 'manual' })).toBe('nothing-to-gain');
    expect(calls).toBe(4);
  });

  it('follows a condensation that missed its target, but not one that met it', async () => {
    const manager = new CondensationManager(counter, [giving(wholeCut)]);
    const attempt = (targetTokens: number): Promise<CondensationOutcome> =>
      manager.condense(request({ ...automatic, targetTokens }));
    expect(await attempt(1_000)).toMatchObject({ kind: 'condensed' });
    expect(await attempt(10)).toMatchObject({ kind: 'condensed' });
    // The next view is the previous result, which has not grown.
    const after = manager.condense(request({ ...automatic, targetTokens: 10, edits: [wholeCut] }));
    expect(await after).toMatchObject({ reason: 'cooling-down' });
  });

  it('survives a cancellation and depends on the number of tokens', async () => {
    const stop = new AbortController();
    const manager = new CondensationManager(counter, [
      createFakeProvider((_, { signal }) => {
        signal?.throwIfAborted();
        return { edits: [], steps: [], cost: 0 };
      }),
    ]);
    await manager.condense(request({ trigger: 'automatic' }));
    stop.abort();
    await manager.condense(request({ trigger: 'manual', signal: stop.signal }));
    const waiting = await manager.condense(request({ trigger: 'automatic' }));
    expect(waiting).toMatchObject({ reason: 'cooling-down' });
    expect(waiting.kind === 'unchanged' && waiting.detail).toContain(
      `${Math.ceil(waiting.tokensBefore * 0.13)} new tokens`,
    );
  });

  it('is remembered for a thousand conversations', async () => {
    const manager = new CondensationManager(counter, [giving()]);
    const attempt = (index: number): Promise<CondensationOutcome> =>
      manager.condense(request({ trigger: 'automatic', messages: [user('t')], conversation: `c${index}` }));
    for (let index = 0; index <= 1_000; index++) await attempt(index);
    expect(await attempt(1)).toMatchObject({ reason: 'cooling-down' });
    expect(await attempt(0)).toMatchObject({ reason: 'nothing-to-gain' });
  });
});

describe('a task that stays above its target', () => {
  it('is reported once per conversation', async () => {
    const manager = new CondensationManager(counter, [giving(wholeCut)]);
    const notes = async (fields: Partial<CondensationRequest>): Promise<readonly string[]> =>
      (await manager.condense(request({ targetTokens: 4, ...fields }))).notes;
    expect(await notes({ targetTokens: 500 })).toEqual([]);
    expect(await notes({ overheadTokens: 600 })).toEqual([
      'The task alone has 5 tokens, plus 600 for the system prompt and tools: the messages can’t be reduced below 4.',
    ]);
    expect(await notes({})).toEqual([]);
    expect(await notes({ conversation: 'another' })).toEqual([
      'The task alone has 5 tokens: the messages can’t be reduced below 4.',
    ]);
    expect(await notes({ messages: [assistant(call('a', 'x', { p: FILE }))], conversation: 'no task' })).toEqual([]);
    for (let index = 0; index < 1_000; index++) await notes({ conversation: `c${index}` });
    expect(await notes({})).toHaveLength(1);
  });
});

describe('references of an earlier condensation', () => {
  it('are replaced with their text if a provider removes what they name', async () => {
    const part = FILE.split('\n').slice(20, 60).join('\n');
    const messages = [
      user('task'),
      ...makeToolExchange('a', 'Read', { path: 'x' }, FILE),
      ...makeToolExchange('b', 'Read', { path: 'x' }, part),
    ];
    const earlier = await new CondensationManager(counter, [losslessProvider]).condense(
      request({ messages, config: { keep: 'first' } }),
    );
    if (earlier.kind !== 'condensed') throw new Error('nothing was left out');
    expect(findMarkers(JSON.stringify(earlier.view[4]))).not.toEqual([]);
    const later = await run(
      giving(createCutEdit(FILE, { start: 0, end: FILE.length, text: 'gone', recoverable: true })),
      {
        messages,
        edits: earlier.edits,
      },
    );
    if (later.kind !== 'condensed') throw new Error(later.kind);
    expect(later.view[4]).toEqual(messages[4]);
    expect(JSON.stringify(later.view[2])).toContain('gone');
  });
});
