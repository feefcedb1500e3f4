import type { PriceTable } from '../api/prices';
import type { Conversation } from '../conversations/types';
import { computeComposition, sumToolCalls, type Composition, type ToolCalls } from '../core/account/composition';
import type { PaidModel, PaidRequest, PaidTotal, ReadSession } from '../core/account/once';
import { PART_KINDS, type PartKind } from '../core/account/parts';
import type {
  RecordedCharge,
  RecordedCompaction,
  RecordedRequest,
  RecordedRequests,
  RecordedTotal,
} from '../core/account/recordedRequest';
import {
  fitTokenCalibration,
  findCompactionsInMessages,
  computeMedian,
  simulateRequestUsage,
  listRequests,
  toTokensByPrice,
  makeReplayedUsage,
  type RequestTokenCalibration,
  type ConversationRequest,
  type TokensByPrice,
} from '../core/account/replay';
import { listToolExchanges } from '../core/messages/exchanges';
import type { ApiMessage } from '../core/messages/types';
import { chooseLikelyWindow } from '../core/account/fillLevel';
import { computeCallCost } from '../core/cost/callCost';
import { applyServiceSurcharge, computeWebSearchCost, type ServiceConditions } from '../core/cost/service';
import { getRate, type ModelPrices } from '../core/cost/prices';
import { countPromptTokens, type Usage } from '../core/cost/usage';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { getFillLevel } from './fillLevel';
import { findModelPrices, type NamedModel } from './models';

export interface AccountDependencies {
  readonly counter: MessageCounter;
  readonly prices: PriceTable;
}

export interface AccountedSessionFile {
  readonly agent: string;
  readonly path: string;
  /** Milliseconds since the epoch. Requests without a recorded time are counted on this day. */
  readonly modified: number;
  readonly parent?: string;
}

/** Data of a session whose conversation was not read. */
export interface SessionIdentity {
  readonly id: string;
  readonly title: string;
  readonly workspace?: string | undefined;
  readonly parent?: string | undefined;
}

const MAX_FILL_CURVE_POINTS = 60;

/** @param conversation read with the history `all` */
export function computeSessionAccount(
  file: AccountedSessionFile,
  conversation: Conversation,
  { counter, prices }: AccountDependencies,
): ReadSession {
  const { messages, recorded } = conversation;
  const compactions = findCompactions(conversation);
  const requestsWithCopies = listRequests(messages, counter, compactions, recorded?.requests);
  const namedModel = findLastUsedModel(conversation, recorded?.requests);
  const calibration = calibrateSession(conversation, requestsWithCopies, { counter, prices });
  const requests = dropCopiedRequests(requestsWithCopies, recorded);
  const { byRequest, unassigned } = assignToolCalls(messages, recorded);
  const recordedCharges = readPaidRequests(file, recorded, prices, byRequest);
  // The sums that the agent recorded cover the requests of the first answers, so those are not
  // estimated.
  const coveredAnswers = recorded?.totals?.at(-1)?.answers ?? 0;
  const isRecorded =
    recordedCharges.counted.some(({ purpose }) => purpose === 'answer') || recorded?.isComplete === true;
  const replayedRequests = isRecorded
    ? []
    : replayRequests(conversation, requests.slice(coveredAnswers), coveredAnswers, calibration, { counter, prices });
  const pricedReplays = replayedRequests.map(({ usage, isCharged, ...model }): PaidRequest => ({
    ...priceRequest(usage, model, file, prices),
    isReplayed: true,
    ...(isCharged && { isCharged }),
  }));
  const paidRequests = [
    ...recordedCharges.paid,
    ...distributeCharge(pricedReplays, recordedCharges, recorded?.charged),
  ];
  const answeredRequests = [
    ...recordedCharges.counted.filter(({ purpose }) => purpose === 'answer'),
    ...replayedRequests,
  ];
  const prompts = answeredRequests.map(({ usage }) => countPromptTokens(usage));
  const { id, title, workspace, parent } = conversation;
  return {
    ...describeSession(file, { id, title, workspace, parent }, recorded),
    requests: paidRequests,
    ...(recordedCharges.totals.length > 0 && { totals: recordedCharges.totals }),
    ...chooseLikelyWindow(
      Math.max(0, ...prompts),
      findContextWindow(recorded, namedModel, prices).window,
      namedModel.model,
    ),
    fill: makeFillCurve(answeredRequests),
    now: getFillLevel(conversation, counter, prices, compactions.at(-1)?.message),
    compactions: sumCompactionCosts(conversation, compactions, prompts, calibration, namedModel, { counter, prices }),
    ...computeComposition(messages, requests, counter, Math.round(calibration.fixed / calibration.factor)),
    calls: unassigned,
  };
}

