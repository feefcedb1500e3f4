import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { until } from '../../test/support/until';
import { testClock } from '../../test/servers/testClock';
import type { TimeSource } from '../api/clock';
import { createNativeProvider } from '../core/condense';
import { selectSummarizer } from '../core/condense/summarizer';
import { createTestSummarizer } from '../core/condense/summary/testing';
import type { CondensationProvider } from '../core/condense/types';
import { findCutsWithBrokenReferences } from '../core/condense/lossless/integrity';
import { assistant, makeToolExchange, makeLines, user } from '../core/testing';
import type { LiveEvent } from './events';
import { createMetricsOfEvent } from './metricsOfEvent';
import type { LiveConversations } from './liveConversations';
import type { LiveId } from './request';
import {
  DUE_MESSAGES,
  stringify,
  createModel,
  createTestBed,
  countMarkers,
  makeRead,
  makeReads,
  createRequest,
  SMALL_MESSAGES,
} from './testing';
import type { LiveSettings } from './types';

describe('a summary by a model in a running conversation', () => {
  const SUMMARY = '## Goal\nRead the files, and say what each of them is there for.\n## State\nAll were read.';

  function summarizing(reply: Parameters<typeof createTestSummarizer>[0]) {
    const summarizer = createTestSummarizer(reply);
    const native = createNativeProvider({ select: () => selectSummarizer({ condensing: summarizer }) });
    return { summarizer, native: native as CondensationProvider };
  }
  /** Creates a promise and the function that resolves it. */
  function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open };
  }

  /**
   * Creates a test bed whose model is asked for a summary once half of the window is used, and
   * replies once the test allows it.
   */
  function createPreparingBed(root: string) {
    const asked = createGate();
    const { native, summarizer } = summarizing(async () => asked.opened.then(() => SUMMARY));
    const bed = createTestBed(root, { providers: [native], settings: { provider: 'native', backgroundPercent: 50 } });
    const ended = (): boolean => bed.events.some((event) => event.kind === 'preparing' && !event.isPreparing);
    const ready = async (): Promise<void> => {
      asked.open();
      await until(ended);
    };
    return { ...bed, summarizer, ready };
  }

  it('is written during the request that needs it', () =>
    inTemporaryFolder(async (root) => {
      const { native } = summarizing([SUMMARY]);
      const { live } = createTestBed(root, { providers: [native], settings: { provider: 'native' } });
      const prepared = await live.prepare(createRequest(DUE_MESSAGES));
      expect(stringify(prepared.messages)).toContain('All were read.');
      expect(prepared.messages.slice(0, 2)).toEqual(DUE_MESSAGES.slice(0, 2));
    }));

  it('is prepared in the background from a lower threshold on, and applied when it is ready', () =>
    inTemporaryFolder(async (root) => {
      const { live, events, summarizer, ready } = createPreparingBed(root);
      const first = await live.prepare(createRequest(makeReads(23)));
      expect(first.messages).toEqual(makeReads(23));
      expect(live.active()?.isPreparing).toBe(true);
      await ready();
      const second = await live.prepare(createRequest([...makeReads(23), ...makeRead('new')]));
      expect(stringify(second.messages)).toContain('All were read.');
      expect(second.messages.slice(-2)).toEqual(makeRead('new'));
      expect(events.find((event) => event.kind === 'condensed')?.decision.reason).toBe('background');
      expect(summarizer.requests).toHaveLength(1);
    }));

  it('that was prepared in the background brings back new results that refer to content it replaces', () =>
    inTemporaryFolder(async (root) => {
      const { live, ready } = createPreparingBed(root);
      await live.prepare(createRequest(makeReads(23)));
      const again = makeToolExchange('again', 'Read', { file_path: '/src/f3.ts', part: 1 }, makeLines('f3', 100));
      const second = [...makeReads(23), ...again];
      expect(countMarkers((await live.prepare(createRequest(second))).messages)).toBe(1);
      await ready();
      const { messages } = await live.prepare(createRequest([...second, ...makeRead('new')]));
      expect(stringify(messages)).toContain('All were read.');
      const { original, messages: view, edits } = live.view(live.active()!.id)!;
      const cuts = edits.filter((edit) => edit.kind === 'cut');
      expect(findCutsWithBrokenReferences(original, view, cuts)).toEqual([]);
      expect(stringify(messages)).toContain('f3 line 50 ');
    }));

  it('that was prepared in the background is used despite a side request in the meantime', () =>
    inTemporaryFolder(async (root) => {
      const { live, summarizer, ready } = createPreparingBed(root);
      await live.prepare(createRequest(makeReads(23)));
      const recap = [...makeReads(23), assistant('All is read.'), user('Say in one line where we are.')];
      await live.prepare(createRequest(recap));
      await live.prepare(createRequest([...makeReads(23), ...makeRead('next')]));
      await ready();
      const third = await live.prepare(createRequest([...makeReads(23), ...makeRead('next'), ...makeRead('new')]));
      expect(stringify(third.messages)).toContain('All were read.');
      expect(summarizer.requests).toHaveLength(1);
    }));

  type Act = (live: LiveConversations, id: LiveId) => Promise<unknown>;
  const nothing: Act = () => Promise.resolve();
  const pin: Act = (live, id) => live.pin(id, 3);

  it.each<[by: string, before: Act, act: Act]>([
    ['an undo', nothing, (live, id) => live.undo(id)],
    ['bringing back', (live, id) => live.undo(id), (live, id) => live.redo(id)],
    ['excluding an edit', nothing, (live, id) => live.toggleEdit(id, live.view(id)!.edits[0]!.id)],
    ['a pin', nothing, pin],
    ['taking a pin off', pin, (live, id) => live.unpin(id, 3)],
  ])('is abandoned at once, while it is being written, by %s', (_, before, act) =>
    inTemporaryFolder(async (root) => {
      const { native, summarizer } = summarizing(() => new Promise(() => undefined));
      const { live } = createTestBed(root, { providers: [native] });
      const model = createModel({ contextWindow: 400_000 });
      const { conversation } = await live.prepare(createRequest(DUE_MESSAGES, { model }));
      await live.condenseNow(conversation, { targetPercent: 75 });
      await before(live, conversation);
      const written = live.condenseNow(conversation, { provider: 'native' }).catch(String);
      await until(() => summarizer.requests.length === 1);
      await act(live, conversation);
      expect(await written).toContain('what the model gets was changed by hand');
      expect(live.active()?.isPreparing).toBe(false);
    }),
  );

  it('does not shorten the waiting time that an undo begins while it is being written', () =>
    inTemporaryFolder(async (root) => {
      const asked = createGate();
      const { native, summarizer } = summarizing(async () => asked.opened.then(() => SUMMARY));
      const { live, events } = createTestBed(root, { providers: [native] });
      const model = createModel({ contextWindow: 400_000 });
      const { conversation } = await live.prepare(createRequest(DUE_MESSAGES, { model }));
      await live.condenseNow(conversation, { targetPercent: 75 });
      const written = live.condenseNow(conversation, { provider: 'native' }).catch(String);
      await until(() => summarizer.requests.length === 1);
      await live.undo(conversation);
      asked.open();
      await written;
      await until(() => events.some((event) => event.kind === 'not-condensed'));
      expect((await live.prepare(createRequest(DUE_MESSAGES))).messages).toEqual(DUE_MESSAGES);
    }));

  it('is not used if it was prepared for another history', () =>
    inTemporaryFolder(async (root) => {
      const { live, ready } = createPreparingBed(root);
      await live.prepare(createRequest(makeReads(23)));
      await ready();
      const edited = [...makeReads(5), user('another way')];
      expect((await live.prepare(createRequest(edited))).messages).toEqual(edited);
    }));

  it('does not stop the task if it never arrives: it is awaited once, then abandoned', () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { native, summarizer } = summarizing(() => new Promise(() => undefined));
      const { live, events } = createTestBed(root, { providers: [native], clock, settings: { provider: 'native' } });
      expect((await live.prepare(createRequest(DUE_MESSAGES))).messages).toEqual(DUE_MESSAGES);
      expect(clock.sleeps).toEqual([30_000]);
      expect((await live.prepare(createRequest(DUE_MESSAGES))).messages).toEqual(DUE_MESSAGES);
      expect(clock.sleeps).toHaveLength(1);
      await until(() => summarizer.requests.length === 1);
      // The window would be exceeded, so the request does not wait.
      const full = await live.prepare(createRequest([...DUE_MESSAGES, ...makeRead('more', 1_500)]));
      expect(full.tokens).toBeLessThanOrEqual(32_000);
      expect(full.outcome?.provider).toBe('truncation');
      expect(summarizer.requests).toHaveLength(1);
      expect(events.filter((event) => event.kind === 'preparing' && !event.isPreparing)).toHaveLength(1);
    }));

  it('is no longer requested after two in a row came too late', () =>
    inTemporaryFolder(async (root) => {
      const { native } = summarizing(() => new Promise(() => undefined));
      const settings = { provider: 'native', backgroundPercent: 50, waitMs: 0 };
      const { live, events } = createTestBed(root, { providers: [native], clock: testClock(), settings });
      let messages = makeReads(20);
      for (let step = 0; step < 60; step++) {
        messages = [...messages, ...makeRead(`more${step}`, 200)];
        expect((await live.prepare(createRequest(messages))).tokens).toBeLessThanOrEqual(34_000);
      }
      expect(events.filter((event) => event.kind === 'preparing' && event.isPreparing)).toHaveLength(2);
      expect(live.active()?.isPreparing).toBe(false);
    }));

  it('is requested again after it was abandoned only when the conversation has grown', () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { native, summarizer } = summarizing(() => new Promise(() => undefined));
      const { live, events } = createTestBed(root, {
        providers: [native],
        clock,
        settings: { provider: 'native', giveUpMs: 1_000_000 },
      });
      await live.prepare(createRequest(DUE_MESSAGES));
      await until(() => summarizer.requests.length === 1);
      clock.advance(1_000_000);
      await until(() => events.some((event) => event.kind === 'preparing' && !event.isPreparing));
      await live.prepare(createRequest(DUE_MESSAGES));
      await live.prepare(createRequest(DUE_MESSAGES));
      expect(summarizer.requests).toHaveLength(1);
    }));

  it('causes only a note if it fails, and a retry does not pay again', () =>
    inTemporaryFolder(async (root) => {
      const { native, summarizer } = summarizing(['refused']);
      const { live, events } = createTestBed(root, { providers: [native], settings: { provider: 'native' } });
      const prepared = await live.prepare(createRequest(DUE_MESSAGES));
      expect(prepared.messages).toEqual(DUE_MESSAGES);
      expect(prepared.outcome?.kind).toBe('failed');
      expect(events.some((event) => event.kind === 'not-condensed')).toBe(true);
      const calls = summarizer.requests.length;
      for (let retry = 0; retry < 3; retry++) await live.prepare(createRequest(DUE_MESSAGES));
      expect(summarizer.requests).toHaveLength(calls);
    }));

  it('is cancelled with the request that waits for it', () =>
    inTemporaryFolder(async (root) => {
      const stop = new AbortController();
      const asked = createGate();
      const { native } = summarizing((_, signal) => {
        asked.open();
        return new Promise((resolve) => {
          signal?.addEventListener('abort', () => {
            resolve('aborted');
          });
        });
      });
      const { live, events } = createTestBed(root, { providers: [native], settings: { provider: 'native' } });
      const prepared = live.prepare(createRequest(DUE_MESSAGES), stop.signal);
      const failed = expect(prepared).rejects.toThrow('stopped');
      await asked.opened;
      stop.abort(new Error('stopped'));
      await failed;
      expect(events.some(({ kind }) => kind === 'condensed')).toBe(false);
      expect(live.active()?.isPreparing).toBe(false);
    }));

  describe('that is abandoned', () => {
    const givenUp = (events: readonly LiveEvent[]) =>
      events.flatMap((event) => (event.kind === 'not-condensed' && event.outcome.kind === 'cancelled' ? [event] : []));

    it('is reported with its cost and counted in the metrics', () =>
      inTemporaryFolder(async (root) => {
        const { live, events, ready } = createPreparingBed(root);
        await live.prepare(createRequest(makeReads(23)));
        await ready();
        await live.prepare(createRequest([...makeReads(5), user('another way')]));
        const [event, ...others] = givenUp(events);
        expect(others).toEqual([]);
        expect(event?.reason).toBe('background');
        expect(event?.givenUp).toMatch(/^the conversation has taken another course/);
        expect(event?.outcome.notes.at(-1)).toBe(`It was abandoned: ${event?.givenUp}.`);
        expect(event?.outcome.cost).toBeGreaterThan(0);
        const run = createMetricsOfEvent(event!, 'native', new Date(0));
        expect(run).toMatchObject({ outcome: 'cancelled', trigger: 'background', cost: event?.outcome.cost });
        expect(run?.calls).toHaveLength(1);
        expect(run?.tokensAfter).toBe(run?.tokensBefore);
      }));

    it('is reported after its call has ended, even if the call ignores the cancellation', () =>
      inTemporaryFolder(async (root) => {
        const { live, events, summarizer, ready } = createPreparingBed(root);
        await live.prepare(createRequest(makeReads(23)));
        await until(() => summarizer.requests.length === 1);
        await live.prepare(createRequest([...makeReads(5), user('another way')]));
        expect(givenUp(events)).toEqual([]);
        await ready();
        await until(() => givenUp(events).length === 1);
        expect(givenUp(events)[0]?.outcome.cost).toBeGreaterThan(0);
      }));

    it('is not counted in the metrics if no model was called yet', () => {
      const base = { provider: 'native', tokensBefore: 9, steps: [], cost: 0, timeMs: 1, notes: [] };
      const event = { kind: 'not-condensed', conversation: 'c' as LiveId, reason: 'by-hand' } as const;
      expect(createMetricsOfEvent({ ...event, outcome: { ...base, kind: 'cancelled' } }, 'native', new Date())).toBe(
        undefined,
      );
    });
  });

  describe('that the user requests', () => {
    /** Creates a conversation that is not due, whose model replies once the test allows it. */
    async function asked(
      root: string,
      settings: Partial<LiveSettings> = {},
      messages = SMALL_MESSAGES,
      clock: TimeSource = testClock(),
    ) {
      const replied = createGate();
      const called = createGate();
      const { native, summarizer } = summarizing(async (_, signal) => {
        called.open();
        await Promise.race([
          replied.opened,
          new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true })),
        ]);
        return SUMMARY;
      });
      const bed = createTestBed(root, { providers: [native], clock, settings: { provider: 'lossless', ...settings } });
      await bed.live.prepare(createRequest(messages));
      const { id } = bed.live.active()!;
      const condense = (signal?: AbortSignal) => bed.live.condenseNow(id, { provider: 'native' }, signal);
      return { ...bed, summarizer, condense, called: called.opened, reply: replied.open };
    }
    const reasons = (events: readonly LiveEvent[]) =>
      events.flatMap((event) => (event.kind === 'condensed' ? [event.decision.reason] : []));

    it('delays no request: each is sent unchanged, and its new messages are kept', () =>
      inTemporaryFolder(async (root) => {
        const { live, condense, called, reply, events } = await asked(root);
        const done = condense();
        await called;
        const grown = [...SMALL_MESSAGES, ...makeRead('meanwhile')];
        expect((await live.prepare(createRequest(grown))).messages).toEqual(grown);
        expect(live.active()?.isPreparing).toBe(true);
        reply();
        expect((await done)?.kind).toBe('condensed');
        const next = await live.prepare(createRequest([...grown, ...makeRead('new')]));
        expect(stringify(next.messages)).toContain('All were read.');
        expect(next.messages.slice(-4)).toEqual([...makeRead('meanwhile'), ...makeRead('new')]);
        expect(reasons(events)).toEqual(['by-hand']);
      }));

    it('is applied by a request that waits for it, and reported as requested by the user', () =>
      inTemporaryFolder(async (root) => {
        // The model answers once a request waits for it.
        let answer = (): void => undefined;
        const sleep = (): Promise<void> => {
          answer();
          return new Promise(() => undefined);
        };
        const clock = { ...testClock(), sleep };
        const { live, condense, called, reply, events } = await asked(root, {}, DUE_MESSAGES.slice(0, -2), clock);
        answer = reply;
        const done = condense();
        await called;
        expect(stringify((await live.prepare(createRequest(DUE_MESSAGES))).messages)).toContain('All were read.');
        expect((await done)?.kind).toBe('condensed');
        expect(reasons(events)).toEqual(['by-hand']);
      }));

    it('never delays a request that must be condensed, which happens without the summary and is reported', () =>
      inTemporaryFolder(async (root) => {
        const clock = testClock();
        const settings = { provider: 'truncation' };
        const { live, condense, called, events } = await asked(root, settings, DUE_MESSAGES.slice(0, -2), clock);
        const done = condense();
        const failed = expect(done).rejects.toThrow('abandoned: the request would not have fit');
        await called;
        const full = await live.prepare(createRequest([...DUE_MESSAGES, ...makeRead('more', 1_500)]));
        expect(clock.sleeps).toEqual([30_000]);
        expect(full.outcome?.provider).toBe('truncation');
        expect(full.tokens).toBeLessThanOrEqual(32_000);
        await failed;
        expect(reasons(events)).toEqual(['window']);
      }));

    it('ends if it is canceled or another one is requested', () =>
      inTemporaryFolder(async (root) => {
        const { live, condense, called, events } = await asked(root);
        const stop = new AbortController();
        const cancelled = condense(stop.signal);
        const stopped = expect(cancelled).rejects.toThrow('no more');
        await called;
        stop.abort(new Error('no more'));
        await stopped;
        const second = condense();
        const replaced = expect(second).rejects.toThrow('abandoned: another condensation was asked for');
        await until(() => live.active()?.isPreparing === true);
        const { id } = live.active()!;
        await live.condenseNow(id, { provider: 'truncation' });
        await replaced;
        expect(reasons(events)).toEqual(['by-hand']);
        await until(() => events.filter((event) => event.kind === 'not-condensed').length === 2);
      }));

    it('does not affect a later summary if it is canceled', () =>
      inTemporaryFolder(async (root) => {
        // The request waits for as long as the model takes.
        const clock = { ...testClock(), sleep: () => new Promise<never>(() => undefined) };
        const settings = { provider: 'native' };
        const { live, condense, called, reply, events } = await asked(root, settings, DUE_MESSAGES.slice(0, -2), clock);
        const stop = new AbortController();
        const stopped = expect(condense(stop.signal)).rejects.toThrow('no more');
        await called;
        stop.abort(new Error('no more'));
        await stopped;
        reply();
        expect(stringify((await live.prepare(createRequest(DUE_MESSAGES))).messages)).toContain('All were read.');
        expect(reasons(events)).toEqual(['threshold']);
      }));

    it('reports a failure, and the configured provider condenses what is due', () =>
      inTemporaryFolder(async (root) => {
        const { native } = summarizing(['refused']);
        const { live, events } = createTestBed(root, { providers: [native], settings: { provider: 'truncation' } });
        await live.prepare(createRequest(SMALL_MESSAGES));
        const outcome = await live.condenseNow(live.active()!.id, { provider: 'native' });
        expect(outcome?.kind).toBe('failed');
        expect((await live.prepare(createRequest(DUE_MESSAGES))).outcome?.provider).toBe('truncation');
        expect(reasons(events)).toEqual(['threshold']);
      }));
  });
});
