import { expect, it, vi } from 'vitest';
import type { LiveConversation, ConversationSource } from '../../background/preview/messages';
import { PreviewFollower } from './previewFollower';

const NAME = { kind: 'default' } as const;
const message = { role: 'user', content: 'a' } as const;
const live = (changes: Partial<LiveConversation> = {}): LiveConversation => ({
  kind: 'live',
  id: 'l',
  title: 'Live',
  pinned: [1],
  content: { messages: [message], edits: [] },
  ...changes,
});
const file = (path: string): ConversationSource => ({ kind: 'file', path, history: 'active', store: 's' });

function following(first: ConversationSource) {
  const onChange = vi.fn();
  const now = vi.fn(() => first);
  const follower = new PreviewFollower({ now, onChange });
  return { follower, onChange, now, answered: follower.followConversation(NAME, first) };
}

it.each<[string, ConversationSource, number]>([
  ['nothing', live(), 0],
  ['nothing, in new lists', live({ pinned: [1], content: { messages: [message], edits: [] } }), 0],
  ['another message', live({ content: { messages: [message, message], edits: [] } }), 1],
  ['another pin', live({ pinned: [] }), 1],
  ['another title', live({ title: 'Other' }), 1],
  ['another conversation', live({ id: 'other' }), 1],
  ['a file', file('x'), 1],
])("the panel's preview is notified of the right number of changes after: %s", (_, next, times) => {
  const { follower, onChange, now, answered } = following(live());
  answered();
  now.mockReturnValue(next);
  follower.reportIfConversationChanged();
  follower.reportIfConversationChanged();
  expect(onChange).toHaveBeenCalledTimes(times);
});

it("the panel's preview is notified only after its newest question was answered, and only of later changes", () => {
  const { follower, onChange, now, answered } = following(live());
  now.mockReturnValue(live({ title: 'Other' }));
  follower.reportIfConversationChanged();
  expect(onChange).not.toHaveBeenCalled();
  const newer = follower.followConversation(NAME, live({ title: 'Other' }));
  answered();
  newer();
  expect(onChange).not.toHaveBeenCalled();
  now.mockReturnValue(live());
  follower.reportIfConversationChanged();
  expect(onChange).toHaveBeenCalledTimes(1);
});

it("the panel's preview is notified of a removed file but not of a changed one, and of nothing after it ended", () => {
  const { follower, onChange, now, answered } = following(file('a'));
  answered();
  follower.reportIfConversationChanged();
  expect(onChange).not.toHaveBeenCalled();
  now.mockImplementation(() => {
    throw new Error('gone');
  });
  follower.reportIfConversationChanged();
  expect(onChange).toHaveBeenCalledTimes(1);
  follower.followConversation(NAME, file('a'))();
  expect(onChange).toHaveBeenCalledTimes(2);
  follower.endFollowing();
  follower.reportIfConversationChanged();
  expect(onChange).toHaveBeenCalledTimes(2);
});
