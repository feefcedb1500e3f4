import { expect } from 'vitest';
import { hashText } from '../../hash';
import { getBlocks } from '../../messages/blocks';
import { getValueAt } from '../../messages/path';
import type { ApiMessage } from '../../messages/types';
import { assistant, brief, call, listCuts, exchange, result, user } from '../../testing';
import { freshCounter } from '../../testingCounter';
import { Draft } from '../draft/draft';
import { applyEdits, restoreOriginal } from '../edits/applyEdits';
import { expandReference, referencesOf } from '../edits/references';
import type { MechanicalStep } from '../draft/steps';
import { brokenCuts } from './integrity';
import fc from 'fast-check';

export const counter = freshCounter();

export const TASK = user('task');

let ids = 0;

/** A call with its result, as two messages. */
export const did = (name: string, input: unknown, content: string, fields = {}): ApiMessage[] =>
  exchange(`id${ids++}`, name, input, content, fields);

/** A call whose result does not matter. */
export const called = (name: string, input: unknown, content = 'done', fields = {}): ApiMessage[] => {
  const id = `id${ids++}`;
  return [assistant(call(id, name, input)), user(result(id, content, fields))];
};

/** Lines that are unique to a name. */
export const code = (name: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `  const ${name}${from + at} = compute(request, ${from + at});`);

/** Lines as Claude Code's Read returns them. */
export const read = (lines: readonly string[], from = 1): string =>
  lines.map((line, at) => `${String(from + at).padStart(6)}→${line}`).join('\n');

/**
 * Runs steps and checks their invariants: a second run changes nothing, the view is valid and has
 * nothing left to condense, no cut relies on missing text, no message grows, every marker can be
 * expanded, and the original can be restored.
 */
export function run(steps: MechanicalStep | readonly MechanicalStep[], messages: readonly ApiMessage[]): Draft {
  const list = Array.isArray(steps) ? (steps as readonly MechanicalStep[]) : [steps as MechanicalStep];
  const runAll = (draft: Draft): Draft => {
    for (const step of list) step.run(draft);
    return draft;
  };
  const draft = runAll(new Draft(messages, counter));
  const { edits } = draft;
  expect(runAll(new Draft(messages, counter, edits)).edits).toEqual([]);
  expect(runAll(new Draft(draft.messages, counter)).edits).toEqual([]);
  expect(brokenCuts(messages, draft.messages, draft.shown.flat())).toEqual([]);
  expect(draft.tokens).toBe(counter.messages(draft.messages));
  messages.forEach((message, at) => {
    expect(counter.message(draft.messages[at] ?? message)).toBeLessThanOrEqual(counter.message(message));
  });
  const originals = new Map(
    listCuts(edits).map(({ place, before }) => [before, getValueAt(messages[place.message], place.path) as string]),
  );
  for (const [hash, original] of originals) expect(hashText(original)).toBe(hash);
  const references = referencesOf(edits);
  for (const { place, cuts } of listCuts(edits)) {
    const original = getValueAt(messages[place.message], place.path) as string;
    for (const { reference, start, end } of cuts) {
      if (reference === undefined) continue;
      const content = references.get(reference);
      const expanded = content && expandReference(content, (hash) => originals.get(hash));
      expect(expanded).toBe(original.slice(start, end));
    }
  }
  const { messages: view } = applyEdits(messages, edits);
  expect(restoreOriginal(view, edits, (hash) => originals.get(hash))).toEqual(messages);
  return draft;
}

/** A text of the view, with markers reduced to their words. */
export const shown = (draft: Draft, message: number, ...path: (string | number)[]): string =>
  brief(getValueAt(draft.messages[message], path) as string);

/** The only result of a message, with markers reduced to their words. */
export const resultAt = (draft: Draft, message: number): string => shown(draft, message, 'content', 0, 'content');

/** All results of a view, with markers reduced to their words. */
export const results = ({ messages }: Draft): string[] =>
  messages.flatMap((message) =>
    getBlocks(message).flatMap((block) => (block.type === 'tool_result' ? [brief(block['content'] as string)] : [])),
  );

const FILE = code('a', 1, 90);
const NOISE = ['', '}', '\u001b[1mbold\u001b[0m  ', 'progress 1\rprogress 2', 'same', 'same', 'same', 'same', 'same'];

const slice = fc
  .record({ from: fc.nat(60), count: fc.integer({ min: 1, max: 50 }), changed: fc.nat(200) })
  .map(({ from, count, changed }) => ({
    from: from + 1,
    lines: FILE.map((line, at) => (at === changed ? `${line} // changed` : line)).slice(from, from + count),
  }));
const numbered = slice.map(({ from, lines }) => read(lines, from));
const found = slice.map(({ from, lines }) =>
  lines
    .map((line, at) => `src/a.ts${at % 5 === 0 ? ':' : '-'}${from + at}${at % 5 === 0 ? ':' : '-'}${line}`)
    .join('\n'),
);
const plain = fc
  .tuple(slice, fc.array(fc.constantFrom(...NOISE), { maxLength: 12 }))
  .map(([{ lines }, noise]) => [...noise, ...lines, ...noise].join('\n'));
const reminded = fc
  .tuple(numbered, fc.boolean())
  .map(([text, has]) =>
    has ? `${text}\n\n<system-reminder>\n${FILE[0] ?? ''}\n${FILE[1] ?? ''}\n</system-reminder>` : text,
  );

const turn: fc.Arbitrary<ApiMessage[]> = fc.oneof(
  reminded.map((text) => did('Read', { file_path: 'src/a.ts' }, text)),
  found.map((text) => did('Grep', { pattern: 'a' }, text)),
  fc
    .tuple(plain, fc.boolean())
    .map(([text, failed]) =>
      did('Bash', { command: `npm run test ${text.slice(0, 300)}` }, text, failed ? { is_error: true } : {}),
    ),
  fc
    .tuple(plain, numbered, fc.constantFrom(0, 2))
    .map(([a, b, indent]) => did('Bash', { command: 'gh api' }, JSON.stringify([{ a }, { b }, a], null, indent))),
  plain.map((text) => called('Write', { file_path: 'src/a.ts', content: text })),
  fc
    .tuple(plain, plain, numbered, fc.boolean())
    .map(([old_string, new_string, echo, failed]) =>
      called('Edit', { file_path: 'src/a.ts', old_string, new_string }, echo, failed ? { is_error: true } : {}),
    ),
);
/** Histories whose texts repeat each other's lines in every form that agents print. */
export const repeatingHistory = fc.array(turn, { maxLength: 14 }).map((turns) => [TASK, ...turns.flat()]);
