import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { SONNET_PRICES } from '../core/condense/summary/testing';
import type { ApiMessage } from '../core/messages/types';
import { assistant, result, user } from '../core/testing';
import {
  DUE_MESSAGES,
  stringify,
  createTestBed,
  makeRead,
  createRequest,
  SMALL_MESSAGES,
  createModel,
  makeUsage,
  type TestBed,
} from './testing';
import type { AgentRequest, PreparedRequest } from './request';

describe('recognizing a running conversation in a request', () => {
  it('uses ID and task, so that a subagent is a separate conversation', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const parent = await live.prepare(createRequest(SMALL_MESSAGES));
      const [environment] = SMALL_MESSAGES;
      const child = await live.prepare(createRequest([environment!, user('Search for x')]));
      expect(child.conversation).not.toBe(parent.conversation);
      const other = await live.prepare(createRequest(SMALL_MESSAGES, { conversationId: 'c2' }));
      expect(other.conversation).not.toBe(parent.conversation);
      expect((await live.prepare(createRequest([...SMALL_MESSAGES, assistant('done')]))).conversation).toBe(
        parent.conversation,
      );
      expect(live.list()).toHaveLength(3);
    }));

  it('uses its beginning if it has no ID', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const first = await live.prepare(withoutId(createRequest(SMALL_MESSAGES)));
      const more = withoutId(createRequest([...SMALL_MESSAGES, ...makeRead('more')]));
      expect((await live.prepare(more)).conversation).toBe(first.conversation);
    }));

  it('succeeds even if its first turn was canceled', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const [environment, task] = SMALL_MESSAGES as [ApiMessage, ApiMessage];
      const first = await live.prepare(createRequest([environment, task]));
      const second = await live.prepare(createRequest([environment, task, user('again'), assistant('yes')]));
      expect(second.conversation).toBe(first.conversation);
    }));

  it('succeeds after a restart, with its edits byte for byte', () =>
    inTemporaryFolder(async (root) => {
      const before = await createTestBed(root).live.prepare(createRequest(DUE_MESSAGES));
      const after = await createTestBed(root).live.prepare(createRequest(DUE_MESSAGES));
      expect(after.conversation).toBe(before.conversation);
      expect(after.outcome).toBeUndefined();
      expect(stringify(after.messages)).toBe(stringify(before.messages));
    }));

  it('keeps the remaining edits after a rollback, and restores the others if the messages return', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const condensed = await live.prepare(createRequest(DUE_MESSAGES));
      const back = DUE_MESSAGES.slice(0, 12);
      const rolled = await live.prepare(createRequest([...back, user('another way')]));
      expect(stringify(rolled.messages.slice(0, 12))).toBe(stringify(condensed.messages.slice(0, 12)));
      expect(rolled.messages).toHaveLength(13);
      expect(stringify((await live.prepare(createRequest(DUE_MESSAGES))).messages)).toBe(stringify(condensed.messages));
    }));

  it('keeps all other edits if an old result in it has changed', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const condensed = await live.prepare(createRequest(DUE_MESSAGES));
      const changed = DUE_MESSAGES.with(5, user(result('call-f1', '[Image was previously shown to you.]')));
      const after = await live.prepare(createRequest(changed));
      expect(after.outcome).toBeUndefined();
      const same = after.messages.filter(
        (message, index) => stringify(message) === stringify(condensed.messages[index]),
      );
      expect(same).toHaveLength(DUE_MESSAGES.length - 1);
      expect(after.messages[5]).toEqual(changed[5]);
    }));

  it('keeps the edits of moved messages if an old turn was lost', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const condensed = await live.prepare(createRequest(DUE_MESSAGES));
      const lost = DUE_MESSAGES.toSpliced(4, 2);
      const after = await live.prepare(createRequest(lost));
      expect(stringify(after.messages)).toBe(stringify(condensed.messages.toSpliced(4, 2)));
    }));

  it('fails, so that a new conversation begins, if the agent itself summarized it', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const before = await live.prepare(createRequest(DUE_MESSAGES));
      const anew = [
        DUE_MESSAGES[0]!,
        user('<conversation-summary>\nall so far\n</conversation-summary>'),
        ...DUE_MESSAGES.slice(-2),
      ];
      const after = await live.prepare(createRequest(anew));
      expect(after.conversation).not.toBe(before.conversation);
      expect(after.messages).toEqual(anew);
    }));
});

const CONTEXT = '<session_context>Linux</session_context>';
const TASK = 'Look at the file';
const BEGUN = user(CONTEXT, TASK);
/** The messages after the task, up to a request. */
const STEPS = DUE_MESSAGES.slice(2);

/** Creates a request without an ID, as Gemini CLI sends it. */
const createRequestWithoutId = (messages: readonly ApiMessage[], changes: Partial<AgentRequest> = {}): AgentRequest =>
  withoutId(createRequest(messages, { model: createModel({ prices: SONNET_PRICES }), ...changes }));

