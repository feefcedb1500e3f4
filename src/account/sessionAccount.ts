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
import { getFillLevel } from './fillOf';
import { findModelPrices, type NamedModel } from './models';

export interface AccountDependencies {
  readonly counter: MessageCounter;
  readonly prices: PriceTable;
}

export interface AccountedSessionFile {
  readonly agent: string;
  readonly path: string;
  /** Milliseconds since the epoch. Requests without a time count on this day. */
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
  const all = listRequests(messages, counter, compactions, recorded?.requests);
  const namedModel = findLastUsedModel(conversation, recorded?.requests);
  const calibration = calibrateSession(conversation, all, { counter, prices });
  const requests = dropCopiedRequests(all, recorded);
  const { byRequest, unassigned } = assignToolCalls(messages, recorded);
  const charges = readPaidRequests(file, recorded, prices, byRequest);
  // The agent's sums cover the first answers' requests, so those are not estimated.
  const covered = recorded?.totals?.at(-1)?.answers ?? 0;
  const isRecorded = charges.counted.some(({ purpose }) => purpose === 'answer') || recorded?.isComplete === true;
  const replayed = isRecorded
    ? []
    : replayRequests(conversation, requests.slice(covered), covered, calibration, { counter, prices });
  const madeAgain = replayed.map(({ usage, isCharged, ...model }): PaidRequest => ({
    ...priceRequest(usage, model, file, prices),
    isReplayed: true,
    ...(isCharged && { isCharged }),
  }));
  const paid = [...charges.paid, ...distributeCharge(madeAgain, charges, recorded?.charged)];
  const answers = [...charges.counted.filter(({ purpose }) => purpose === 'answer'), ...replayed];
  const prompts = answers.map(({ usage }) => countPromptTokens(usage));
  const { id, title, workspace, parent } = conversation;
  return {
    ...describeSession(file, { id, title, workspace, parent }, recorded),
    requests: paid,
    ...(charges.totals.length > 0 && { totals: charges.totals }),
    ...chooseLikelyWindow(
      Math.max(0, ...prompts),
      findContextWindow(recorded, namedModel, prices).window,
      namedModel.model,
    ),
    fill: makeFillCurve(answers),
    now: getFillLevel(conversation, counter, prices, compactions.at(-1)?.message),
    compactions: sumCompactionCosts(conversation, compactions, prompts, calibration, namedModel, { counter, prices }),
    ...computeComposition(messages, requests, counter, Math.round(calibration.fixed / calibration.factor)),
    calls: unassigned,
  };
}

type ToolCallsByRequest = ReadonlyMap<RecordedRequest, readonly ToolCalls[]>;

/** Assigns each call to its answer's recorded request, so that it is counted where the request is. */
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
  const unassigned: ToolCalls[] = [];
  for (const { tool, callMessage, isDisplay } of listToolExchanges(messages)) {
    if (isDisplay) continue;
    const call = { tool, calls: 1 };
    const request = findRequest(callMessage);
    if (request && isPaid(request)) {
      const ownCalls = byRequest.get(request) ?? [];
      byRequest.set(request, ownCalls);
      ownCalls.push(call);
    } else if (!isComplete && request?.isCopy !== true && callMessage >= ownFrom) unassigned.push(call);
  }
  return { byRequest, unassigned: sumToolCalls(unassigned) };
}

/** Answers count, too, as in `computeFillLevel`: they fill the window from then on. */
const makeFillCurve = (answers: readonly { readonly usage: Usage }[]): number[] =>
  thinOutValues(
    answers.map(({ usage }) => countPromptTokens(usage) + usage.outputTokens),
    MAX_FILL_CURVE_POINTS,
  );

function dropCopiedRequests(
  requests: readonly ConversationRequest[],
  { requests: recorded, ownFrom = 0 }: Pick<RecordedRequests, 'requests' | 'ownFrom'> = { requests: [] },
): readonly ConversationRequest[] {
  const copied = new Set(recorded.flatMap(({ isCopy, message }) => (isCopy && message !== undefined ? [message] : [])));
  return requests.filter(({ answer }) => answer >= ownFrom && !copied.has(answer));
}

