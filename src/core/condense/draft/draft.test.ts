import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashText, type Hash } from '../../hash';
import type { ApiMessage, Block, ContentPlace } from '../../messages/types';
import { assistant, call, measureCpuMs, listCuts, makeLines, result, text, user, shortenMarkers } from '../../testing';
import { createCounter } from '../../testingCounter';
import type { CutDetails, CutRequest } from './cuts';
import { Draft } from './draft';
import { applyEdits } from '../edits/applyEdits';
import { renderCuts, type Cut } from '../edits/edits';
import { expandReference, collectReferences } from '../edits/references';
import { findMarkers, makeMarker, MARKER_RULE, type ReferenceId, MARKER_START } from '../../messages/markers';

const INFO: CutDetails = { contentType: 'toolResults', operation: 'cut', reason: 'test', strict: false };
const counter = createCounter();

/** Creates a conversation with one result, whose text is at {@link PLACE}. */
const conversation = (value: string): ApiMessage[] => [
  user('task'),
  assistant(call('a', 'Read', {})),
  user(result('a', value)),
];
const PLACE: ContentPlace = { message: 2, path: ['content', 0, 'content'] };
const createDraft = (value: string): Draft => new Draft(conversation(value), counter);

const slice = (start: number, end: number, what: string | null = 'x'): CutRequest => ({ start, end, marker: what });
const cut = (draft: Draft, ...requests: CutRequest[]): number => draft.cutText('step', PLACE, requests, INFO);
/** Returns the view's text with markers shortened to their words. */
const getShownText = (draft: Draft): string => shortenMarkers(draft.getText(PLACE));

/** A text that is long enough to be worth cutting alone. */
const LONG = 'word '.repeat(60);
const block = (name: string): string => `<${name} ${LONG}>`;
const original = [block('a'), block('b'), block('c'), block('d')].join('');
const SIZE = block('a').length;
const at = (index: number): number => index * SIZE;

it('a draft lists the tool calls of its current text, even after changes that leave the token count equal', () => {
  const both = [...conversation(original), assistant(call('b', 'Read', {})), user(result('b', original))];
  const draft = new Draft(both, counter);
  const last: ContentPlace = { ...PLACE, message: 4 };
  const texts = (): readonly string[] => draft.exchanges.map(({ resultText }) => resultText);
  const request = slice(at(0), at(3), null);
  draft.cutText('step', PLACE, [request], INFO);
  const { tokens } = draft;
  expect(texts()).toEqual([draft.getText(PLACE), draft.getText(last)]);
  draft.restoreCuts('back', PLACE, new Set(draft.shown[PLACE.message]?.[0]?.cuts), { ...INFO, operation: 'restore' });
  draft.cutText('step', last, [request], INFO);
  expect(draft.tokens).toBe(tokens);
  expect(texts()).toEqual([draft.getText(PLACE), draft.getText(last)]);
});

describe('a cut whose text was put back', () => {
  const BACK: CutDetails = { ...INFO, operation: 'restore' };
  const all = (draft: Draft): ReadonlySet<Cut> => new Set(draft.shown[PLACE.message]?.[0]?.cuts);

  it('leaves no edit if its place shows its original text again, even in a copy of the draft', () => {
    const draft = createDraft(original);
    cut(draft, slice(at(0), at(1)));
    const copy = draft.copyDraft();
    for (const each of [draft, copy]) {
      expect(each.edits).toHaveLength(1);
      each.restoreCuts('back', PLACE, all(each), BACK);
      expect(each.edits).toEqual([]);
      expect(each.restoredTokens).toBe(counter.countText(original));
      cut(each, slice(at(1), at(2)));
      expect(each.edits.map(({ operation }) => operation)).toEqual(['restore', 'cut']);
    }
  });

  it("leaves an edit that undoes an earlier condensation's cut, unless the place is cut again", () => {
    const first = createDraft(original);
    cut(first, slice(at(0), at(1)));
    const draft = new Draft(first.original, counter, first.edits);
    draft.restoreCuts('back', PLACE, all(draft), BACK);
    expect(draft.edits).toMatchObject([{ step: 'back', cuts: [] }]);
    expect(applyEdits(draft.original, [...first.edits, ...draft.edits]).messages).toEqual(draft.original);
    cut(draft, slice(at(0), at(1)));
    expect(draft.edits).toEqual([]);
    expect(draft.messages).toEqual(first.messages);
  });
});

