import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SUMMARY_ORIGIN, findNewViolations } from '../../messages/firewall';
import type { ApiMessage } from '../../messages/types';
import { assistant, makeToolExchange, makeLines, user } from '../../testing';
import { MessageCounter } from '../../tokens/messageCounter';
import { checkEdits } from './checkEdits';
import { Draft } from '../draft/draft';
import { applyEdits, restoreMessagesBeforeEdits } from './applyEdits';
import { selectLastEditPerPlace, getOriginalText, type Edit } from './edits';
import { expandReference, collectReferences } from './references';
import type { Hash } from '../../hash';

const counter = new MessageCounter({ count: (text) => Math.ceil(text.length / 4) });
const conversation: readonly ApiMessage[] = [
  user('task'),
  ...makeToolExchange('a', 'Read', { path: 'a' }, makeLines('a', 40)),
  ...makeToolExchange('b', 'Read', { path: 'b' }, makeLines('b', 40)),
  ...makeToolExchange('c', 'Read', { path: 'c' }, makeLines('c', 40)),
  assistant('done'),
];
const summary = (text: string): ApiMessage => user(`Summary: ${text}`);
const WHY = { reason: 'summarized' };
const draftOf = (edits: readonly Edit[] = []): Draft => new Draft(conversation, counter, edits);

function originalsOf(edits: readonly Edit[], messages = conversation): (hash: Hash) => string | undefined {
  const originals = new Map(edits.map((edit) => [edit.before, getOriginalText(messages, edit)]));
  return (hash) => originals.get(hash);
}

describe('a summary in a condensed conversation', () => {
  it('replaces its range of messages, and every byte of them can be restored', () => {
    const draft = draftOf();
    const before = draft.tokens;
    const saved = draft.replaceWithSummary('Summary', { start: 1, end: 5 }, summary('a and b were read'), WHY);
    expect(saved).toBeGreaterThan(0);
    expect(draft.tokens).toBe(before - saved);
    const { messages, origins, stale } = applyEdits(conversation, draft.edits);
    expect(messages).toEqual([conversation[0], summary('a and b were read'), ...conversation.slice(5)]);
    expect(origins).toEqual([0, SUMMARY_ORIGIN, 5, 6, 7]);
    expect(stale).toEqual([]);
    expect(counter.countMessages(messages)).toBe(draft.tokens);
    expect(findNewViolations(conversation, messages, { origins })).toEqual([]);
    expect(checkEdits(conversation, draft.edits)).toEqual([]);
    expect(restoreMessagesBeforeEdits(messages, draft.edits, originalsOf(draft.edits))).toEqual(conversation);
  });

  it('has a reference that expands to the original messages', () => {
    const draft = draftOf();
    draft.replaceWithSummary('Summary', { start: 1, end: 3 }, summary('a'), WHY);
    const [reference] = collectReferences(draft.edits).values();
    expect(JSON.parse(expandReference(reference!, originalsOf(draft.edits)))).toEqual(conversation.slice(1, 3));
  });

  it('absorbs earlier summaries that it overlaps', () => {
    const first = draftOf();
    first.replaceWithSummary('Summary', { start: 1, end: 3 }, summary('a'), WHY);
    const second = draftOf(first.edits);
    expect(second.messages[1]).toEqual(summary('a'));
    second.replaceWithSummary('Summary', { start: 2, end: 5 }, summary('b'), WHY);
    const all = [...first.edits, ...second.edits];
    expect(selectLastEditPerPlace(all)).toEqual(second.edits);
    expect(applyEdits(conversation, all).messages).toEqual([conversation[0], summary('b'), ...conversation.slice(5)]);
    // If the second summary is excluded, the first one is shown.
    expect(applyEdits(conversation, first.edits).messages).toHaveLength(7);
  });

  it('is not made if it saves nothing', () => {
    const draft = draftOf();
    expect(draft.replaceWithSummary('Summary', { start: 7, end: 8 }, summary(makeLines('long', 50)), WHY)).toBe(0);
    expect(draft.edits).toEqual([]);
    expect(draft.messages).toEqual(conversation);
  });

  it('hides its range from later cuts until it is rolled back', () => {
    const draft = draftOf();
    const start = draft.saveState();
    draft.replaceWithSummary('Summary', { start: 1, end: 3 }, summary('a'), WHY);
    const place = { message: 2, path: ['content', 0, 'content'] };
    const info = { contentType: 'toolResults', operation: 'cut', reason: 'old', strict: false } as const;
    expect(draft.cutText('Cut', place, [{ start: 0, end: 900, marker: 'x' }], info)).toBe(0);
    draft.restoreState(start);
    expect(draft.messages).toEqual(conversation);
    expect(draft.cutText('Cut', place, [{ start: 0, end: 900, marker: 'x' }], info)).toBeGreaterThan(0);
  });

  it('no longer applies if its range contains other messages now', () => {
    const draft = draftOf();
    draft.replaceWithSummary('Summary', { start: 1, end: 3 }, summary('a'), WHY);
    const branched = conversation.with(2, user('another way'));
    const { messages, stale } = applyEdits(branched, draft.edits);
    expect(messages).toEqual(branched);
    expect(stale).toEqual(draft.edits);
    expect(applyEdits(conversation.slice(0, 2), draft.edits).stale).toEqual(draft.edits);
  });

  it('must replace at least one message, and its reference must be valid', () => {
    const draft = draftOf();
    draft.replaceWithSummary('Summary', { start: 1, end: 3 }, summary('a'), WHY);
    const [edit] = draft.edits;
    if (edit?.kind !== 'summary') throw new Error('no summary');
    expect(checkEdits(conversation, [{ ...edit, end: 1 }])).toMatchObject([{ rule: 'cuts-in-order' }]);
    expect(checkEdits(conversation, [{ ...edit, reference: 'ffffff' as typeof edit.reference }])).toMatchObject([
      { rule: 'reference-valid' },
    ]);
    expect(() => restoreMessagesBeforeEdits([], [edit], () => undefined)).toThrow('messages 1 to 2 is missing');
  });
});

