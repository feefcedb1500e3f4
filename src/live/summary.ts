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
  all: readonly CondensationScheduler[],
): LiveSummary {
  const { conversation, whyNot, exhausted, lastDecision, isPreparing, coldTokens } = scheduler;
  const { id, title, messages, model, ledger, countedTokens, lastUsed } = conversation;
  const { spent } = conversation.answers;
  return {
    id,
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
      .map((one) => ({
        id: one.id,
        at: one.at,
        provider: one.provider,
        ...(one.configName !== undefined && { configName: one.configName }),
        by: listCondensationNames([...(one.before ?? []), one], (provider) => manager.getProviderDisplayName(provider)),
        ...(one.request && { request: one.request }),
        tokensBefore: one.tokensBefore,
        tokensAfter: one.tokensAfter,
        ...(one.cost !== undefined && { cost: one.cost }),
        isUndone: ledger.undone.has(one.id),
        ...makeUseField(conversation.getReferenceUse(one.id)),
      })),
    ...(lastDecision && { lastDecision }),
    ...summarizeNewResults(conversation),
    ...summarizeTools(
      conversation,
      all.map((other) => other.conversation),
    ),
    ...(spent !== undefined && { spent }),
    canUndo: createUndoCommand(conversation).entries.length > 0,
    canRedo: createRedoCommand(conversation).entries.length > 0,
    pinned: [...conversation.pinned],
    lastUsed,
    isPreparing,
  };
}

/** The settings may have changed since the last request. */
function addProfileThreshold({ thresholds }: LiveSettings, model: UpstreamModel): UpstreamModel {
  if (!thresholds) return model;
  const ownThreshold = model.profile === undefined ? undefined : thresholds.byProfile[model.profile];
  return { ...model, threshold: ownThreshold ?? thresholds.default };
}

const makeUseField = (use: UseAfterCondensation | undefined): { readonly use?: UseAfterCondensation } =>
  use ? { use } : {};

function summarizeTools(conversation: LiveConversation, all: readonly LiveConversation[]): Pick<LiveSummary, 'tools'> {
  const { tools: declared, calls } = conversation;
  if (declared.length === 0) return {};
  const others = all.filter((other) => other !== conversation);
  return {
    tools: combineCallCounts(
      declared,
      calls,
      others.map((other) => other.calls),
    ),
  };
}

function summarizeNewResults({ ledger }: LiveConversation): Pick<LiveSummary, 'newResults'> {
  const condensed = ledger.condensations.find(isNewResultsCondensation);
  if (!condensed || ledger.undone.has(condensed.id)) return {};
  const { edits, tokensBefore, tokensAfter, rereads = 0 } = condensed;
  return { newResults: { results: edits.length, tokens: tokensBefore - tokensAfter, rereads } };
}
