import { describe, expect, it } from 'vitest';
import { testClock } from '../../../test/servers/testClock';
import { nativeProvider, smartProvider } from '../../core/condense';
import { findMarkers } from '../../core/condense/markers';
import { selectSummarizer } from '../../core/condense/summary/selectSummarizer';
import { testSummarizer, SONNET_PRICES } from '../../core/condense/summary/testing';
import type { CondensationProvider } from '../../core/condense/types';
import type { Usage } from '../../core/cost/usage';
import { newViolations } from '../../core/messages/firewall';
import type { ApiMessage } from '../../core/messages/types';
import { assistant, exchange, lines, result, user } from '../../core/testing';
import { nodeFiles } from '../../storage/nodeFiles';
import { inFolder, liveBed, read, reads, request, upstream } from './testing';
import type { AgentRequest } from './types';

const usage = (inputTokens: number): Usage => ({
  accounting: 'anthropic',
  source: 'reported',
  inputTokens,
  outputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});

const json = (value: unknown): string => JSON.stringify(value);

/** A conversation of about 30,500 tokens: over the threshold of 75 % of 40,000, within the 32,000 that fit. */
const DUE = reads(27);
const SMALL = reads(8);

const marked = (messages: readonly ApiMessage[]): number => findMarkers(json(messages)).length;

describe('a request', () => {
  it('below the threshold goes out as it came', () =>
    inFolder(async (root) => {
      const { live, events } = liveBed(root);
      const prepared = await live.prepare(request(SMALL));
      expect(prepared.messages).toEqual(SMALL);
      expect(prepared.outcome).toBeUndefined();
      expect(prepared.notes).toEqual([]);
      expect(prepared.tokens).toBe(prepared.countedTokens);
      expect(events.map(({ kind }) => kind)).toEqual(['changed']);
    }));

  it('at the threshold is condensed to the target, and valid', () =>
    inFolder(async (root) => {
      const { live, events } = liveBed(root);
      const prepared = await live.prepare(request(DUE));
      expect(prepared.outcome?.kind).toBe('condensed');
      expect(prepared.tokens).toBeLessThanOrEqual(20_000);
      expect(newViolations(DUE, prepared.messages)).toEqual([]);
      const told = events.find((event) => event.kind === 'condensed');
      expect(told?.decision).toMatchObject({
        reason: 'threshold',
        tokensAfter: prepared.tokens,
        contextWindow: 40_000,
      });
    }));

  it('without a known window is left alone', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const prepared = await live.prepare(request(DUE, { model: upstream({ contextWindow: 0 }) }));
      expect(prepared.messages).toEqual(DUE);
      expect(prepared.notes).toEqual([]);
    }));

  it('is the same after a condensation, and the prefix stays put', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const first = await live.prepare(request(DUE));
      const again = await live.prepare(request(DUE));
      expect(again.outcome).toBeUndefined();
      expect(json(again.messages)).toBe(json(first.messages));
      const grown = await live.prepare(request([...DUE, ...read('more')]));
      expect(json(grown.messages.slice(0, first.messages.length))).toBe(json(first.messages));
      expect(grown.messages.slice(-2)).toEqual(read('more'));
    }));

  it('has breakpoints at the condensed prefix, at what was newest before, and at the newest', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const first = await live.prepare(request(DUE));
      live.answered(first, usage(first.tokens));
      const grown = await live.prepare(request([...DUE, ...read('more')]));
      const last = grown.messages.length - 1;
      expect(grown.cacheMarks.slice(1)).toEqual([last - 2, last]);
      const [prefix = 0] = grown.cacheMarks;
      expect(marked([grown.messages[prefix] as ApiMessage])).toBe(1);
      expect(marked(grown.messages.slice(prefix + 1))).toBe(0);
      const plain = await live.prepare(request(SMALL, { conversationId: 'other' }));
      expect(plain.cacheMarks).toEqual([SMALL.length - 1]);
    }));

  it('that was aborted is not prepared', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const reason = new Error('stopped');
      await expect(live.prepare(request(DUE), AbortSignal.abort(reason))).rejects.toBe(reason);
    }));

  it('with a provider that is not there uses the active one', () =>
    inFolder(async (root) => {
      const { live, events } = liveBed(root, { settings: { provider: 'gone' } });
      expect((await live.prepare(request(DUE))).outcome?.provider).toBe('lossless');
      await live.prepare(request([...DUE, ...read('more')]));
      const problems = events.flatMap((event) => (event.kind === 'problem' ? [event.message] : []));
      expect(problems).toEqual([expect.stringContaining('no provider "gone"; Lossless condenses')]);
    }));

  it('is condensed within the request by passes that ask no model', () =>
    inFolder(async (root) => {
      const bed = liveBed(root, {
        providers: [smartProvider()],
        settings: { provider: 'smart' },
      });
      const { live, events } = bed;
      bed.settings = { ...bed.settings, config: 'file-aware', backgroundPercent: 10 };
      const prepared = await live.prepare(request(DUE));
      expect(prepared.outcome).toMatchObject({ kind: 'condensed', provider: 'smart' });
      expect(events.map(({ kind }) => kind)).not.toContain('preparing');
    }));

  it('goes under the coherence floor only where it must fit', () =>
    inFolder(async (root) => {
      // Of one error line nothing may be lost sight of.
      const failing = [...exchange('call-e', 'Bash', { command: 'npm test' }, `Error: boom\n${lines('log', 90)}`)];
      const messages = [...DUE.slice(0, 2), ...failing, ...DUE.slice(2)];
      const settings = { config: { toolResults: { mode: 'suppress' } }, coherenceFloor: { errors: 100 } };
      const { live } = liveBed(root, { settings });
      const due = await live.prepare(request(messages));
      expect(due.outcome?.notes.join('\n')).toContain('the floor is 100 %');
      expect(json(due.messages)).toContain('Error: boom');
      const grown = [...messages, ...reads(4, 100, 'g').slice(2)];
      const must = await live.prepare(request(grown));
      expect(must.outcome?.kind).toBe('condensed');
      expect(must.tokens).toBeLessThanOrEqual(32_000);
    }));
});

