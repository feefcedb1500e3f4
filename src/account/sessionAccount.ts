/** The account of one stored session. */
import type { PriceTable } from '../api/prices';
import type { Conversation } from '../conversations/types';
import type { DayUsage, SessionAccount } from '../core/account/account';
import { compositionOf } from '../core/account/composition';
import type { RecordedCompaction, RecordedRequest } from '../core/account/recordedRequest';
import {
  calibrate,
  markedCompactions,
  median,
  replay,
  requestsIn,
  tokenSums,
  usageOf,
  type Calibration,
  type ConversationRequest,
} from '../core/account/replay';
import { callCost } from '../core/cost/callCost';
import { localDay } from '../core/localDay';
import { promptTokens, type Usage } from '../core/cost/usage';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { modelPrices, type NamedModel } from './models';

export interface AccountTools {
  readonly counter: MessageCounter;
  readonly prices: PriceTable;
}

export interface AccountedFile {
  readonly agent: string;
  readonly path: string;
  /** Milliseconds since the epoch: the day of what has no time of its own. */
  readonly modified: number;
}

/** A request with its usage, recorded or made again. */
interface AccountedRequest extends NamedModel {
  readonly usage: Usage;
  readonly recordedCost?: number | undefined;
}

/** How many points a sparkline has at most. */
const FILL_POINTS = 60;

/** @param conversation read with the history `all` */
export function accountSession(
  { agent, path, modified }: AccountedFile,
  conversation: Conversation,
  { counter, prices }: AccountTools,
): SessionAccount {
  const { messages, recorded } = conversation;
  const compactions = compactionsOf(conversation);
  const requests = requestsIn(messages, counter, compactions, recorded?.requests);
  const byMessage = new Map(recorded?.requests.map((request) => [request.message, request]));
  const counted = recorded?.requests.filter(hasUsage) ?? [];
  const isRecorded = counted.length > 0 || recorded?.isComplete === true;
  const named = namedModel(conversation, recorded?.requests);
  const calibration = calibrationOf(conversation, requests, { counter, prices });
  const accounted: readonly AccountedRequest[] = isRecorded
    ? counted
    : replay(requests, calibration).map((usage, index) => {
        const { answer, at } = requests[index] as ConversationRequest;
        const known = byMessage.get(answer);
        const outputTokens = known?.outputTokens ?? usage.outputTokens;
        return { ...named, ...modelOf(known), at: known?.at ?? at, usage: { ...usage, outputTokens } };
      });
  const prompts = accounted.map(({ usage }) => promptTokens(usage));
  const window =
    recorded?.requests.findLast((request) => request.window !== undefined)?.window ??
    modelPrices(prices, named)?.contextWindow;
  return {
    agent,
    path,
    id: conversation.id,
    title: conversation.title,
    ...(conversation.workspace !== undefined && { project: conversation.workspace }),
    source: isRecorded ? 'recorded' : 'replayed',
    usage: byDay(accounted, isRecorded ? oddIn(recorded) : [], modified, prices),
    ...(window !== undefined && { window }),
    fill: thinned(prompts, FILL_POINTS),
    compactions: compactionSum(conversation, compactions, counted, prompts, calibration, named, { counter, prices }),
    ...compositionOf(messages, requests, counter, Math.round(calibration.fixed / calibration.factor)),
  };
}

type CountedRequest = RecordedRequest & { readonly usage: Usage };

/** Requests that were made, and of which nothing else is known: they are told as ones without a price. */
const oddIn = (recorded: Conversation['recorded']): readonly RecordedRequest[] =>
  recorded?.requests.filter(({ isOdd }) => isOdd) ?? [];

const hasUsage = (request: RecordedRequest): request is CountedRequest => request.usage !== undefined;

const modelOf = (request: RecordedRequest | undefined): NamedModel => ({
  ...(request?.model !== undefined && { model: request.model }),
  ...(request?.seller !== undefined && { seller: request.seller }),
});

/** Where the agent's own compactions are: as it recorded them, or as its summaries tell. */
export const compactionsOf = ({ recorded, messages }: Conversation): readonly RecordedCompaction[] =>
  recorded?.compactions ?? markedCompactions(messages);

/** The model that answered last, or that the conversation's own document names. */
export function namedModel({ request }: Conversation, recorded: readonly RecordedRequest[] = []): NamedModel {
  const last = recorded.findLast(({ model }) => model !== undefined);
  const model = request?.['model'];
  return last ? { ...modelOf(last), at: last.at } : typeof model === 'string' ? { model } : {};
}

