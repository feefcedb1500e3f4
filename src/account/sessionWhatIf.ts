import type { Conversation } from '../conversations/types';
import type { CondensationManager } from '../core/condense';
import { replayWithCondensation, type ReplayedCosts } from '../core/account/replayWhatIf';
import { listRequests } from '../core/account/replay';
import { applyEdits } from '../core/condense/edits/applyEdits';
import { formatLocalDay } from '../core/localDay';
import { computeCallCost, sumCosts } from '../core/cost/callCost';
import type { Usage } from '../core/cost/usage';
import { computeDueTokens, computeTargetTokens, type CondensationThreshold } from '../core/condense/trigger/thresholds';
import { calibrateSession, findCompactions, findLastUsedModel, type AccountDependencies } from './sessionAccount';
import { findModelPrices } from './models';

export interface WhatIfDependencies {
  readonly manager: CondensationManager;
  readonly provider: string;
  readonly config: unknown;
  readonly threshold: CondensationThreshold;
  /** Window in tokens; default: from the records or the model. */
  readonly window?: number | undefined;
  readonly signal: AbortSignal;
  /** Local date on which requests without a recorded time are counted. */
  readonly day?: string;
}

export interface SessionWhatIfResult extends Omit<ReplayedCosts, 'before' | 'after' | 'rereads'> {
  readonly requests: number;
  readonly window: number;
  readonly dueTokens: number;
  /**
   * US dollars without condensing (`before`), with condensing (`after`), and at most for rereading
   * removed content (`rereads`); undefined if a price is unknown.
   */
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly rereads: number | undefined;
  /** The costs by local date; undefined if a price is unknown. */
  readonly days: readonly { readonly day: string; readonly before: number; readonly after: number }[] | undefined;
}

/**
 * Calls no model.
 * @param conversation read with the history `all`
 * @returns undefined if the model's window is unknown
 */
export async function simulateSessionWithCondensation(
  conversation: Conversation,
  { manager, provider, config, threshold, window, signal, day = '' }: WhatIfDependencies,
  tools: AccountDependencies,
): Promise<SessionWhatIfResult | undefined> {
  const { messages, recorded } = conversation;
  const { counter, prices } = tools;
  const requests = listRequests(messages, counter, findCompactions(conversation), recorded?.requests);
  const namedModel = findLastUsedModel(conversation, recorded?.requests);
  const model = findModelPrices(prices, namedModel);
  const contextWindow =
    window ?? recorded?.requests.findLast((each) => each.window !== undefined)?.window ?? model?.contextWindow;
  if (contextWindow === undefined) return undefined;
  const calibration = calibrateSession(conversation, requests, tools);
  const { fixed, factor } = calibration;
  const duePoint = computeDueTokens({
    contextWindow,
    threshold,
    ...(model?.maxOutputTokens !== undefined && { maxOutputTokens: model.maxOutputTokens }),
  });
  const targetTokens = Math.max(
    1,
    Math.floor((computeTargetTokens(threshold, contextWindow, duePoint.tokens) - fixed) / factor),
  );
  const { before, after, rereads, ...figures } = await replayWithCondensation({
    messages,
    requests,
    calibration,
    counter,
    dueTokens: duePoint.tokens,
    condense: async (prefix, edits) => {
      const outcome = await manager.condense({
        conversation: conversation.id,
        messages: prefix,
        edits,
        provider,
        config,
        trigger: 'manual',
        targetTokens,
        signal,
      });
      if (outcome.kind !== 'condensed') return undefined;
      return applyEdits(prefix, [...edits, ...outcome.edits]);
    },
  });
  const sumUsageCosts = (usages: readonly Usage[]): number | undefined =>
    sumCosts(usages.map((usage) => computeCallCost(usage, model?.prices)));
  const days = new Map<string, { before: number; after: number }>();
  for (const [index, { at }] of requests.entries()) {
    const key = at === undefined ? day : formatLocalDay(at);
    const costsOfDay = days.get(key) ?? { before: 0, after: 0 };
    days.set(key, {
      before: costsOfDay.before + (sumUsageCosts(before.slice(index, index + 1)) ?? NaN),
      after: costsOfDay.after + (sumUsageCosts(after.slice(index, index + 1)) ?? NaN),
    });
  }
  const byDay = [...days].map(([key, sums]) => ({ day: key, ...sums }));
  return {
    ...figures,
    days: byDay.every((each) => Number.isFinite(each.before) && Number.isFinite(each.after)) ? byDay : undefined,
    requests: requests.length,
    window: contextWindow,
    dueTokens: duePoint.tokens,
    before: sumUsageCosts(before),
    after: sumUsageCosts(after),
    rereads: sumUsageCosts(rereads),
  };
}
