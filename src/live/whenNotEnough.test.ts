/**
 * Tests which provider runs if an agent's task reaches the threshold, and which one follows if that
 * was not enough.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { createSmartProvider } from '../core/condense';
import type { ApiMessage } from '../core/messages/types';
import { selectSummarizer } from '../core/condense/summarizer';
import { computeTargetTokens } from '../core/condense/trigger/thresholds';
import type { LiveEvent } from './events';
import { makeToolExchange, makeLines, user } from '../core/testing';
import { createTestBed, makeRead, makeReads, createRequest, createModel } from './testing';
import type { LiveSettings, LiveSummary } from './types';

const WINDOW = 40_000;
const providers = [createSmartProvider({ select: () => selectSummarizer({}) })];
/** These reads are of different files, so Lossless can't remove anything. */
const DIFFERENT = makeReads(27);
/** Creates a read of the same file each time. */
const readAgain = (at: number): ApiMessage[] =>
  makeToolExchange(`again-${at}`, 'Read', { file_path: '/src/same.ts' }, makeLines('same', 100));
/** One file is read again and again. */
const REPEATED: readonly ApiMessage[] = [
  ...makeReads(0),
  ...Array.from({ length: 34 }, (_, at) => readAgain(at)).flat(),
];

interface Ran {
  readonly events: readonly LiveEvent[];
  readonly live: LiveSummary;
}

/**
 * Sends longer and longer beginnings of the messages, as an agent does, until something is
 * condensed or all was sent.
 */
async function run(
  messages: readonly ApiMessage[],
  settings: Partial<LiveSettings>,
  canRecall: boolean | undefined,
  percent = 75,
): Promise<Ran> {
  return inTemporaryFolder(async (root) => {
    // New results are sent whole, since only the threshold is tested.
    const bed = createTestBed(root, { providers, settings: { provider: 'lossless', newResults: 'off', ...settings } });
    const model = createModel({ contextWindow: WINDOW, threshold: { percent } });
    for (let end = 4; end <= messages.length; end += 2) {
      const sent = createRequest(messages.slice(0, end), { model, ...(canRecall !== undefined && { canRecall }) });
      await bed.live.prepare(sent);
      if (bed.events.some(({ kind }) => kind === 'condensed')) break;
    }
    await bed.live.waitUntilSettled();
    return { events: bed.events, live: bed.live.list()[0]! };
  });
}

const condensed = ({ events }: Ran) => events.find((event) => event.kind === 'condensed');

describe('condensing at the threshold', () => {
  it.each([
    { what: 'Lossless alone where it is enough', messages: REPEATED, settings: {}, canRecall: true, ran: 'Lossless' },
    {
      what: 'Lossless, then File-Aware where it is not',
      messages: DIFFERENT,
      settings: {},
      canRecall: true,
      ran: 'Smart (File-Aware)',
    },
    { what: 'nothing for an agent that cannot recall', messages: DIFFERENT, settings: {}, canRecall: false },
    { what: 'nothing where recall is not known', messages: DIFFERENT, settings: {}, canRecall: undefined },
    {
      what: 'nothing where the user wants nothing',
      messages: DIFFERENT,
      settings: { whenNotEnough: 'nothing' },
      canRecall: true,
    },
    {
      what: 'File-Aware for an agent that cannot recall where the user wants it',
      messages: DIFFERENT,
      settings: { whenNotEnough: 'fileAware' },
      canRecall: false,
      ran: 'Smart (File-Aware)',
    },
    {
      what: 'a chosen provider, whatever follows Lossless',
      messages: DIFFERENT,
      settings: { provider: 'truncation', whenNotEnough: 'fileAware' },
      canRecall: true,
      ran: 'Truncation',
    },
  ] as const)('runs $what', async ({ messages, settings, canRecall, ...expected }) => {
    const ran = await run(messages, settings, canRecall);
    const event = condensed(ran);
    if (!('ran' in expected)) {
      // The 27 reads fit, so nothing but the threshold could start condensing.
      expect(event).toBeUndefined();
      expect(ran.live.condensedBy).toBe('Lossless');
      const isSaid = ran.live.whyNot?.includes('this agent has no tool to recall') ?? false;
      expect(isSaid).toBe(!('whenNotEnough' in settings));
      return;
    }
    expect(event?.decision.reason).toBe('threshold');
    expect(ran.live.condensations.at(-1)?.by).toBe(expected.ran);
    expect(event!.outcome.tokensAfter).toBeLessThanOrEqual(computeTargetTokens({ percent: 75 }, WINDOW));
  });

  it('is reported as one condensation that names both providers if both removed something', async () => {
    const ran = await run([...DIFFERENT.slice(0, 44), ...REPEATED.slice(2, 16)], {}, true);
    const event = condensed(ran)!;
    const [made] = ran.live.condensations;
    expect(ran.live.condensations).toHaveLength(1);
    expect(made?.by).toBe('Lossless, then Smart (File-Aware)');
    expect(ran.live.condensedBy).toBe('Lossless, then Smart (File-Aware) if that is not enough');
    expect(made?.request).toEqual({
      tokensBefore: event.decision.tokensBefore,
      tokensAfter: event.decision.tokensAfter,
    });
  });

  it('happens within two steps of any threshold, down to the target, with and without repeated reads', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 15, max: 75 }),
        fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
        async (percent, repeats) => {
          const steps = repeats.flatMap((isRepeat, at) => (isRepeat ? readAgain(at) : makeRead(`f${at}`)));
          const ran = await run([...makeReads(0), ...steps], {}, true, percent);
          const event = condensed(ran)!;
          const { reason, tokensBefore } = event.decision;
          expect(reason).toBe('threshold');
          expect(tokensBefore).toBeLessThanOrEqual((percent * WINDOW) / 100 + 2_400);
          expect(event.outcome.tokensAfter).toBeLessThanOrEqual(computeTargetTokens({ percent }, WINDOW));
        },
      ),
    );
  });
});