/** By what was recorded; else by the conversation's own instructions and tools, and the model's family. */
export function calibrationOf(
  conversation: Conversation,
  requests: readonly ConversationRequest[],
  { counter, prices }: AccountTools,
): Calibration {
  const { request = {}, recorded } = conversation;
  const counted = recorded?.requests.filter(hasUsage) ?? [];
  const named = namedModel(conversation, recorded?.requests);
  const usages = new Map(counted.map(({ message, usage }) => [message, usage]));
  const pairs = requests.flatMap((each) => {
    const usage = usages.get(each.answer);
    return usage ? [{ request: each, usage }] : [];
  });
  const fitted = calibrate(pairs);
  if (fitted) return fitted;
  const factor = modelPrices(prices, named)?.tokenFactor ?? 1;
  const declared = [request['system'], request['tools']].filter((value) => value !== undefined);
  const fixed = factor * declared.reduce<number>((sum, value) => sum + counter.json(value), 0);
  const isClaude = /claude/i.test(named.model ?? '');
  return {
    // Too few requests for a line: what the prompts held beyond the messages.
    fixed:
      pairs.length === 0
        ? fixed
        : Math.max(0, median(pairs.map((each) => promptTokens(each.usage) - factor * each.request.sent))),
    factor,
    outputFactor: factor,
    cacheShare: 1,
    accounting: isClaude ? 'anthropic' : 'openai',
    // Anthropic's shorter lifetime (API guide, "Prompt caching"), at which agents write unless they ask for more.
    cacheMs: 5 * 60_000,
    writes: isClaude ? 'short' : 'none',
  };
}

function byDay(
  requests: readonly AccountedRequest[],
  odd: readonly RecordedRequest[],
  modified: number,
  prices: PriceTable,
): DayUsage[] {
  const days = new Map<string, { -readonly [Key in keyof DayUsage]: DayUsage[Key] }>();
  const sumOf = (named: NamedModel) => {
    const day = localDay(named.at ?? modified);
    const key = `${day}\n${named.model ?? ''}`;
    const sum = days.get(key) ?? {
      day,
      ...(named.model !== undefined && { model: named.model }),
      ...{ requests: 0, fresh: 0, cacheWrite: 0, cacheRead: 0, output: 0, cost: 0, unpriced: 0 },
    };
    days.set(key, sum);
    return sum;
  };
  for (const { usage, recordedCost, ...named } of requests) {
    const sum = sumOf(named);
    const cost = costOf(usage, recordedCost, named, prices);
    sum.requests += 1;
    sum.cost += cost ?? 0;
    if (cost === undefined) sum.unpriced += 1;
    const tokens = tokenSums(usage);
    sum.fresh += tokens.fresh;
    sum.cacheWrite += tokens.cacheWrite;
    sum.cacheRead += tokens.cacheRead;
    sum.output += tokens.output;
  }
  for (const request of odd) {
    const sum = sumOf(request);
    sum.requests += 1;
    sum.unpriced += 1;
  }
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}

/** By the price table, else the agent's own reckoning. An agent that says 0 of a model that isn't called free knows no price. */
function costOf(
  usage: Usage,
  recordedCost: number | undefined,
  named: NamedModel,
  prices: PriceTable,
): number | undefined {
  const cost = callCost(usage, modelPrices(prices, named)?.prices);
  if (cost !== undefined) return cost;
  const isFree = /[-:]free$/i.test(named.model ?? '');
  return recordedCost !== undefined && (recordedCost > 0 || isFree) ? recordedCost : undefined;
}

/** The largest of each stretch, so that a chart of many requests keeps its peaks. */
function thinned(values: readonly number[], points: number): number[] {
  if (values.length <= points) return [...values];
  return Array.from({ length: points }, (_, index) => {
    const from = Math.floor((index * values.length) / points);
    const to = Math.floor(((index + 1) * values.length) / points);
    return Math.max(...values.slice(from, to));
  });
}

/**
 * The cost of the agent's own compactions. Few agents record it; else it is one more request with the context before, read from the
 * cache, that the summary answered.
 */
function compactionSum(
  { messages }: Conversation,
  compactions: readonly { readonly message: number; readonly tokensBefore?: number }[],
  counted: readonly CountedRequest[],
  prompts: readonly number[],
  { factor, accounting, cacheShare, writes }: Calibration,
  named: NamedModel,
  { counter, prices }: AccountTools,
): SessionAccount['compactions'] {
  const count = compactions.length;
  const own = counted.filter(({ purpose }) => purpose === 'compaction');
  if (own.length > 0) {
    const costs = own.map(({ usage, recordedCost, ...model }) => costOf(usage, recordedCost, model, prices));
    const known = costs.filter((cost) => cost !== undefined);
    const cost = known.length === costs.length ? known.reduce((sum, each) => sum + each, 0) : undefined;
    return { count, isEstimate: false, ...(cost !== undefined && { cost }) };
  }
  const known = modelPrices(prices, named)?.prices;
  if (count === 0 || !known) return { count, isEstimate: true };
  const largest = Math.max(0, ...prompts);
  const cost = compactions.reduce((sum, { message, tokensBefore = largest }) => {
    const summary = messages[message];
    const output = summary ? Math.round(factor * counter.message(summary)) : 0;
    const read = Math.round(tokensBefore * cacheShare);
    return sum + (callCost(usageOf(tokensBefore, read, output, accounting, writes), known) ?? 0);
  }, 0);
  return { count, isEstimate: true, cost };
}
