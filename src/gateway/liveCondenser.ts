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
import { joinSentStartAndNewRest, makeStartOfSentRequest, type StartOfSentRequest } from './sentHead';
import type { RequestBody, WireName, WireRequest } from './wires/wire';
import { LruMap } from '../core/lruMap';

/**
 * Limits the share of the window reserved for the answer: agents request the model's maximum
 * (32,000 to 64,000 tokens), which answers never reach.
 */
const MAX_RESERVED_PERCENT = 20;
/**
 * For vendors that count the requested answer against the window: maximum share reserved for it,
 * and percentage of the rest at which to condense.
 */
const MAX_COUNTED_WINDOW_SHARE = 0.5;
const COUNTED_THRESHOLD_PERCENT = 85;
/**
 * Share of a request rejected as too long that is assumed to fit if the rejection names no numbers.
 */
const RETRY_SIZE_SHARE = 0.9;
/**
 * A request without tools belongs to a known conversation if it shares this many messages and half
 * of its own.
 */
const MIN_COMMON_MESSAGES = 4;

export interface LiveCondenserOptions {
  readonly live: LiveConversationsApi;
  readonly counter: MessageCounter;
  readonly prices?: PriceTable;
  readonly addresses: ReadonlyMap<string, URL>;
  /** Tokens of every model's window. Default: from the model table. */
  readonly window?: number;
  /** Tokens by model ID, from the agent's settings. */
  readonly windows?: ReadonlyMap<string, number>;
  readonly threshold?: CondensationThreshold;
  /**
   * True if agents were given the recall tool. Each request shows whether the agent has loaded it.
   */
  readonly canRecall?: boolean;
  /** Lowercase names of tools that ask the user; absent if the agent is unknown. */
  readonly askingTools?: ReadonlySet<string>;
  readonly spending?: Pick<ConversationSpending, 'beginRequest'>;
  /** Absent if no model may be called. */
  readonly summaries?: Pick<GatewaySummaries, 'createOwnModelLoader'>;
  readonly report?: (note: string) => void;
}

/**
 * Matches our recall tool by its name with the server's (`mcp__context-condenser__recall`), or by
 * the marker in its description. Agents have similarly named tools (Kilo's `kilo_local_recall`).
 */
const RECALL_TOOL_PATTERN = new RegExp(`condenser[^a-z]{0,4}recall(?![a-z])|${MARKER_START}`, 'i');

/**
 * Agents that did not wait for the MCP server, and subagents, may lack the recall tool. Codex
 * mentions it only in the declaration of a tool that calls others.
 */
const offersRecallTool = ({ tools }: WireRequest): boolean => RECALL_TOOL_PATTERN.test(JSON.stringify(tools));

