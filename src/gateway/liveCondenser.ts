/** The engine behind the gateway: live conversations, with the bodies of the wires on one side and their views on the other. */
import { knownModel, type PriceTable } from '../api/prices';
import type { Vendor } from '../api/types';
import { titleOf, UNTITLED } from '../conversations/title';
import { plausibleUsage, type Usage, type UsageAccounting } from '../core/cost/usage';
import type { Overflow } from '../api/tooLong';
import { refusalKind } from '../api/refusalKind';
import { errorKind, errorMessage } from '../core/errors';
import { editJson, type JsonEdit } from '../core/json/editJson';
import { getBlocks, isRecord } from '../core/messages/blocks';
import { SUMMARY_ORIGIN } from '../core/messages/firewall';
import { hasXmlCalls } from '../core/messages/xmlTools';
import { MARKER_START } from '../core/messages/markers';
import { turnStart } from '../core/messages/task';
import { markAnswers } from '../core/messages/personsAnswers';
import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { ASSUMED_WINDOW } from '../core/vendors/families';
import { getCacheSpan } from '../core/vendors/caches';
import { getRequestLimits } from '../core/vendors/requestLimits';
import type { AgentRequest, LiveId, PreparedRequest, UpstreamModel } from '../live/request';
import { commonPrefix } from '../live/align';
import type { ConversationSpending, PaidRequest } from '../live/conversationSpending';
import type { LiveConversationsApi } from '../live/types';
import { isReadOtherwise, optionalTokens } from '../live/vendorReads';
import { AS_IT_CAME, StoppedCall, type AgentCall, type Condenser, type PreparedCall } from './condenser';
import { getConversationId } from './identity';
import { DEFAULT_THRESHOLD_PERCENT, type Threshold } from '../core/condense/trigger/thresholds';
import { RunFigures, type RunSummary } from './runFigures';
import type { Summaries } from './summaries';
import { onto, sentHead, type SentHead } from './sentHead';
import { isThinking, type Body, type WireName, type WireRequest } from './wires/wire';

/**
 * Of the window that is kept free for an answer. Agents ask for as much as the model can ever give (32,000 to 64,000), and
 * no answer has it; where a vendor insists, it says so, and the request is made shorter.
 */
const MAX_RESERVED_PERCENT = 20;
/**
 * Where a vendor refuses a prompt for the answer that is asked for beside it, that much of the window is never the prompt's,
 * though not more than this share; and this percentage of what is left for the prompt is where a conversation is due at the latest.
 */
const MAX_COUNTED_SHARE = 0.5;
const COUNTED_THRESHOLD_PERCENT = 85;
/** Of a request that was refused as too long without two figures to compare, the share that is taken for one that fits. */
const REFUSED_SHARE = 0.9;
/** A request without tools is a step of a known conversation where so many messages are its own, and at least half of them. */
const MIN_COMMON = 4;

export interface LiveCondenserOptions {
  readonly live: LiveConversationsApi;
  readonly counter: MessageCounter;
  /** Absent: costs are not known. */
  readonly prices?: PriceTable;
  /** Where each route goes, for the prices. */
  readonly addresses: ReadonlyMap<string, URL>;
  /** Window of every model, in its tokens; absent: what the table of models says. */
  readonly window?: number;
  /** Windows that the agent's settings give to models, by the model's id. */
  readonly windows?: ReadonlyMap<string, number>;
  /** When a conversation is due. */
  readonly threshold?: Threshold;
  /** Whether the agents were given the tool that asks for what was taken out; default false. Each request says whether it is there. */
  readonly canRecall?: boolean;
  /** The names, in lower case, of the tools with which the agent asks a person; absent: nobody knows which agent it is. */
  readonly askingTools?: ReadonlySet<string>;
  /** The user's limits; absent: none. */
  readonly spending?: Pick<ConversationSpending, 'begin'>;
  /** Lets conversations be summarized by their own models; absent: no model is asked. */
  readonly summaries?: Pick<Summaries, 'ownModel'>;
  /** Takes notes for a person; they hold no content. */
  readonly report?: (note: string) => void;
}