type ToolCallsByRequest = ReadonlyMap<RecordedRequest, readonly ToolCalls[]>;

/**
 * Assigns each tool call to the recorded request of its answer, so that both are counted in the
 * same session.
 */
function assignToolCalls(
  messages: readonly ApiMessage[],
  recorded: Conversation['recorded'],
): { readonly byRequest: ToolCallsByRequest; readonly unassigned: readonly ToolCalls[] } {
  const { requests = [], ownFrom = 0, isComplete = false } = recorded ?? {};
  const requestByMessage = new Map(requests.map((request) => [request.message, request]));
  const findRequest = (message: number): RecordedRequest | undefined => {
    for (let index = message; messages[index]?.role === 'assistant'; index--) {
      const request = requestByMessage.get(index);
      if (request) return request;
    }
    return undefined;
  };
  const byRequest = new Map<RecordedRequest, ToolCalls[]>();
  const unassignedCalls: ToolCalls[] = [];
  for (const { tool, callMessage, isDisplay } of listToolExchanges(messages)) {
    if (isDisplay) continue;
    const call = { tool, calls: 1 };
    const request = findRequest(callMessage);
    if (request && isPaid(request)) {
      const ownCalls = byRequest.get(request) ?? [];
      byRequest.set(request, ownCalls);
      ownCalls.push(call);
    } else if (!isComplete && request?.isCopy !== true && callMessage >= ownFrom) unassignedCalls.push(call);
  }
  return { byRequest, unassigned: sumToolCalls(unassignedCalls) };
}

/** Tokens in the window after each answer. As in `computeFillLevel`, they include the answer. */
const makeFillCurve = (answers: readonly { readonly usage: Usage }[]): number[] =>
  thinOutValues(
    answers.map(({ usage }) => countPromptTokens(usage) + usage.outputTokens),
    MAX_FILL_CURVE_POINTS,
  );

function dropCopiedRequests(
  requests: readonly ConversationRequest[],
  { requests: recorded, ownFrom = 0 }: Pick<RecordedRequests, 'requests' | 'ownFrom'> = { requests: [] },
): readonly ConversationRequest[] {
  const copiedAnswers = new Set(
    recorded.flatMap(({ isCopy, message }) => (isCopy && message !== undefined ? [message] : [])),
  );
  return requests.filter(({ answer }) => answer >= ownFrom && !copiedAnswers.has(answer));
}

/** Used for sessions that are too large or unreadable. */
export function computeRecordedAccount(
  file: AccountedSessionFile,
  head: SessionIdentity,
  recordedRequests: RecordedRequests,
  compactions: number,
  prices: PriceTable,
): ReadSession {
  const { paid, totals, counted } = readPaidRequests(file, recordedRequests, prices);
  const lastRequestWithModel = recordedRequests.requests.findLast(({ model }) => model !== undefined);
  return {
    ...describeSession(file, head, recordedRequests),
    requests: paid,
    ...(totals.length > 0 && { totals }),
    ...findContextWindow(
      recordedRequests,
      lastRequestWithModel ? { ...getModelAndSeller(lastRequestWithModel), at: lastRequestWithModel.at } : {},
      prices,
    ),
    fill: makeFillCurve(counted.filter(({ purpose }) => purpose === 'answer')),
    compactions: { count: compactions, isEstimate: recordedRequests.hasCompactions !== true },
    isComposed: false,
    ...EMPTY_COMPOSITION,
    calls: [],
  };
}

