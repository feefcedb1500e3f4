import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getValueAt } from '../../messages/path';
import type { ApiMessage } from '../../messages/types';
import { makeToolTable } from '../../messages/tools';
import { ownToolsSchema } from '../../messages/toolsSchema';
import { shortenMarkers } from '../../testing';
import { createCounter } from '../../testingCounter';
import { Draft } from '../draft/draft';
import { applyEdits } from '../edits/applyEdits';
import type { CutEdit } from '../edits/edits';
import { cutNewResults, type NewResultRules } from './newResults';
import { findCutsWithBrokenReferences } from './integrity';
import {
  makeCall,
  makeCodeLines,
  counter,
  makeExchange,
  numberLines,
  repeatingHistoryArbitrary,
  TASK_MESSAGE,
} from './testing';

/** The counter of a new process, which has counted nothing yet. */
const freshCounter = createCounter();

const LOSSLESS: NewResultRules = { lossless: true };

/** Condenses the last message as a new result. */
const condenseNewResult = (
  messages: readonly ApiMessage[],
  edits: readonly CutEdit[],
  own = counter,
  rules = LOSSLESS,
) => cutNewResults(new Draft(messages, own, edits, messages.length - 1), rules);

/**
 * Sends a conversation call by call, and returns what the model sees of each result, with markers
 * shortened.
 */
const sendAndShow = async (turns: readonly ApiMessage[][], rules = LOSSLESS): Promise<string[]> =>
  (await sendAll(turns, rules)).shown;

async function sendAll(
  turns: readonly ApiMessage[][],
  rules = LOSSLESS,
): Promise<{ shown: string[]; rereads: number; edits: readonly CutEdit[] }> {
  const messages: ApiMessage[] = [TASK_MESSAGE];
  let edits: readonly CutEdit[] = [];
  let rereads = 0;
  for (const turn of turns) {
    messages.push(...turn);
    const made = await condenseNewResult([...messages], edits, counter, rules);
    edits = [...edits, ...made.edits];
    rereads += made.rereads.length;
  }
  const shown = applyEdits(messages, edits)
    .messages.slice(1)
    .filter((_, at) => at % 2 === 1)
    .map((message) => shortenMarkers(getValueAt(message, ['content', 0, 'content']) as string));
  return { shown, rereads, edits };
}

const FILE = makeCodeLines('a', 1, 90);
const readFile = (from: number, to: number, name = 'a') =>
  makeExchange(
    'Read',
    { file_path: `src/${name}.ts`, offset: from, limit: to - from + 1 },
    numberLines(makeCodeLines('a', from, to), from),
  );
const createOtherTurns = (count: number) =>
  Array.from({ length: count }, (_, at) => makeExchange('Bash', { command: `run ${at}` }, `ok ${at}`));

/** Returns this many turns, with more tokens than the range that counts as recent. */
const createDistantTurns = (count: number) => [
  ...createOtherTurns(count),
  makeExchange(
    'Bash',
    { command: 'long' },
    Array.from({ length: 4_000 }, (_, at) => `line ${at * 7919} of it`).join('\n'),
  ),
];