/**
 * Our tool that recalls, under the name that its agent makes of the server's and its own (`mcp__context-condenser__recall`), or by its
 * description, which names a marker. Agents have others of that name (Kilo's `kilo_local_recall`).
 */
const RECALL = new RegExp(`condenser[^a-z]{0,4}recall(?![a-z])|${MARKER_START}`, 'i');

/**
 * Whether a request offers the tool that recalls, in its declarations or in the description of a tool that calls others (Codex). An agent
 * that did not wait for the server that has it works without, and so may a subagent.
 */
const offersRecall = ({ tools }: WireRequest): boolean => RECALL.test(JSON.stringify(tools));

/**
 * Whether a request by itself is a step of a task: it declares tools, or its agent writes their calls into the text (Cline, Roo and Zoo Code
 * with models that have no native tools). Answers without a call are no sign, though they are one in the chat, where other extensions have no
 * such requests: Gemini CLI asks with all that was said who speaks next (its `nextSpeakerChecker.ts`), and that is no step.
 */
const isOfTask = ({ tools, messages }: WireRequest): boolean => tools.length > 0 || hasXmlCalls(messages);

const NO_TOOLS: ReadonlySet<string> = new Set();

/** A call, its messages, and what the engine was asked. */
interface Step {
  readonly call: AgentCall;
  readonly request: WireRequest;
  readonly asked: AgentRequest;
  /** Absent where nobody counts what it costs. */
  readonly paid?: PaidRequest | undefined;
}

/** Condenses the calls of agents by their live conversations. */
export class LiveCondenser implements Condenser {
  private readonly figures = new RunFigures();
  /** The agent's id of each conversation. */
  private readonly ids = new Map<LiveId, string | undefined>();
  /** Conversations whose condensed form a vendor refused: they are not condensed any more. */
  private readonly leftAlone = new Set<LiveId>();

  /** Conversations whose vendor does not take thinking back behind what was changed: up to which message it goes. */
  private readonly unthought = new Map<LiveId, number>();
  /** The beginning of what was last sent of a conversation. */
  private readonly heads = new Map<LiveId, KeptHead>();
  /** Models whose vendor refused a prompt that would have fitted but for the answer that was asked for. */
  private readonly countsOutput = new Set<string>();

  /** Tokens, as they are guessed here, of which a request of no conversation fits into a model's window by what its vendor has said. */
  private readonly fittingAside = new Map<string, number>();

  /** What is being written down of ended requests. */
  private readonly bookings = new Set<Promise<unknown>>();

  constructor(private readonly options: LiveCondenserOptions) {}

  summary(): RunSummary {
    return this.figures.summary();
  }

  /** Resolves once the cost of all that has ended is written down. */
  async settled(): Promise<void> {
    await Promise.all(this.bookings);
  }

  async prepare(call: AgentCall, signal: AbortSignal): Promise<PreparedCall | undefined> {
    const request = call.known.wire.read(call.read.body);
    if (!request || request.messages.length === 0) return undefined;
    if (call.known.purpose === 'count') return this.counted(call, request);
    if (isOfTask(request)) return this.step(call, request, getConversationId(call.headers), signal);
    // Titles, checks and probes are none of a task; an agent's own summary of a long one is.
    const known = this.continued(request.messages);
    return known === undefined
      ? this.aside(call, request, signal)
      : this.step(call, request, this.ids.get(known), signal);
  }