const EMPTY_COMPOSITION: Composition = {
  parts: Object.fromEntries(PART_KINDS.map((kind) => [kind, 0])) as Record<PartKind, number>,
  ...{ sentOften: 0, files: [], unused: [] },
};

const describeSession = (
  { agent, path, parent: starter }: AccountedSessionFile,
  { id, title, workspace, parent }: SessionIdentity,
  recordedRequests: RecordedRequests | undefined,
) => ({
  ...{ agent, path, id, title },
  ...(workspace !== undefined && { project: workspace }),
  ...(recordedRequests?.session && { identity: recordedRequests.session }),
  ...((starter ?? parent) !== undefined && { startedBy: starter ?? parent ?? '' }),
});

function findContextWindow(
  recordedRequests: RecordedRequests | undefined,
  namedModel: NamedModel,
  prices: PriceTable,
): Pick<ReadSession, 'window'> {
  const window =
    recordedRequests?.requests.findLast((request) => request.window !== undefined)?.window ??
    findModelPrices(prices, namedModel)?.contextWindow;
  return window === undefined ? {} : { window };
}

interface PaidRequestsAndTotals {
  readonly counted: readonly CountedRequest[];
  readonly paid: readonly PaidRequest[];
  readonly totals: readonly PaidTotal[];
}

function readPaidRequests(
  file: AccountedSessionFile,
  recordedRequests: RecordedRequests | undefined,
  prices: PriceTable,
  callsByRequest: ToolCallsByRequest = new Map(),
): PaidRequestsAndTotals {
  const requestsWithUsage: CountedRequest[] = [];
  const paidRequests: PaidRequest[] = [];
  // Index in `paidRequests` of the first entry of each recorded request.
  const firstPaidIndexes: number[] = [0];
  for (const request of recordedRequests?.requests ?? []) {
    if (isPaid(request)) {
      const [first, ...parts] = hasUsage(request)
        ? priceRequestParts(request, file, prices)
        : [toUnpricedRequest(request, file)];
      const calls = callsByRequest.get(request);
      paidRequests.push({ ...first, ...(calls && { calls }) }, ...parts);
    }
    if (hasUsage(request)) requestsWithUsage.push(request);
    firstPaidIndexes.push(paidRequests.length);
  }
  const totals = (recordedRequests?.totals ?? []).map((total) =>
    priceTotal(
      total,
      firstPaidIndexes[total.after] ?? paidRequests.length,
      recordedRequests?.requests ?? [],
      file,
      prices,
    ),
  );
  return { counted: requestsWithUsage, paid: paidRequests, totals };
}

const toUnpricedRequest = (request: RecordedRequest, { modified }: AccountedSessionFile): PaidRequest => ({
  at: request.at ?? modified,
  ...(request.model !== undefined && { model: request.model }),
  requests: 1,
  ...{ fresh: 0, cacheWrite: 0, cacheRead: 0, output: 0 },
  ...(request.key !== undefined && { key: request.key }),
  ...(request.isCopy && { isCopy: true }),
});

function priceRequestParts(
  request: CountedRequest,
  file: AccountedSessionFile,
  prices: PriceTable,
): readonly [PaidRequest, ...PaidRequest[]] {
  const { usage, parts = [], service = {}, recordedCost, key, isCopy, purpose } = request;
  const namedModel = { ...getModelAndSeller(request), at: request.at };
  const requestFlags = {
    ...(isCopy && { isCopy }),
    ...(purpose === 'compaction' && { isCompaction: true }),
  };
  const firstPart = priceRequest(usage, { ...namedModel, recordedCost }, file, prices, service);
  const webSearchCost = computeWebSearchCost(service);
  return [
    {
      ...firstPart,
      ...(firstPart.cost !== undefined && { cost: firstPart.cost + webSearchCost }),
      ...requestFlags,
      ...(key !== undefined && { key }),
    },
    ...parts.map((part, index): PaidRequest => {
      const { model } = part;
      const isOtherModel = model !== undefined && model !== namedModel.model;
      return {
        ...priceRequest(
          part.usage,
          isOtherModel ? { ...namedModel, model } : namedModel,
          file,
          prices,
          isOtherModel ? {} : service,
        ),
        ...requestFlags,
        requests: 0,
        ...(key !== undefined && { key: `${key} part ${index + 1}` }),
      };
    }),
  ];
}

