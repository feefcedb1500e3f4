import { findKnownModel, type PriceTable } from '../api/prices';
import type { Vendor } from '../api/types';
import { makeConversationTitle, UNTITLED } from '../conversations/title';
import { rejectImplausibleUsage, type Usage, type UsageAccounting } from '../core/cost/usage';
import type { OverflowReport } from '../api/tooLong';
import { describeRefusalForLog } from '../api/refusalKind';
import { getErrorKind, getErrorMessage } from '../core/errors';
import { appendToView } from '../core/condense/edits/view';
import { editJson, type JsonEdit } from '../core/json/editJson';
import { getBlocks, isAnyThinking, isRecord } from '../core/messages/blocks';
import { SUMMARY_ORIGIN } from '../core/messages/firewall';
import { hasXmlCalls } from '../core/messages/xmlTools';
import { MARKER_START } from '../core/messages/markers';
import { findStartOfUnfinishedTurn } from '../core/messages/task';
import { markAnswersToTools } from '../core/messages/personsAnswers';
import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { ASSUMED_WINDOW_TOKENS } from '../core/vendors/families';
import { getCacheLifespan } from '../core/vendors/caches';
import { getRequestLimits } from '../core/vendors/requestLimits';
import type { AgentRequest, LiveId, PreparedRequest, UpstreamModel } from '../live/request';
import { countCommonPrefix } from '../live/align';
import type { ConversationSpending, PaidRequest } from '../live/conversationSpending';
import type { LiveConversationsApi } from '../live/types';
import { hasServerSideContextEdits, countTokensVendorMaySkip } from '../live/vendorReads';
import {
  UNCHANGED_HTTP_CALL,
  StoppedCallError,
  type AgentHttpCall,
  type GatewayCondenser,
  type PreparedHttpCall,
} from './condenser';
import { getAgentConversationId } from './identity';
import { DEFAULT_THRESHOLD_PERCENT, type CondensationThreshold } from '../core/condense/trigger/thresholds';
import { GatewayRunFigures, type GatewayRunSummary } from './runFigures';
import type { GatewaySummaries } from './summaries';
import { joinSentStartAndNewRest, makeStartOfSentRequest, type StartOfSentRequest } from './startOfSentRequest';
import type { RequestBody, WireName, WireRequest } from './wires/wire';
import { LruMap } from '../core/lruMap';

/**
 * Share of the window reserved for the answer. Agents request the model's maximum (32,000 to 64,000
 * tokens), which answers never reach.
 */
const MAX_RESERVED_PERCENT = 20;
/**
 * For vendors that count the requested answer against the window: its maximum share of the window,
 * and the percentage of the rest at which to condense.
 */
const MAX_COUNTED_WINDOW_SHARE = 0.5;
const COUNTED_THRESHOLD_PERCENT = 85;
/**
 * Share of a request rejected as too long that is assumed to fit if the rejection names no numbers.
 */
const RETRY_SIZE_SHARE = 0.9;
/**
 * A request without tools belongs to a known conversation if they share at least this many
 * messages, and these are at least half of the request.
 */
const MIN_COMMON_MESSAGES = 4;

export interface LiveCondenserOptions {
  readonly live: LiveConversationsApi;
  readonly counter: MessageCounter;
  readonly prices?: PriceTable;
  readonly addresses: ReadonlyMap<string, URL>;
  /** Window in tokens, for all models. Default: the window in the model table. */
  readonly window?: number;
  /** Window in tokens by model ID, from the agent's settings. */
  readonly windows?: ReadonlyMap<string, number>;
  readonly threshold?: CondensationThreshold;
  /**
   * True if agents were given the recall tool. Whether an agent has loaded it is read from each
   * request.
   */
  readonly canRecall?: boolean;
  /**
   * Lowercase names of tools with which the agent asks the user; absent if the agent is unknown.
   */
  readonly askingTools?: ReadonlySet<string>;
  readonly spending?: Pick<ConversationSpending, 'beginRequest'>;
  /**
   * Creates summarizers that call the conversation's own model; absent if no model may be called.
   */
  readonly summaries?: Pick<GatewaySummaries, 'createOwnModelLoader'>;
  readonly report?: (note: string) => void;
}