/** Sends a request that its agent aborts. */
async function sendAbortedRequest({ live }: TestBed, messages: readonly ApiMessage[]): Promise<PreparedRequest> {
  const abort = new AbortController();
  const prepared = await live.prepare(createRequestWithoutId(messages), abort.signal);
  abort.abort();
  return prepared;
}

const GROWN: readonly (readonly [string, ApiMessage])[] = [
  ['more behind it', user(CONTEXT, `${TASK}. Go on.`)],
  ['more in front of it', user(CONTEXT, `Go on. ${TASK}`)],
  ['a text behind it', user(CONTEXT, TASK, 'Go on.')],
  ['a text in front of it', user('Go on.', CONTEXT, TASK)],
];

describe.each(GROWN)('a first message that is sent again with %s', (_how, grown) => {
  it('continues the conversation whose request was interrupted, with its id, cost and ledger', () =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root);
      const { live } = bed;
      const first = await live.prepare(createRequestWithoutId([BEGUN]));
      live.recordUsage(first, makeUsage(1_000));
      const condensed = await sendAbortedRequest(bed, [BEGUN, ...STEPS]);
      expect(condensed.outcome?.kind).toBe('condensed');
      const spent = live.active()?.spent;
      expect(spent).toBeGreaterThan(0);
      // Gemini CLI first tries to continue by itself.
      await sendAbortedRequest(bed, [user(CONTEXT, TASK, '[System: go on.]')]);
      expect((await live.prepare(createRequestWithoutId([grown]))).conversation).toBe(first.conversation);
      expect(live.list()).toMatchObject([{ id: first.conversation, spent }]);
      // Both a continuation and the earlier messages belong to the conversation.
      expect((await live.prepare(createRequestWithoutId([grown, ...makeRead('other')]))).conversation).toBe(
        first.conversation,
      );
      expect(stringify((await live.prepare(createRequestWithoutId([BEGUN, ...STEPS]))).messages)).toBe(
        stringify(condensed.messages),
      );
      expect(await live.undo(first.conversation)).toMatchObject({ kind: 'done' });
      expect(live.list()).toHaveLength(1);
    }));

  it('continues the conversation that has the same history, with its edits', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const before = await live.prepare(createRequestWithoutId([BEGUN, ...STEPS]));
      const after = await live.prepare(createRequestWithoutId([grown, ...STEPS, ...makeRead('more')]));
      expect(after.conversation).toBe(before.conversation);
      expect(stringify(after.messages.slice(1, before.messages.length))).toBe(stringify(before.messages.slice(1)));
    }));

  it('starts another conversation if no request was interrupted or the system prompt or ID differs', () =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root);
      const { conversation } = await bed.live.prepare(createRequestWithoutId([BEGUN]), new AbortController().signal);
      expect((await bed.live.prepare(createRequestWithoutId([grown]))).conversation).not.toBe(conversation);
      const other = [user(CONTEXT, 'Say hello'), user(CONTEXT, 'Say hello, then go on')] as const;
      const broken = await sendAbortedRequest(bed, [other[0]]);
      const unlike = [{ system: 'You search.' }, { conversationId: 'c1' }];
      for (const changes of unlike) {
        const sent = { ...createRequestWithoutId([other[1]]), ...changes };
        expect((await bed.live.prepare(sent)).conversation).not.toBe(broken.conversation);
      }
    }));
});

it.each([
  ['another text', user(CONTEXT, 'Look at the tests')],
  ['a word that goes on', user(CONTEXT, `${TASK}s`)],
  ['a word that begins sooner', user(CONTEXT, `Over${TASK}`)],
  ['less text', user(CONTEXT, 'Look at')],
  ['only what stands in front', user(CONTEXT)],
  ['another context', user('<session_context>Windows</session_context>', `${TASK}. Go on.`)],
  ['an image beside it', user(CONTEXT, TASK, { type: 'image', source: {} })],
  ['more text in place of two', user(`${CONTEXT}${TASK}. Go on.`)],
])(
  'a first message that is sent again with %s starts another conversation, even after an interrupted request',
  (_how, other) =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root);
      const { conversation } = await sendAbortedRequest(bed, [BEGUN]);
      expect((await bed.live.prepare(createRequestWithoutId([other]))).conversation).not.toBe(conversation);
    }),
);

