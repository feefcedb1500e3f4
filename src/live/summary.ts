import { isNewResultsCondensation } from '../core/condense/ledger/ledger';
import { listCondensationNames } from '../core/condense/report/report';
import type { UseAfterCondensation } from '../core/condense/ledger/use';
import { listShowableCondensations, createRedoCommand, createUndoCommand } from './commands';
import type { LiveConversation } from './liveConversation';
import type { CondensationScheduler } from './scheduler';
import { computeDueTokensOfModel } from './tokenLearning';
import { combineCallCounts } from './toolWeights';
import type { UpstreamModel } from './request';
import type { LiveDependencies, LiveSettings, LiveSummary } from './types';

export function toLiveSummary(
  scheduler: CondensationScheduler,
  { learning, manager, settings }: LiveDependencies,
  allSchedulers: readonly CondensationScheduler[],
): LiveSummary {
  const { conversation, whyNot, exhausted, lastDecision, isPreparing, coldTokens } = scheduler;
  const { id, title, messages, model, ledger, countedTokens, lastUsed } = conversation;
  const { spent } = conversation.answers;
  const { conversationId } = conversation.about;
  return {
    id,
    ...(conversationId !== undefined && { conversationId }),
    title,
    tokens: Math.ceil(countedTokens * learning.getTokenFactor(model)),
    contextWindow: model.contextWindow,
    thresholdTokens: computeDueTokensOfModel(addProfileThreshold(settings(), model)).tokens,
    condensedBy: scheduler.describeCondenser(),
    ...(coldTokens !== undefined && { coldTokens }),
    ...(whyNot !== undefined && { whyNot }),
    ...(settings().isPaused === true && { isPaused: true as const }),
    ...(exhausted !== undefined && { exhausted }),
    messages: messages.length,
    isCareful: conversation.isCareful,
    condensations: listShowableCondensations(conversation)
      .filter((one) => !isNewResultsCondensation(one))
      .map((condensation) => ({
        id: condensation.id,
        at: condensation.at,
        provider: condensation.provider,
        ...(condensation.configName !== undefined && { configName: condensation.configName }),
        by: listCondensationNames([...(condensation.before ?? []), condensation], (provider) =>
          manager.getProviderDisplayName(provider),
        ),
        ...(condensation.request && { request: condensation.request }),
        tokensBefore: condensation.tokensBefore,
        tokensAfter: condensation.tokensAfter,
        ...(condensation.cost !== undefined && { cost: condensation.cost }),
        isUndone: ledger.undone.has(condensation.id),
        ...makeUseField(conversation.getReferenceUse(condensation.id)),
      })),
    ...(lastDecision && { lastDecision }),
    ...summarizeNewResults(conversation),
    ...summarizeTools(
      conversation,
      allSchedulers.map((other) => other.conversation),
    ),
    ...(spent !== undefined && { spent }),
    canUndo: createUndoCommand(conversation).entries.length > 0,
    canRedo: createRedoCommand(conversation).entries.length > 0,
    pinned: [...conversation.pinned],
    lastUsed,
    isPreparing,
  };
}

/** Uses the threshold of the current settings, which may have changed since the last request. */
function addProfileThreshold({ thresholds }: LiveSettings, model: UpstreamModel): UpstreamModel {
  if (!thresholds) return model;
  const ownThreshold = model.profile === undefined ? undefined : thresholds.byProfile[model.profile];
  return { ...model, threshold: ownThreshold ?? thresholds.default };
}

const makeUseField = (use: UseAfterCondensation | undefined): { readonly use?: UseAfterCondensation } =>
  use ? { use } : {};

function summarizeTools(
  conversation: LiveConversation,
  allConversations: readonly LiveConversation[],
): Pick<LiveSummary, 'tools'> {
  const { tools: declaredTools, calls } = conversation;
  if (declaredTools.length === 0) return {};
  const otherConversations = allConversations.filter((other) => other !== conversation);
  return {
    tools: combineCallCounts(
      declaredTools,
      calls,
      otherConversations.map((other) => other.calls),
    ),
  };
}

function summarizeNewResults({ ledger }: LiveConversation): Pick<LiveSummary, 'newResults'> {
  const newResults = ledger.condensations.find(isNewResultsCondensation);
  if (!newResults || ledger.undone.has(newResults.id)) return {};
  const { edits, tokensBefore, tokensAfter, rereads = 0 } = newResults;
  return { newResults: { results: edits.length, tokens: tokensBefore - tokensAfter, rereads } };
}