  /**
   * A request of no conversation goes out as it came; what it costs counts for the day. One that holds a long piece of a task (Gemini
   * CLI's check for loops has its last twenty messages) and does not fit is shortened, as a conversation of its own.
   */
  private async aside(call: AgentCall, request: WireRequest, signal: AbortSignal): Promise<PreparedCall> {
    const { counter, spending } = this.options;
    const model = this.modelOf(call, request);
    // No token has less than a byte.
    const isLong = call.read.bytes.length > model.contextWindow;
    const tokens = spending || isLong ? counter.messages(request.messages) * (model.tokenFactor ?? 1) : 0;
    const fitting = this.fittingAside.get(model.key) ?? model.contextWindow - (model.maxOutputTokens ?? 0);
    const short = isLong && tokens > fitting ? await this.shortened(call, request, undefined, signal) : undefined;
    const mustRead =
      short || !spending || isReadOtherwise(call.read.body)
        ? undefined
        : counter.messages(request.messages) - optionalTokens(request.messages, counter);
    const paid = await this.booked(
      model,
      undefined,
      short?.prepared.tokens ?? tokens,
      short?.prepared.mustRead ?? mustRead,
    );
    const sent = short && this.toSend({ call, request, asked: short.asked, paid }, short.prepared, signal);
    if (sent?.bytes) return sent;
    return {
      ...AS_IT_CAME,
      shortened: async (overflow) => {
        const { tokens: told = 0, limit = 0 } = overflow;
        const share = limit > 0 && told > limit ? limit / told : REFUSED_SHARE;
        if (!overflow.weight && tokens > 0) this.fittingAside.set(model.key, tokens * share);
        const { asked, prepared } = await this.shortened(call, request, overflow, signal);
        const smaller = this.toSend({ call, request, asked, paid }, prepared, signal);
        return smaller.bytes && smaller;
      },
      answered: (usage) => {
        paid?.used(usage);
        this.figures.add({
          usage: plausibleUsage(usage, mustRead),
          tokens,
          prices: model.prices,
          savedTokens: 0,
          breaksCache: false,
        });
      },
      end: this.ending(paid),
    };
  }

  /**
   * A request of no conversation, made shorter where it can be.
   * @param overflow what the vendor said of its length, where it was refused.
   */
  private async shortened(
    call: AgentCall,
    request: WireRequest,
    overflow: Overflow | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly asked: AgentRequest; readonly prepared: PreparedRequest }> {
    const { live, report } = this.options;
    // It has no tools: nothing can be recalled.
    const about = this.askedOf(call, request, `${getConversationId(call.headers) ?? ''}/aside`);
    const asked = { ...about, isAside: true };
    const whole = await live.prepare(asked, signal);
    // What was refused is all of it.
    const refused = { ...whole, countedTokens: this.wholeTokens(whole) };
    const prepared = (overflow && (await live.tooLong(refused, asked, signal, overflow))) ?? whole;
    for (const note of prepared.notes) report?.(note);
    return { asked, prepared };
  }

  /** Ends a request's booking. */
  private ending(paid: PaidRequest | undefined): PreparedCall['end'] {
    return (isPaid) => {
      if (!paid) return;
      // It never fails: what can't be written down is told.
      const ended: Promise<unknown> = paid.end(isPaid).then(() => this.bookings.delete(ended));
      this.bookings.add(ended);
    };
  }

  /** @throws StoppedCall where no more is to be spent. */
  private async booked(
    { key, prices, accounting }: UpstreamModel,
    conversation: string | undefined,
    tokens: number,
    mustRead: number | undefined,
  ): Promise<PaidRequest | undefined> {
    const unknownPrice = `The price of ${nameIn(key)} is not known, so its requests do not count towards any spending limit.`;
    const model = { id: key, prices, accounting: accounting ?? 'openai', unknownPrice };
    try {
      return await this.options.spending?.begin(model, conversation, tokens, mustRead);
    } catch (error) {
      throw new StoppedCall(`Context Condenser: ${errorMessage(error)}`, { cause: error });
    }
  }

  private async step(
    call: AgentCall,
    request: WireRequest,
    conversationId: string | undefined,
    signal: AbortSignal,
  ): Promise<PreparedCall> {
    const canRecall = this.options.canRecall === true ? offersRecall(request) : undefined;
    const about = this.askedOf(call, request, conversationId, canRecall);
    const asked = { ...about, model: this.summarizing(call, request, about.model) };
    const prepared = await this.options.live.prepare(asked, signal);
    this.ids.set(prepared.conversation, conversationId);
    for (const note of prepared.notes) this.options.report?.(note);
    // Of an agent and its subagents, where they have one id.
    const { conversation, tokens, mustRead } = prepared;
    const paid = await this.booked(asked.model, conversationId ?? conversation, tokens, mustRead);
    return this.toSend({ call, request, asked, paid }, prepared, signal);
  }