it('the cache is rarely broken by condensing if instructions and tools alone exceed the threshold', async () => {
  await inTemporaryFolder(async (root) => {
    const bed = createTestBed(root, { providers, settings: { provider: 'lossless' } });
    const model = createModel({ contextWindow: WINDOW, threshold: { percent: 15 } });
    const system = makeLines('rule', 1_200);
    const all = makeReads(16);
    for (let end = 4; end <= all.length; end += 2)
      await bed.live.prepare(createRequest(all.slice(0, end), { model, system, canRecall: true }));
    const made = bed.events.flatMap((event) => (event.kind === 'condensed' ? [event.decision] : []));
    expect(made.length).toBeGreaterThan(0);
    for (const { tokensBefore, tokensAfter } of made)
      expect(1 - tokensAfter / tokensBefore).toBeGreaterThanOrEqual(0.19);
    await bed.live.waitUntilSettled();
  });
});

describe('while condensing is paused,', () => {
  it('only a request that would not fit is condensed', async () => {
    await inTemporaryFolder(async (root) => {
      const bed = createTestBed(root, { providers, settings: { provider: 'lossless', isPaused: true } });
      const model = createModel({ contextWindow: WINDOW });
      const send = (messages: readonly ApiMessage[]) =>
        bed.live.prepare(createRequest(messages, { model, canRecall: true }));
      const due = await send(DIFFERENT);
      expect(due.messages).toEqual(DIFFERENT);
      expect(bed.live.list()[0]).toMatchObject({ isPaused: true, condensations: [] });
      const further = [...DIFFERENT, ...makeRead('f98'), ...makeRead('f99'), ...makeRead('f97')];
      expect((await send(further)).outcome?.kind).toBe('condensed');
      expect(bed.events.find((event) => event.kind === 'condensed')?.decision.reason).toBe('window');
      bed.settings = { ...bed.settings, isPaused: false };
      expect(bed.live.list()[0]).not.toHaveProperty('isPaused');
      await bed.live.waitUntilSettled();
    });
  });
});

describe('a conversation of which little can still be removed', () => {
  it('is reported once, with what is left and what would help, while requests still fit', async () => {
    await inTemporaryFolder(async (root) => {
      const bed = createTestBed(root, { providers, settings: { provider: 'lossless' } });
      const model = createModel({ contextWindow: WINDOW });
      // Text that the user wrote is never removed.
      const task = user(`Do all of this:\n${makeLines('todo', 2_900)}`);
      const told = () => bed.events.flatMap((event) => (event.kind === 'exhausted' ? [event.message] : []));
      for (let count = 0; count < 5; count++) {
        const steps = Array.from({ length: count }, (_, at) => makeRead(`f${at}`, 10)).flat();
        await bed.live.prepare(createRequest([task, ...steps], { model, canRecall: true }));
      }
      expect(told()).toEqual([
        expect.stringMatching(
          /^Little more can be removed from this conversation: it still takes [\d,]+ of the window’s 40,000 tokens \(instructions and tools [\d,]+, what you wrote .*What would help: /,
        ),
      ]);
      expect(bed.live.list()[0]?.exhausted).toBe(told()[0]);
      await bed.live.waitUntilSettled();
    });
  });

  it('is not reported if condensing helped or another provider could', async () => {
    const enough = await run(DIFFERENT, {}, true);
    const nothing = await run(DIFFERENT, { whenNotEnough: 'nothing' }, true);
    for (const { events } of [enough, nothing]) expect(events.map(({ kind }) => kind)).not.toContain('exhausted');
  });
});
