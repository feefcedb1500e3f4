/** Tests edits of whole blocks: thinking is removed, and images are replaced by markers. */
import { describe, expect, it } from 'vitest';
import { findNewViolations } from '../../messages/firewall';
import { findMarkers } from '../../messages/markers';
import { assistant, call, result, text, user } from '../../testing';
import { createCounter } from '../../testingCounter';
import type { ApiMessage, Block } from '../../messages/types';
import { checkEdits } from './checkEdits';
import { Draft } from '../draft/draft';
import { applyEdits, restoreMessagesBeforeEdits } from './applyEdits';
import { getOriginalText, type Edit } from './edits';
import { expandReference, collectReferences } from './references';
import { createSummaryMessage } from '../summary/summaryMessage';

const thinking = (words: string): Block => ({ type: 'thinking', thinking: words.repeat(20), signature: 'c2ln' });
const image: Block = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8='.repeat(400) },
};
const WHY = { reason: 'old' };

const messages: ApiMessage[] = [
  user('task'),
  assistant(thinking('why '), text('because'), thinking('how '), call('a', 'Screenshot')),
  user(result('a', [text('a picture'), image]), image),
  assistant('done'),
];

const draftOf = (edits: readonly Edit[] = []): Draft => new Draft(messages, createCounter(), edits);
const originals = (edits: readonly Edit[]) => (hash: string) =>
  edits
    .map((edit) => [edit.before as string, getOriginalText(messages, edit)] as const)
    .find(([key]) => key === hash)?.[1];

function withoutAll(): Draft {
  const draft = draftOf();
  for (const at of [0, 2]) draft.removeBlock('Old thinking', { message: 1, path: ['content', at] }, null, WHY);
  for (const path of [
    ['content', 0, 'content', 1],
    ['content', 1],
  ]) {
    draft.removeBlock('Old images', { message: 2, path }, 'image', WHY);
  }
  return draft;
}

describe('edits of whole blocks', () => {
  it('leave a valid view with the other blocks in order', () => {
    const { edits, tokens } = withoutAll();
    const { messages: view, origins, stale } = applyEdits(messages, edits);
    expect(stale).toEqual([]);
    expect([...checkEdits(messages, edits), ...findNewViolations(messages, view, { origins })]).toEqual([]);
    expect((view[1]?.content as Block[]).map(({ type }) => type)).toEqual(['text', 'tool_use']);
    expect(findMarkers(JSON.stringify(view[2])).map(({ what }) => what)).toEqual(['image', 'image']);
    expect(tokens).toBe(createCounter().countMessages(view));
  });

  it('can be undone byte for byte, even after a summary of the message', () => {
    const draft = withoutAll();
    const { edits } = draft;
    const { messages: view } = applyEdits(messages, edits);
    expect(JSON.stringify(restoreMessagesBeforeEdits(view, edits, originals(edits)))).toBe(JSON.stringify(messages));
    const later = draftOf(edits);
    later.replaceWithSummary('Summary', { start: 1, end: 3 }, createSummaryMessage('short'), WHY);
    const all = [...edits, ...later.edits];
    const summarized = applyEdits(messages, all).messages;
    expect(summarized).toHaveLength(3);
    expect(JSON.stringify(restoreMessagesBeforeEdits(summarized, all, originals(all)))).toBe(JSON.stringify(messages));
  });

  it('are visible in a draft that starts with them, and are not made again', () => {
    const { edits, tokens } = withoutAll();
    const again = draftOf(edits);
    expect(again.tokens).toBe(tokens);
    expect(again.removeBlock('Old images', { message: 2, path: ['content', 1] }, 'image', WHY)).toBe(0);
    expect(again.edits).toEqual([]);
  });

  it('survive cuts in the same message and their rollback', () => {
    const draft = withoutAll();
    const before = draft.saveState();
    const place = { message: 2, path: ['content', 0, 'content', 0, 'text'] };
    draft.cutText('Cut', place, [{ start: 0, end: 9, marker: 'words' }], {
      contentType: 'toolResults',
      operation: 'cut',
      strict: false,
      ...WHY,
    });
    draft.restoreState(before);
    expect(draft.edits).toEqual(withoutAll().edits);
  });

  it('allow an image to be restored by its reference', () => {
    const { edits } = withoutAll();
    const references = [...collectReferences(edits).values()];
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references) {
      expect(JSON.parse(expandReference(reference, originals(edits)))).toEqual(image);
    }
  });

  it('no longer apply if the block has changed, and are rejected if their reference is wrong', () => {
    const { edits } = withoutAll();
    const other = messages.with(2, user(result('a', 'another'), text('another')));
    expect(applyEdits(other, edits).stale).toHaveLength(2);
    expect(() => new Draft(other, createCounter(), edits)).toThrow('belongs to another conversation');
    const [, , first] = edits;
    if (first?.kind !== 'block' || !first.placeholder) throw new Error('no image');
    const wrong = {
      ...first,
      placeholder: { ...first.placeholder, reference: 'ffffff' as typeof first.placeholder.reference },
    };
    expect(checkEdits(messages, [wrong])).toMatchObject([{ rule: 'reference-valid', message: 2 }]);
  });

  it('are rejected by the validity check if an image’s placeholder is not a marker', () => {
    const view = messages.with(2, user(result('a', [text('a picture'), image]), text('I saw nothing')));
    expect(findNewViolations(messages, view)).toMatchObject([{ rule: 'structure-kept', message: 2 }]);
  });
});
