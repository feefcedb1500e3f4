/** Live conversations in the engine's thread must send the same bytes as in this process. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionFiles } from '../../../test/bench/corpus';
import { convertToSentForm, listRequests } from '../../../test/bench/liveReplay';
import { generateConversation } from '../../../test/generators/conversation';
import { openChatEngine } from '../../../test/support/chatEngine';
import { isLong } from '../../../test/support/long';
import { temporaryFolder } from '../../../test/support/temporaryFolder';
import { CondensationManager, createProviders } from '../../core/condense';
import type { ApiMessage } from '../../core/messages/types';
import { SONNET_PRICES } from '../../core/condense/summary/testing';
import { createCounter } from '../../core/testingCounter';
import { LiveConversations } from '../../live/liveConversations';
import type { AgentRequest } from '../../live/request';
import { stringify, makeReads, createRequest, cloneAsJson, createModel, makeUsage } from '../../live/testing';
import type { LiveSettings } from '../../live/types';
import { EngineDiedError } from '../engineThread';

/** Real sessions are outside the repository. */
const CORPORA = ['corpus', 'corpus-2', 'corpus-wide'].map((name) => `../shared/${name}`);
/** Number of requests compared per session. */
const MOST_REQUESTS = isLong ? 400 : 3;

function liveHere(root: string, settings: Partial<LiveSettings> = {}): LiveConversations {
  const counter = createCounter();
  return new LiveConversations({
    manager: new CondensationManager(counter, createProviders()),
    counter,
    root,
    settings: () => ({ provider: 'lossless', mayUseNative: false, ...settings }),
  });
}

const SENT_KEYS = [
  'conversation',
  'messages',
  'cacheMarks',
  'tokens',
  'countedTokens',
  'minReadTokens',
  'isCalibrated',
  'contextWindow',
  'notes',
] as const satisfies readonly (keyof Awaited<ReturnType<LiveConversations['prepare']>>)[];

/** Returns the parts of a prepared request that are sent. */
const sentParts = (prepared: object): string => {
  const sent = prepared as Awaited<ReturnType<LiveConversations['prepare']>>;
  return stringify(SENT_KEYS.map((key) => sent[key]));
};

const requestFor = (messages: readonly ApiMessage[], changes: Partial<AgentRequest> = {}): AgentRequest =>
  createRequest(messages, { canRecall: true, model: createModel({ contextWindow: 60_000 }), ...changes });