describe('cutting text in a draft', () => {
  it('replaces slices with markers and records an edit', () => {
    const draft = createDraft(original);
    const before = draft.tokens;
    const saved = cut(draft, slice(at(2), at(3), 'third'), slice(at(0), at(1), 'first'));
    expect(getShownText(draft)).toBe(`[first]${block('b')}[third]${block('d')}`);
    expect(draft.tokens).toBe(before - saved);
    expect(draft.tokens).toBe(counter.countMessages(draft.messages));
    const [edit] = draft.edits;
    expect(edit).toMatchObject({
      place: PLACE,
      step: 'step',
      reason: 'test',
      strict: false,
      before: hashText(original),
    });
    expect(edit!.tokensBefore - edit!.tokensAfter).toBe(saved);
    expect(applyEdits(draft.original, draft.edits)).toMatchObject({ messages: draft.messages, stale: [] });
  });

  it('creates references that expand to the original bytes', () => {
    const draft = createDraft(original);
    cut(draft, slice(at(0), at(1)), slice(at(2), at(3)));
    const references = collectReferences(draft.edits);
    const originals = (hash: Hash): string | undefined => (hash === hashText(original) ? original : undefined);
    const expanded = findMarkers(draft.getText(PLACE)).map(({ reference }) =>
      expandReference(references.get(reference)!, originals),
    );
    expect(expanded).toEqual([block('a'), block('c')]);
  });

  it('rejects slices of text that overlap an earlier one, are empty, or are out of range', () => {
    const draft = createDraft(original);
    cut(
      draft,
      slice(at(1), at(2), 'b'),
      slice(at(1) + 5, at(3), 'overlaps'),
      slice(at(3), at(3)),
      slice(at(3), at(4) + 1),
    );
    expect(getShownText(draft)).toBe(`${block('a')}[b]${block('c')}${block('d')}`);
    expect(cut(draft, slice(-5, at(1)))).toBe(0);
  });

  it('can cut slices of text without a marker, including those at the boundaries', () => {
    const draft = createDraft(original);
    cut(draft, slice(0, at(1), null));
    cut(draft, slice(at(2), at(3), null));
    expect(draft.getText(PLACE)).toBe(block('b') + block('c'));
    cut(draft, slice(0, at(1), 'second'));
    expect(getShownText(draft)).toBe(`[second]${block('c')}`);
    expect(listCuts(draft.edits)[0]?.cuts.map(({ start, end }) => [start, end])).toEqual([
      [0, at(1)],
      [at(1), at(2)],
      [at(3), at(4)],
    ]);
  });

  it('replaces markers that a later cut touches', () => {
    const draft = createDraft(original);
    cut(draft, slice(at(0), at(1), 'a'));
    cut(draft, slice(draft.getText(PLACE).indexOf('<c'), draft.getText(PLACE).indexOf('<d'), 'c'));
    const text = draft.getText(PLACE);
    // The slice goes from the middle of the first marker to the middle of the second.
    cut(draft, slice(10, text.lastIndexOf(MARKER_START) + 10, 'all'));
    expect(getShownText(draft)).toBe(`[all]${block('d')}`);
    expect(listCuts(draft.edits).at(-1)?.cuts).toMatchObject([{ start: 0, end: at(3) }]);
  });

  it('adds a marker that two slices of text both touch to the first slice', () => {
    const draft = createDraft(original);
    cut(draft, slice(at(1), at(2), 'b'));
    const middle = draft.getText(PLACE).indexOf(MARKER_START) + 2;
    cut(draft, slice(10, middle, 'before'), slice(middle, draft.getText(PLACE).indexOf('<d'), 'after'));
    const [edit] = listCuts(draft.edits);
    expect(edit?.cuts.map(({ start, end }) => [start, end])).toEqual([[10, at(2)]]);
    expect(applyEdits(draft.original, draft.edits).messages).toEqual(draft.messages);
  });

  it('rejects a cut that saves almost nothing, without changing the draft', () => {
    const draft = createDraft('a short text of a few words only');
    const before = draft.messages[2];
    expect(cut(draft, slice(0, 32))).toBe(0);
    expect(draft.messages[2]).toBe(before);
    expect(draft.edits).toEqual([]);
  });

  it('rejects a cut that saves too little to justify a marker', () => {
    const draft = createDraft(original);
    const few = 'word '.repeat(12).length;
    expect(cut(draft, slice(3, 3 + few, null))).toBe(0);
    expect(cut(draft, slice(3, 3 + 3 * few, null))).toBeGreaterThan(0);
  });

  it('keeps a slice of text that is cheaper than its marker while it cuts others', () => {
    const draft = createDraft(original);
    cut(draft, slice(at(0), at(0) + 2, 'two'), slice(at(1), at(2), 'second'));
    expect(getShownText(draft)).toBe(`${block('a')}[second]${block('c')}${block('d')}`);
  });

  it('never makes a cut that removes nothing but a marker', () => {
    const draft = createDraft(original);
    cut(draft, slice(at(0), at(2), 'a long description of what stood here, '.repeat(3)));
    const [found] = findMarkers(draft.getText(PLACE));
    expect(cut(draft, slice(found!.start, found!.end, null))).toBe(0);
  });

  it('gives equal changes different IDs at different places, and the same ID in every run', () => {
    const messages = [
      user('task'),
      assistant(call('a', 'Read', {})),
      user(result('a', original), result('b', original)),
    ];
    const ids = (index: number): string[] => {
      const draft = new Draft(messages, counter);
      draft.cutText('step', { message: 2, path: ['content', index, 'content'] }, [slice(at(0), at(1))], INFO);
      return draft.edits.map(({ id }) => id);
    };
    expect(ids(0)).toEqual(ids(0));
    expect(ids(0)).not.toEqual(ids(1));
  });

  it('never leaves a blank text', () => {
    expect(cut(createDraft(LONG), slice(0, LONG.length, null))).toBe(0);
    const draft = new Draft([user('t'), user(LONG), assistant(text(LONG), call('a', 'x', { p: LONG }))], counter);
    expect(draft.cutText('s', { message: 1, path: ['content'] }, [slice(0, LONG.length, null)], INFO)).toBe(0);
    expect(draft.cutText('s', { message: 2, path: ['content', 0, 'text'] }, [slice(0, LONG.length, null)], INFO)).toBe(
      0,
    );
    // A parameter, however, may be empty.
    expect(
      draft.cutText('s', { message: 2, path: ['content', 1, 'input', 'p'] }, [slice(0, LONG.length, null)], INFO),
    ).toBeGreaterThan(0);
  });

  it('rejects places in a message that have no text', () => {
    const draft = createDraft(original);
    expect(() => draft.cutText('s', { message: 9, path: ['content'] }, [slice(0, 1)], INFO)).toThrow('no text at 9/');
    expect(() => draft.getText({ message: 1, path: ['role', 'x'] })).toThrow('no text at 1/');
  });

  it('treats text of the original that looks like a marker as ordinary text', () => {
    const quoted = makeMarker('what an agent wrote about us', 'abcdef' as ReferenceId);
    const draft = createDraft(`${quoted} ${LONG} ${quoted}`);
    cut(draft, slice(quoted.length, quoted.length + LONG.length));
    expect(findMarkers(draft.getText(PLACE))).toHaveLength(3);
    expect(cut(draft, slice(0, quoted.length))).toBe(0);
  });
});

