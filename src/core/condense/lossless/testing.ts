import { expect } from 'vitest';
import { hashText } from '../../hash';
import { getBlocks } from '../../messages/blocks';
import { getValueAt } from '../../messages/path';
import type { ApiMessage } from '../../messages/types';
import { assistant, shortenMarkers, call, listCuts, makeToolExchange, result, user } from '../../testing';
import { createCounter } from '../../testingCounter';
import { Draft } from '../draft/draft';
import { applyEdits, restoreMessagesBeforeEdits } from '../edits/applyEdits';
import { expandReference, collectReferences } from '../edits/references';
import type { MechanicalStep } from '../draft/steps';
import { findCutsWithBrokenReferences } from './integrity';
import fc from 'fast-check';

export const counter = createCounter();

export const TASK_MESSAGE = user('task');

let callCount = 0;

/** Creates a call and its result, as two messages. */
export const makeExchange = (name: string, input: unknown, content: string, fields = {}): ApiMessage[] =>
  makeToolExchange(`id${callCount++}`, name, input, content, fields);

/** Creates a call whose result does not matter. */
export const makeCall = (name: string, input: unknown, content = 'done', fields = {}): ApiMessage[] => {
  const id = `id${callCount++}`;
  return [assistant(call(id, name, input)), user(result(id, content, fields))];
};

/** Creates lines that are unique to a name. */
export const makeCodeLines = (name: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `  const ${name}${from + at} = compute(request, ${from + at});`);

/** Formats lines like Claude Code's Read tool. */
export const numberLines = (lines: readonly string[], from = 1): string =>
  lines.map((line, at) => `${String(from + at).padStart(6)}→${line}`).join('\n');

/**
 * Runs steps and checks that a second run changes nothing, the view is valid, no cut relies on
 * missing text, no message grows, every marker can be expanded, and the original can be restored.
 */
export function runSteps(steps: MechanicalStep | readonly MechanicalStep[], messages: readonly ApiMessage[]): Draft {
  const stepList = Array.isArray(steps) ? (steps as readonly MechanicalStep[]) : [steps as MechanicalStep];
  const runAll = (draft: Draft): Draft => {
    for (const step of stepList) step.run(draft);
    return draft;
  };
  const draft = runAll(new Draft(messages, counter));
  const { edits } = draft;
  expect(runAll(new Draft(messages, counter, edits)).edits).toEqual([]);
  expect(runAll(new Draft(draft.messages, counter)).edits).toEqual([]);
  expect(findCutsWithBrokenReferences(messages, draft.messages, draft.shown.flat())).toEqual([]);
  expect(draft.tokens).toBe(counter.countMessages(draft.messages));
  messages.forEach((message, at) => {
    expect(counter.countMessage(draft.messages[at] ?? message)).toBeLessThanOrEqual(counter.countMessage(message));
  });
  const originals = new Map(
    listCuts(edits).map(({ place, before }) => [before, getValueAt(messages[place.message], place.path) as string]),
  );
  for (const [hash, original] of originals) expect(hashText(original)).toBe(hash);
  const references = collectReferences(edits);
  for (const { place, cuts } of listCuts(edits)) {
    const originalText = getValueAt(messages[place.message], place.path) as string;
    for (const { reference, start, end } of cuts) {
      if (reference === undefined) continue;
      const referencedContent = references.get(reference);
      const expandedText = referencedContent && expandReference(referencedContent, (hash) => originals.get(hash));
      expect(expandedText).toBe(originalText.slice(start, end));
    }
  }
  const { messages: view } = applyEdits(messages, edits);
  expect(restoreMessagesBeforeEdits(view, edits, (hash) => originals.get(hash))).toEqual(messages);
  return draft;
}

/** Returns a text of the view, with markers shortened to their words. */
export const getShownText = (draft: Draft, message: number, ...path: (string | number)[]): string =>
  shortenMarkers(getValueAt(draft.messages[message], path) as string);

/** Returns the only result of a message, with markers shortened to their words. */
export const getShownResult = (draft: Draft, message: number): string =>
  getShownText(draft, message, 'content', 0, 'content');

/** Returns all results of a view, with markers shortened to their words. */
export const listShownResults = ({ messages }: Draft): string[] =>
  messages.flatMap((message) =>
    getBlocks(message).flatMap((block) =>
      block.type === 'tool_result' ? [shortenMarkers(block['content'] as string)] : [],
    ),
  );

const FILE_LINES = makeCodeLines('a', 1, 90);
const NOISE_LINES = [
  '',
  '}',
  '\u001b[1mbold\u001b[0m  ',
  'progress 1\rprogress 2',
  'same',
  'same',
  'same',
  'same',
  'same',
];

const sliceArbitrary = fc
  .record({ from: fc.nat(60), count: fc.integer({ min: 1, max: 50 }), changed: fc.nat(200) })
  .map(({ from, count, changed }) => ({
    from: from + 1,
    lines: FILE_LINES.map((line, at) => (at === changed ? `${line} // changed` : line)).slice(from, from + count),
  }));
const numberedLinesArbitrary = sliceArbitrary.map(({ from, lines }) => numberLines(lines, from));
const searchResultArbitrary = sliceArbitrary.map(({ from, lines }) =>
  lines
    .map((line, at) => `src/a.ts${at % 5 === 0 ? ':' : '-'}${from + at}${at % 5 === 0 ? ':' : '-'}${line}`)
    .join('\n'),
);
const outputArbitrary = fc
  .tuple(sliceArbitrary, fc.array(fc.constantFrom(...NOISE_LINES), { maxLength: 12 }))
  .map(([{ lines }, noise]) => [...noise, ...lines, ...noise].join('\n'));
const reminderArbitrary = fc
  .tuple(numberedLinesArbitrary, fc.boolean())
  .map(([text, has]) =>
    has ? `${text}\n\n<system-reminder>\n${FILE_LINES[0] ?? ''}\n${FILE_LINES[1] ?? ''}\n</system-reminder>` : text,
  );

const turnArbitrary: fc.Arbitrary<ApiMessage[]> = fc.oneof(
  reminderArbitrary.map((text) => makeExchange('Read', { file_path: 'src/a.ts' }, text)),
  searchResultArbitrary.map((text) => makeExchange('Grep', { pattern: 'a' }, text)),
  fc
    .tuple(outputArbitrary, fc.boolean())
    .map(([text, failed]) =>
      makeExchange('Bash', { command: `npm run test ${text.slice(0, 300)}` }, text, failed ? { is_error: true } : {}),
    ),
  fc
    .tuple(outputArbitrary, numberedLinesArbitrary, fc.constantFrom(0, 2))
    .map(([a, b, indent]) =>
      makeExchange('Bash', { command: 'gh api' }, JSON.stringify([{ a }, { b }, a], null, indent)),
    ),
  outputArbitrary.map((text) => makeCall('Write', { file_path: 'src/a.ts', content: text })),
  fc
    .tuple(outputArbitrary, outputArbitrary, numberedLinesArbitrary, fc.boolean())
    .map(([old_string, new_string, echo, failed]) =>
      makeCall('Edit', { file_path: 'src/a.ts', old_string, new_string }, echo, failed ? { is_error: true } : {}),
    ),
);
/** Histories whose texts repeat each other's lines in every form that agents print. */
export const repeatingHistoryArbitrary = fc
  .array(turnArbitrary, { maxLength: 14 })
  .map((turns) => [TASK_MESSAGE, ...turns.flat()]);
