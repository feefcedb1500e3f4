import { expect } from 'vitest';
import { hashText } from '../../hash';
import { blocksOf } from '../../messages/blocks';
import { valueAt } from '../../messages/path';
import type { ApiMessage } from '../../messages/types';
import { assistant, call, cutsOf, exchange, result, user, brief } from '../../testing';
import { freshCounter } from '../../testingCounter';
import { Draft } from '../draft/draft';
import { applyEdits, restoreOriginal } from '../edits/applyEdits';
import { Pace } from '../../pace';
import { expandReference, referencesOf } from '../edits/references';
import type { DraftStep } from '../report/steps';
import { brokenCuts } from './integrity';

export const counter = freshCounter();

export const TASK = user('task');

let ids = 0;

/** A call with its result, as two messages. */
export const did = (name: string, input: unknown, content: string, fields = {}): ApiMessage[] =>
  exchange(`id${ids++}`, name, input, content, fields);

/** A call of which only the parameters matter. */
export const called = (name: string, input: unknown, content = 'done', fields = {}): ApiMessage[] => {
  const id = `id${ids++}`;
  return [assistant(call(id, name, input)), user(result(id, content, fields))];
};

/** Lines that no two texts of different names share. */
export const code = (name: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `  const ${name}${from + at} = compute(request, ${from + at});`);

/** Lines as Claude Code's Read gives them. */
export const read = (lines: readonly string[], from = 1): string =>
  lines.map((line, at) => `${String(from + at).padStart(6)}→${line}`).join('\n');

/**
 * Runs steps and checks what holds for all of them: the second run does nothing, the view on its own is left alone, no cut
 * promises what isn't there, no message grows, every marker leads back, and the original comes back.
 */
export async function run(steps: DraftStep | readonly DraftStep[], messages: readonly ApiMessage[]): Promise<Draft> {
  const list = Array.isArray(steps) ? (steps as readonly DraftStep[]) : [steps as DraftStep];
  const runAll = async (draft: Draft): Promise<Draft> => {
    for (const step of list) await step.run(draft, new Pace());
    return draft;
  };
  const draft = await runAll(new Draft(messages, counter));
  const { edits } = draft;
  expect((await runAll(new Draft(messages, counter, edits))).edits).toEqual([]);
  expect((await runAll(new Draft(draft.messages, counter))).edits).toEqual([]);
  expect(await brokenCuts(messages, draft.messages, draft.shown.flat())).toEqual([]);
  expect(draft.tokens).toBe(counter.messages(draft.messages));
  messages.forEach((message, at) => {
    expect(counter.message(draft.messages[at] ?? message)).toBeLessThanOrEqual(counter.message(message));
  });
  const originals = new Map(
    cutsOf(edits).map(({ place, before }) => [before, valueAt(messages[place.message], place.path) as string]),
  );
  for (const [hash, original] of originals) expect(hashText(original)).toBe(hash);
  const references = referencesOf(edits);
  for (const { place, cuts } of cutsOf(edits)) {
    const original = valueAt(messages[place.message], place.path) as string;
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

/** A text of the view, markers shortened to their words. */
export const shown = (draft: Draft, message: number, ...path: (string | number)[]): string =>
  brief(valueAt(draft.messages[message], path) as string);

/** The only result of a message, markers shortened. */
export const resultAt = (draft: Draft, message: number): string => shown(draft, message, 'content', 0, 'content');

/** All results of a view, markers shortened. */
export const results = ({ messages }: Draft): string[] =>
  messages.flatMap((message) =>
    blocksOf(message).flatMap((block) => (block.type === 'tool_result' ? [brief(block['content'] as string)] : [])),
  );
