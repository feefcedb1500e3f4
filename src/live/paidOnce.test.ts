import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { createNativeProvider } from '../core/condense';
import { selectSummarizer } from '../core/condense/summarizer';
import { createTestSummarizer } from '../core/condense/summary/testing';
import type { CondensationProvider } from '../core/condense/types';
import { result, user } from '../core/testing';
import { nodeFiles } from '../storage/nodeFiles';
import { DUE_MESSAGES, createTestBed, makeReads, createRequest, SMALL_MESSAGES } from './testing';

const SUMMARY = '## Goal\nRead the files.';

function summarizing(reply: Parameters<typeof createTestSummarizer>[0]) {
  const summarizer = createTestSummarizer(reply);
  const native = createNativeProvider({ select: () => selectSummarizer({ condensing: summarizer }) });
  return { summarizer, native: native as CondensationProvider };
}

const fullDisk = {
  ...nodeFiles,
  makeFolder: () => Promise.reject(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })),
};

describe('a summary that was paid for in a running conversation', () => {
  it('is not paid for again with each request if it can’t be stored', () =>
    inTemporaryFolder(async (root) => {
      const { native, summarizer } = summarizing([SUMMARY]);
      const settings = { provider: 'native' };
      const { live, events } = createTestBed(root, { providers: [native], settings, storage: { files: fullDisk } });
      const first = await live.prepare(createRequest(DUE_MESSAGES));
      expect(first.messages).toEqual(DUE_MESSAGES);
      expect(first.outcome?.kind).toBe('failed');
      // The cost is reported nevertheless.
      expect(events.filter(({ kind }) => kind === 'not-condensed')).toHaveLength(1);
      for (let more = 0; more < 3; more++) await live.prepare(createRequest(DUE_MESSAGES));
      expect(summarizer.requests).toHaveLength(1);
    }));

  it('is not requested again with each request if the agent keeps changing old messages', () =>
    inTemporaryFolder(async (root) => {
      const { native, summarizer } = summarizing(() => new Promise(() => undefined));
      const { live } = createTestBed(root, {
        providers: [native],
        settings: { provider: 'native', backgroundPercent: 50 },
      });
      for (let clock = 0; clock < 5; clock++) {
        await live.prepare(createRequest(makeReads(23).with(5, user(result('call-f1', `It is ${clock} o'clock.`)))));
      }
      expect(summarizer.requests.length).toBeLessThanOrEqual(1);
    }));
});

it('a request that waits for an endless condensation can be cancelled', () =>
  inTemporaryFolder(async (root) => {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { native } = summarizing(() => {
      begin();
      return new Promise(() => undefined);
    });
    const { live } = createTestBed(root, { providers: [native] });
    const { conversation } = await live.prepare(createRequest(SMALL_MESSAGES));
    void live.condenseNow(conversation, { provider: 'native' });
    await begun;
    const stop = new AbortController();
    const prepared = expect(live.prepare(createRequest(SMALL_MESSAGES), stop.signal)).rejects.toThrow('stopped');
    stop.abort(new Error('stopped'));
    await prepared;
  }));