/**
 * The tool's name must follow our server's (`mcp__context-condenser__recall`), because agents have
 * similar tools (`kilo_local_recall`). Its description may contain the marker instead.
 */
const RECALL_TOOL_PATTERN = new RegExp(`condenser[^a-z]{0,4}recall(?![a-z])|${MARKER_START}`, 'i');

/**
 * Looks in each request, because subagents, and agents that did not wait for the MCP server, may
 * lack the tool. Codex mentions it only in the declaration of a tool that calls others.
 */
const offersRecallTool = ({ tools }: WireRequest): boolean => RECALL_TOOL_PATTERN.test(JSON.stringify(tools));

/**
 * Cline, Roo and Zoo Code write calls as XML. An answer without calls proves nothing, because
 * Gemini CLI sends the whole conversation to ask who speaks next (`nextSpeakerChecker.ts`).
 */
const isAgentTaskRequest = ({ tools, messages }: WireRequest): boolean => tools.length > 0 || hasXmlCalls(messages);

const NO_TOOL_NAMES: ReadonlySet<string> = new Set();

interface CondensationStep {
  readonly call: AgentHttpCall;
  readonly request: WireRequest;
  readonly agentRequest: AgentRequest;
  readonly paid?: PaidRequest | undefined;
}

export class LiveCondenser implements GatewayCondenser {
  private readonly figures = new GatewayRunFigures();
  private readonly ids = new Map<LiveId, string | undefined>();
  /** Conversations whose condensed form the vendor rejected, so that they are sent unchanged. */
  private readonly uncondensable = new Set<LiveId>();

  /**
   * By conversation, the message index up to which thinking is removed, for vendors that reject
   * thinking after changed content. Infinity until the next condensation.
   */
  private readonly thinkingRemovedUntil = new Map<LiveId, number>();
  private readonly heads = new LruMap<LiveId, StartOfSentConversation>(MAX_KEPT_REQUEST_STARTS);
  /** Keys of models whose vendor counts the requested answer against the window. */
  private readonly countsOutput = new Set<string>();

  /**
   * By model, the largest number of tokens of a side request that fits, learned from rejections.
   */
  private readonly sideRequestLimits = new Map<string, number>();

  private readonly bookings = new Set<Promise<unknown>>();

  constructor(private readonly options: LiveCondenserOptions) {}

  summary(): GatewayRunSummary {
    return this.figures.summarizeRun();
  }

  async waitUntilSettled(): Promise<void> {
    await Promise.all(this.bookings);
  }

  async prepare(call: AgentHttpCall, signal: AbortSignal): Promise<PreparedHttpCall | undefined> {
    const request = call.recognized.wire.read(call.read.body);
    if (!request || request.messages.length === 0) return undefined;
    if (call.recognized.purpose === 'count') return this.prepareTokenCount(call, request);
    if (isAgentTaskRequest(request))
      return this.makeCondensationStep(call, request, getAgentConversationId(call.headers), signal);
    // Requests for titles and checks are not part of a task, but the agent's own summary continues
    // one.
    const conversation = this.findContinuedConversation(request.messages);
    return conversation === undefined
      ? this.prepareSideRequest(call, request, signal)
      : this.makeCondensationStep(call, request, this.ids.get(conversation), signal);
  }

