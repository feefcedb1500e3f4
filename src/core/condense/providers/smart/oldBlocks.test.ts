import { describe, expect, it } from 'vitest';
import { assistant, user, call, makeLines, result } from '../../../testing';
import { runPasses } from './testing';

describe('old thinking and images under Smart', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8='.repeat(200) } };
  const thinking = { type: 'thinking', thinking: makeLines('why', 10), signature: 'c2ln' };
  const messages = [
    user('task'),
    assistant(thinking, call('a', 'Screenshot')),
    user(result('a', [image])),
    assistant(thinking),
    user('go on', image),
    assistant(thinking, 'done'),
    user(image),
  ];

  it('are removed as configured, except from the newest messages and from the model’s last answer', async () => {
    const suppress = { operation: 'suppress', keepRecent: 1 } as const;
    const {
      view,
      getTextAt: at,
      result: made,
    } = await runPasses(messages, [], { config: { thinking: suppress, images: suppress } });
    expect(made.edits.map(({ step }) => step)).toEqual(['Old thinking', 'Old images', 'Old images']);
    expect(at(2, 'content', 0, 'content', 0, 'text')).toBe('[image, 1 KB, from Screenshot]');
    expect(view[3]).toBe(messages[3]);
    expect(at(4, 'content', 1, 'text')).toBe('[image, 1 KB]');
    expect(view.slice(5)).toEqual(messages.slice(5));
    const pinned = new Set([1, 2, 4]);
    expect(
      (await runPasses(messages, [], { config: { thinking: suppress, images: suppress }, context: { pinned } })).result
        .edits,
    ).toEqual([]);
    expect((await runPasses(messages, [])).result.edits).toEqual([]);
  });

  it('are removed, with tokens estimated from the signature, if the thinking is encrypted', async () => {
    const encrypted = { type: 'thinking', thinking: '', signature: 'x'.repeat(4_320) };
    const turn = [user('task'), assistant(encrypted, 'a'), user('more'), assistant(encrypted, 'b'), user('and more')];
    const config = { thinking: { operation: 'suppress', keepRecent: 0 } } as const;
    const { result: made } = await runPasses(turn, [], { config });
    expect(made.edits).toMatchObject([{ place: { message: 1 }, tokensBefore: 750, tokensAfter: 0 }]);
  });

  it('are removed from an open turn’s first answer only after the user continues', async () => {
    const step = (id: string) => [assistant(thinking, call(id, 'Read', {})), user(result(id, 'x'))];
    const turn = [user('task'), ...step('a'), ...step('b'), ...step('c')];
    const config = { thinking: { operation: 'suppress', keepRecent: 0 } } as const;
    const placesIn = async (conversation: typeof turn) =>
      (await runPasses(conversation, [], { config })).result.edits.map(
        (edit) => edit.kind === 'block' && edit.place.message,
      );
    expect(await placesIn(turn)).toEqual([3]);
    expect(await placesIn([...turn, assistant('done'), user('more'), ...step('d'), ...step('e')])).toEqual([1, 3, 5]);
  });
});
