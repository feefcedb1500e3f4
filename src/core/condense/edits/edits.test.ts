import { describe, expect, it } from 'vitest';
import { hashText, type Hash } from '../../hash';
import type { ContentPlace } from '../../messages/types';
import { assistant, call, makeToolExchange, user } from '../../testing';
import { applyEdits, restoreMessagesBeforeEdits } from './applyEdits';
import { selectLastEditPerPlace, renderCuts, type Cut, type CutEdit, type Edit, type EditId } from './edits';
import { expandReference, collectReferences } from './references';
import type { ReferenceId } from '../../messages/markers';

const edit = (id: string, place: ContentPlace, original: string, ...cuts: Cut[]): CutEdit => ({
  kind: 'cut',
  id: id as EditId,
  place,
  contentType: 'toolResults',
  operation: 'cut',
  before: hashText(original),
  cuts,
  step: 'step',
  reason: 'why',
  strict: false,
  tokensBefore: 2,
  tokensAfter: 1,
});

const messages = [user('task'), ...makeToolExchange('a', 'Read', { path: 'x' }, 'one two three')];
const place: ContentPlace = { message: 2, path: ['content', 0, 'content'] };
const first = edit('1', place, 'one two three', { start: 0, end: 3, text: '1' });
const second = edit('2', place, 'one two three', { start: 0, end: 3, text: '1' }, { start: 8, end: 13, text: '3' });
const parameter = edit('3', { message: 1, path: ['content', 0, 'input', 'path'] }, 'x', { start: 0, end: 1, text: '' });

describe('rendering a text with its cuts', () => {
  it('replaces each slice with its text', () => {
    expect(renderCuts('abcdef', [])).toBe('abcdef');
    expect(
      renderCuts('abcdef', [
        { start: 0, end: 1, text: 'A' },
        { start: 3, end: 6, text: '' },
      ]),
    ).toBe('Abc');
  });
});

describe('applying edits to a conversation', () => {
  it('shows the last edit of a place and keeps the identity of unchanged messages', () => {
    const { messages: view, stale } = applyEdits(messages, [first, parameter, second]);
    expect(view).toEqual([user('task'), ...makeToolExchange('a', 'Read', { path: '' }, '1 two 3')]);
    expect(view[0]).toBe(messages[0]);
    expect(stale).toEqual([]);
    expect(applyEdits(messages, [second, first]).messages[2]).toEqual(
      makeToolExchange('a', 'Read', {}, '1 two three')[1],
    );
    expect(selectLastEditPerPlace([first, parameter, second])).toEqual([second, parameter]);
  });

  it('returns the same message object as long as its edits are the same', () => {
    const shown = (...edits: Edit[]): unknown => applyEdits(messages, edits).messages[2];
    const before = shown(first);
    expect(shown(parameter, first)).toBe(before);
    expect(shown(second)).toEqual(makeToolExchange('a', 'Read', {}, '1 two 3')[1]);
    expect(shown({ ...first, cuts: [] })).toEqual(messages[2]);
    expect(shown(first)).toEqual(before);
    expect(shown()).toBe(messages[2]);
    // A stale edit is reported as stale each time.
    const stale = edit('x', place, 'one two four');
    for (let time = 0; time < 2; time++) expect(applyEdits(messages, [stale]).stale).toEqual([stale]);
  });

  it.each<[string, Edit]>([
    ['a message that is not there', edit('x', { ...place, message: 7 }, 'one two three')],
    ['a place that is not there', edit('x', { ...place, path: ['content', 0, 'input'] }, 'one two three')],
    ['another text', edit('x', place, 'one two four')],
  ])('reports an edit of %s as outdated', (_, stale) => {
    expect(applyEdits(messages, [stale, parameter]).stale).toEqual([stale]);
    expect(applyEdits(messages, [stale]).messages).toEqual(messages);
  });
});

describe('restoring the original of a condensed conversation', () => {
  const store = new Map(
    [hashText('one two three'), hashText('x')].map((hash, index) => [hash, ['one two three', 'x'][index]]),
  );
  const { messages: view } = applyEdits(messages, [first, second, parameter]);

  it('needs only the condensed conversation, the edits and the stored originals', () => {
    expect(restoreMessagesBeforeEdits(view, [first, second, parameter], (hash) => store.get(hash))).toEqual(messages);
  });

  it('names the message whose original is missing or damaged', () => {
    expect(() => restoreMessagesBeforeEdits(view, [first], () => undefined)).toThrow(
      /original of message 2 .* \(sha256 /,
    );
    expect(() => restoreMessagesBeforeEdits(view, [first], () => 'damaged')).toThrow('missing or damaged');
    expect(() => restoreMessagesBeforeEdits([], [first], (hash) => store.get(hash))).toThrow('missing or damaged');
  });
});

describe('references to originals', () => {
  const reference = hashText('two').slice(0, 6) as ReferenceId;
  const cut = edit('r', place, 'one two three', { start: 4, end: 7, text: '…', reference });

  it('are found in edits and expand to the original bytes', () => {
    const found = collectReferences([first, cut]);
    expect([...found.keys()]).toEqual([reference]);
    expect(found.get(reference)).toEqual({ reference, kind: 'cut', place, before: cut.before, start: 4, end: 7 });
    expect(expandReference(found.get(reference)!, () => 'one two three')).toBe('two');
  });

  it.each<[string, (hash: Hash) => string | undefined]>([
    ['missing', () => undefined],
    ['damaged', () => 'one tow three'],
  ])('throw an error if the original is %s', (_, originals) => {
    expect(() => expandReference(collectReferences([cut]).get(reference)!, originals)).toThrow(
      `ref ${reference} is missing`,
    );
  });
});

it('an edit can change an assistant’s text', () => {
  const conversation = [user('t'), assistant('said', call('a', 'x', {}))];
  const said = edit('s', { message: 1, path: ['content', 0, 'text'] }, 'said', { start: 1, end: 4, text: '…' });
  expect(applyEdits(conversation, [said]).messages[1]).toEqual(assistant('s…', call('a', 'x', {})));
});