describe('a request that does not fit', () => {
  const HUGE = reads(80);

  it('is truncated where the provider is not enough, with room for the next ones', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root, { settings: { provider: 'lossless' } });
      const prepared = await live.prepare(request(HUGE));
      expect(prepared.outcome?.notes.join()).toContain('truncated');
      expect(prepared.tokens).toBeLessThanOrEqual(32_000 - 4_000);
      expect(prepared.notes.join()).not.toContain('nothing more');
    }));

  it('has a floor: the oldest results go, by reference, and stay gone', () =>
    inFolder(async (root) => {
      const configs = { truncation: { toolResults: { mode: 'keep' }, toolParameters: { mode: 'keep' } } };
      const { live } = liveBed(root, { settings: { provider: 'lossless', configs } });
      const prepared = await live.prepare(request(HUGE));
      expect(prepared.tokens).toBeLessThanOrEqual(32_000);
      expect(prepared.outcome?.notes.join()).toContain('suppressed');
      expect(json(prepared.messages.at(-1))).toContain('f79 line 99');
      const again = await live.prepare(request([...HUGE, ...read('more')]));
      expect(json(again.messages.slice(0, -2))).toBe(json(prepared.messages));
    }));

  it('is shortened also where one new result alone is too long', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root, { settings: { provider: 'lossless' } });
      const prepared = await live.prepare(request([...SMALL, ...read('huge', 6_000)]));
      expect(prepared.tokens).toBeLessThanOrEqual(32_000);
    }));

  it('where people wrote too much goes out all the same, and that is told', () =>
    inFolder(async (root) => {
      const { live, events } = liveBed(root);
      const prepared = await live.prepare(request([user(lines('much', 6_000)), assistant('ok'), user('go on')]));
      expect(prepared.notes.at(-1)).toContain('nothing more could be taken out');
      expect(events.some(({ kind }) => kind === 'not-condensed')).toBe(true);
    }));

  it('that the model refused is condensed harder, once', () =>
    inFolder(async (root) => {
      const { live, events } = liveBed(root);
      const sent = request(reads(24));
      const prepared = await live.prepare(sent);
      const harder = await live.tooLong(prepared, sent);
      expect(harder?.tokens).toBeLessThanOrEqual(prepared.tokens * 0.6);
      expect(events.find((event) => event.kind === 'condensed')?.decision.reason).toBe('too-long');
      expect(await live.tooLong(harder!, sent)).toBeUndefined();
      // What was refused is known: the next request keeps under it.
      const next = await live.prepare(request([...reads(24), ...read('a', 1_000), ...read('b', 1_000)]));
      expect(next.countedTokens).toBeLessThan(harder!.countedTokens);
    }));

  it('that the model refused and that has nothing to take out is told so', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const sent = request([user('a short task')]);
      expect(await live.tooLong(await live.prepare(sent), sent)).toBeUndefined();
    }));
});

