import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeToolExchange, makeLines, user } from '../../testing';
import { createCounter } from '../../testingCounter';
import type { ApiMessage } from '../../messages/types';
import { compareChoices, JUDGED_TARGET_SHARES, tallyNeededLinesOfSession, type SessionTally } from './judge';
import { CURRENT_CHOICE_ID, JUDGED_CHOICES, type JudgedChoice } from './judgedChoices';

const counter = createCounter();
const tokens = { count: (text: string) => counter.countText(text) };

/** Returns middle lines, since a text that is cut short keeps only its beginning and its end. */
const getMiddleLines = (name: string): string => makeLines(name, 100).split('\n').slice(48, 52).join('\n');

/** Creates a session that reads thirty files and then edits lines of the oldest ones. */
const createSession = (edits: number): ApiMessage[] => [
  user('Mend the files'),
  ...Array.from({ length: 30 }, (_, at) =>
    makeToolExchange(`r${at}`, 'Read', { file_path: `/src/f${at}.ts` }, makeLines(`file${at} number`, 100)),
  ).flat(),
  ...Array.from({ length: edits }, (_, at) =>
    makeToolExchange(
      `e${at}`,
      'Edit',
      { file_path: `/src/f${at}.ts`, old_string: getMiddleLines(`file${at} number`), new_string: 'gone' },
      'ok',
    ),
  ).flat(),
];

const choice = (id: string): JudgedChoice => JUDGED_CHOICES.find((one) => one.id === id)!;
const current = (of: string): JudgedChoice => ({ ...choice(of), id: CURRENT_CHOICE_ID });

describe('measuring what a session needed after a condensation', () => {
  it('counts how many needed lines each configuration keeps', async () => {
    const choices = [current('lossless'), choice('truncation')];
    const tally = await tallyNeededLinesOfSession(createSession(12), choices, tokens);
    const { points, lines: needed } = compareChoices([tally!], choices);
    expect(needed).toBeGreaterThan(0);
    const found = (id: string) => points.find((point) => point.choice === id && point.target === undefined)!;
    expect(found(CURRENT_CHOICE_ID).lost.share).toBe(0);
    expect(found('truncation').lost.share).toBeGreaterThan(0.5);
    expect(found('truncation').left).toBeLessThan(found(CURRENT_CHOICE_ID).left);
    // Truncated content can be recalled.
    expect(found('truncation').gone).toBe(0);
  });

  it('returns undefined for a short session and one that needs nothing', async () => {
    expect(await tallyNeededLinesOfSession(createSession(0), [current('lossless')], tokens)).toBeUndefined();
    expect(
      await tallyNeededLinesOfSession(createSession(0).slice(0, 9), [current('lossless')], tokens),
    ).toBeUndefined();
  });

  it('stops when it is aborted', async () => {
    const reason = new Error('stop');
    await expect(
      tallyNeededLinesOfSession(createSession(12), [current('lossless')], tokens, {
        signal: AbortSignal.abort(reason),
      }),
    ).rejects.toBe(reason);
  });
});

/** Creates sessions with 20 needed lines each; `lost` says how many of them each choice loses. */
const createTallies = (
  choices: readonly JudgedChoice[],
  lost: readonly (readonly number[])[],
  after = 500,
): SessionTally[] =>
  lost.map(
    (own) =>
      new Map(
        choices.flatMap(({ id }, at) =>
          JUDGED_TARGET_SHARES.map((target) => [
            `${id} ${target ?? ''}`,
            { needed: 20, lost: own[at] ?? 0, gone: 0, before: 1_000, after: at === 0 ? 500 : after },
          ]),
        ),
      ),
  );

describe('comparing configurations by the lines they lose', () => {
  const choices = [current('truncation'), choice('file-aware')];

  it('recommends nothing for few sessions or lines', () => {
    expect(compareChoices([], choices)).toMatchObject({ sessions: 0, lines: 0, verdict: { kind: 'too-little' } });
    const few = createTallies(choices, [
      [20, 0],
      [20, 0],
      [20, 0],
      [20, 0],
    ]);
    expect(compareChoices(few, choices).verdict).toEqual({ kind: 'too-little' });
  });

  it('recommends only a configuration that loses significantly fewer lines and leaves no more tokens', () => {
    const better = Array.from({ length: 6 }, (_, at) => [10 + (at % 2), 2]);
    expect(compareChoices(createTallies(choices, better), choices).verdict).toMatchObject({
      kind: 'change',
      choice: 'file-aware',
    });
    expect(compareChoices(createTallies(choices, better, 600), choices).verdict).toEqual({ kind: 'keep' });
    const unsure = [0, 20, 0, 20, 1, 1].map((lost) => [lost, 7]);
    expect(compareChoices(createTallies(choices, unsure), choices).verdict).toEqual({ kind: 'keep' });
  });

  it('keeps the share of lost lines within its interval, whatever the order of sessions', () => {
    const losses = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { minLength: 2, maxLength: 25 });
    fc.assert(
      fc.property(losses, (lost) => {
        const judged = compareChoices(createTallies(choices, lost), choices);
        for (const { lost: share } of judged.points) {
          expect(share.low).toBeLessThanOrEqual(share.share);
          expect(share.high).toBeGreaterThanOrEqual(share.share);
        }
        const back = compareChoices(createTallies(choices, lost.toReversed()), choices);
        expect(back.verdict.kind).toBe(judged.verdict.kind);
        // A choice that is no better is not recommended.
        const mean = (at: 0 | 1): number => lost.reduce((sum, own) => sum + own[at], 0);
        if (judged.verdict.kind === 'change') expect(mean(1)).toBeLessThan(mean(0));
      }),
    );
  });
});