interface ModelWithRecordedCost extends NamedModel {
  readonly recordedCost?: number | undefined;
}

function priceRequest(
  usage: Usage,
  { recordedCost, ...namedModel }: ModelWithRecordedCost,
  { modified }: AccountedSessionFile,
  prices: PriceTable,
  service: ServiceConditions = {},
): PaidRequest {
  const cost = computeRequestCost(usage, recordedCost, namedModel, prices, service);
  return {
    at: namedModel.at ?? modified,
    ...(namedModel.model !== undefined && { model: namedModel.model }),
    requests: 1,
    ...toTokensByPrice(usage),
    ...(cost !== undefined && { cost }),
  };
}

function priceTotal(
  total: RecordedTotal,
  paidRequestsBefore: number,
  requests: readonly RecordedRequest[],
  { modified }: AccountedSessionFile,
  prices: PriceTable,
): PaidTotal {
  const timeMs = total.at ?? modified;
  const countSearches = (model: string | undefined): number =>
    requests
      .slice(0, total.after)
      .reduce((sum, { service, ...each }) => sum + (each.model === model ? (service?.webSearches ?? 0) : 0), 0);
  return {
    ...{ at: timeMs, after: paidRequestsBefore, compactions: total.compactions },
    models: total.models.map(({ model, usage, requests: count, webSearches = 0 }): PaidModel => {
      const searches = webSearches - countSearches(model);
      const knownPrices = findModelPrices(prices, { model: model?.replace(/\[[^\]]*\]$/, ''), at: timeMs })?.prices;
      return {
        ...(model !== undefined && { model }),
        ...toTokensByPrice(usage),
        ...(count !== undefined && { requests: count }),
        ...(searches > 0 && { toolCost: computeWebSearchCost({ webSearches: searches }) }),
        ...(usage.costUsd !== undefined && { charge: usage.costUsd }),
        ...(knownPrices && { rates: getShortPromptRates(knownPrices, usage) }),
      };
    }),
  };
}

/** A sum does not say how long each prompt was, so use the rates for short prompts. */
function getShortPromptRates(prices: ModelPrices, usage: Usage): TokensByPrice {
  const getRatePerToken = (kind: keyof ModelPrices): number =>
    getRate(prices, kind, usage.accounting === 'anthropic').base / 1e6;
  const longCacheShare = usage.cacheWriteTokens === 0 ? 0 : (usage.longCacheWriteTokens ?? 0) / usage.cacheWriteTokens;
  return {
    fresh: getRatePerToken('input'),
    cacheWrite:
      (1 - longCacheShare) * getRatePerToken('cacheWrite') + longCacheShare * getRatePerToken('longCacheWrite'),
    cacheRead: getRatePerToken('cacheRead'),
    output: getRatePerToken('output'),
  };
}

interface ReplayedRequest extends ModelWithRecordedCost {
  readonly usage: Usage;
  /** True if the vendor's reported total includes this request. */
  readonly isCharged?: boolean;
}

/**
 * Distributes the vendor's total charge over the replayed requests that it includes, in proportion
 * to our prices.
 */
function distributeCharge(
  requests: readonly PaidRequest[],
  { paid, totals }: PaidRequestsAndTotals,
  recordedCharge: RecordedCharge | undefined,
): readonly PaidRequest[] {
  if (!recordedCharge) return requests;
  const { at: untilMs = Infinity, dollars } = recordedCharge;
  const sumCosts = (paidRequests: readonly PaidRequest[]): number =>
    paidRequests.reduce((all, { cost = 0 }) => all + cost, 0);
  const lastChargedTotal = totals.findLast(({ at }) => at <= untilMs);
  const knownCost =
    sumCosts(paid.filter(({ at }) => at <= untilMs)) +
    (lastChargedTotal?.models ?? []).reduce((all, { charge = 0 }) => all + charge, 0);
  const replayedCost = sumCosts(requests.filter(({ isCharged }) => isCharged));
  if (replayedCost === 0) return requests;
  const chargeFactor = Math.max(0, dollars - knownCost) / replayedCost;
  return requests.map((request) =>
    request.cost === undefined ? request : { ...request, cost: request.cost * chargeFactor },
  );
}

