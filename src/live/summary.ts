import { condensationsOf, redoCommand, undoCommand } from './commands';
import { thresholdTokens } from './due';
import type { LiveConversation } from './liveConversation';
import type { LiveParts } from './liveParts';
import type { LiveSummary } from './types';

/** A conversation as a list or a status bar shows it. */
export function summaryOf(conversation: LiveConversation, { learning }: LiveParts): LiveSummary {
  const { id, title, messages, shown, model, ledger, countedTokens, lastDecision, spent, lastUsed } = conversation;
  return {
    id,
    title,
    tokens: Math.ceil(countedTokens * learning.factor(model)),
    contextWindow: model.contextWindow,
    thresholdTokens: thresholdTokens(model),
    messages: messages.length,
    shownMessages: shown.messages.length,
    condensations: condensationsOf(conversation).map((one) => ({
      id: one.id,
      at: one.at,
      provider: one.provider,
      tokensBefore: one.tokensBefore,
      tokensAfter: one.tokensAfter,
      ...(one.cost !== undefined && { cost: one.cost }),
      isUndone: ledger.undone.has(one.id),
    })),
    ...(lastDecision && { lastDecision }),
    ...(spent !== undefined && { spent }),
    canUndo: undoCommand(conversation).entries.length > 0,
    canRedo: redoCommand(conversation).entries.length > 0,
    pinned: [...conversation.pinned],
    lastUsed,
    isPreparing: conversation.preparation?.isOver === false,
  };
}