  private askedOf(
    call: AgentCall,
    request: WireRequest,
    conversationId: string | undefined,
    canRecall?: boolean,
  ): AgentRequest {
    const title = titleOf(request.messages);
    return {
      ...(conversationId !== undefined && { conversationId }),
      ...(title !== UNTITLED && { title }),
      ...(request.system !== undefined && { system: request.system }),
      messages: markAnswers(this.options.askingTools ?? NO_TOOLS, request.messages),
      tools: request.tools,
      ...(isReadOtherwise(call.read.body) && { isReadOtherwise: true }),
      model: this.modelOf(call, request),
      ...(canRecall !== undefined && { canRecall }),
    };
  }

  /** The model of a task's step, which may be asked for a summary, too. */
  private summarizing(call: AgentCall, request: WireRequest, model: UpstreamModel): UpstreamModel {
    const { summaries } = this.options;
    const id = idIn(call, request);
    return summaries && id !== undefined ? { ...model, summarizer: summaries.ownModel(call, { ...model, id }) } : model;
  }

  private toSend(step: Step, prepared: PreparedRequest, signal: AbortSignal): PreparedCall {
    const { live, report } = this.options;
    const { conversation } = prepared;
    this.forgetThinking(prepared);
    let bytes: Buffer | undefined;
    try {
      bytes = this.leftAlone.has(conversation) ? undefined : this.written(step, prepared);
    } catch (error) {
      report?.(`A view could not be written, the request went out as it came: ${errorKind(error)}`);
    }
    return {
      bytes,
      shortened: async (overflow) => {
        const { tokens = Infinity, limit = 0 } = overflow;
        if (tokens < limit) this.countsOutput.add(step.asked.model.key);
        const { summarizer } = step.asked.model;
        const model = this.modelOf(step.call, step.request);
        const asked = { ...step.asked, model: { ...model, ...(summarizer && { summarizer }) } };
        const smaller = await live.tooLong(prepared, asked, signal, overflow);
        if (!smaller) return undefined;
        const sent = this.toSend({ ...step, asked }, smaller, signal);
        // With less room for an answer the prompt may be what it was, but the answer that the agent asks for stays.
        return sent.bytes && !(bytes && sent.bytes.equals(bytes)) ? sent : undefined;
      },
      withoutThinking: () => {
        // A model that minds is known by now, and what came has its thinking as the agent wants it.
        if (!bytes || this.unthought.has(conversation)) return undefined;
        this.unthought.set(conversation, Infinity);
        const sent = this.toSend(step, prepared, signal);
        return sent.bytes && !sent.bytes.equals(bytes) ? sent : undefined;
      },
      asItCame: (words) => ({
        ...AS_IT_CAME,
        answered: (usage) => {
          // Only now it is known that it was the view: an empty account or a wrong parameter is refused either way.
          this.leftAlone.add(conversation);
          report?.(
            `The vendor refused a condensed conversation, which is left alone from now on (${refusalKind(words)}).`,
          );
          this.answered(step, prepared, false, usage);
        },
      }),
      answered: (usage) => {
        this.answered(step, prepared, bytes !== undefined, usage);
      },
      end: this.ending(step.paid),
    };
  }

  /** @param isView whether the view was sent, or what came. */
  private answered({ asked, paid }: Step, prepared: PreparedRequest, isView: boolean, usage: Usage | undefined): void {
    paid?.used(usage);
    const { live } = this.options;
    const { conversation } = prepared;
    const counted = isView ? prepared.countedTokens : this.wholeTokens(prepared);
    live.answered({ ...prepared, countedTokens: counted }, usage);
    live.used(prepared, usage);
    const factor = prepared.countedTokens > 0 ? prepared.tokens / prepared.countedTokens : 1;
    const saved = isView ? this.wholeTokens(prepared) - prepared.countedTokens : 0;
    this.figures.add({
      conversation,
      usage: plausibleUsage(usage, prepared.mustRead),
      tokens: (isView ? prepared.countedTokens : this.wholeTokens(prepared)) * factor,
      prices: asked.model.prices,
      savedTokens: Math.max(0, Math.round(saved * factor)),
      breaksCache: prepared.outcome?.kind === 'condensed',
    });
  }