/**
 * A step of a task declares tools, or has calls as XML (Cline, Roo and Zoo Code). An answer without
 * calls proves nothing: Gemini CLI sends the whole conversation to ask who speaks next
 * (`nextSpeakerChecker.ts`).
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
  /** The vendor rejected the condensed form of these conversations. */
  private readonly uncondensable = new Set<LiveId>();

  /**
   * For vendors that reject thinking after changed content: index up to which to remove thinking.
   */
  private readonly thinkingRemovedUntil = new Map<LiveId, number>();
  private readonly heads = new LruMap<LiveId, StartOfSentConversation>(MAX_KEPT_REQUEST_STARTS);
  /** Models whose vendor counts the requested answer against the window. */
  private readonly countsOutput = new Set<string>();

  /** Tokens of side requests that fit each model, learned from rejections. */
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
    // Requests for titles and checks are not part of a task, but the agent's own summary is.
    const conversation = this.findContinuedConversation(request.messages);
    return conversation === undefined
      ? this.prepareSideRequest(call, request, signal)
      : this.makeCondensationStep(call, request, this.ids.get(conversation), signal);
  }

  /**
   * Forwards a side request unchanged, unless it quotes a long part of a task (Gemini CLI's loop
   * check has its last twenty messages) and does not fit.
   */
  private async prepareSideRequest(
    call: AgentHttpCall,
    request: WireRequest,
    signal: AbortSignal,
  ): Promise<PreparedHttpCall> {
    const { counter, spending } = this.options;
    const model = this.getUpstreamModel(call, request);
    // A token has at least one byte.
    const isLong = call.read.bytes.length > model.contextWindow;
    const tokens = spending || isLong ? counter.countMessages(request.messages) * (model.tokenFactor ?? 1) : 0;
    const fitting = this.sideRequestLimits.get(model.key) ?? model.contextWindow - (model.maxOutputTokens ?? 0);
    const shortened =
      isLong && tokens > fitting ? await this.shortenSideRequest(call, request, undefined, signal) : undefined;
    const minReadTokens =
      shortened || !spending || hasServerSideContextEdits(call.read.body)
        ? undefined
        : counter.countMessages(request.messages) - countTokensVendorMaySkip(request.messages, counter);
    const paid = await this.bookSpending(
      model,
      undefined,
      shortened?.prepared.tokens ?? tokens,
      shortened?.prepared.minReadTokens ?? minReadTokens,
    );
    const sent =
      shortened &&
      this.makeCallToSend({ call, request, agentRequest: shortened.agentRequest, paid }, shortened.prepared, signal);
    if (sent?.bytes) return sent;
    return {
      ...UNCHANGED_HTTP_CALL,
      shortened: async (overflow) => {
        const { tokens: reported = 0, limit = 0 } = overflow;
        const share = limit > 0 && reported > limit ? limit / reported : RETRY_SIZE_SHARE;
        if (!overflow.weight && tokens > 0) this.sideRequestLimits.set(model.key, tokens * share);
        const { agentRequest, prepared } = await this.shortenSideRequest(call, request, overflow, signal);
        const smaller = this.makeCallToSend({ call, request, agentRequest, paid }, prepared, signal);
        return smaller.bytes && smaller;
      },
      answered: (usage) => {
        paid?.addUsage(usage);
        this.figures.addRequest({
          usage: rejectImplausibleUsage(usage, minReadTokens),
          tokens,
          prices: model.prices,
          savedTokens: 0,
          breaksCache: false,
        });
      },
      end: this.createEndHandler(paid),
    };
  }

  private async shortenSideRequest(
    call: AgentHttpCall,
    request: WireRequest,
    overflow: OverflowReport | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly agentRequest: AgentRequest; readonly prepared: PreparedRequest }> {
    const { live, report } = this.options;
    // The request has no tools, so recall is impossible.
    const about = this.makeAgentRequest(call, request, `${getAgentConversationId(call.headers) ?? ''}/aside`);
    const agentRequest = { ...about, isSideRequest: true };
    const uncondensed = await live.prepare(agentRequest, signal);
    const refused = { ...uncondensed, countedTokens: this.countWholeTokens(uncondensed) };
    const prepared =
      (overflow && (await live.prepareAfterOverflow(refused, agentRequest, signal, overflow))) ?? uncondensed;
    for (const note of prepared.notes) report?.(note);
    return { agentRequest, prepared };
  }

  private createEndHandler(paid: PaidRequest | undefined): PreparedHttpCall['end'] {
    return (isPaid) => {
      if (!paid) return;
      // Never rejects: write errors are reported.
      const ended: Promise<unknown> = paid.end(isPaid).then(() => this.bookings.delete(ended));
      this.bookings.add(ended);
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
    const about = this.makeAgentRequest(call, request, conversationId, canRecall);
    const extraTokens = -this.countThinkingLeftOut(about.messages);
    const agentRequest = { ...about, model: this.addSummarizer(call, request, about.model), extraTokens };
    const prepared = await this.options.live.prepare(agentRequest, signal);
    this.ids.set(prepared.conversation, conversationId);
    for (const note of prepared.notes) this.options.report?.(note);
    // Groups an agent and its subagents if they share an ID.
    const { conversation, tokens, minReadTokens } = prepared;
    const paid = await this.bookSpending(agentRequest.model, conversationId ?? conversation, tokens, minReadTokens);
    return this.makeCallToSend({ call, request, agentRequest, paid }, prepared, signal);
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

  private makeCallToSend(step: CondensationStep, prepared: PreparedRequest, signal: AbortSignal): PreparedHttpCall {
    const { live, report } = this.options;
    const { conversation } = prepared;
    this.forgetThinkingBeforeCondensation(prepared);
    let bytes: Buffer | undefined;
    try {
      bytes = this.uncondensable.has(conversation) ? undefined : this.writeBody(step, prepared);
    } catch (error) {
      report?.(`A view could not be written, the request went out as it came: ${getErrorKind(error)}`);
    }
    return {
      bytes,
      shortened: async (overflow) => {
        const { tokens = Infinity, limit = 0 } = overflow;
        if (tokens < limit) this.countsOutput.add(step.agentRequest.model.key);
        const { summarizer } = step.agentRequest.model;
        const model = this.getUpstreamModel(step.call, step.request);
        const agentRequest = { ...step.agentRequest, model: { ...model, ...(summarizer && { summarizer }) } };
        const smaller = await live.prepareAfterOverflow(prepared, agentRequest, signal, overflow);
        if (!smaller) return undefined;
        const sent = this.makeCallToSend({ ...step, agentRequest }, smaller, signal);
        // With less reserved for the answer the prompt may be unchanged.
        return sent.bytes && !(bytes && sent.bytes.equals(bytes)) ? sent : undefined;
      },
      withoutThinking: () => {
        // The vendor is known to reject thinking, or the agent wants the original thinking.
        if (!bytes || this.thinkingRemovedUntil.has(conversation)) return undefined;
        this.thinkingRemovedUntil.set(conversation, Infinity);
        const sent = this.makeCallToSend(step, prepared, signal);
        return sent.bytes && !sent.bytes.equals(bytes) ? sent : undefined;
      },
      asItCame: (refusalText) => ({
        ...UNCHANGED_HTTP_CALL,
        answered: (usage) => {
          // Only success proves that the view was rejected: an empty account fails either way.
          this.uncondensable.add(conversation);
          report?.(
            `The vendor refused a condensed conversation, which is left alone from now on (${describeRefusalForLog(refusalText)}).`,
          );
          this.recordAnswer(step, prepared, false, usage);
        },
      }),
      answered: (usage) => {
        this.recordAnswer(step, prepared, bytes !== undefined, usage);
      },
      end: this.createEndHandler(step.paid),
    };
  }

  private recordAnswer(
    { agentRequest, paid }: CondensationStep,
    prepared: PreparedRequest,
    isCondensed: boolean,
    usage: Usage | undefined,
  ): void {
    paid?.addUsage(usage);
    const { live } = this.options;
    const { conversation } = prepared;
    // A condensation removes all earlier thinking, so the view may lack more of it than the request
    // when it was counted.
    const leftOut = isCondensed ? this.countLeftOut(prepared) : 0;
    const counted =
      (isCondensed ? prepared.countedTokens : this.countWholeTokens(prepared)) -
      (agentRequest.extraTokens ?? 0) -
      leftOut;
    live.recordAnswer({ ...prepared, countedTokens: counted }, usage);
    live.recordUsage(prepared, usage);
    const factor = prepared.countedTokens > 0 ? prepared.tokens / prepared.countedTokens : 1;
    const saved = isCondensed ? this.countWholeTokens(prepared) - prepared.countedTokens : 0;
    this.figures.addRequest({
      conversation,
      usage: rejectImplausibleUsage(usage, prepared.minReadTokens),
      tokens: counted * factor,
      prices: agentRequest.model.prices,
      savedTokens: Math.max(0, Math.round(saved * factor)),
      breaksCache: prepared.outcome?.kind === 'condensed',
    });
  }

  private writeBody({ call, request }: CondensationStep, prepared: PreparedRequest): Buffer | undefined {
    const { conversation, messages: view, origins, edits } = prepared;
    if (edits.length === 0) return undefined;
    const thinkingEnd = this.thinkingRemovedUntil.get(conversation) ?? 0;
    const kept = this.heads.get(conversation);
    const last = kept?.thinkingEnd === thinkingEnd ? kept.head : undefined;
    const head = makeStartOfSentRequest(call.recognized.wire, call.read, request, prepared, last, (message, origin) =>
      origin < thinkingEnd ? dropThinkingBlocks(message) : message,
    );
    // Until the vendor has said how far back thinking goes, new messages change too.
    if (thinkingEnd === Infinity) this.heads.delete(conversation);
    else this.heads.set(conversation, { head, thinkingEnd });
    const body = joinSentStartAndNewRest(head, call.read);
    return hasLostThinkingAtTurnStart(view, origins, thinkingEnd) ? removeThinkingBudget(body, call.read.body) : body;
  }

  /** A condensation changes what precedes earlier thinking, which some vendors check. */
  private forgetThinkingBeforeCondensation({ conversation, original, outcome }: PreparedRequest): void {
    const thinkingEnd = this.thinkingRemovedUntil.get(conversation);
    if (thinkingEnd === undefined || (thinkingEnd !== Infinity && outcome?.kind !== 'condensed')) return;
    this.thinkingRemovedUntil.set(conversation, original.length);
  }

  /** o200k tokens of the thinking that will be left out of the conversation's view. */
  private countThinkingLeftOut(messages: readonly ApiMessage[]): number {
    const recognized = this.thinkingRemovedUntil.size > 0 ? this.findContinuedConversation(messages) : undefined;
    const shown =
      recognized === undefined || this.uncondensable.has(recognized) ? undefined : this.options.live.view(recognized);
    return recognized === undefined || !shown ? 0 : this.countLeftOut({ ...shown, conversation: recognized });
  }

  private countLeftOut({
    conversation,
    messages,
    origins,
  }: Pick<PreparedRequest, 'conversation' | 'messages' | 'origins'>): number {
    const { counter } = this.options;
    const thinkingEnd = this.thinkingRemovedUntil.get(conversation) ?? 0;
    return messages.reduce(
      (sum, message, index) =>
        (origins[index] ?? SUMMARY_ORIGIN) < thinkingEnd && dropThinkingBlocks(message) !== message
          ? sum +
            getBlocks(message).reduce((all, block) => all + (isAnyThinking(block) ? counter.countBlock(block) : 0), 0)
          : sum,
      0,
    );
  }

  private countWholeTokens({ original, messages, countedTokens }: PreparedRequest): number {
    const { counter } = this.options;
    return countedTokens + counter.countMessages(original) - counter.countMessages(messages);
  }

  /** Token-count requests show the view as last sent; they never condense. */
  private prepareTokenCount(call: AgentHttpCall, request: WireRequest): PreparedHttpCall | undefined {
    const { live } = this.options;
    const conversation = this.findContinuedConversation(request.messages);
    const shown =
      conversation === undefined || this.uncondensable.has(conversation) ? undefined : live.view(conversation);
    if (!shown || shown.edits.length === 0) return undefined;
    const { original } = shown;
    // Only messages at the end may be new.
    if (countCommonPrefix(original, request.messages) < original.length) return undefined;
    const view = appendToView(shown, [...original, ...request.messages.slice(original.length)]);
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
    let best: { readonly id: LiveId; readonly common: number } | undefined;
    for (const id of this.ids.keys()) {
      const common = countCommonPrefix(live.view(id)?.original ?? [], messages);
      if (common >= MIN_COMMON_MESSAGES && common * 2 >= messages.length && common > (best?.common ?? 0))
        best = { id, common };
    }
    return best?.id;
  }

  private getUpstreamModel({ route, recognized, read }: AgentHttpCall, request: WireRequest): UpstreamModel {
    const { prices, addresses, window, windows, threshold = { percent: DEFAULT_THRESHOLD_PERCENT } } = this.options;
    const model = getModelId({ recognized }, request) ?? 'unknown';
    const { vendor, accounting } = VENDOR_BY_WIRE[recognized.wire.name];
    const baseUrl = addresses.get(route)?.href;
    const facts = findKnownModel(prices, { vendor, model, ...(baseUrl !== undefined && { baseUrl }) });
    const windowTokens = window ?? windows?.get(model) ?? facts.contextWindow ?? ASSUMED_WINDOW_TOKENS;
    const { maxOutputTokens: requestedOutput } = request;
    const key = `${route}/${model}`;
    const forAnswer =
      requestedOutput !== undefined && this.countsOutput.has(key)
        ? Math.min(requestedOutput, windowTokens * MAX_COUNTED_WINDOW_SHARE)
        : 0;
    const contextWindow = Math.floor(windowTokens - forAnswer);
    const host = addresses.get(route)?.hostname;
    const isLong = asksForLongCache(read.body);
    // A cached prompt starts with the tools, so a side request without them neither uses nor
    // refreshes the cache.
    const cacheSpan = isAgentTaskRequest(request)
      ? getCacheLifespan({ vendor, model, host, ...(isLong && { lifetime: '1h' }) })
      : undefined;
    return {
      key,
      vendor,
      contextWindow,
      ...(requestedOutput !== undefined && {
        maxOutputTokens: Math.min(requestedOutput, Math.floor((contextWindow * MAX_RESERVED_PERCENT) / 100)),
      }),
      tokenFactor: facts.tokenFactor,
      ...(facts.prices && { prices: facts.prices }),
      accounting,
      cacheLifetime: isLong ? '1h' : '5m',
      ...(cacheSpan && { cacheSpan }),
      limits: getRequestLimits(vendor, model, host),
      threshold:
        forAnswer === 0
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

/** The key comes from the request, so only a plausible model name is shown. */
const toDisplayableModelName = (key: string): string => (/^[\w.:@/+-]{1,120}$/.test(key) ? key : 'a model');

interface StartOfSentConversation {
  readonly head: StartOfSentRequest;
  readonly thinkingEnd: number;
}

/** As many conversations as the engine keeps. */
const MAX_KEPT_REQUEST_STARTS = 20;

function dropThinkingBlocks(message: ApiMessage): ApiMessage {
  const { role, content } = message;
  if (role !== 'assistant' || typeof content === 'string') return message;
  const rest = content.filter((block) => !isAnyThinking(block));
  return rest.length === 0 || rest.length === content.length ? message : { ...message, content: rest };
}

/** True if the open turn's first answer is sent without its initial thinking. */
function hasLostThinkingAtTurnStart(
  view: readonly ApiMessage[],
  origins: readonly number[],
  thinkingEnd: number,
): boolean {
  const at = findStartOfUnfinishedTurn(view) + 1;
  const opening = view[at];
  if (opening?.role !== 'assistant' || (origins[at] ?? SUMMARY_ORIGIN) >= thinkingEnd) return false;
  return getBlocks(opening).slice(0, 1).some(isAnyThinking) && dropThinkingBlocks(opening) !== opening;
}

/**
 * Disables thinking for the rest of the turn if it has a budget, since Anthropic otherwise rejects
 * a turn of calls that does not start with thinking ("To avoid this requirement, disable
 * `thinking`."). Also removes settings that clear thinking ("`clear_thinking_20251015` strategy
 * requires `thinking` to be enabled or adaptive").
 */
function removeThinkingBudget(bytes: Buffer, { thinking, context_management: management }: RequestBody): Buffer {
  if (!isRecord(thinking) || thinking['type'] !== 'enabled') return bytes;
  const clearing = toUnknownList(isRecord(management) ? management['edits'] : undefined).flatMap((edit, at) =>
    isRecord(edit) && edit['type'] === 'clear_thinking_20251015' ? [at] : [],
  );
  const edits: readonly JsonEdit[] = [
    { path: ['thinking'], json: '{"type":"disabled"}' },
    ...clearing.map((at): JsonEdit => ({ path: ['context_management', 'edits', at], removed: true })),
  ];
  return Buffer.from(editJson(bytes.toString(), edits));
}

/**
 * True if any of the agent's cache breakpoints requests one hour (Anthropic API guide, "Prompt
 * caching").
 */
function asksForLongCache({ system, tools, messages }: RequestBody): boolean {
  const inMessages = toUnknownList(messages).map((message) => (isRecord(message) ? message['content'] : undefined));
  return [system, tools, ...inMessages].some((blocks) => toUnknownList(blocks).some(isLongCacheMark));
}

const toUnknownList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];

function isLongCacheMark(block: unknown): boolean {
  const mark = isRecord(block) ? block['cache_control'] : undefined;
  return isRecord(mark) && mark['ttl'] === '1h';
}

/** Vendor for prices and accounting if the URL is the vendor's own. */
const VENDOR_BY_WIRE: Readonly<Record<WireName, { readonly vendor: Vendor; readonly accounting: UsageAccounting }>> = {
  anthropic: { vendor: 'anthropic', accounting: 'anthropic' },
  chat: { vendor: 'openai', accounting: 'openai' },
  responses: { vendor: 'openai', accounting: 'openai' },
  gemini: { vendor: 'gemini', accounting: 'openai' },
};
