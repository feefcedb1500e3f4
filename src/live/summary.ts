import { isNewResults } from '../core/condense/ledger/ledger';
import { listCondensationNames } from '../core/condense/report/report';
import type { UseAfter } from '../core/condense/ledger/use';
import { listCondensations, createRedo, createUndo } from './commands';
import type { LiveConversation } from './liveConversation';
import type { CondensationScheduler } from './scheduler';
import { getDuePoint } from './tokenLearning';
import { combineCalls } from './toolWeights';
import type { UpstreamModel } from './request';
import type { LiveDependencies, LiveSettings, LiveSummary } from './types';

export function toLiveSummary(
  scheduler: CondensationScheduler,
  { learning, manager, settings }: LiveDependencies,
  all: readonly CondensationScheduler[],
): LiveSummary {
  const { conversation, whyNot, exhausted, lastDecision, isPreparing, coldTokens } = scheduler;
  const { id, title, messages, shown, model, ledger, countedTokens, lastUsed } = conversation;
  const { spent } = conversation.answers;
  return {
    id,
    title,
    tokens: Math.ceil(countedTokens * learning.getFactor(model)),
    contextWindow: model.contextWindow,
    thresholdTokens: getDuePoint(addThreshold(settings(), model)).tokens,
    condensedBy: scheduler.describeCondenser(),
    ...(coldTokens !== undefined && { coldTokens }),
    ...(whyNot !== undefined && { whyNot }),
    ...(settings().isPaused === true && { isPaused: true as const }),
    ...(exhausted !== undefined && { exhausted }),
    messages: messages.length,
    shownMessages: shown.messages.length,
    isCareful: conversation.isCareful,
    condensations: listCondensations(conversation)
      .filter((one) => !isNewResults(one))
      .map((one) => ({
        id: one.id,
        at: one.at,
        provider: one.provider,
        ...(one.configName !== undefined && { configName: one.configName }),
        by: listCondensationNames([...(one.before ?? []), one], (provider) => manager.providerName(provider)),
        ...(one.request && { request: one.request }),
        tokensBefore: one.tokensBefore,
        tokensAfter: one.tokensAfter,
        ...(one.cost !== undefined && { cost: one.cost }),
        isUndone: ledger.undone.has(one.id),
        ...pickUse(conversation.getReferenceUse(one.id)),
      })),
    ...(lastDecision && { lastDecision }),
    ...summarizeNewResults(conversation),
    ...summarizeTools(
      conversation,
      all.map((other) => other.conversation),
    ),
    ...(spent !== undefined && { spent }),
    canUndo: createUndo(conversation).entries.length > 0,
    canRedo: createRedo(conversation).entries.length > 0,
    pinned: [...conversation.pinned],
    lastUsed,
    isPreparing,
  };
}

/** The settings may have changed since the last request. */
function addThreshold({ thresholds }: LiveSettings, model: UpstreamModel): UpstreamModel {
  if (!thresholds) return model;
  const own = model.profile === undefined ? undefined : thresholds.byProfile[model.profile];
  return { ...model, threshold: own ?? thresholds.default };
}

const pickUse = (use: UseAfter | undefined): { readonly use?: UseAfter } => (use ? { use } : {});

function summarizeTools(conversation: LiveConversation, all: readonly LiveConversation[]): Pick<LiveSummary, 'tools'> {
  const { tools: declared, calls } = conversation;
  if (declared.length === 0) return {};
  const others = all.filter((other) => other !== conversation);
  return {
    tools: combineCalls(
      declared,
      calls,
      others.map((other) => other.calls),
    ),
  };
}

function summarizeNewResults({ ledger }: LiveConversation): Pick<LiveSummary, 'newResults'> {
  const condensed = ledger.condensations.find(isNewResults);
  if (!condensed || ledger.undone.has(condensed.id)) return {};
  const { edits, tokensBefore, tokensAfter, rereads = 0 } = condensed;
  return { newResults: { results: edits.length, tokens: tokensBefore - tokensAfter, rereads } };
}
