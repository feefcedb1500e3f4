import { describe, expect, it } from 'vitest';
import type { ReferenceId } from '../../messages/markers';
import type { ApiMessage } from '../../messages/types';
import { assistant, makeTestMarker, user } from '../../testing';
import { applyEdits } from '../edits/applyEdits';
import type { Edit } from '../edits/edits';
import { createUneditedView } from '../edits/view';
import { createBlockEdit, createCutEdit, createSummaryEdit } from '../report/testing';
import { NeededLineChecker } from './kept';

const LINES = ['const alphaBeta = 1;', 'const gammaDelta = 2;', 'const etaTheta = 3;'] as const;
const TEXT = LINES.join('\n');
const PREFIX: readonly ApiMessage[] = [user(TEXT), assistant('done')];

/** Returns the outcome for each line of the first message's text. */
function checkLines(edits: readonly Edit[], prefix = PREFIX, path: (string | number)[] = ['content']) {
  const parts = new NeededLineChecker(applyEdits(prefix, edits));
  const lines = LINES.map((line) => {
    const start = TEXT.indexOf(line);
    const shown = [{ message: 0, path, start, end: start + line.length }];
    return parts.checkLine({ file: 'a.ts', line, shown });
  });
  return { lines, parts };
}

const start = TEXT.indexOf(LINES[1]);
const cut = { start, end: start + LINES[1].length };
const reference = 'abcdef' as ReferenceId;

describe('a line of a conversation, classified after a condensation,', () => {
  it.each<[string, readonly Edit[], string]>([
    ['stays verbatim if nothing was changed', [], 'verbatim'],
    ['is lost if it was cut for good', [createCutEdit(PREFIX, 0, ['content'], [{ ...cut, text: '' }])], 'lost'],
    [
      'can be recalled if a marker names it',
      [createCutEdit(PREFIX, 0, ['content'], [{ ...cut, text: makeTestMarker('1 line'), reference }])],
      'recallable',
    ],
    [
      'is lost if no marker names it any more',
      [createCutEdit(PREFIX, 0, ['content'], [{ ...cut, text: '', reference }])],
      'lost',
    ],
  ])('%s', (_, edits, kept) => {
    // The lines before and after the cut stay.
    expect(checkLines(edits).lines).toEqual(['verbatim', kept, 'verbatim']);
  });

  it.each([
    ['can be recalled if the summary names it', makeTestMarker('2 messages'), 'recallable'],
    ['is lost in a summary that names nothing', 'They spoke.', 'lost'],
  ])('%s', (_, words, kept) => {
    const edits = [createSummaryEdit(PREFIX, 0, 2, user(words))];
    expect(checkLines(edits).lines).toEqual([kept, kept, kept]);
  });

  it('counts as kept even if a block before it was removed', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 's' };
    const prefix = [assistant(thought, TEXT), user('go')];
    const { lines } = checkLines([createBlockEdit(prefix, 0, ['content', 0])], prefix, ['content', 1, 'text']);
    expect(lines).toEqual(['verbatim', 'verbatim', 'verbatim']);
  });

  it('is searched for in the condensed conversation if no edit explains a change', () => {
    const messages = [user(`${LINES[0]}\n${LINES[2]}`), assistant('done')];
    const parts = new NeededLineChecker({ ...createUneditedView(PREFIX), messages });
    const shown = [{ message: 0, path: ['content'], start: 0, end: 1 }];
    expect(LINES.map((line) => parts.checkLine({ file: 'a.ts', line, shown }))).toEqual([
      'verbatim',
      'lost',
      'verbatim',
    ]);
  });

  it('counts as lost if the messages before the condensation never showed it', () => {
    const { parts } = checkLines([]);
    const elsewhere = [{ message: 7, path: ['content'], start: 0, end: 1 }];
    expect(parts.checkLine({ file: 'a.ts', line: LINES[0], shown: elsewhere })).toBe('lost');
    expect(parts.checkLine({ file: 'a.ts', line: LINES[0], shown: [] })).toBe('lost');
  });
});