describe('the explanation of markers in a condensed conversation', () => {
  const count = (draft: Draft): number => JSON.stringify(draft.messages).split(MARKER_RULE).length - 1;

  it('is given once per conversation', () => {
    const draft = createDraft(original);
    cut(draft, slice(at(0), at(1)), slice(at(2), at(3)));
    cut(draft, slice(draft.getText(PLACE).indexOf('<d'), draft.getText(PLACE).length));
    expect(findMarkers(draft.getText(PLACE))).toHaveLength(3);
    expect(count(draft)).toBe(1);
  });

  it('is given again after the marker that contained it was replaced, rolled back, restored or excluded', () => {
    const draft = createDraft(original);
    const start = draft.saveState();
    cut(draft, slice(at(0), at(1)));
    cut(draft, slice(0, draft.getText(PLACE).indexOf('<c')));
    expect(count(draft)).toBe(1);
    cut(draft, slice(0, draft.getText(PLACE).indexOf('<d'), null));
    expect(count(draft)).toBe(0);
    cut(draft, slice(0, 200, 'again'));
    expect(count(draft)).toBe(1);
    draft.restoreState(start);
    cut(draft, slice(at(0), at(1)), slice(at(2), at(3)));
    expect(count(draft)).toBe(1);
    const [first] = listCuts(draft.edits).flatMap(({ cuts }) => cuts);
    draft.restoreCuts('back', PLACE, new Set([first!]), INFO);
    expect(count(draft)).toBe(0);
    cut(draft, slice(at(0), at(1)));
    expect(count(draft)).toBe(1);
    draft.restoreState(start);
    cut(draft, slice(at(0), at(1)), slice(at(2), at(3)));
    // The user excluded the cut whose marker contained the explanation of markers.
    const edits = listCuts(draft.edits);
    const silent = edits.map((edit) => ({ ...edit, cuts: edit.cuts.slice(1) }));
    const next = new Draft(draft.original, counter, silent);
    expect(count(next)).toBe(0);
    cut(next, slice(at(0), at(1)));
    expect(count(next)).toBe(1);
  });
});