describe("a first message that grew by an agent's addition", () => {
  const [, grown] = GROWN[0]!;
  it.each([
    ['none of which the conversation has yet', [BEGUN], [grown, ...makeRead('a')]],
    [
      'of which it has only the beginning',
      [BEGUN, ...makeRead('a'), ...makeRead('b')],
      [grown, ...makeRead('a'), ...makeRead('c')],
    ],
    ['after another first message', [user('one'), BEGUN, ...makeRead('a')], [user('two'), grown, ...makeRead('a')]],
    ['if fewer messages preceded it before', [BEGUN, ...makeRead('a')], [user('one'), grown, ...makeRead('a')]],
  ])('starts another conversation %s', (_which, was, is) =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      const { conversation } = await live.prepare(createRequestWithoutId(was));
      expect((await live.prepare(createRequestWithoutId(is))).conversation).not.toBe(conversation);
    }),
  );
});

it('a conversation whose first message had grown and was restored is recognized only by the restored one', () =>
  inTemporaryFolder(async (root) => {
    const bed = createTestBed(root);
    const [grown] = GROWN.map(([, message]) => message);
    const { conversation } = await sendAbortedRequest(bed, [BEGUN]);
    await bed.live.prepare(createRequestWithoutId([grown!]));
    const again = [BEGUN, user('And now?'), assistant('Yes.')];
    expect((await bed.live.prepare(createRequestWithoutId(again))).conversation).toBe(conversation);
    const other = await bed.live.prepare(createRequestWithoutId([user('And now?'), assistant('No.')]));
    expect(other.conversation).not.toBe(conversation);
  }));

it('conversations with the same beginning and history stay separate across a restart', () =>
  inTemporaryFolder(async (root) => {
    const [, grown] = GROWN[0]!;
    const before = createTestBed(root);
    for (const task of [BEGUN, grown]) await before.live.prepare(createRequestWithoutId([task]));
    for (const task of [BEGUN, grown]) await before.live.prepare(createRequestWithoutId([task, ...STEPS]));
    const ids = before.live.list().map(({ id }) => id);
    expect(new Set(ids)).toHaveLength(2);
    const after = createTestBed(root);
    const first = await after.live.prepare(createRequestWithoutId([BEGUN, ...STEPS]));
    const second = await after.live.prepare(createRequestWithoutId([grown, ...STEPS, ...makeRead('more')]));
    expect([second.conversation, first.conversation]).toEqual(ids);
  }));

/** A request of one of two agents, which has made some steps since its previous request. */
interface Turn {
  readonly who: 0 | 1;
  readonly steps: number;
  readonly isBrokenOff: boolean;
}

const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.record({ who: fc.constantFrom(0, 1), steps: fc.integer({ min: 0, max: 2 }), isBrokenOff: fc.boolean() }),
  { minLength: 2, maxLength: 12 },
);

describe('two running tasks that begin alike', () => {
  /**
   * @returns the conversations of each agent's requests, the first of which contains only the task
   */
  async function sendTurns(
    bed: TestBed,
    tasks: readonly [ApiMessage, ApiMessage],
    all: readonly Turn[],
    step: (who: number, number: number) => ApiMessage[],
  ): Promise<readonly [string[], string[]]> {
    const found: [string[], string[]] = [[], []];
    const histories = tasks.map((task) => [task]);
    for (const { who, steps, isBrokenOff } of all) {
      const history = histories[who] ?? [];
      for (let more = 0; found[who].length > 0 && more < steps; more++) history.push(...step(who, history.length));
      const sent = isBrokenOff
        ? await sendAbortedRequest(bed, history)
        : await bed.live.prepare(createRequestWithoutId(history));
      found[who].push(sent.conversation);
    }
    return found;
  }

  it('are separate if none is interrupted, even with the same history', () =>
    fc.assert(
      fc.asyncProperty(fc.constantFrom(...GROWN), turns, ([, grown], all) =>
        inTemporaryFolder(async (root) => {
          const whole = all.map((turn) => ({ ...turn, isBrokenOff: false }));
          const [first, second] = await sendTurns(createTestBed(root), [BEGUN, grown], whole, (_, at) =>
            makeRead(`f${at}`, 2),
          );
          expect(first.filter((id) => second.includes(id))).toEqual([]);
        }),
      ),
    ));

  it('are separate after both have continued, whatever was interrupted before', () =>
    fc.assert(
      fc.asyncProperty(fc.constantFrom(...GROWN), turns, ([, grown], all) =>
        inTemporaryFolder(async (root) => {
          const goOn = ([0, 1, 0, 1] as const).map((who) => ({ who, steps: 1, isBrokenOff: false }));
          const own = (who: number, at: number) => makeRead(`f${who}of${at}`, 2);
          const [first, second] = await sendTurns(createTestBed(root), [BEGUN, grown], [...all, ...goOn], own);
          expect(first.at(-1)).not.toBe(second.at(-1));
        }),
      ),
    ));
});

function withoutId({ title, system, messages, tools, model }: AgentRequest): AgentRequest {
  return { messages, tools, model, ...(title !== undefined && { title }), ...(system !== undefined && { system }) };
}