describe('the validity check of a summary', () => {
  const rules = (view: readonly ApiMessage[], origins: readonly number[]): string[] =>
    findNewViolations(conversation, view, { origins }).map(({ rule }) => rule);

  it('rejects it if it separates a call from its result', () => {
    const view = [conversation[0]!, conversation[1]!, summary('x'), ...conversation.slice(3)];
    expect(rules(view, [0, 1, SUMMARY_ORIGIN, 3, 4, 5, 6, 7])).toContain('call-answered');
  });

  it('rejects a conversation that lacks messages without a summary in their place', () => {
    expect(rules([conversation[0]!, ...conversation.slice(3)], [0, 3, 4, 5, 6, 7])).toEqual(['messages-kept']);
    expect(rules(conversation.slice(0, 5), [0, 1, 2, 3, 4])).toEqual(['messages-kept']);
  });

  it('rejects it if it replaces the task', () => {
    const view = [summary('x'), ...conversation.slice(1)];
    expect(rules(view, [SUMMARY_ORIGIN, 1, 2, 3, 4, 5, 6, 7])).toEqual(['task-kept']);
  });
});

it('any sequence of summaries and cuts can be restored to the original', () => {
  const range = fc.tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 7 })).map(([a, b]) => ({
    start: Math.min(a, b),
    end: Math.max(a, b) + 1,
  }));
  const deed = fc.oneof(
    range.map((where) => ({ kind: 'summary' as const, ...where })),
    fc.record({ kind: fc.constant('cut' as const), result: fc.constantFrom(2, 4, 6), from: fc.nat(200) }),
  );
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 8 }), fc.nat(8), (deeds, split) => {
      const does = (draft: Draft, list: typeof deeds): Draft => {
        for (const [index, what] of list.entries()) {
          if (what.kind === 'summary') draft.replaceWithSummary(`S${index}`, what, summary(String(index)), WHY);
          else {
            const place = { message: what.result, path: ['content', 0, 'content'] };
            const request = { start: what.from, end: what.from + 900, marker: 'x' };
            draft.cutText(`C${index}`, place, [request], {
              contentType: 'toolResults',
              operation: 'cut',
              reason: 'r',
              strict: false,
            });
          }
        }
        return draft;
      };
      const first = does(draftOf(), deeds.slice(0, split));
      const second = does(draftOf(selectLastEditPerPlace(first.edits)), deeds.slice(split));
      const edits = [...first.edits, ...second.edits];
      const { messages, stale } = applyEdits(conversation, edits);
      expect(stale).toEqual([]);
      expect(counter.countMessages(messages)).toBe(second.tokens);
      expect(JSON.stringify(restoreMessagesBeforeEdits(messages, edits, originalsOf(edits)))).toBe(
        JSON.stringify(conversation),
      );
    }),
  );
});