  /**
   * Forwards a side request unchanged, unless it quotes a long part of a task (as Gemini CLI's loop
   * check does) and does not fit.
   */
  private async prepareSideRequest(
    call: AgentHttpCall,
    request: WireRequest,
    signal: AbortSignal,
  ): Promise<PreparedHttpCall> {
    const { counter, spending } = this.options;
    const model = this.getUpstreamModel(call, request);
    // A token has at least one byte, so shorter bodies fit.
    const mayBeTooLong = call.read.bytes.length > model.contextWindow;
    const tokens = spending || mayBeTooLong ? counter.countMessages(request.messages) * (model.tokenFactor ?? 1) : 0;
    const tokensThatFit = this.sideRequestLimits.get(model.key) ?? model.contextWindow - (model.maxOutputTokens ?? 0);
    const shortenedRequest =
      mayBeTooLong && tokens > tokensThatFit
        ? await this.shortenSideRequest(call, request, undefined, signal)
        : undefined;
    const minReadTokens =
      shortenedRequest || !spending || hasServerSideContextEdits(call.read.body)
        ? undefined
        : counter.countMessages(request.messages) - countTokensVendorMaySkip(request.messages, counter);
    const paidRequest = await this.bookSpending(
      model,
      undefined,
      shortenedRequest?.prepared.tokens ?? tokens,
      shortenedRequest?.prepared.minReadTokens ?? minReadTokens,
    );
    const shortenedCall =
      shortenedRequest &&
      this.makeCallToSend(
        { call, request, agentRequest: shortenedRequest.agentRequest, paid: paidRequest },
        shortenedRequest.prepared,
        signal,
      );
    if (shortenedCall?.bytes) return shortenedCall;
    return {
      ...UNCHANGED_HTTP_CALL,
      shorten: async (overflow) => {
        const { tokens: reportedTokens = 0, limit = 0 } = overflow;
        const retryShare = limit > 0 && reportedTokens > limit ? limit / reportedTokens : RETRY_SIZE_SHARE;
        if (!overflow.weight && tokens > 0) this.sideRequestLimits.set(model.key, tokens * retryShare);
        const { agentRequest, prepared } = await this.shortenSideRequest(call, request, overflow, signal);
        const smallerCall = this.makeCallToSend({ call, request, agentRequest, paid: paidRequest }, prepared, signal);
        return smallerCall.bytes && smallerCall;
      },
      recordAnswer: (usage) => {
        paidRequest?.addUsage(usage);
        this.figures.addRequest({
          usage: rejectImplausibleUsage(usage, minReadTokens),
          tokens,
          prices: model.prices,
          savedTokens: 0,
          breaksCache: false,
        });
      },
      end: this.createEndHandler(paidRequest),
    };
  }

  private async shortenSideRequest(
    call: AgentHttpCall,
    request: WireRequest,
    overflowReport: OverflowReport | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly agentRequest: AgentRequest; readonly prepared: PreparedRequest }> {
    const { live, report } = this.options;
    // The request has no tools, so recall is impossible.
    const originalRequest = this.makeAgentRequest(call, request, `${getAgentConversationId(call.headers) ?? ''}/aside`);
    const agentRequest = { ...originalRequest, isSideRequest: true };
    const uncondensedRequest = await live.prepare(agentRequest, signal);
    const refusedRequest = { ...uncondensedRequest, countedTokens: this.countWholeTokens(uncondensedRequest) };
    const preparedRequest =
      (overflowReport && (await live.prepareAfterOverflow(refusedRequest, agentRequest, signal, overflowReport))) ??
      uncondensedRequest;
    for (const note of preparedRequest.notes) report?.(note);
    return { agentRequest, prepared: preparedRequest };
  }

  private createEndHandler(paidRequest: PaidRequest | undefined): PreparedHttpCall['end'] {
    return (isPaid) => {
      if (!paidRequest) return;
      // Never rejects, because write errors are reported.
      const settlement: Promise<unknown> = paidRequest.end(isPaid).then(() => this.bookings.delete(settlement));
      this.bookings.add(settlement);
    };
  }

  /** @throws StoppedCallError if a spending limit is reached */
  private async bookSpending(
    { key, prices, accounting }: UpstreamModel,
    conversation: string | undefined,
    tokens: number,
    minReadTokens: number | undefined,
  ): Promise<PaidRequest | undefined> {
    const unknownPrice = `The price of ${toDisplayableModelName(key)} is not known, so its requests do not count toward any spending limit.`;
    const model = { id: key, prices, accounting: accounting ?? 'openai', unknownPrice };
    try {
      return await this.options.spending?.beginRequest(model, conversation, tokens, minReadTokens);
    } catch (error) {
      throw new StoppedCallError(`Context Condenser: ${getErrorMessage(error)}`, { cause: error });
    }
  }