  /** The body with the view in it; undefined where the view is what came. */
  private written({ call, request }: Step, prepared: PreparedRequest): Buffer | undefined {
    const { conversation, original, messages: view, origins, edits } = prepared;
    if (edits.length === 0) return undefined;
    const until = this.unthought.get(conversation) ?? 0;
    const kept = this.heads.get(conversation);
    const last = kept?.until === until ? kept.head : undefined;
    const head = sentHead(call.known.wire, call.read, request, { original, view, origins }, last, (message, origin) =>
      origin < until ? withoutThinking(message) : message,
    );
    // Until the vendor has told how far thinking goes back, what is new is changed, too.
    if (until === Infinity) this.heads.delete(conversation);
    else this.keep(conversation, { head, until });
    const body = onto(head, call.read);
    return hasLostOpening(view, origins, until) ? withoutBudget(body, call.read.body) : body;
  }

  private keep(conversation: LiveId, head: KeptHead): void {
    this.heads.delete(conversation);
    this.heads.set(conversation, head);
    const [oldest] = this.heads.keys();
    if (oldest !== undefined && this.heads.size > MAX_HEADS) this.heads.delete(oldest);
  }

  /** A condensation changes what stood before the thinking so far: of a model that minds, it goes, what it thinks later stays. */
  private forgetThinking({ conversation, original, outcome }: PreparedRequest): void {
    const until = this.unthought.get(conversation);
    if (until === undefined || (until !== Infinity && outcome?.kind !== 'condensed')) return;
    this.unthought.set(conversation, original.length);
  }

  /** O200k tokens of a request, had nothing been taken out. */
  private wholeTokens({ original, messages, countedTokens }: PreparedRequest): number {
    const { counter } = this.options;
    return countedTokens + counter.messages(original) - counter.messages(messages);
  }

  /** A request that only asks for its size is shown as it was last sent; nothing is condensed for it. */
  private counted(call: AgentCall, request: WireRequest): PreparedCall | undefined {
    const { live } = this.options;
    const known = this.continued(request.messages);
    const shown = known === undefined || this.leftAlone.has(known) ? undefined : live.view(known);
    if (!shown || shown.edits.length === 0) return undefined;
    const { original, view, origins } = shown;
    // Only where nothing but the newest messages is new.
    if (commonPrefix(original, request.messages) < original.length) return undefined;
    const added = request.messages.slice(original.length);
    const whole = {
      original: [...original, ...added],
      view: [...view, ...added],
      origins: [...origins, ...added.map((_, index) => original.length + index)],
    };
    return { ...AS_IT_CAME, bytes: onto(sentHead(call.known.wire, call.read, request, whole, undefined), call.read) };
  }

  /** The conversation that messages go on from, or look back on. */
  private continued(messages: readonly ApiMessage[]): LiveId | undefined {
    const { live } = this.options;
    let best: { readonly id: LiveId; readonly common: number } | undefined;
    for (const id of this.ids.keys()) {
      const common = commonPrefix(live.view(id)?.original ?? [], messages);
      if (common >= MIN_COMMON && common * 2 >= messages.length && common > (best?.common ?? 0)) best = { id, common };
    }
    return best?.id;
  }