describe('a new result under Lossless', () => {
  it('refers to lines above it instead of repeating them', async () => {
    const [, second, third] = await sendAndShow([readFile(1, 90), readFile(30, 60), readFile(70, 90)]);
    expect(second).toBe('[lines 30-60, shown above]');
    expect(third).toBe('[lines 70-90, shown above]');
  });

  it('of a command with the same output becomes a reference, unless it failed', async () => {
    const output = makeCodeLines('log', 1, 20).join('\n');
    const shown = await sendAndShow([
      makeExchange('Bash', { command: 'make' }, output),
      makeExchange('Bash', { command: 'make all' }, output),
      makeExchange('Bash', { command: 'make all' }, output, { is_error: true }),
    ]);
    expect(shown[1]).toMatch(/^\[20 lines, shown in the Bash "make" above\]$/);
    expect(shown[2]).toBe(output);
  });

  it('that echoes an edit refers to the file', async () => {
    const echo = `The file was updated.\n${numberLines(FILE.slice(10, 30), 11)}`;
    const [, shown] = await sendAndShow([
      readFile(1, 90),
      makeCall('Edit', { file_path: 'src/a.ts', old_string: 'x', new_string: 'y' }, echo),
    ]);
    expect(shown).toBe('The file was updated.\n[lines 11-30, shown above]');
  });

  it('never refers to another file', async () => {
    const [, shown] = await sendAndShow([readFile(1, 90), readFile(1, 90, 'b')]);
    expect(shown).toContain('const a17 =');
  });

  it('stays whole if the same range was shown long ago, but not if it was just shown', async () => {
    const now = await sendAndShow([readFile(1, 40), ...createOtherTurns(2), readFile(1, 40)]);
    expect(now.at(-1)).toBe('[lines 1-40, shown above]');
    const later = await sendAndShow([readFile(1, 40), ...createOtherTurns(8), readFile(1, 40)]);
    expect(later.at(-1)).toBe('[lines 1-40, shown above]');
    const few = await sendAndShow([readFile(1, 40), ...createDistantTurns(4), readFile(1, 40)]);
    expect(few.at(-1)).toBe('[lines 1-40, shown above]');
    const far = await sendAndShow([readFile(1, 40), ...createDistantTurns(8), readFile(1, 40)]);
    for (const line of FILE.slice(0, 40)) expect(far.at(-1)).toContain(line);
  });

  it('stays whole if the previous read of the same lines was answered with a reference to text far above', async () => {
    const turns = [readFile(1, 40), ...createDistantTurns(4), readFile(1, 40), ...createOtherTurns(8), readFile(1, 40)];
    const shown = await sendAndShow(turns);
    expect(shown[6]).toBe('[lines 1-40, shown above]');
    for (const line of FILE.slice(0, 40)) expect(shown.at(-1)).toContain(line);
  });

  it('stays whole if the agent asks again for what a marker replaced, and then so do later reads of that file', async () => {
    const turns = [readFile(1, 90), readFile(30, 60), readFile(31, 59), ...createOtherTurns(1), readFile(10, 80)];
    const { shown, rereads } = await sendAll(turns);
    expect(rereads).toBe(1);
    expect(shown[1]).toBe('[lines 30-60, shown above]');
    for (const line of FILE.slice(30, 59)) expect(shown[2]).toContain(line);
    for (const line of FILE.slice(9, 80)) expect(shown.at(-1)).toContain(line);
  });

  it('becomes a reference even in doubtful cases if caution is off, to measure what caution costs', async () => {
    const careless = { ...LOSSLESS, isCautious: false };
    const later = await sendAndShow([readFile(1, 40), ...createDistantTurns(8), readFile(1, 40)], careless);
    expect(later.at(-1)).toBe('[lines 1-40, shown above]');
    const again = await sendAndShow([readFile(1, 90), readFile(30, 60), readFile(31, 59)], careless);
    expect(again.at(-1)).toBe('[lines 31-59, shown above]');
  });

  it('of an unknown tool is interpreted by the user’s rule for the tool', async () => {
    const turns = [
      readFile(1, 90),
      makeExchange('acme', { what: 'src/a.ts' }, numberLines(makeCodeLines('a', 30, 60), 30)),
      makeExchange('acme', { what: 'src/b.ts' }, numberLines(makeCodeLines('a', 30, 60), 30)),
    ];
    const tools = makeToolTable(ownToolsSchema.parse({ Acme: { kind: 'read', path: ['what'] } }));
    const [, same, other] = await sendAndShow(turns, { ...LOSSLESS, tools });
    expect(same).toBe('[lines 30-60, shown above]');
    expect(other).toContain('const a40 =');
    const [, unknown] = await sendAndShow(turns);
    expect(unknown).not.toBe(same);
  });

  it('loses its line numbers even if other calls come between it and its call', async () => {
    const [[read1, answer1], [read2], [read3]] = [readFile(1, 40), readFile(50, 60), readFile(70, 90)];
    const messages = [TASK_MESSAGE, read1, read2, read3, answer1].filter((message) => message !== undefined);
    const { edits } = await condenseNewResult(messages, []);
    expect(edits.map(({ place }) => place.message)).toEqual([4]);
  });

  it('is no longer changed after it was sent, even by the process that sent it', async () => {
    const reminder = `\n\n<system-reminder>\n${makeCodeLines('a', 1, 2).join('\n')}\n</system-reminder>`;
    const output = makeCodeLines('a', 1, 6).join('\n');
    const turns = [
      makeExchange('Read', { file_path: 'src/a.ts' }, numberLines(makeCodeLines('a', 1, 1), 1) + reminder),
      makeExchange('Read', { file_path: 'src/a.ts' }, numberLines(makeCodeLines('a', 2, 2), 2) + reminder),
      makeExchange('Write', { file_path: 'src/a.ts', content: makeCodeLines('a', 2, 6).join('\n') }, 'done'),
      makeExchange('Bash', { command: 'gh api' }, output),
    ];
    const { edits } = await sendAll(turns);
    const messages = structuredClone([TASK_MESSAGE, ...turns.flat()]);
    expect(edits).toEqual((await condenseNewResult(messages, [], freshCounter)).edits);
  });

  describe("if it is a command's output", () => {
    const BAR = ['\u001b[32mCompiling\u001b[0m', ...[10, 50, 90].map((at) => `${'#'.repeat(at)} ${at} %`)].join('\r');
    const output = [...makeCodeLines('log', 1, 20), `${BAR}\rdone  `, ...Array<string>(30).fill('retry')].join('\n');
    const noisy = [makeExchange('Bash', { command: 'make' }, output)];

    it('keeps terminal noise by default', async () => {
      expect(await sendAndShow(noisy)).toEqual([output]);
      const [shown] = await sendAndShow(noisy, { lossless: false, noise: true });
      expect(shown).toBe([...makeCodeLines('log', 1, 20), 'done', 'retry', '[the line above × 29 more]'].join('\n'));
    });

    it('keeps terminal noise if the command failed', async () => {
      const failed = [makeExchange('Bash', { command: 'make' }, output, { is_error: true })];
      expect(await sendAndShow(failed, { ...LOSSLESS, noise: true })).toEqual([output]);
    });
  });

  it('leaves earlier messages unchanged, loses no line, and is not changed by a second run', () =>
    fc.assert(
      fc.asyncProperty(repeatingHistoryArbitrary, async (history) => {
        let edits: readonly CutEdit[] = [];
        for (let length = 3; length <= history.length; length += 2) {
          const messages = history.slice(0, length);
          const unseen = structuredClone({ messages, edits });
          const { edits: made } = await condenseNewResult(messages, edits);
          expect(made.every(({ place }) => place.message === length - 1)).toBe(true);
          // A process that has just started cuts the same content.
          expect(made).toEqual((await condenseNewResult(unseen.messages, unseen.edits, freshCounter)).edits);
          edits = [...edits, ...made];
          const view = applyEdits(messages, edits).messages;
          expect(findCutsWithBrokenReferences(messages, view, edits)).toEqual([]);
          expect(counter.countMessages(view)).toBeLessThanOrEqual(counter.countMessages(messages));
          expect((await condenseNewResult(messages, edits)).edits).toEqual([]);
        }
      }),
    ));
});