  private async makeCondensationStep(
    call: AgentHttpCall,
    request: WireRequest,
    conversationId: string | undefined,
    signal: AbortSignal,
  ): Promise<PreparedHttpCall> {
    const canRecall = this.options.canRecall === true ? offersRecallTool(request) : undefined;
    const originalRequest = this.makeAgentRequest(call, request, conversationId, canRecall);
    const extraTokens = -this.countThinkingLeftOut(originalRequest.messages);
    const agentRequest = {
      ...originalRequest,
      model: this.addSummarizer(call, request, originalRequest.model),
      extraTokens,
    };
    const preparedRequest = await this.options.live.prepare(agentRequest, signal);
    this.ids.set(preparedRequest.conversation, conversationId);
    for (const note of preparedRequest.notes) this.options.report?.(note);
    // Groups an agent and its subagents if they share an ID.
    const { conversation, tokens, minReadTokens } = preparedRequest;
    const paidRequest = await this.bookSpending(
      agentRequest.model,
      conversationId ?? conversation,
      tokens,
      minReadTokens,
    );
    return this.makeCallToSend({ call, request, agentRequest, paid: paidRequest }, preparedRequest, signal);
  }

  private makeAgentRequest(
    call: AgentHttpCall,
    request: WireRequest,
    conversationId: string | undefined,
    canRecall?: boolean,
  ): AgentRequest {
    const title = makeConversationTitle(request.messages);
    return {
      ...(conversationId !== undefined && { conversationId }),
      ...(title !== UNTITLED && { title }),
      ...(request.system !== undefined && { system: request.system }),
      messages: markAnswersToTools(this.options.askingTools ?? NO_TOOL_NAMES, request.messages),
      tools: request.tools,
      ...(hasServerSideContextEdits(call.read.body) && { isTransformedByVendor: true }),
      model: this.getUpstreamModel(call, request),
      ...(canRecall !== undefined && { canRecall }),
    };
  }

  private addSummarizer(call: AgentHttpCall, request: WireRequest, model: UpstreamModel): UpstreamModel {
    const { summaries } = this.options;
    const id = getModelId(call, request);
    return summaries && id !== undefined
      ? { ...model, summarizer: summaries.createOwnModelLoader(call, { ...model, id }) }
      : model;
  }

  private makeCallToSend(
    step: CondensationStep,
    preparedRequest: PreparedRequest,
    signal: AbortSignal,
  ): PreparedHttpCall {
    const { live, report } = this.options;
    const { conversation } = preparedRequest;
    this.forgetThinkingBeforeCondensation(preparedRequest);
    let bytes: Buffer | undefined;
    try {
      bytes = this.uncondensable.has(conversation) ? undefined : this.writeBody(step, preparedRequest);
    } catch (error) {
      report?.(`A view could not be written, the request went out as it came: ${getErrorKind(error)}`);
    }
    return {
      bytes,
      shorten: async (overflow) => {
        const { tokens = Infinity, limit = 0 } = overflow;
        if (tokens < limit) this.countsOutput.add(step.agentRequest.model.key);
        const { summarizer } = step.agentRequest.model;
        const model = this.getUpstreamModel(step.call, step.request);
        const agentRequest = { ...step.agentRequest, model: { ...model, ...(summarizer && { summarizer }) } };
        const smallerRequest = await live.prepareAfterOverflow(preparedRequest, agentRequest, signal, overflow);
        if (!smallerRequest) return undefined;
        const smallerCall = this.makeCallToSend({ ...step, agentRequest }, smallerRequest, signal);
        // If only the space reserved for the answer changed, the body may be the same as before.
        return smallerCall.bytes && !(bytes && smallerCall.bytes.equals(bytes)) ? smallerCall : undefined;
      },
      dropThinking: () => {
        // Thinking was already removed, or the original is sent, whose thinking must stay.
        if (!bytes || this.thinkingRemovedUntil.has(conversation)) return undefined;
        this.thinkingRemovedUntil.set(conversation, Infinity);
        const callWithoutThinking = this.makeCallToSend(step, preparedRequest, signal);
        return callWithoutThinking.bytes && !callWithoutThinking.bytes.equals(bytes) ? callWithoutThinking : undefined;
      },
      revertToOriginal: (refusalText) => ({
        ...UNCHANGED_HTTP_CALL,
        recordAnswer: (usage) => {
          // Only the success of the original proves that the vendor rejected the view: if the
          // account is empty, both fail.
          this.uncondensable.add(conversation);
          report?.(
            `The vendor refused a condensed conversation, which is left alone from now on (${describeRefusalForLog(refusalText)}).`,
          );
          this.recordAnswer(step, preparedRequest, false, usage);
        },
      }),
      recordAnswer: (usage) => {
        this.recordAnswer(step, preparedRequest, bytes !== undefined, usage);
      },
      end: this.createEndHandler(step.paid),
    };
  }