describe('a draft on top of earlier edits', () => {
  it('starts with the conversation as those edits left it and keeps their references', () => {
    const first = createDraft(original);
    cut(first, slice(at(0), at(1), 'a'));
    const second = new Draft(first.original, counter, first.edits);
    expect(second.messages).toEqual(first.messages);
    expect(second.tokens).toBe(first.tokens);
    expect(second.edits).toEqual([]);
    cut(second, slice(second.getText(PLACE).indexOf('<c'), second.getText(PLACE).indexOf('<d'), 'c'));
    expect(getShownText(second)).toBe(`[a]${block('b')}[c]${block('d')}`);
    expect(listCuts(second.edits)[0]?.cuts[0]).toEqual(listCuts(first.edits)[0]?.cuts[0]);
  });

  it('reuses the messages of a cached draft only if all its edits are given', () => {
    const two = [user('task'), user('', result('x', original), result('y', original))];
    const places = [1, 2].map((block) => ({ message: 1, path: ['content', block, 'content'] }));
    const first = new Draft(two, counter);
    for (const place of places) first.cutText('step', place, [slice(at(0), at(1), 'a')], INFO);
    first.rememberDraftWithEdits();
    expect(new Draft(two, counter, first.edits).messages[1]).toBe(first.messages[1]);
    expect(new Draft([...two, user('more')], counter, first.edits).messages[1]).toBe(first.messages[1]);
    const reversed = first.edits.toReversed();
    expect(new Draft(two, counter, reversed).messages).toEqual(applyEdits(two, reversed).messages);
    const without = first.edits.slice(1);
    expect(new Draft(two, counter, without).messages).toEqual(applyEdits(two, without).messages);
    const copy = new Draft(two, counter, without).copyDraft();
    copy.cutText('step', places[0]!, [slice(at(1), at(2), 'b')], INFO);
    copy.rememberDraftWithEdits();
    for (const edits of [copy.edits, [...without, ...copy.edits]]) {
      expect(new Draft(two, counter, edits).messages).toEqual(applyEdits(two, edits).messages);
    }
  });

  it('rejects edits of another conversation', () => {
    const first = createDraft(original);
    cut(first, slice(at(0), at(1)));
    expect(() => new Draft(conversation(`${original}!`), counter, first.edits)).toThrow(
      'belongs to another conversation',
    );
  });

  it('marks an edit as strict only if all cuts of its place so far are strict', () => {
    const draft = createDraft(original);
    draft.cutText('one', PLACE, [slice(at(3), at(4))], { ...INFO, strict: true });
    expect(draft.edits.at(-1)?.strict).toBe(true);
    draft.cutText('two', PLACE, [slice(at(2), at(3))], { ...INFO, strict: false });
    draft.cutText('three', PLACE, [slice(at(0), at(1))], { ...INFO, strict: true });
    expect(draft.edits.map(({ step, strict }) => [step, strict])).toEqual([
      ['one', true],
      ['two', false],
      ['three', false],
    ]);
  });

  it('keeps the last edit per step and place, with the token count from before the first edit', () => {
    const draft = createDraft(original);
    const before = counter.countText(original);
    cut(draft, slice(at(3), at(4)));
    cut(draft, slice(at(1), at(2)));
    expect(draft.edits).toHaveLength(1);
    expect(draft.edits[0]).toMatchObject({
      tokensBefore: before,
      tokensAfter: counter.countText(draft.getText(PLACE)),
    });
  });
});

