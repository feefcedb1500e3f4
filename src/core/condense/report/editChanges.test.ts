import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../../messages/types';
import { assistant, makeToolExchange, makeLines, user } from '../../testing';
import { createCounter } from '../../testingCounter';
import { Draft } from '../draft/draft';
import { describeEditChanges, excludeEditsById, excludeEditsOfMessages } from './editChanges';
import { MARKER_START } from '../../messages/markers';

const counter = createCounter();
const FILE = makeLines('file', 40);
const MESSAGES: readonly ApiMessage[] = [
  user('task'),
  ...makeToolExchange('1', 'Read', { path: 'a' }, FILE),
  ...makeToolExchange('2', 'Read', { path: 'b' }, FILE),
  assistant('done'),
];
const place = (message: number) => ({ message, path: ['content', 0, 'content'] }) as const;
const INFO = { contentType: 'toolResults', operation: 'cut', reason: 'as old', strict: false } as const;

const cut = (draft: Draft, step: string, message: number, part: number): void => {
  const end = Math.floor(draft.getText(place(message)).length * part);
  draft.cutText(step, place(message), [{ start: 0, end, marker: 'the beginning' }], INFO);
};

function condensed() {
  const draft = new Draft(MESSAGES, counter);
  cut(draft, 'first', 2, 0.5);
  cut(draft, 'second', 2, 0.9);
  cut(draft, 'second', 4, 1);
  draft.replaceWithSummary(
    'third',
    { start: 3, end: 5 },
    { ...user('Read b.'), isSummary: true },
    { reason: 'in short' },
  );
  return draft;
}

describe("the preview of a condensation's edits", () => {
  it('gives each edit’s text before and after and its reason, step by step', () => {
    const draft = condensed();
    const [first, second, third, summary] = describeEditChanges(MESSAGES, [], draft.edits);
    expect(first).toMatchObject({ message: 2, step: 'first', reason: 'as old', before: FILE, strict: false });
    expect(second).toMatchObject({ message: 2, step: 'second', before: first?.after });
    expect(second?.after).toBe(draft.getText(place(2)));
    expect(third).toMatchObject({ message: 4, before: FILE });
    expect(summary).toMatchObject({ message: 3, step: 'third', reason: 'in short' });
    expect(summary?.before).toContain('file line 39');
    expect(summary?.after).toContain('Read b.');
  });

  it('starts with the result of earlier condensations', () => {
    const earlier = condensed().edits.slice(0, 1);
    const draft = new Draft(MESSAGES, counter, earlier);
    cut(draft, 'again', 2, 1);
    const [edit] = describeEditChanges(MESSAGES, earlier, draft.edits);
    expect(edit?.before).toContain(`${MARKER_START} the beginning`);
  });

  it('shows the result without excluded edits', () => {
    const { edits, tokens } = condensed();
    const all = excludeEditsById(MESSAGES, [], edits, new Set(), counter);
    expect(all).toEqual({ edits, tokensAfter: tokens, violations: [] });
    const second = edits.find(({ step }) => step === 'second');
    const some = excludeEditsById(MESSAGES, [], edits, new Set(second ? [second.id] : []), counter);
    expect(some.edits).toHaveLength(edits.length - 1);
    expect(some.tokensAfter).toBeGreaterThan(tokens);
    expect(some.violations).toEqual([]);
    const none = excludeEditsById(MESSAGES, [], edits, new Set(edits.map(({ id }) => id)), counter);
    expect(none.tokensAfter).toBe(counter.countMessages(MESSAGES));
  });

  it('leaves excluded messages unchanged by dropping summaries that include them', () => {
    const { edits } = condensed();
    const without = (...messages: number[]) =>
      excludeEditsOfMessages(MESSAGES, [], edits, new Set(messages), counter).edits.map(({ step }) => step);
    expect(without(2)).toEqual(['second', 'third']);
    expect(without(3)).toEqual(['first', 'second', 'second']);
    expect(without(0)).toHaveLength(4);
  });

  it('shows blocks in readable form, with their placeholders', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(4_000) } };
    const thinking = { type: 'thinking', thinking: makeLines('thought', 20), signature: 's' };
    const messages: readonly ApiMessage[] = [
      user('task'),
      { role: 'user', content: [image] },
      { role: 'assistant', content: [thinking, { type: 'text', text: 'So.' }] },
    ];
    const draft = new Draft(messages, counter);
    draft.removeBlock('old', { message: 1, path: ['content', 0] }, 'image', { reason: 'old' });
    draft.removeBlock('old', { message: 2, path: ['content', 0] }, null, { reason: 'old' });
    const [first, second] = describeEditChanges(messages, [], draft.edits);
    expect(first).toMatchObject({ message: 1, before: '▫ image' });
    expect(first?.after).toContain(`${MARKER_START} image`);
    expect(second).toMatchObject({ message: 2, before: `▹ thinking\n${thinking.thinking}`, after: '' });
  });
});