/** @param coveredAnswers number of answers, from the first on, whose requests the agent's sums cover */
function replayRequests(
  conversation: Conversation,
  requests: readonly ConversationRequest[],
  coveredAnswers: number,
  calibration: RequestTokenCalibration,
  { counter }: AccountDependencies,
): ReplayedRequest[] {
  const { recorded, sidechains } = conversation;
  const namedModel = findLastUsedModel(conversation, recorded?.requests);
  const recordedByMessage = new Map(recorded?.requests.map((request) => [request.message, request]));
  const mainRequests = simulateRequestUsage(requests, calibration).map((usage, index): ReplayedRequest => {
    const { answer, at } = requests[index] as ConversationRequest;
    const recordedRequest = recordedByMessage.get(answer);
    const outputTokens = recordedRequest?.outputTokens ?? usage.outputTokens;
    const isCharged = coveredAnswers + index < (recorded?.charged?.answers ?? 0);
    return {
      ...{
        ...namedModel,
        ...getModelAndSeller(recordedRequest),
        at: recordedRequest?.at ?? at,
        usage: { ...usage, outputTokens },
      },
      ...(isCharged && { isCharged }),
    };
  });
  const lastAt = recorded?.requests.findLast(({ at }) => at !== undefined)?.at;
  // The agent's sums include its subagents' requests.
  const sideRequests = (recorded?.totals ? [] : sidechains).flatMap(({ id, messages }) => {
    const chargedAnswers = recorded?.charged?.sideAnswers?.[id] ?? 0;
    const requestsOfSidechain = listRequests(messages, counter, findCompactionsInMessages(messages));
    return simulateRequestUsage(requestsOfSidechain, calibration).map((usage, index): ReplayedRequest => ({
      ...{ ...namedModel, at: requestsOfSidechain[index]?.at ?? lastAt, usage },
      ...(index < chargedAnswers && { isCharged: true }),
    }));
  });
  return [...mainRequests, ...sideRequests];
}

type CountedRequest = RecordedRequest & { readonly usage: Usage };

const isPaid = ({ usage, isOdd }: RecordedRequest): boolean => usage !== undefined || isOdd === true;

const hasUsage = (request: RecordedRequest): request is CountedRequest => request.usage !== undefined;

const getModelAndSeller = (request: RecordedRequest | undefined): NamedModel => ({
  ...(request?.model !== undefined && { model: request.model }),
  ...(request?.seller !== undefined && { seller: request.seller }),
});

export const findCompactions = ({ recorded, messages }: Conversation): readonly RecordedCompaction[] =>
  recorded?.compactions ?? findCompactionsInMessages(messages);

export function findLastUsedModel({ request }: Conversation, recorded: readonly RecordedRequest[] = []): NamedModel {
  const lastRequestWithModel = recorded.findLast(({ model }) => model !== undefined);
  const model = request?.['model'];
  return lastRequestWithModel
    ? { ...getModelAndSeller(lastRequestWithModel), at: lastRequestWithModel.at }
    : typeof model === 'string'
      ? { model }
      : {};
}