describe('rolling a draft back', () => {
  it('drops everything cut since the checkpoint', () => {
    const draft = createDraft(original);
    cut(draft, slice(at(3), at(4)));
    const checkpoint = draft.saveState();
    const [messages, tokens, edits] = [[...draft.messages], draft.tokens, draft.edits];
    cut(draft, slice(0, at(2)));
    expect(draft.messages).not.toEqual(messages);
    draft.restoreState(checkpoint);
    expect([draft.messages, draft.tokens, draft.edits]).toEqual([messages, tokens, edits]);
    cut(draft, slice(0, at(2), 'again'));
    draft.restoreState(checkpoint);
    expect([draft.messages, draft.tokens, draft.edits]).toEqual([messages, tokens, edits]);
  });
});

describe('a draft with arbitrary cuts, in any order,', () => {
  const requests = fc.array(
    fc
      .tuple(fc.nat(3000), fc.nat(1500), fc.constantFrom('x', null))
      .map(([start, size, what]) => slice(start, start + size, what)),
    { maxLength: 6 },
  );

  it('equals the original with its edits applied, never grows, and has references that expand to the original bytes', () => {
    const originalText = makeLines('α😀', 60);
    const original = conversation(originalText);
    fc.assert(
      fc.property(fc.array(requests, { maxLength: 5 }), (rounds) => {
        const draft = new Draft(original, counter);
        for (const round of rounds) {
          const before = draft.tokens;
          cut(draft, ...round);
          expect(draft.tokens).toBeLessThanOrEqual(before);
        }
        expect(draft.tokens).toBe(counter.countMessages(draft.messages));
        expect(applyEdits(original, draft.edits).messages).toEqual(draft.messages);
        for (const { cuts } of listCuts(draft.edits)) {
          cuts.forEach(({ start, end, reference }, index) => {
            expect(start).toBeGreaterThanOrEqual(cuts[index - 1]?.end ?? 0);
            expect(end).toBeGreaterThan(start);
            if (reference) expect(hashText(originalText.slice(start, end))).toMatch(new RegExp(`^${reference}`));
          });
          expect(renderCuts(originalText, cuts)).toBe(draft.getText(PLACE));
        }
      }),
    );
  });
});

describe('the running time of a draft', () => {
  /** Makes this many cuts in one string, and as many again between them. */
  const cutTwice = (count: number): void => {
    const one = `${'some words that repeat '.repeat(20)}\n`;
    const draft = createDraft((one + 'stays\n').repeat(count));
    const step = one.length + 6;
    cut(draft, ...Array.from({ length: count }, (_, index) => slice(index * step, index * step + 300)));
    const text = draft.getText(PLACE);
    const again: CutRequest[] = [];
    for (const { end } of findMarkers(text)) again.push(slice(end + 1, end + 79, null));
    cut(draft, ...again);
    expect(listCuts(draft.edits)[0]?.cuts).toHaveLength(2 * count);
  };

  it('is nearly linear for 10,000 cuts in one string, made twice', () => {
    cutTwice(200);
    const some = measureCpuMs(() => {
      cutTwice(1_000);
    });
    const many = measureCpuMs(() => {
      cutTwice(10_000);
    });
    expect(many / some).toBeLessThan(30);
  });

  it('is nearly linear in the number of a message’s blocks', () => {
    const ids = Array.from({ length: 3_000 }, (_, index) => `id${index}`);
    const blocks: Block[] = ids.map((id) => result(id, LONG));
    const draft = new Draft([user('t'), user(...blocks)], counter);
    const spent = measureCpuMs(() => {
      for (const index of ids.keys()) {
        draft.cutText('s', { message: 1, path: ['content', index, 'content'] }, [slice(0, LONG.length)], INFO);
      }
    });
    expect(draft.edits).toHaveLength(3_000);
    expect(spent).toBeLessThan(5_000);
  });
});
