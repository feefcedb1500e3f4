import { getBlocks, isAnyThinking } from '../../../messages/blocks';
import { findStartOfUnfinishedTurn } from '../../../messages/task';
import type { Draft } from '../../draft/draft';
import type { MechanicalStep } from '../../draft/steps';
import { removeImages } from '../../operations/oldImages';
import type { SmartConfig } from './config';

export function createOldBlockSteps({ thinking, images }: SmartConfig, pinned: ReadonlySet<number>): MechanicalStep[] {
  return [
    ...(thinking.operation === 'suppress' ? [createOldThinkingStep(thinking.keepRecent, pinned)] : []),
    ...(images.operation === 'suppress' ? [createOldImagesStep(images.keepRecent, pinned)] : []),
  ];
}

/**
 * The last assistant message and the first one of the open turn keep their thinking: with a
 * thinking budget, the API requires it before the calls that are being answered, and treats all
 * calls of a turn as one answer (Anthropic API guide, "Extended thinking").
 */
const createOldThinkingStep = (keepRecent: number, pinned: ReadonlySet<number>): MechanicalStep => ({
  name: 'Old thinking',
  run(draft) {
    const lastAnswer = draft.original.findLastIndex(({ role }) => role === 'assistant');
    const turnStart = findStartOfUnfinishedTurn(draft.messages) + 1;
    for (const index of listOldUnpinnedMessages(draft, keepRecent, pinned)) {
      const blocks = getBlocks(draft.original[index] ?? EMPTY_MESSAGE);
      // A message that is only thinking would become empty.
      if (index === lastAnswer || index === turnStart || blocks.every(isAnyThinking)) continue;
      const thinkingIndexes = blocks.flatMap((block, at) => (isAnyThinking(block) ? [at] : []));
      if (thinkingIndexes.length === 0) continue;
      const stateBefore = draft.saveState();
      const removedIndexes = thinkingIndexes.filter(
        (blockIndex) =>
          draft.removeBlock(
            'Old thinking',
            { message: index, path: ['content', blockIndex] },
            null,
            EDIT_INFO_OF_OLD_THINKING,
          ) > 0,
      );
      // A message must lose all of its thinking or none.
      if (removedIndexes.length < thinkingIndexes.length) draft.restoreState(stateBefore);
    }
  },
});

const createOldImagesStep = (keepRecent: number, pinned: ReadonlySet<number>): MechanicalStep => ({
  name: 'Old images',
  run(draft) {
    const oldMessages = new Set(listOldUnpinnedMessages(draft, keepRecent, pinned));
    removeImages(draft, 'Old images', ({ message }) => oldMessages.has(message));
  },
});

const EDIT_INFO_OF_OLD_THINKING = { reason: 'thinking of older messages' };
const EMPTY_MESSAGE = { role: 'user', content: [] } as const;

const listOldUnpinnedMessages = (draft: Draft, keepRecent: number, pinned: ReadonlySet<number>): number[] =>
  draft.original.flatMap((_, index) =>
    index > draft.task && index < draft.original.length - keepRecent && !pinned.has(index) ? [index] : [],
  );
