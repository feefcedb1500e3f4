import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { runOneCaseIn } from '../../test/support/cases';
import { isUseExcessive, ZERO_USE_AFTER_CONDENSATION } from '../core/condense/ledger/use';
import type { ApiMessage } from '../core/messages/types';
import { makeToolExchange, makeLines } from '../core/testing';
import { DUE_MESSAGES, createTestBed, makeRead, makeReads, createRequest, type TestBed } from './testing';

/** Creates a read of a file that {@link DUE_MESSAGES} reads too, with another call ID. */
const createRepeatedRead = (name: string, time = 1): ApiMessage[] =>
  makeToolExchange(`again-${name}-${time}`, 'Read', { file_path: `/src/${name}.ts` }, makeLines(name, 100));

const recalled = (time: number): ApiMessage[] =>
  makeToolExchange(
    `recall-${time}`,
    'contextCondenser_recall',
    { words: 'f0' },
    '[ref abcdef: result of Read]\nf0 line 1',
  );

const failedEdit = (name: string): ApiMessage[] =>
  makeToolExchange(
    `edit-${name}`,
    'Edit',
    { file_path: `/src/${name}.ts`, old_string: 'no line of it', new_string: 'x' },
    'String to replace not found in file.',
    { is_error: true },
  );

/**
 * Continues a task turn by turn.
 * @returns all messages
 */
async function continueTask(
  bed: TestBed,
  task: readonly ApiMessage[],
  turns: readonly ApiMessage[][],
): Promise<ApiMessage[]> {
  const messages = [...task];
  for (const turn of turns) {
    messages.push(...turn);
    await bed.live.prepare(createRequest(messages));
  }
  return messages;
}

/** Returns the condensation that was made first. */
const getFirstCondensation = ({ live }: TestBed) => live.active()!.condensations[0]!;

/** The oldest files, which are removed first. */
const OLD = ['f0', 'f1', 'f2', 'f3', 'f4'];

describe('content that an agent reads again after a condensation', () => {
  it('is counted: reads and recalls of removed content, and failed edits in its files', () =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root);
      await continueTask(bed, DUE_MESSAGES, [
        [],
        createRepeatedRead('f0'),
        recalled(1),
        failedEdit('f1'),
        makeRead('new'),
        createRepeatedRead('f26'),
      ]);
      expect(getFirstCondensation(bed).use).toEqual({ turns: 5, rereads: 1, recalls: 1, failedEdits: 1, expected: 0 });
      expect(bed.live.active()!.isCareful).toBe(false);
    }));

  it('switches the conversation to Lossless if it is too much, until that is undone', () =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root);
      const messages = await continueTask(bed, DUE_MESSAGES, [[], ...OLD.map((name) => createRepeatedRead(name))]);
      expect(bed.events.filter(({ kind }) => kind === 'careful')).toEqual([
        {
          kind: 'careful',
          conversation: bed.live.active()!.id,
          condensation: getFirstCondensation(bed).id,
          use: { ...ZERO_USE_AFTER_CONDENSATION, turns: 5, rereads: 5 },
        },
      ]);
      // The same is true after a restart.
      const restarted = createTestBed(root);
      await continueTask(restarted, messages, [[]]);
      expect(restarted.live.active()!.isCareful).toBe(true);
      expect(getFirstCondensation(restarted).use).toMatchObject({ rereads: 5 });
      // Only Lossless is used for the next condensation, and it finds no repeated content.
      await continueTask(
        restarted,
        messages,
        ['v', 'w', 'x', 'y', 'z'].map((name) => makeRead(name)),
      );
      const tried = restarted.events.flatMap((event) => ('outcome' in event ? event.outcome.provider : []));
      expect(new Set(tried)).toEqual(new Set(['lossless']));
      await restarted.live.undo(restarted.live.active()!.id);
      expect(restarted.live.active()!.isCareful).toBe(false);
    }));

  it('is too much only compared with how often the agent read content again before', () =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root);
      const restless = [
        ...makeReads(14),
        ...[...makeReads(13).keys()].slice(2, 15).flatMap((at) => createRepeatedRead(`f${at % 14}`)),
      ];
      await continueTask(bed, restless, [[], ...OLD.map((name) => createRepeatedRead(name, 2))]);
      const { use } = getFirstCondensation(bed);
      expect(use!.rereads).toBeGreaterThan(0);
      expect(use!.expected).toBeGreaterThan(use!.rereads / 2);
      expect(bed.live.active()!.isCareful).toBe(false);
    }));

  it.each([
    [{ rereads: 2, recalls: 2, failedEdits: 1, expected: 2 }, true],
    [{ rereads: 2, recalls: 2, failedEdits: 1, expected: 2.5 }, false],
    [{ rereads: 1, recalls: 2, failedEdits: 1, expected: 0 }, false],
  ])('is too much from five uses on, if these are more than twice the expected number: %j', (use, isTooMuch) => {
    expect(isUseExcessive({ ...ZERO_USE_AFTER_CONDENSATION, ...use })).toBe(isTooMuch);
  });

  it('is observed for twenty turns', () =>
    inTemporaryFolder(async (root) => {
      const bed = createTestBed(root);
      const idle = Array.from({ length: 22 }, (_, at) => makeRead(`idle${at}`, 3));
      await continueTask(bed, DUE_MESSAGES, [[], ...idle, ...OLD.map((name) => createRepeatedRead(name))]);
      expect(getFirstCondensation(bed).use).toMatchObject({ turns: 20, rereads: 0 });
      expect(bed.live.active()!.isCareful).toBe(false);
    }));

  it('is counted equally however the turns arrive, and after a restart in between', async () => {
    const turn = fc.oneof(
      fc.constantFrom(...OLD).map((name) => (at: number) => createRepeatedRead(name, at)),
      fc.constant((at: number) => makeRead(`new${at}`, 5)),
      fc.constant(recalled),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.nat(6), async (made, restartAt) =>
        inTemporaryFolder(async (root) => {
          const turns = made.map((make, at) => make(at));
          const bed = createTestBed(root);
          await continueTask(bed, DUE_MESSAGES, [[], ...turns]);
          const whole = getFirstCondensation(bed).use;
          const used = [...DUE_MESSAGES, ...turns.slice(0, restartAt).flat()];
          const other = createTestBed(`${root}/other`);
          await continueTask(other, DUE_MESSAGES, [[], turns.slice(0, restartAt).flat()]);
          const restarted = createTestBed(`${root}/other`);
          await continueTask(restarted, used, [[], turns.slice(restartAt).flat()]);
          const { use } = getFirstCondensation(restarted);
          if (isUseExcessive(use!)) return;
          expect(use).toEqual(whole);
        }),
      ),
      // Each case follows a whole conversation request by request.
      runOneCaseIn(3),
    );
  });
});
