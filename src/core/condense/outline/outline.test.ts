import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyHistory } from '../../../../test/generators/arbitraries';
import { findNewViolations } from '../../messages/firewall';
import type { ApiMessage } from '../../messages/types';
import { assistant, listCuts, makeToolExchange, user, shortenMarkers } from '../../testing';
import { createCounter } from '../../testingCounter';
import { Draft } from '../draft/draft';
import { applyEdits } from '../edits/applyEdits';
import { expandMarkers, MARKER_START } from '../../messages/markers';
import { markLinesToKeep } from './fileLines';
import { createOutlineStep, type OutlineOptions } from './outline';

const counter = createCounter();

const OPTIONS: OutlineOptions = {
  coldTurns: 3,
  keepDeclarations: true,
  contextLines: 1,
  minimumTokens: 20,
  mayTouch: () => true,
};

function outline(messages: readonly ApiMessage[], options: Partial<OutlineOptions> = {}): Draft {
  const draft = new Draft(messages, counter);
  createOutlineStep('Outline', { ...OPTIONS, ...options }).run(draft);
  return draft;
}

const body = (name: string): string =>
  [`func ${name}() {`, ...Array.from({ length: 12 }, (_, at) => `\t${name}Call${at}("argument of ${name}")`), '}'].join(
    '\n',
  );

const SETUP = ['package cli', '', body('setup'), body('teardown'), body('migrate')].join('\n');

let ids = 0;
const read = (path: string, content: string): ApiMessage[] =>
  makeToolExchange(`id${ids++}`, 'Read', { file_path: path }, content);
const edit = (path: string, before: string, after: string): ApiMessage[] =>
  makeToolExchange(`id${ids++}`, 'Edit', { file_path: path, old_string: before, new_string: after }, 'done');
const idle = (turns: number): ApiMessage[] =>
  Array.from({ length: turns }, () => [assistant('I look on.'), user('Go on.')]).flat();

const resultOf = (draft: Draft, message: number): string => draft.getText({ message, path: ['content', 0, 'content'] });

describe('the outline that replaces an old read of a file', () => {
  it('keeps declarations and quoted lines, with a line on either side', () => {
    const quoted = '\tteardownCall5("argument of teardown")';
    const draft = outline([
      user('Mend the setup.'),
      ...read('/p/setup.go', SETUP),
      ...edit('/p/setup.go', quoted, '\tother()'),
      ...idle(4),
    ]);
    expect(shortenMarkers(resultOf(draft, 2)).split('\n')).toEqual([
      'package cli',
      '',
      'func setup() {',
      '[13 lines]',
      'func teardown() {',
      '[4 lines]',
      '\tteardownCall4("argument of teardown")',
      quoted,
      '\tteardownCall6("argument of teardown")',
      '[6 lines]',
      'func migrate() {',
      '[13 lines]',
    ]);
  });

  it('states line numbers in its markers', () => {
    const numbered = SETUP.split('\n')
      .map((line, at) => `${at + 1}→${line}`)
      .join('\n');
    const draft = outline([user('Task.'), ...read('/p/a.go', numbered), ...idle(4)]);
    expect(shortenMarkers(resultOf(draft, 2))).toContain('3→func setup() {\n[lines 4-16]\n17→func teardown() {');
  });

  it('skips files read or edited recently, and protected content', () => {
    const task = user('Task.');
    const unchanged = (messages: readonly ApiMessage[], options: Partial<OutlineOptions> = {}): void => {
      expect(outline(messages, options).edits).toEqual([]);
    };
    unchanged([task, ...read('/p/a.go', SETUP), ...idle(2)]);
    unchanged([task, ...read('/p/a.go', SETUP), ...idle(5), ...edit('/p/a.go', 'package cli', 'package x')]);
    unchanged([task, ...read('/p/a.go', SETUP), ...idle(5)], { mayTouch: () => false });
    unchanged([task, ...read('/p/a.go', SETUP), ...idle(5)], { minimumTokens: 100_000 });
    const failed = makeToolExchange('x', 'Read', { file_path: '/p/a.go' }, SETUP, { is_error: true });
    unchanged([task, ...failed, ...idle(5)]);
  });

  it('starts with the oldest read and stops at the target', () => {
    const messages = [
      user('Task.'),
      ...read('/p/old.go', SETUP),
      ...read('/p/new.go', SETUP.replace(/setup|teardown|migrate/g, 'other')),
      ...idle(4),
    ];
    const draft = outline(messages, { targetTokens: counter.countMessages(messages) - 150 });
    expect(resultOf(draft, 2)).toContain(MARKER_START);
    expect(resultOf(draft, 4)).not.toContain(MARKER_START);
  });

  it('keeps a tool’s words after the file', () => {
    const reminder = '<system-reminder>\nThink of a, b, c.\nAnd of d.\nAnd of e.\nAnd of f.\n</system-reminder>';
    const draft = outline([user('Task.'), ...read('/p/a.go', `${SETUP}\n\n${reminder}`), ...idle(4)]);
    expect(resultOf(draft, 2)).toContain(reminder);
  });

  it('is valid, restorable and deterministic for any conversation', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyHistory,
        fc.record({
          coldTurns: fc.nat(4),
          keepDeclarations: fc.boolean(),
          contextLines: fc.nat(2),
          minimumTokens: fc.constantFrom(0, 30),
        }),
        fc.option(fc.double({ min: 0.3, max: 1, noNaN: true }), { nil: undefined }),
        (messages, options, share) => {
          const targetTokens = share === undefined ? undefined : Math.round(share * counter.countMessages(messages));
          const draft = outline(messages, { ...options, targetTokens });
          expect(outline(messages, { ...options, targetTokens }).edits).toEqual(draft.edits);
          const { messages: view, origins } = applyEdits(messages, draft.edits);
          expect(findNewViolations(messages, view, { origins })).toEqual([]);
          expect(counter.countMessages(view)).toBe(draft.tokens);
          for (const { place, cuts } of listCuts(draft.edits)) {
            const original = new Draft(messages, counter).getText(place);
            const slices = new Map(cuts.map((cut) => [cut.reference, original.slice(cut.start, cut.end)]));
            expect(expandMarkers(draft.getText(place), (reference) => slices.get(reference))).toBe(original);
          }
          const again = new Draft(messages, counter, draft.edits);
          createOutlineStep('Outline', { ...OPTIONS, ...options, targetTokens }).run(again);
          expect(again.edits).toEqual([]);
        },
      ),
    );
  });

  it('takes linear time', () => {
    const hostile = [
      '{'.repeat(500_000),
      '(\n'.repeat(100_000),
      `${'a('.repeat(100)}\n`.repeat(2_000),
      `${' '.repeat(400)}x(\n`.repeat(1_000),
      Array.from({ length: 50_000 }, (_, at) => `${' '.repeat(at % 80)}class x {`).join('\n'),
    ];
    // A quadratic search would take minutes and exceed the test's time limit.
    for (const text of hostile) {
      const content = { type: 'toolResults', path: [], start: 0, end: text.length, text, message: 1 } as const;
      const { lines, isKept } = markLinesToKeep(content, 'a.ts', () => false, OPTIONS);
      expect(isKept).toHaveLength(lines.length);
    }
  });
});