  private recordAnswer(
    { agentRequest, paid: paidRequest }: CondensationStep,
    preparedRequest: PreparedRequest,
    isCondensed: boolean,
    usage: Usage | undefined,
  ): void {
    paidRequest?.addUsage(usage);
    const { live } = this.options;
    const { conversation } = preparedRequest;
    // A condensation removes all earlier thinking, so the view may lack thinking that was still
    // counted with the request.
    const leftOutTokens = isCondensed ? this.countThinkingLeftOutOfView(preparedRequest) : 0;
    const countedTokens =
      (isCondensed ? preparedRequest.countedTokens : this.countWholeTokens(preparedRequest)) -
      (agentRequest.extraTokens ?? 0) -
      leftOutTokens;
    live.recordAnswer({ ...preparedRequest, countedTokens }, usage);
    live.recordUsage(preparedRequest, usage);
    const tokenFactor = preparedRequest.countedTokens > 0 ? preparedRequest.tokens / preparedRequest.countedTokens : 1;
    const savedTokens = isCondensed ? this.countWholeTokens(preparedRequest) - preparedRequest.countedTokens : 0;
    this.figures.addRequest({
      conversation,
      usage: rejectImplausibleUsage(usage, preparedRequest.minReadTokens),
      tokens: countedTokens * tokenFactor,
      prices: agentRequest.model.prices,
      savedTokens: Math.max(0, Math.round(savedTokens * tokenFactor)),
      breaksCache: preparedRequest.outcome?.kind === 'condensed',
    });
  }

  private writeBody({ call, request }: CondensationStep, preparedRequest: PreparedRequest): Buffer | undefined {
    const { conversation, messages: view, origins, edits } = preparedRequest;
    if (edits.length === 0) return undefined;
    const thinkingEnd = this.thinkingRemovedUntil.get(conversation) ?? 0;
    const keptHead = this.heads.get(conversation);
    const lastHead = keptHead?.thinkingEnd === thinkingEnd ? keptHead.head : undefined;
    const head = makeStartOfSentRequest(
      call.recognized.wire,
      call.read,
      request,
      preparedRequest,
      lastHead,
      (message, origin) => (origin < thinkingEnd ? dropThinkingBlocks(message) : message),
    );
    // While thinking is removed from all messages, new messages are changed too, so the sent start
    // can't be reused.
    if (thinkingEnd === Infinity) this.heads.delete(conversation);
    else this.heads.set(conversation, { head, thinkingEnd });
    const body = joinSentStartAndNewRest(head, call.read);
    return hasLostThinkingAtTurnStart(view, origins, thinkingEnd) ? removeThinkingBudget(body, call.read.body) : body;
  }

  /**
   * After a condensation, the thinking of all earlier messages is removed, because the content
   * before it has changed, which some vendors check.
   */
  private forgetThinkingBeforeCondensation({ conversation, original, outcome }: PreparedRequest): void {
    const thinkingEnd = this.thinkingRemovedUntil.get(conversation);
    if (thinkingEnd === undefined || (thinkingEnd !== Infinity && outcome?.kind !== 'condensed')) return;
    this.thinkingRemovedUntil.set(conversation, original.length);
  }

  /** o200k tokens of the thinking that will be left out of the conversation's view. */
  private countThinkingLeftOut(messages: readonly ApiMessage[]): number {
    const conversation = this.thinkingRemovedUntil.size > 0 ? this.findContinuedConversation(messages) : undefined;
    const liveView =
      conversation === undefined || this.uncondensable.has(conversation)
        ? undefined
        : this.options.live.view(conversation);
    return conversation === undefined || !liveView ? 0 : this.countThinkingLeftOutOfView({ ...liveView, conversation });
  }

