import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { until } from '../../test/support/until';
import { testClock } from '../../test/servers/testClock';
import { nativeProvider } from '../core/condense';
import { selectSummarizer } from '../core/condense/summary/summarizer';
import { testSummarizer } from '../core/condense/summary/testing';
import type { CondensationProvider } from '../core/condense/types';
import { brokenCuts } from '../core/condense/lossless/integrity';
import { assistant, exchange, lines, user } from '../core/testing';
import { DUE, json, liveBed, marked, read, reads, request } from './testing';

describe('a summary by a model', () => {
  const SUMMARY = '## Goal\nRead the files.\n## State\nAll were read.';

  function summarizing(reply: Parameters<typeof testSummarizer>[0]) {
    const summarizer = testSummarizer(reply);
    const native = nativeProvider({ select: () => selectSummarizer({ condensing: summarizer }) });
    return { summarizer, native: native as CondensationProvider };
  }
  /** A promise and what resolves it. */
  function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open };
  }

  it('is made within the request where it is due', () =>
    inTemporaryFolder(async (root) => {
      const { native } = summarizing([SUMMARY]);
      const { live } = liveBed(root, { providers: [native], settings: { provider: 'native' } });
      const prepared = await live.prepare(request(DUE));
      expect(json(prepared.messages)).toContain('All were read.');
      expect(prepared.messages.slice(0, 2)).toEqual(DUE.slice(0, 2));
    }));

  it('is prepared in the background from a lower threshold, and applied when it is there', () =>
    inTemporaryFolder(async (root) => {
      const asked = gate();
      const { native, summarizer } = summarizing(async () => asked.opened.then(() => SUMMARY));
      const { live, events } = liveBed(root, {
        providers: [native],
        settings: { provider: 'native', backgroundPercent: 50 },
      });
      const first = await live.prepare(request(reads(23)));
      expect(first.messages).toEqual(reads(23));
      expect(live.active()?.isPreparing).toBe(true);
      asked.open();
      await until(() => events.some((event) => event.kind === 'preparing' && !event.isPreparing));
      const second = await live.prepare(request([...reads(23), ...read('new')]));
      expect(json(second.messages)).toContain('All were read.');
      expect(second.messages.slice(-2)).toEqual(read('new'));
      expect(events.find((event) => event.kind === 'condensed')?.decision.reason).toBe('background');
      expect(summarizer.requests).toHaveLength(1);
    }));

  it('that was prepared in the background gives back what was left out on arrival meanwhile', () =>
    inTemporaryFolder(async (root) => {
      const asked = gate();
      const { native } = summarizing(async () => asked.opened.then(() => SUMMARY));
      const { live, events } = liveBed(root, {
        providers: [native],
        settings: { provider: 'native', backgroundPercent: 50 },
      });
      await live.prepare(request(reads(23)));
      const again = exchange('again', 'Read', { file_path: '/src/f3.ts', part: 1 }, lines('f3', 100));
      const second = [...reads(23), ...again];
      expect(marked((await live.prepare(request(second))).messages)).toBe(1);
      asked.open();
      await until(() => events.some((event) => event.kind === 'preparing' && !event.isPreparing));
      const { messages } = await live.prepare(request([...second, ...read('new')]));
      expect(json(messages)).toContain('All were read.');
      const { original, view, edits } = live.view(live.active()!.id)!;
      const cuts = edits.filter((edit) => edit.kind === 'cut');
      expect(await brokenCuts(original, view, cuts)).toEqual([]);
      expect(json(messages)).toContain('f3 line 50 ');
    }));

  it('that was prepared is used though the agent asked something beside the task meanwhile', () =>
    inTemporaryFolder(async (root) => {
      const asked = gate();
      const { native, summarizer } = summarizing(async () => asked.opened.then(() => SUMMARY));
      const { live, events } = liveBed(root, {
        providers: [native],
        settings: { provider: 'native', backgroundPercent: 50 },
      });
      await live.prepare(request(reads(23)));
      const recap = [...reads(23), assistant('All is read.'), user('Say in one line where we are.')];
      await live.prepare(request(recap));
      await live.prepare(request([...reads(23), ...read('next')]));
      asked.open();
      await until(() => events.some((event) => event.kind === 'preparing' && !event.isPreparing));
      const third = await live.prepare(request([...reads(23), ...read('next'), ...read('new')]));
      expect(json(third.messages)).toContain('All were read.');
      expect(summarizer.requests).toHaveLength(1);
    }));

  it('that was prepared for another history is not used', () =>
    inTemporaryFolder(async (root) => {
      const asked = gate();
      const { native } = summarizing(async () => asked.opened.then(() => SUMMARY));
      const { live, events } = liveBed(root, {
        providers: [native],
        settings: { provider: 'native', backgroundPercent: 50 },
      });
      await live.prepare(request(reads(23)));
      asked.open();
      await until(() => events.some((event) => event.kind === 'preparing' && !event.isPreparing));
      const edited = [...reads(5), user('another way')];
      expect((await live.prepare(request(edited))).messages).toEqual(edited);
    }));

  it('that never comes does not stop the task: it is waited for once, then given up', () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { native, summarizer } = summarizing(() => new Promise(() => undefined));
      const { live, events } = liveBed(root, { providers: [native], clock, settings: { provider: 'native' } });
      expect((await live.prepare(request(DUE))).messages).toEqual(DUE);
      expect(clock.sleeps).toEqual([30_000]);
      expect((await live.prepare(request(DUE))).messages).toEqual(DUE);
      expect(clock.sleeps).toHaveLength(1);
      await until(() => summarizer.requests.length === 1);
      // The window would be exceeded: no waiting for it.
      const full = await live.prepare(request([...DUE, ...read('more', 1_500)]));
      expect(full.tokens).toBeLessThanOrEqual(32_000);
      expect(full.outcome?.provider).toBe('truncation');
      expect(summarizer.requests).toHaveLength(1);
      expect(events.filter((event) => event.kind === 'preparing' && !event.isPreparing)).toHaveLength(1);
    }));

  it('that is given up is not asked for again before the conversation has grown', () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { native, summarizer } = summarizing(() => new Promise(() => undefined));
      const { live, events } = liveBed(root, {
        providers: [native],
        clock,
        settings: { provider: 'native', giveUpMs: 1_000_000 },
      });
      await live.prepare(request(DUE));
      await until(() => summarizer.requests.length === 1);
      clock.advance(1_000_000);
      await until(() => events.some((event) => event.kind === 'preparing' && !event.isPreparing));
      await live.prepare(request(DUE));
      await live.prepare(request(DUE));
      expect(summarizer.requests).toHaveLength(1);
    }));

  it('that fails costs nothing but a note, and is not paid for again by a retry', () =>
    inTemporaryFolder(async (root) => {
      const { native, summarizer } = summarizing(['refused']);
      const { live, events } = liveBed(root, { providers: [native], settings: { provider: 'native' } });
      const prepared = await live.prepare(request(DUE));
      expect(prepared.messages).toEqual(DUE);
      expect(prepared.outcome?.kind).toBe('failed');
      expect(events.some((event) => event.kind === 'not-condensed')).toBe(true);
      const calls = summarizer.requests.length;
      for (let retry = 0; retry < 3; retry++) await live.prepare(request(DUE));
      expect(summarizer.requests).toHaveLength(calls);
    }));

  it('ends with the request that waits for it', () =>
    inTemporaryFolder(async (root) => {
      const stop = new AbortController();
      const asked = gate();
      const { native } = summarizing((_, signal) => {
        asked.open();
        return new Promise((resolve) => {
          signal?.addEventListener('abort', () => {
            resolve('aborted');
          });
        });
      });
      const { live, events } = liveBed(root, { providers: [native], settings: { provider: 'native' } });
      const prepared = live.prepare(request(DUE), stop.signal);
      const failed = expect(prepared).rejects.toThrow('stopped');
      await asked.opened;
      stop.abort(new Error('stopped'));
      await failed;
      expect(events.some(({ kind }) => kind === 'condensed')).toBe(false);
      expect(live.active()?.isPreparing).toBe(false);
    }));
});