describe('tokens', () => {
  it('are calibrated by what the model reports', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const sent = request(reads(18));
      const prepared = await live.prepare(sent);
      expect(prepared.outcome).toBeUndefined();
      live.answered(prepared, usage(prepared.countedTokens * 2));
      const again = await live.prepare(sent);
      expect(again.outcome?.kind).toBe('condensed');
      expect(again.tokens).toBe(Math.ceil(again.countedTokens * 2));
    }));

  it('and cost are told of each conversation', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const prepared = await live.prepare(request(SMALL, { model: upstream({ prices: SONNET_PRICES }) }));
      live.answered(prepared, usage(1_000_000));
      const summary = live.active();
      expect(summary).toMatchObject({ title: 'A task', contextWindow: 40_000, thresholdTokens: 30_000, messages: 18 });
      expect(summary?.spent).toBeCloseTo(3, 2);
      live.answered(prepared, undefined);
      expect(live.active()?.spent).toBeUndefined();
    }));
});

describe('a cold cache', () => {
  it('is reason enough from a lower threshold, and breaks nothing', () =>
    inFolder(async (root) => {
      const clock = testClock();
      const { live, events } = liveBed(root, { clock, settings: { coldPercent: 60 } });
      const sent = request(reads(23), { model: upstream({ cacheLifetime: '5m', prices: SONNET_PRICES }) });
      const first = await live.prepare(sent);
      expect(first.outcome).toBeUndefined();
      live.answered(first, usage(first.tokens));
      clock.advance(4 * 60_000);
      expect((await live.prepare(sent)).outcome).toBeUndefined();
      clock.advance(2 * 60_000);
      const second = await live.prepare(sent);
      expect(second.outcome?.kind).toBe('condensed');
      const decision = events.find((event) => event.kind === 'condensed')?.decision;
      expect(decision).toMatchObject({ reason: 'cold-cache', isCacheWarm: false, saving: { cacheBreak: 0 } });
      expect(decision?.saving?.perRequest).toBeGreaterThan(0);
    }));

  it('that is warm is broken once, and what that costs is worked out', () =>
    inFolder(async (root) => {
      const { live, events } = liveBed(root);
      const model = upstream({ cacheLifetime: '5m', prices: SONNET_PRICES });
      const first = await live.prepare(request(SMALL, { model }));
      live.answered(first, usage(first.tokens));
      await live.prepare(request(DUE, { model }));
      const decision = events.find((event) => event.kind === 'condensed')?.decision;
      expect(decision).toMatchObject({ reason: 'threshold', isCacheWarm: true });
      expect(decision?.saving?.cacheBreak).toBeGreaterThan(0);
      expect(decision?.saving?.breakEvenRequests).toBeGreaterThan(0);
    }));
});

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
    inFolder(async (root) => {
      const { native } = summarizing([SUMMARY]);
      const { live } = liveBed(root, { providers: [native], settings: { provider: 'native' } });
      const prepared = await live.prepare(request(DUE));
      expect(json(prepared.messages)).toContain('All were read.');
      expect(prepared.messages.slice(0, 2)).toEqual(DUE.slice(0, 2));
    }));

  it('is prepared in the background from a lower threshold, and applied when it is there', () =>
    inFolder(async (root) => {
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

  it('that was prepared for another history is not used', () =>
    inFolder(async (root) => {
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
    inFolder(async (root) => {
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
    inFolder(async (root) => {
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
    inFolder(async (root) => {
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
    inFolder(async (root) => {
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

describe('a conversation', () => {
  it('is known by its id and its task: a subagent is another one', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const parent = await live.prepare(request(SMALL));
      const [environment] = SMALL;
      const child = await live.prepare(request([environment!, user('Search for x')]));
      expect(child.conversation).not.toBe(parent.conversation);
      const other = await live.prepare(request(SMALL, { conversationId: 'c2' }));
      expect(other.conversation).not.toBe(parent.conversation);
      expect((await live.prepare(request([...SMALL, assistant('done')]))).conversation).toBe(parent.conversation);
      expect(live.list()).toHaveLength(3);
    }));

  it('without an id is known by its beginning', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const first = await live.prepare(withoutId(request(SMALL)));
      const more = withoutId(request([...SMALL, ...read('more')]));
      expect((await live.prepare(more)).conversation).toBe(first.conversation);
    }));

  it('whose first turn was cancelled is still the same', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const [environment, task] = SMALL as [ApiMessage, ApiMessage];
      const first = await live.prepare(request([environment, task]));
      const second = await live.prepare(request([environment, task, user('again'), assistant('yes')]));
      expect(second.conversation).toBe(first.conversation);
    }));

  it('comes back after a restart with its edits, byte for byte', () =>
    inFolder(async (root) => {
      const before = await liveBed(root).live.prepare(request(DUE));
      const after = await liveBed(root).live.prepare(request(DUE));
      expect(after.conversation).toBe(before.conversation);
      expect(after.outcome).toBeUndefined();
      expect(json(after.messages)).toBe(json(before.messages));
    }));

  it('that is rolled back keeps the edits of what is left, and has the others again when it comes back', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const condensed = await live.prepare(request(DUE));
      const back = DUE.slice(0, 12);
      const rolled = await live.prepare(request([...back, user('another way')]));
      expect(json(rolled.messages.slice(0, 12))).toBe(json(condensed.messages.slice(0, 12)));
      expect(rolled.messages).toHaveLength(13);
      expect(json((await live.prepare(request(DUE))).messages)).toBe(json(condensed.messages));
    }));

  it('of which an old result has changed keeps the edits of all others', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const condensed = await live.prepare(request(DUE));
      const changed = DUE.with(5, user(result('call-f1', '[Image was previously shown to you.]')));
      const after = await live.prepare(request(changed));
      expect(after.outcome).toBeUndefined();
      const same = after.messages.filter((message, index) => json(message) === json(condensed.messages[index]));
      expect(same).toHaveLength(DUE.length - 1);
      expect(after.messages[5]).toEqual(changed[5]);
    }));

  it('that lost an old turn keeps the edits of what moved', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const condensed = await live.prepare(request(DUE));
      const lost = DUE.toSpliced(4, 2);
      const after = await live.prepare(request(lost));
      expect(json(after.messages)).toBe(json(condensed.messages.toSpliced(4, 2)));
    }));

  it('that the agent itself summed up begins anew', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root);
      const before = await live.prepare(request(DUE));
      const anew = [DUE[0]!, user('<conversation-summary>\nall so far\n</conversation-summary>'), ...DUE.slice(-2)];
      const after = await live.prepare(request(anew));
      expect(after.conversation).not.toBe(before.conversation);
      expect(after.messages).toEqual(anew);
    }));
});

