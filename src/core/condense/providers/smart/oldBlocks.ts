/** Removes old blocks that are not text: the model's thinking, and images. */
import { getBlocks, isAnyThinking } from '../../../messages/blocks';
import { findTurnStart } from '../../../messages/task';
import type { Draft } from '../../draft/draft';
import type { MechanicalStep } from '../../draft/steps';
import { takeImages } from '../../operations/oldImages';
import type { SmartConfig } from './config';

/** The steps that the configuration asks for. */
export function oldBlockSteps({ thinking, images }: SmartConfig, pinned: ReadonlySet<number>): MechanicalStep[] {
  return [
    ...(thinking.operation === 'suppress' ? [oldThinking(thinking.keepRecent, pinned)] : []),
    ...(images.operation === 'suppress' ? [oldImages(images.keepRecent, pinned)] : []),
  ];
}

/**
 * Takes thinking out of a message whole. The last message of the assistant keeps its own, and so does the one that the open turn began
 * with: where the model thinks with a budget, the API wants it in front of the calls that are being answered, and takes all calls of a
 * turn as one answer (Anthropic API guide, "Extended thinking").
 */
const oldThinking = (keepRecent: number, pinned: ReadonlySet<number>): MechanicalStep => ({
  name: 'Old thinking',
  run(draft) {
    const last = draft.original.findLastIndex(({ role }) => role === 'assistant');
    // A summary may stand for the user's words: then the turn begins behind it.
    const first = findTurnStart(draft.messages) + 1;
    for (const index of oldMessages(draft, keepRecent, pinned)) {
      const blocks = getBlocks(draft.original[index] ?? NOTHING);
      // A message of nothing but thinking would be empty without it.
      if (index === last || index === first || blocks.every(isAnyThinking)) continue;
      const places = blocks.flatMap((block, at) => (isAnyThinking(block) ? [at] : []));
      if (places.length === 0) continue;
      const before = draft.checkpoint();
      const taken = places.filter(
        (at) => draft.takeBlock('Old thinking', { message: index, path: ['content', at] }, null, WHY) > 0,
      );
      // All or nothing: of a message's thinking no part may be missing.
      if (taken.length < places.length) draft.rollback(before);
    }
  },
});

const oldImages = (keepRecent: number, pinned: ReadonlySet<number>): MechanicalStep => ({
  name: 'Old images',
  run(draft) {
    const old = new Set(oldMessages(draft, keepRecent, pinned));
    takeImages(draft, 'Old images', ({ message }) => old.has(message));
  },
});

const WHY = { reason: 'thinking of older messages' };
const NOTHING = { role: 'user', content: [] } as const;

/** Indexes of the messages behind the task and before the newest. */
const oldMessages = (draft: Draft, keepRecent: number, pinned: ReadonlySet<number>): number[] =>
  draft.original.flatMap((_, index) =>
    index > draft.task && index < draft.original.length - keepRecent && !pinned.has(index) ? [index] : [],
  );