  private countThinkingLeftOutOfView({
    conversation,
    messages,
    origins,
  }: Pick<PreparedRequest, 'conversation' | 'messages' | 'origins'>): number {
    const { counter } = this.options;
    const thinkingEnd = this.thinkingRemovedUntil.get(conversation) ?? 0;
    return messages.reduce(
      (tokensSoFar, message, index) =>
        (origins[index] ?? SUMMARY_ORIGIN) < thinkingEnd && dropThinkingBlocks(message) !== message
          ? tokensSoFar +
            getBlocks(message).reduce((all, block) => all + (isAnyThinking(block) ? counter.countBlock(block) : 0), 0)
          : tokensSoFar,
      0,
    );
  }

  private countWholeTokens({ original, messages, countedTokens }: PreparedRequest): number {
    const { counter } = this.options;
    return countedTokens + counter.countMessages(original) - counter.countMessages(messages);
  }

  /** Token-count requests are answered for the view as last sent; they never condense. */
  private prepareTokenCount(call: AgentHttpCall, request: WireRequest): PreparedHttpCall | undefined {
    const { live } = this.options;
    const conversation = this.findContinuedConversation(request.messages);
    const liveView =
      conversation === undefined || this.uncondensable.has(conversation) ? undefined : live.view(conversation);
    if (!liveView || liveView.edits.length === 0) return undefined;
    const { original } = liveView;
    // Only messages at the end may be new.
    if (countCommonPrefix(original, request.messages) < original.length) return undefined;
    const view = appendToView(liveView, [...original, ...request.messages.slice(original.length)]);
    return {
      ...UNCHANGED_HTTP_CALL,
      bytes: joinSentStartAndNewRest(
        makeStartOfSentRequest(call.recognized.wire, call.read, request, view, undefined),
        call.read,
      ),
    };
  }

  private findContinuedConversation(messages: readonly ApiMessage[]): LiveId | undefined {
    const { live } = this.options;
    let bestMatch: { readonly id: LiveId; readonly common: number } | undefined;
    for (const id of this.ids.keys()) {
      const commonCount = countCommonPrefix(live.view(id)?.original ?? [], messages);
      if (
        commonCount >= MIN_COMMON_MESSAGES &&
        commonCount * 2 >= messages.length &&
        commonCount > (bestMatch?.common ?? 0)
      )
        bestMatch = { id, common: commonCount };
    }
    return bestMatch?.id;
  }

  private getUpstreamModel({ route, recognized, read }: AgentHttpCall, request: WireRequest): UpstreamModel {
    const { prices, addresses, window, windows, threshold = { percent: DEFAULT_THRESHOLD_PERCENT } } = this.options;
    const model = getModelId({ recognized }, request) ?? 'unknown';
    const { vendor, accounting } = VENDOR_BY_WIRE[recognized.wire.name];
    const baseUrl = addresses.get(route)?.href;
    const modelFacts = findKnownModel(prices, { vendor, model, ...(baseUrl !== undefined && { baseUrl }) });
    const windowTokens = window ?? windows?.get(model) ?? modelFacts.contextWindow ?? ASSUMED_WINDOW_TOKENS;
    const { maxOutputTokens: requestedOutput } = request;
    const key = `${route}/${model}`;
    const reservedTokens =
      requestedOutput !== undefined && this.countsOutput.has(key)
        ? Math.min(requestedOutput, windowTokens * MAX_COUNTED_WINDOW_SHARE)
        : 0;
    const contextWindow = Math.floor(windowTokens - reservedTokens);
    const host = addresses.get(route)?.hostname;
    const isLongCache = asksForLongCache(read.body);
    // A cached prompt starts with the tools, so a side request without them neither uses nor
    // refreshes the cache.
    const cacheSpan = isAgentTaskRequest(request)
      ? getCacheLifespan({ vendor, model, host, ...(isLongCache && { lifetime: '1h' }) })
      : undefined;
    return {
      key,
      vendor,
      contextWindow,
      ...(requestedOutput !== undefined && {
        maxOutputTokens: Math.min(requestedOutput, Math.floor((contextWindow * MAX_RESERVED_PERCENT) / 100)),
      }),
      tokenFactor: modelFacts.tokenFactor,
      ...(modelFacts.prices && { prices: modelFacts.prices }),
      accounting,
      cacheLifetime: isLongCache ? '1h' : '5m',
      ...(cacheSpan && { cacheSpan }),
      limits: getRequestLimits(vendor, model, host),
      threshold:
        reservedTokens === 0
          ? threshold
          : {
              ...threshold,
              percent: Math.min(COUNTED_THRESHOLD_PERCENT, (windowTokens * threshold.percent) / contextWindow),
            },
    };
  }
}