describe('where the disk is full', () => {
  const full = {
    ...nodeFiles,
    makeFolder: () => Promise.reject(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })),
  };

  it('nothing is taken out, as long as the request fits', () =>
    inFolder(async (root) => {
      const { live, events } = liveBed(root, { storage: { files: full } });
      const prepared = await live.prepare(request(DUE));
      expect(prepared.messages).toEqual(DUE);
      expect(prepared.outcome?.kind).toBe('failed');
      expect(events.some((event) => event.kind === 'problem')).toBe(true);
    }));

  it('what must go is kept in memory, and can still be recalled and undone', () =>
    inFolder(async (root) => {
      const { live } = liveBed(root, { storage: { files: full } });
      const long = reads(60);
      const prepared = await live.prepare(request(long));
      expect(prepared.tokens).toBeLessThanOrEqual(32_000);
      const [marker] = findMarkers(json(prepared.messages));
      const recalled = await live.recall(prepared.conversation, { references: [marker!.reference] });
      expect(recalled.kind).toBe('found');
      expect((await live.undo(prepared.conversation)).kind).toBe('done');
      expect(live.view(prepared.conversation)?.view).toEqual(long);
    }));
});

function withoutId({ title, ...rest }: AgentRequest): AgentRequest {
  const { messages, tools, model } = rest;
  return { messages, tools, model, ...(title !== undefined && { title }) };
}

/** Waits for something that other code does. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