/** Used for sessions that are too large or unreadable. */
export function computeRecordedAccount(
  file: AccountedSessionFile,
  head: SessionIdentity,
  recorded: RecordedRequests,
  compactions: number,
  prices: PriceTable,
): ReadSession {
  const { paid, totals, counted } = readPaidRequests(file, recorded, prices);
  const last = recorded.requests.findLast(({ model }) => model !== undefined);
  return {
    ...describeSession(file, head, recorded),
    requests: paid,
    ...(totals.length > 0 && { totals }),
    ...findContextWindow(recorded, last ? { ...getModelAndSeller(last), at: last.at } : {}, prices),
    fill: makeFillCurve(counted.filter(({ purpose }) => purpose === 'answer')),
    compactions: { count: compactions, isEstimate: recorded.hasCompactions !== true },
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
  recorded: RecordedRequests | undefined,
) => ({
  ...{ agent, path, id, title },
  ...(workspace !== undefined && { project: workspace }),
  ...(recorded?.session && { identity: recorded.session }),
  ...((starter ?? parent) !== undefined && { startedBy: starter ?? parent ?? '' }),
});

function findContextWindow(
  recorded: RecordedRequests | undefined,
  namedModel: NamedModel,
  prices: PriceTable,
): Pick<ReadSession, 'window'> {
  const window =
    recorded?.requests.findLast((request) => request.window !== undefined)?.window ??
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
  recorded: RecordedRequests | undefined,
  prices: PriceTable,
  callsByRequest: ToolCallsByRequest = new Map(),
): PaidRequestsAndTotals {
  const counted: CountedRequest[] = [];
  const paid: PaidRequest[] = [];
  // Index in `paid` of the first entry of each recorded request.
  const places: number[] = [0];
  for (const request of recorded?.requests ?? []) {
    if (isPaid(request)) {
      const [first, ...parts] = hasUsage(request)
        ? priceRequestParts(request, file, prices)
        : [toUnpricedRequest(request, file)];
      const calls = callsByRequest.get(request);
      paid.push({ ...first, ...(calls && { calls }) }, ...parts);
    }
    if (hasUsage(request)) counted.push(request);
    places.push(paid.length);
  }
  const totals = (recorded?.totals ?? []).map((total) =>
    priceTotal(total, places[total.after] ?? paid.length, recorded?.requests ?? [], file, prices),
  );
  return { counted, paid, totals };
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
  const marks = {
    ...(isCopy && { isCopy }),
    ...(purpose === 'compaction' && { isCompaction: true }),
  };
  const first = priceRequest(usage, { ...namedModel, recordedCost }, file, prices, service);
  const tools = computeWebSearchCost(service);
  return [
    {
      ...first,
      ...(first.cost !== undefined && { cost: first.cost + tools }),
      ...marks,
      ...(key !== undefined && { key }),
    },
    ...parts.map((part, index): PaidRequest => {
      const { model } = part;
      const isOther = model !== undefined && model !== namedModel.model;
      return {
        ...priceRequest(
          part.usage,
          isOther ? { ...namedModel, model } : namedModel,
          file,
          prices,
          isOther ? {} : service,
        ),
        ...marks,
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
  after: number,
  requests: readonly RecordedRequest[],
  { modified }: AccountedSessionFile,
  prices: PriceTable,
): PaidTotal {
  const at = total.at ?? modified;
  const countSearches = (model: string | undefined): number =>
    requests
      .slice(0, total.after)
      .reduce((sum, { service, ...each }) => sum + (each.model === model ? (service?.webSearches ?? 0) : 0), 0);
  return {
    ...{ at, after, compactions: total.compactions },
    models: total.models.map(({ model, usage, requests: count, webSearches = 0 }): PaidModel => {
      const searches = webSearches - countSearches(model);
      const knownPrices = findModelPrices(prices, { model: model?.replace(/\[[^\]]*\]$/, ''), at })?.prices;
      return {
        ...(model !== undefined && { model }),
        ...toTokensByPrice(usage),
        ...(count !== undefined && { requests: count }),
        ...(searches > 0 && { toolCost: computeWebSearchCost({ webSearches: searches }) }),
        ...(usage.costUsd !== undefined && { charge: usage.costUsd }),
        ...(knownPrices && { rates: getPlainRates(knownPrices, usage) }),
      };
    }),
  };
}

/** A sum does not say how long each prompt was, so use the rates for short prompts. */
function getPlainRates(prices: ModelPrices, usage: Usage): TokensByPrice {
  const rate = (kind: keyof ModelPrices): number => getRate(prices, kind, usage.accounting === 'anthropic').base / 1e6;
  const longCacheShare = usage.cacheWriteTokens === 0 ? 0 : (usage.longCacheWriteTokens ?? 0) / usage.cacheWriteTokens;
  return {
    fresh: rate('input'),
    cacheWrite: (1 - longCacheShare) * rate('cacheWrite') + longCacheShare * rate('longCacheWrite'),
    cacheRead: rate('cacheRead'),
    output: rate('output'),
  };
}

interface ReplayedRequest extends ModelWithRecordedCost {
  readonly usage: Usage;
  /** True if the vendor's reported total includes this request. */
  readonly isCharged?: boolean;
}

/**
 * Distributes the vendor's total charge over the replayed requests that it includes, in proportion
 * to our prices. The same factor applies to later requests.
 */
function distributeCharge(
  requests: readonly PaidRequest[],
  { paid, totals }: PaidRequestsAndTotals,
  charged: RecordedCharge | undefined,
): readonly PaidRequest[] {
  if (!charged) return requests;
  const { at: untilMs = Infinity, dollars } = charged;
  const sum = (of: readonly PaidRequest[]): number => of.reduce((all, { cost = 0 }) => all + cost, 0);
  const last = totals.findLast(({ at }) => at <= untilMs);
  const knownCost =
    sum(paid.filter(({ at }) => at <= untilMs)) + (last?.models ?? []).reduce((all, { charge = 0 }) => all + charge, 0);
  const replayed = sum(requests.filter(({ isCharged }) => isCharged));
  if (replayed === 0) return requests;
  const factor = Math.max(0, dollars - knownCost) / replayed;
  return requests.map((request) =>
    request.cost === undefined ? request : { ...request, cost: request.cost * factor },
  );
}

/** @param covered number of answers, from the first on, whose requests the agent's sums cover */
function replayRequests(
  conversation: Conversation,
  requests: readonly ConversationRequest[],
  covered: number,
  calibration: RequestTokenCalibration,
  { counter }: AccountDependencies,
): ReplayedRequest[] {
  const { recorded, sidechains } = conversation;
  const namedModel = findLastUsedModel(conversation, recorded?.requests);
  const byMessage = new Map(recorded?.requests.map((request) => [request.message, request]));
  const main = simulateRequestUsage(requests, calibration).map((usage, index): ReplayedRequest => {
    const { answer, at } = requests[index] as ConversationRequest;
    const recordedRequest = byMessage.get(answer);
    const outputTokens = recordedRequest?.outputTokens ?? usage.outputTokens;
    const isCharged = covered + index < (recorded?.charged?.answers ?? 0);
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
  const side = (recorded?.totals ? [] : sidechains).flatMap(({ id, messages }) => {
    const charged = recorded?.charged?.sideAnswers?.[id] ?? 0;
    const sideRequests = listRequests(messages, counter, findCompactionsInMessages(messages));
    return simulateRequestUsage(sideRequests, calibration).map((usage, index): ReplayedRequest => ({
      ...{ ...namedModel, at: sideRequests[index]?.at ?? lastAt, usage },
      ...(index < charged && { isCharged: true }),
    }));
  });
  return [...main, ...side];
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
  const last = recorded.findLast(({ model }) => model !== undefined);
  const model = request?.['model'];
  return last ? { ...getModelAndSeller(last), at: last.at } : typeof model === 'string' ? { model } : {};
}

/** Calibrates from recorded usage, or else from the instructions, tools and the model's family. */
export function calibrateSession(
  conversation: Conversation,
  requests: readonly ConversationRequest[],
  { counter, prices }: AccountDependencies,
): RequestTokenCalibration {
  const { request = {}, recorded } = conversation;
  const counted = recorded?.requests.filter(hasUsage) ?? [];
  const namedModel = findLastUsedModel(conversation, recorded?.requests);
  const usages = new Map(counted.map(({ message, usage }) => [message, usage]));
  const pairs = requests.flatMap((each) => {
    const usage = usages.get(each.answer);
    return usage ? [{ request: each, usage }] : [];
  });
  const fitted = fitTokenCalibration(pairs);
  if (fitted) return fitted;
  const factor = findModelPrices(prices, namedModel)?.tokenFactor ?? 1;
  const declaredParts = [request['system'], request['tools']].filter((value) => value !== undefined);
  const fixed = factor * declaredParts.reduce<number>((sum, value) => sum + counter.countJson(value), 0);
  const isClaude = /claude/i.test(namedModel.model ?? '');
  return {
    // Too few requests for a regression: everything beyond the messages counts as overhead.
    fixed:
      pairs.length === 0
        ? fixed
        : Math.max(0, computeMedian(pairs.map((each) => countPromptTokens(each.usage) - factor * each.request.sent))),
    factor,
    outputFactor: factor,
    cacheShare: 1,
    accounting: isClaude ? 'anthropic' : 'openai',
    // Anthropic's default cache lifetime (API guide, "Prompt caching").
    cacheMs: 5 * 60_000,
    writes: isClaude ? 'short' : 'none',
  };
}

/**
 * Prefers the price table to the agent's figure. An agent that reports 0 for a model not known to
 * be free doesn't know the price.
 */
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
function thinOutValues(values: readonly number[], points: number): number[] {
  if (values.length <= points) return [...values];
  return Array.from({ length: points }, (_, index) => {
    const from = Math.floor((index * values.length) / points);
    const to = Math.floor(((index + 1) * values.length) / points);
    return Math.max(...values.slice(from, to));
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
  const largest = Math.max(0, ...prompts);
  const cost = compactions.reduce((sum, { message, tokensBefore = largest }) => {
    const summary = messages[message];
    const output = summary ? Math.round(factor * counter.countMessage(summary)) : 0;
    const read = Math.round(tokensBefore * cacheShare);
    return sum + (computeCallCost(makeReplayedUsage(tokensBefore, read, output, accounting, writes), knownPrices) ?? 0);
  }, 0);
  return { count, isEstimate: true, cost };
}