/** Calibrates from recorded usage, or else from the instructions, tools and the model's family. */
export function calibrateSession(
  conversation: Conversation,
  requests: readonly ConversationRequest[],
  { counter, prices }: AccountDependencies,
): RequestTokenCalibration {
  const { request = {}, recorded } = conversation;
  const requestsWithRecordedUsage = recorded?.requests.filter(hasUsage) ?? [];
  const namedModel = findLastUsedModel(conversation, recorded?.requests);
  const usageByMessage = new Map(requestsWithRecordedUsage.map(({ message, usage }) => [message, usage]));
  const requestsWithUsage = requests.flatMap((each) => {
    const usage = usageByMessage.get(each.answer);
    return usage ? [{ request: each, usage }] : [];
  });
  const fittedCalibration = fitTokenCalibration(requestsWithUsage);
  if (fittedCalibration) return fittedCalibration;
  const tokenFactor = findModelPrices(prices, namedModel)?.tokenFactor ?? 1;
  const declaredParts = [request['system'], request['tools']].filter((value) => value !== undefined);
  const fixedTokens = tokenFactor * declaredParts.reduce<number>((sum, value) => sum + counter.countJson(value), 0);
  const isClaude = /claude/i.test(namedModel.model ?? '');
  return {
    // Too few requests for a regression: everything beyond the messages counts as overhead.
    fixed:
      requestsWithUsage.length === 0
        ? fixedTokens
        : Math.max(
            0,
            computeMedian(
              requestsWithUsage.map((each) => countPromptTokens(each.usage) - tokenFactor * each.request.sentTokens),
            ),
          ),
    factor: tokenFactor,
    outputFactor: tokenFactor,
    cacheShare: 1,
    accounting: isClaude ? 'anthropic' : 'openai',
    // Anthropic's default cache lifetime (API guide, "Prompt caching").
    cacheMs: 5 * 60_000,
    writes: isClaude ? 'short' : 'none',
  };
}

/** Prefers the price table: an agent that doesn't know a model's price may report 0. */
function computeRequestCost(
  usage: Usage,
  recordedCost: number | undefined,
  namedModel: NamedModel,
  prices: PriceTable,
  service: ServiceConditions,
): number | undefined {
  const cost = computeCallCost(
    usage,
    applyServiceSurcharge(findModelPrices(prices, namedModel)?.prices, namedModel.model ?? '', service),
  );
  if (cost !== undefined) return cost;
  const isFree = /[-:]free$/i.test(namedModel.model ?? '');
  return recordedCost !== undefined && (recordedCost > 0 || isFree) ? recordedCost : undefined;
}

/** Keeps the largest value of each interval, so that a chart keeps its peaks. */
function thinOutValues(values: readonly number[], maxPoints: number): number[] {
  if (values.length <= maxPoints) return [...values];
  return Array.from({ length: maxPoints }, (_, index) => {
    const sliceStart = Math.floor((index * values.length) / maxPoints);
    const sliceEnd = Math.floor(((index + 1) * values.length) / maxPoints);
    return Math.max(...values.slice(sliceStart, sliceEnd));
  });
}

/**
 * Treats each unrecorded compaction as a request that reads the previous context from the cache and
 * answers with the summary.
 */
function sumCompactionCosts(
  { messages, recorded }: Conversation,
  compactions: readonly { readonly message: number; readonly tokensBefore?: number }[],
  prompts: readonly number[],
  { factor, accounting, cacheShare, writes }: RequestTokenCalibration,
  namedModel: NamedModel,
  { counter, prices }: AccountDependencies,
): ReadSession['compactions'] {
  const count = compactions.length;
  if (recorded?.hasCompactions || recorded?.requests.some(({ purpose, usage }) => purpose === 'compaction' && usage))
    return { count, isEstimate: false };
  const knownPrices = findModelPrices(prices, namedModel)?.prices;
  if (count === 0 || !knownPrices) return { count, isEstimate: true };
  const largestPrompt = Math.max(0, ...prompts);
  const cost = compactions.reduce((costSoFar, { message, tokensBefore = largestPrompt }) => {
    const summary = messages[message];
    const outputTokens = summary ? Math.round(factor * counter.countMessage(summary)) : 0;
    const cacheReadTokens = Math.round(tokensBefore * cacheShare);
    return (
      costSoFar +
      (computeCallCost(
        makeReplayedUsage(tokensBefore, cacheReadTokens, outputTokens, accounting, writes),
        knownPrices,
      ) ?? 0)
    );
  }, 0);
  return { count, isEstimate: true, cost };
}