describe("requests of a task prepared in the engine's thread", () => {
  it.each(['lossless', 'truncation', 'smart'])('with %s equal those prepared in this process', async (provider) => {
    const settings = { provider, newResultsNoise: true, config: provider === 'smart' ? 'file-aware' : undefined };
    const here = liveHere(join(temporaryFolder(), 'here'), settings);
    const { live } = openChatEngine(join(temporaryFolder(), 'there'), { settings });
    const messages = convertToSentForm(generateConversation({ seed: 11, targetTokens: 120_000 }));
    let condensed = 0;
    for (const end of listRequests(messages)) {
      const asked = requestFor(cloneAsJson(messages.slice(0, end)));
      const expected = await here.prepare(asked);
      const prepared = await live.prepare(cloneAsJson(asked));
      expect(sentParts(prepared)).toBe(sentParts(expected));
      expect(prepared.outcome?.kind).toBe(expected.outcome?.kind);
      if (expected.outcome?.kind === 'condensed') condensed++;
      here.recordAnswer(expected, makeUsage(expected.countedTokens));
      live.recordAnswer(prepared, makeUsage(prepared.countedTokens));
    }
    expect(condensed).toBeGreaterThan(0);
    const [summary] = here.list();
    await expect.poll(() => live.list()[0]?.tokens).toBe(summary?.tokens);
    const { lastUsed: _one, ...told } = live.list()[0] ?? {};
    const { lastUsed: _other, ...kept } = summary ?? {};
    // IDs and times differ between engines.
    const same = (value: unknown): unknown =>
      JSON.parse(stringify(value), (key, field: unknown) => (['id', 'at'].includes(key) ? undefined : field));
    expect(same({ ...told, lastDecision: undefined })).toEqual(same({ ...kept, lastDecision: undefined }));
  });

  it('of several randomly changing chats equal those prepared in this process', async () => {
    const chat = fc.record({
      conversation: fc.integer({ min: 0, max: 2 }),
      reads: fc.integer({ min: 1, max: 40 }),
      isCanceled: fc.boolean(),
      isRefused: fc.boolean(),
      system: fc.constantFrom('You are an agent.', 'You are another agent.'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(chat, { maxLength: 12 }), async (chats) => {
        const here = liveHere(join(temporaryFolder(), 'here'), { provider: 'truncation' });
        const { live } = openChatEngine(join(temporaryFolder(), 'there'), { settings: { provider: 'truncation' } });
        for (const { conversation, reads: count, isCanceled, isRefused, system } of chats) {
          const changes = { conversationId: `c${conversation}`, system, model: createModel() };
          const asked = requestFor(makeReads(count, 100, `c${conversation}-`), changes);
          if (isCanceled) {
            // A canceled request's answer is never reported, but the engine has its messages.
            const abort = new AbortController();
            const [canceled] = [live.prepare(cloneAsJson(asked), abort.signal), abort.abort()];
            await canceled.catch(() => undefined);
            continue;
          }
          const [expected, prepared] = [await here.prepare(asked), await live.prepare(cloneAsJson(asked))];
          expect(stringify(prepared.messages)).toBe(stringify(expected.messages));
          if (!isRefused) continue;
          const [less, smaller] = [
            await here.prepareAfterOverflow(expected, asked),
            await live.prepareAfterOverflow(prepared, asked),
          ];
          expect(stringify(smaller?.messages)).toBe(stringify(less?.messages));
        }
      }),
      { numRuns: 10 },
    );
  });
});

describe('concurrent requests of one chat', () => {
  it('each get their own messages, whatever the others do meanwhile', async () => {
    const course = fc.record({ shared: fc.integer({ min: 1, max: 12 }), own: fc.integer({ min: 0, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(course, { minLength: 2, maxLength: 6 }), async (courses) => {
        let begin = (): void => undefined;
        const begun = new Promise<void>((resolve) => {
          begin = resolve;
        });
        let first = true;
        const { live, thread } = openChatEngine(temporaryFolder(), {
          settings: { provider: 'truncation' },
          engine: () => engine,
        });
        const { engine: real } = thread;
        /** Holds back the first request's answer until the others were sent. */
        const engine = {
          ...real,
          live: new Proxy(real.live, {
            get: (target, name): unknown =>
              name === 'prepare'
                ? async (...given: Parameters<typeof target.prepare>) => {
                    const isFirst = first;
                    first = false;
                    const answer = await target.prepare(...given);
                    if (isFirst) {
                      begin();
                      await others;
                    }
                    return answer;
                  }
                : Reflect.get(target, name),
          }),
        };
        const common = makeReads(12, 100, 'common-');
        const asked = courses.map(({ shared, own }, at) => [
          ...common.slice(0, 1 + 2 * shared),
          ...makeReads(own, 100, `own-${at}-`).slice(2),
        ]);
        const prepare = (messages: readonly ApiMessage[]) =>
          live.prepare(requestFor(cloneAsJson(messages), { model: createModel({ contextWindow: 1e6 }) }));
        const [one = [], ...rest] = asked;
        let answerOthers = (): void => undefined;
        const others = new Promise<void>((resolve) => {
          answerOthers = resolve;
        });
        const held = prepare(one);
        await begun;
        const later = rest.map(prepare);
        answerOthers();
        const prepared = await Promise.all([held, ...later]);
        expect(prepared.map(({ messages }) => stringify(messages))).toEqual(asked.map(stringify));
      }),
      { numRuns: 10 },
    );
  });
});

describe("recorded sessions prepared in the engine's thread", () => {
  const sessions = sessionFiles(CORPORA);
  it.skipIf(sessions.length === 0)('lead to the same requests as in this process', { timeout: 1_800_000 }, async () => {
    const hash = createHash('sha256');
    let [compared, requests] = [0, 0];
    for (const session of sessions) {
      for (const { messages: recorded } of session.read(() => undefined)) {
        const messages = convertToSentForm(recorded);
        // Compares only the last turns of a long session, in which condensations are due.
        const ends = listRequests(messages).slice(-MOST_REQUESTS);
        const here = liveHere(join(temporaryFolder(), 'here'));
        const { live, end } = openChatEngine(join(temporaryFolder(), 'there'));
        for (const last of ends) {
          const asked = requestFor(messages.slice(0, last));
          const [expected, prepared] = [await here.prepare(asked), await live.prepare(cloneAsJson(asked))];
          const sent = sentParts(prepared);
          // Does not use `toEqual`, whose message would print a user's session.
          expect(sent === sentParts(expected), `${session.name}: request of ${last} messages`).toBe(true);
          hash.update(sent);
          requests++;
        }
        compared++;
        await end();
      }
    }
    console.info(`${compared} sessions, ${requests} requests: ${hash.digest('hex').slice(0, 16)}`);
  });
});

describe('a user command on a running conversation', () => {
  it('is visible as soon as it is done: undo, redo, pins, edits and the condensed conversation', async () => {
    const { live } = openChatEngine(temporaryFolder(), { settings: { provider: 'truncation' } });
    const messages = makeReads(27);
    const { conversation } = await live.prepare(requestFor(messages, { model: createModel() }));
    await expect.poll(() => live.list()[0]?.canUndo).toBe(true);
    const view = await live.view(conversation);
    expect(stringify(view?.original)).toBe(stringify(messages));
    expect(view?.edits.length).toBeGreaterThan(0);
    expect(live.getCachedView(conversation)).toBe(view);
    expect(await live.undo(conversation)).toMatchObject({ kind: 'done' });
    expect(live.list()[0]).toMatchObject({ canUndo: false, canRedo: true });
    expect(await live.redo(conversation)).toMatchObject({ kind: 'done' });
    expect(await live.pin(conversation, 4)).toMatchObject({ kind: 'done' });
    expect(live.list()[0]?.pinned).toEqual([4]);
    const [edit] = view?.edits ?? [];
    if (edit) expect(await live.toggleEdit(conversation, edit.id)).toMatchObject({ kind: 'done' });
  });
});

describe('an engine whose thread dies', () => {
  it('loses nothing: commands, recall and markers in parameters continue from the ledger', async () => {
    const { live, thread } = openChatEngine(temporaryFolder(), { settings: { provider: 'truncation' } });
    const asked = requestFor(makeReads(27), { model: createModel() });
    const { conversation, messages } = await live.prepare(asked);
    const { text: marker, path } = markerIn(messages);
    await expect.poll(() => live.list()).toHaveLength(1);
    thread.endThread();
    expect(live.list()).toHaveLength(1);
    const expanded = await live.expandMarkers(conversation, { content: marker });
    expect(stringify(expanded)).not.toContain(marker);
    thread.endThread();
    expect(await live.recall(conversation, { words: `${path} line 50` })).toMatchObject({ kind: 'found' });
    thread.endThread();
    expect(await live.undo(conversation)).toMatchObject({ kind: 'done' });
    expect(live.list()[0]).toMatchObject({ condensations: [{ isUndone: true }], canRedo: true });
  });

  it('does not lose the cost of answers, since the VS Code window keeps it', async () => {
    const { live, thread } = openChatEngine(temporaryFolder());
    const model = createModel({ prices: SONNET_PRICES });
    const answered = async (count: number): Promise<void> => {
      const prepared = await live.prepare(requestFor(makeReads(count), { model }));
      live.recordUsage(prepared, makeUsage(1_000));
    };
    await answered(2);
    await expect.poll(() => live.list()[0]?.spent).toBeGreaterThan(0);
    const spent = live.list()[0]?.spent ?? 0;
    thread.endThread();
    await answered(3);
    await expect.poll(() => live.list()[0]?.spent).toBeCloseTo(2 * spent);
    expect(live.list()).toHaveLength(1);
  });

  it('fails its current request, which is sent unchanged, and prepares the next one as usual', async () => {
    const { live, thread } = openChatEngine(temporaryFolder(), { settings: { provider: 'truncation' } });
    const before = await live.prepare(requestFor(makeReads(27), { model: createModel() }));
    const dying = live.prepare(requestFor(makeReads(28), { model: createModel() }));
    thread.endThread();
    await expect(dying).rejects.toThrow(EngineDiedError);
    const after = await live.prepare(requestFor(makeReads(28), { model: createModel() }));
    expect(stringify(after.messages).startsWith(stringify(before.messages).slice(0, -1))).toBe(true);
    expect(await live.prepareAfterOverflow(before, requestFor(makeReads(27), { model: createModel() }))).toBeDefined();
  });
});

function markerIn(messages: readonly ApiMessage[]): { readonly text: string; readonly path: string } {
  const text = /⟦condensed:[^⟧]*⟧/.exec(stringify(messages))?.[0];
  if (text === undefined) throw new Error('Nothing was condensed.');
  return { text, path: 'f0' };
}