const getModelId = (
  { recognized }: Pick<AgentHttpCall, 'recognized'>,
  { model = recognized.model }: WireRequest,
): string | undefined => model;

/** The key comes from the request, so it is only shown if it is plausible as a model name. */
const toDisplayableModelName = (key: string): string => (/^[\w.:@/+-]{1,120}$/.test(key) ? key : 'a model');

interface StartOfSentConversation {
  readonly head: StartOfSentRequest;
  readonly thinkingEnd: number;
}

/** Equals the number of conversations that the engine keeps. */
const MAX_KEPT_REQUEST_STARTS = 20;

function dropThinkingBlocks(message: ApiMessage): ApiMessage {
  const { role, content } = message;
  if (role !== 'assistant' || typeof content === 'string') return message;
  const blocksWithoutThinking = content.filter((block) => !isAnyThinking(block));
  return blocksWithoutThinking.length === 0 || blocksWithoutThinking.length === content.length
    ? message
    : { ...message, content: blocksWithoutThinking };
}

/** True if the open turn's first answer is sent without its initial thinking. */
function hasLostThinkingAtTurnStart(
  view: readonly ApiMessage[],
  origins: readonly number[],
  thinkingEnd: number,
): boolean {
  const answerIndex = findStartOfUnfinishedTurn(view) + 1;
  const firstAnswer = view[answerIndex];
  if (firstAnswer?.role !== 'assistant' || (origins[answerIndex] ?? SUMMARY_ORIGIN) >= thinkingEnd) return false;
  return getBlocks(firstAnswer).slice(0, 1).some(isAnyThinking) && dropThinkingBlocks(firstAnswer) !== firstAnswer;
}

/**
 * With a thinking budget, Anthropic rejects a turn of calls that does not start with thinking ("To
 * avoid this requirement, disable `thinking`."). Without thinking, it rejects settings that clear
 * thinking ("`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive").
 */
function removeThinkingBudget(bytes: Buffer, { thinking, context_management: management }: RequestBody): Buffer {
  if (!isRecord(thinking) || thinking['type'] !== 'enabled') return bytes;
  const clearingEditIndexes = toUnknownList(isRecord(management) ? management['edits'] : undefined).flatMap(
    (edit, at) => (isRecord(edit) && edit['type'] === 'clear_thinking_20251015' ? [at] : []),
  );
  const edits: readonly JsonEdit[] = [
    { path: ['thinking'], json: '{"type":"disabled"}' },
    ...clearingEditIndexes.map((at): JsonEdit => ({ path: ['context_management', 'edits', at], removed: true })),
  ];
  return Buffer.from(editJson(bytes.toString(), edits));
}

/**
 * True if any of the agent's cache breakpoints requests one hour (Anthropic API guide, "Prompt
 * caching").
 */
function asksForLongCache({ system, tools, messages }: RequestBody): boolean {
  const messageContents = toUnknownList(messages).map((message) =>
    isRecord(message) ? message['content'] : undefined,
  );
  return [system, tools, ...messageContents].some((blocks) => toUnknownList(blocks).some(isLongCacheMark));
}

const toUnknownList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];

function isLongCacheMark(block: unknown): boolean {
  const mark = isRecord(block) ? block['cache_control'] : undefined;
  return isRecord(mark) && mark['ttl'] === '1h';
}

/** Vendor whose prices and accounting apply if the URL is the vendor's own, by wire format. */
const VENDOR_BY_WIRE: Readonly<Record<WireName, { readonly vendor: Vendor; readonly accounting: UsageAccounting }>> = {
  anthropic: { vendor: 'anthropic', accounting: 'anthropic' },
  chat: { vendor: 'openai', accounting: 'openai' },
  responses: { vendor: 'openai', accounting: 'openai' },
  gemini: { vendor: 'gemini', accounting: 'openai' },
};
