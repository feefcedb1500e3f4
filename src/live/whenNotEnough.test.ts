/** What runs at the threshold of an agent's task, and what follows it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { smartProvider } from '../core/condense';
import type { ApiMessage } from '../core/messages/types';
import { selectSummarizer } from '../core/condense/summary/summarizer';
import { targetTokens } from '../core/condense/trigger/thresholds';
import type { LiveEvent } from './events';
import { exchange, lines } from '../core/testing';
import { liveBed, read, reads, request, upstream } from './testing';
import type { LiveSettings, LiveSummary } from './types';

const WINDOW = 40_000;
const providers = [smartProvider({ select: () => selectSummarizer({}) })];
/** Reads of files of their own: nothing that Lossless could take out. */
const DIFFERENT = reads(27);
/** A read of the same file each time. */
const readAgain = (at: number): ApiMessage[] =>
  exchange(`again-${at}`, 'Read', { file_path: '/src/same.ts' }, lines('same', 100));
/** Reads of one file, again and again. */
const REPEATED: readonly ApiMessage[] = [...reads(0), ...Array.from({ length: 34 }, (_, at) => readAgain(at)).flat()];

interface Ran {
  readonly events: readonly LiveEvent[];
  readonly live: LiveSummary;
}

/** Sends what grows up to the messages, as an agent does, until something is condensed or all was sent. */
async function run(
  messages: readonly ApiMessage[],
  settings: Partial<LiveSettings>,
  canRecall: boolean | undefined,
  percent = 75,
): Promise<Ran> {
  return inTemporaryFolder(async (root) => {
    // New results stay whole: what the threshold does is the question.
    const bed = liveBed(root, { providers, settings: { provider: 'lossless', onArrival: 'off', ...settings } });
    const model = upstream({ contextWindow: WINDOW, threshold: { percent } });
    for (let end = 4; end <= messages.length; end += 2) {
      const sent = request(messages.slice(0, end), { model, ...(canRecall !== undefined && { canRecall }) });
      await bed.live.prepare(sent);
      if (bed.events.some(({ kind }) => kind === 'condensed')) break;
    }
    await bed.live.settled();
    return { events: bed.events, live: bed.live.list()[0]! };
  });
}

const condensed = ({ events }: Ran) => events.find((event) => event.kind === 'condensed');

describe('at the threshold', () => {
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
      // The 27 reads fit: nothing is due beside the threshold.
      expect(event).toBeUndefined();
      expect(ran.live.condensedBy).toBe('Lossless');
      const isSaid = ran.live.whyNot?.includes('this agent has no tool to recall') ?? false;
      expect(isSaid).toBe(!('whenNotEnough' in settings));
      return;
    }
    expect(event?.decision.reason).toBe('threshold');
    expect(ran.live.condensations.at(-1)?.by).toBe(expected.ran);
    expect(event!.outcome.tokensAfter).toBeLessThanOrEqual(targetTokens({ percent: 75 }, WINDOW));
  });

  it('names both where both took something out, and adds them up to one condensation', async () => {
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

  it('condenses within two steps of any threshold, down to the target, with and without repetitions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 15, max: 75 }),
        fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
        async (percent, repeats) => {
          const steps = repeats.flatMap((isRepeat, at) => (isRepeat ? readAgain(at) : read(`f${at}`)));
          const ran = await run([...reads(0), ...steps], {}, true, percent);
          const event = condensed(ran)!;
          const { reason, tokensBefore } = event.decision;
          expect(reason).toBe('threshold');
          expect(tokensBefore).toBeLessThanOrEqual((percent * WINDOW) / 100 + 2_400);
          expect(event.outcome.tokensAfter).toBeLessThanOrEqual(targetTokens({ percent }, WINDOW));
        },
      ),
    );
  });
});