  private modelOf({ route, known, read }: AgentCall, request: WireRequest): UpstreamModel {
    const { prices, addresses, window, windows, threshold = { percent: DEFAULT_THRESHOLD_PERCENT } } = this.options;
    const model = idIn({ known }, request) ?? 'unknown';
    const { vendor, accounting } = VENDORS[known.wire.name];
    const baseUrl = addresses.get(route)?.href;
    const facts = knownModel(prices, { vendor, model, ...(baseUrl !== undefined && { baseUrl }) });
    const whole = window ?? windows?.get(model) ?? facts.contextWindow ?? ASSUMED_WINDOW;
    const { maxOutputTokens: asked } = request;
    const key = `${route}/${model}`;
    const forAnswer =
      asked !== undefined && this.countsOutput.has(key) ? Math.min(asked, whole * MAX_COUNTED_SHARE) : 0;
    const contextWindow = Math.floor(whole - forAnswer);
    const host = addresses.get(route)?.hostname;
    const isLong = asksForLongCache(read.body);
    // A cached prompt begins with the tools, where a task has some: what is asked beside it without them reads nothing of the task's, and
    // says nothing of it.
    const cacheSpan = isOfTask(request)
      ? getCacheSpan({ vendor, model, host, ...(isLong && { lifetime: '1h' }) })
      : undefined;
    return {
      key,
      vendor,
      contextWindow,
      ...(asked !== undefined && {
        maxOutputTokens: Math.min(asked, Math.floor((contextWindow * MAX_RESERVED_PERCENT) / 100)),
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
          : { ...threshold, percent: Math.min(COUNTED_THRESHOLD_PERCENT, (whole * threshold.percent) / contextWindow) },
    };
  }
}

/** The model's id: in the body, or in the address. */
const idIn = ({ known }: Pick<AgentCall, 'known'>, { model = known.model }: WireRequest): string | undefined => model;

/** A model's name for a person: it comes from the request, where anything may stand in its place. */
const nameIn = (key: string): string => (/^[\w.:@/+-]{1,120}$/.test(key) ? key : 'a model');

/** A head that the next request may go on from. */
interface KeptHead {
  readonly head: SentHead;
  /** Up to which message thinking was left out. */
  readonly until: number;
}

/** Conversations whose heads are kept, as many as the engine keeps. */
const MAX_HEADS = 20;

/** A message without its thinking, where it says something else. */
function withoutThinking(message: ApiMessage): ApiMessage {
  const { role, content } = message;
  if (role !== 'assistant' || typeof content === 'string') return message;
  const rest = content.filter((block) => !isThinking(block));
  return rest.length === 0 || rest.length === content.length ? message : { ...message, content: rest };
}

/** Whether the answer that the open turn began with goes out without the thinking that it began with. */
function hasLostOpening(view: readonly ApiMessage[], origins: readonly number[], until: number): boolean {
  const at = turnStart(view) + 1;
  const opening = view[at];
  if (opening?.role !== 'assistant' || (origins[at] ?? SUMMARY_ORIGIN) >= until) return false;
  return getBlocks(opening).slice(0, 1).some(isThinking) && withoutThinking(opening) !== opening;
}

/**
 * The body with thinking switched off for the rest of the turn, where it had a budget: Anthropic refuses a turn of calls that does not begin with
 * thinking then, and names the way out ("To avoid this requirement, disable `thinking`."). What clears thinking goes with it
 * ("`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive").
 */
function withoutBudget(bytes: Buffer, { thinking, context_management: management }: Body): Buffer {
  if (!isRecord(thinking) || thinking['type'] !== 'enabled') return bytes;
  const clearing = toList(isRecord(management) ? management['edits'] : undefined).flatMap((edit, at) =>
    isRecord(edit) && edit['type'] === 'clear_thinking_20251015' ? [at] : [],
  );
  const edits: readonly JsonEdit[] = [
    { path: ['thinking'], json: '{"type":"disabled"}' },
    ...clearing.map((at): JsonEdit => ({ path: ['context_management', 'edits', at], removed: true })),
  ];
  return Buffer.from(editJson(bytes.toString(), edits));
}

/** Whether one of an agent's cache marks asks for an hour (Anthropic API guide, "Prompt caching"). */
function asksForLongCache({ system, tools, messages }: Body): boolean {
  const inMessages = toList(messages).map((message) => (isRecord(message) ? message['content'] : undefined));
  return [system, tools, ...inMessages].some((blocks) => toList(blocks).some(isLongMark));
}

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);

function isLongMark(block: unknown): boolean {
  const mark = isRecord(block) ? block['cache_control'] : undefined;
  return isRecord(mark) && mark['ttl'] === '1h';
}

/** Whose prices hold where the address is the vendor's own, and how it counts. */
const VENDORS: Readonly<Record<WireName, { readonly vendor: Vendor; readonly accounting: UsageAccounting }>> = {
  anthropic: { vendor: 'anthropic', accounting: 'anthropic' },
  chat: { vendor: 'openai', accounting: 'openai' },
  responses: { vendor: 'openai', accounting: 'openai' },
  gemini: { vendor: 'gemini', accounting: 'openai' },
};
