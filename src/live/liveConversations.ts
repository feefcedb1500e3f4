import { systemClock, type Clock } from '../api/clock';
import type { CondensationManager, CondensationOutcome } from '../core/condense';
import type { EditId } from '../core/condense/edits/edits';
import type { UseAfter } from '../core/condense/report/use';
import { callCost } from '../core/cost/callCost';
import type { Usage } from '../core/cost/usage';
import type { Overflow } from '../api/tooLong';
import { errorKind } from '../core/errors';
import { betweenSteps } from '../core/betweenSteps';
import { orAborted } from '../core/orAborted';
import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { StorageOptions } from '../storage/ledgerStore';
import {
  condensationsOf,
  pinCommand,
  redoCommand,
  toggleCommand,
  undoCommand,
  unpinCommand,
  type Command,
} from './commands';
import { answeredLast } from './cacheState';
import { Condensing } from './condensing';
import { expandInput } from './expandInput';
import { isOnArrival } from '../core/condense/ledger/ledger';
import type { LiveConversation } from './liveConversation';
import type {
  CommandResult,
  ExpandedInput,
  LiveConversationsApi,
  LiveParts,
  LiveSettings,
  LiveSummary,
  LiveView,
  RecallQuery,
  RecallResult,
} from './types';
import { recall } from './recall';
import { Registry } from './registry';
import { TokenLearning } from './tokenLearning';
import { MESSAGE_CACHE_MARKS, type AgentRequest, type LiveId, type PreparedRequest } from './request';
import type { LiveEvent } from './events';
import { takenOut, type Shown } from './followEdits';
import { duePointOf } from './tokenLearning';
import { isOfImages, requestBytes } from './weight';
import { toolWeights } from './toolWeights';
import { formatTokens, namesOfCondensations } from '../core/condense/report/report';

export interface LiveOptions {
  readonly manager: CondensationManager;
  readonly counter: MessageCounter;
  /** Folder of the ledgers. */
  readonly root: string;
  /** Asked anew for each request. */
  readonly settings: () => LiveSettings;
  readonly clock?: Clock;
  readonly storage?: Partial<StorageOptions>;
}

/** The conversations that agents have in this host. Nothing here knows VS Code. */
export class LiveConversations implements LiveConversationsApi {
  private readonly parts: LiveParts;
  private readonly registry: Registry;
  private readonly condensing: Condensing;
  private readonly listeners = new Set<(event: LiveEvent) => void>();

  constructor({ manager, counter, root, settings, clock = systemClock, storage = {} }: LiveOptions) {
    const emit = (event: LiveEvent): void => {
      for (const listener of this.listeners) listener(event);
    };
    this.parts = { manager, counter, settings, clock, learning: new TokenLearning(), emit };
    this.registry = new Registry(root, storage, this.parts);
    this.condensing = new Condensing(this.parts);
  }

  async prepare(request: AgentRequest, signal?: AbortSignal): Promise<PreparedRequest> {
    const conversation = await orAborted(this.registry.find(request, signal), signal);
    return conversation.exclusive(async () => {
      let outcome: CondensationOutcome | undefined;
      const notes: string[] = [];
      try {
        await conversation.follow({ ...request, model: this.parts.learning.known(request.model) });
        this.condenseArrivals(conversation, request, notes);
        await betweenSteps(signal);
        outcome = await this.condensing.condenseIfDue(conversation, signal);
      } catch (error) {
        signal?.throwIfAborted();
        // Whatever it is, it must not cost the user the task.
        notes.push(`The request was not condensed: ${errorKind(error)}`);
        this.parts.emit({ kind: 'problem', conversation: conversation.id, message: notes[0] ?? '' });
      }
      return this.prepared(conversation, outcome, notes);
    }, signal);
  }

  /** Takes a conversation in as it is, without condensing it: after a restart its ledger tells what was condensed. */
  async follow(request: AgentRequest): Promise<LiveId> {
    const conversation = await this.registry.find(request);
    await conversation.exclusive(() =>
      conversation.follow({ ...request, model: this.parts.learning.known(request.model) }),
    );
    this.changed(conversation);
    return conversation.id;
  }

  /** A failure here costs a saving only, and must not keep back a condensation without which the request would not fit. */
  private condenseArrivals(conversation: LiveConversation, { canRecall }: AgentRequest, notes: string[]): void {
    try {
      this.condensing.condenseArrivals(conversation, canRecall === true);
    } catch (error) {
      const note = `New results were not condensed: ${errorKind(error)}`;
      notes.push(note);
      this.parts.emit({ kind: 'problem', conversation: conversation.id, message: note });
    }
  }

  async tooLong(
    prepared: PreparedRequest,
    request: AgentRequest,
    signal?: AbortSignal,
    overflow: Overflow = {},
  ): Promise<PreparedRequest | undefined> {
    const conversation = this.registry.get(prepared.conversation);
    if (!conversation) return undefined;
    const { learning } = this.parts;
    const { weight } = overflow;
    if (!weight) learning.refused(request.model, prepared.countedTokens, overflow);
    return conversation.exclusive(async () => {
      await conversation.follow({ ...request, model: learning.known(request.model) });
      if (weight) {
        learning.tooHeavy(request.model, requestBytes(conversation.weighed), weight);
        const lighter = await this.condensing.takeWeight(conversation, signal);
        if (lighter) return this.prepared(conversation, lighter, []);
        // No other content makes an image smaller.
        if (isOfImages(weight)) return undefined;
      }
      // The prompt alone would have fitted: with what is known now, less is asked for the answer.
      const { tokens = Infinity, limit = 0 } = overflow;
      const fits = tokens < limit && this.condensing.isFitting(conversation);
      const counted = conversation.countedTokens;
      const isExact = overflow.tokens !== undefined;
      const outcome = fits ? undefined : await this.condensing.condenseFurther(conversation, isExact, signal);
      if (!fits && conversation.countedTokens >= Math.min(counted, prepared.countedTokens)) return undefined;
      return this.prepared(conversation, outcome, []);
    }, signal);
  }

  /** O200k tokens of a request as it came, with all that belongs to it. */
  count({ messages, system = '', tools }: AgentRequest): Promise<number> {
    const { counter } = this.parts;
    return Promise.resolve(counter.messages(messages) + counter.text(system) + counter.text(JSON.stringify(tools)));
  }

  /** O200k tokens of a text or message. */
  countPart(part: string | ApiMessage): Promise<number> {
    const { counter } = this.parts;
    return Promise.resolve(typeof part === 'string' ? counter.text(part) : counter.message(part));
  }

  used({ conversation: id, model }: PreparedRequest, usage: Usage | undefined): void {
    const conversation = this.registry.get(id);
    if (!conversation) return;
    const cost = usage && callCost(usage, model.prices);
    conversation.spent = conversation.spent === undefined || cost === undefined ? undefined : conversation.spent + cost;
    this.changed(conversation);
  }

  answered(prepared: PreparedRequest, usage: Usage | undefined): void {
    const conversation = this.registry.get(prepared.conversation);
    if (!conversation) return;
    // A cache's time counts from the request's beginning, where it was read or written.
    const { began, model } = prepared;
    const before = conversation.answered.get(model.key);
    const { learning } = this.parts;
    const ageMs = before && !prepared.outcome ? began - before.began : undefined;
    const isWarm = ageMs !== undefined && ageMs < (learning.cacheSpan(model)?.warmMs ?? 0);
    if (usage && ageMs !== undefined) learning.cacheAnswered(model, ageMs, usage);
    conversation.answered.set(model.key, answeredLast(began, usage, isWarm));
    conversation.lastSent = prepared.messages.length;
    if (usage) this.learn(conversation, prepared, usage);
    this.changed(conversation);
  }

  async expandMarkers(conversation: LiveId, input: unknown): Promise<ExpandedInput> {
    const live = this.registry.get(conversation);
    return live ? expandInput(live, input) : { input };
  }

  recall(conversation: LiveId | undefined, query: RecallQuery): Promise<RecallResult> {
    const own = conversation === undefined ? undefined : this.registry.get(conversation);
    // One that was dropped is not searched for elsewhere: the others are other people's tasks.
    const looked = conversation === undefined ? this.registry.all() : own ? [own] : [];
    return recall(looked, query, this.parts.counter);
  }

  list(): LiveSummary[] {
    const all = this.registry.shown();
    return all.map((conversation) => this.summarize(conversation, all));
  }

  active(): LiveSummary | undefined {
    const all = this.registry.shown();
    const [last] = all;
    return last && this.summarize(last, all);
  }

  private summarize(conversation: LiveConversation, all: readonly LiveConversation[]): LiveSummary {
    return { ...summaryOf(conversation, this.parts, all), condensedBy: this.condensing.condensedBy(conversation) };
  }

  view(conversation: LiveId): LiveView | undefined {
    const live = this.registry.get(conversation);
    if (!live) return undefined;
    const { messages, shown, ledger, pinned } = live;
    const excluded = takenOut(ledger, messages, shown.edits, pinned);
    return { original: messages, view: shown.messages, origins: shown.origins, edits: shown.edits, excluded };
  }

  condenseNow(
    conversation: LiveId,
    options: { readonly provider?: string; readonly config?: unknown; readonly targetPercent?: number } = {},
    signal?: AbortSignal,
  ): Promise<CondensationOutcome | undefined> {
    const live = this.registry.get(conversation);
    if (!live) return Promise.resolve(undefined);
    return this.condensing.byHand(live, options, signal).finally(() => {
      this.changed(live);
    });
  }

  undo(conversation: LiveId): Promise<CommandResult> {
    return this.command(conversation, undoCommand);
  }

  redo(conversation: LiveId): Promise<CommandResult> {
    return this.command(conversation, redoCommand);
  }

  toggleEdit(conversation: LiveId, edit: EditId): Promise<CommandResult> {
    return this.command(conversation, (live) => toggleCommand(live, edit));
  }

  pin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.command(conversation, (live) => pinCommand(live, message));
  }

  unpin(conversation: LiveId, message: number): Promise<CommandResult> {
    return this.command(conversation, (live) => unpinCommand(live, message));
  }

  on(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  async settled(): Promise<void> {
    await Promise.all(this.registry.all().map((conversation) => conversation.settled()));
  }

  /** Gives up summaries that are being prepared. @param why in words, without a full stop. @returns how many */
  endPreparations(why: string): number {
    const open = this.registry.all().flatMap(({ preparation }) => (preparation?.isOver === false ? [preparation] : []));
    for (const preparation of open) preparation.giveUp(why);
    return open.length;
  }

  dispose(): void {
    this.endPreparations('the window was closed');
    this.listeners.clear();
  }

  private command(conversation: LiveId, command: (live: LiveConversation) => Command): Promise<CommandResult> {
    const live = this.registry.get(conversation);
    if (!live) return Promise.resolve({ kind: 'nothing', detail: 'The conversation no longer exists.' });
    return live.exclusive(async () => {
      const { entries, detail } = command(live);
      if (entries.length === 0) return { kind: 'nothing', detail };
      await live.enter(entries);
      this.changed(live);
      return { kind: 'done', detail };
    });
  }

  private prepared(
    conversation: LiveConversation,
    outcome: CondensationOutcome | undefined,
    notes: readonly string[],
  ): PreparedRequest {
    const { id, messages: original, shown, lastSent, countedTokens, mustRead, model } = conversation;
    const tokens = Math.ceil(countedTokens * this.parts.learning.factor(model));
    const tooLong = this.condensing.isFitting(conversation)
      ? []
      : [
          `The request has about ${formatTokens(tokens)} tokens and hardly fits into the window of ${formatTokens(model.contextWindow)}: nothing more could be removed.`,
        ];
    this.changed(conversation);
    return {
      conversation: id,
      model,
      messages: shown.messages,
      original,
      origins: shown.origins,
      edits: shown.edits,
      cacheMarks: breakpoints(shown, lastSent),
      tokens,
      countedTokens,
      ...(mustRead !== undefined && { mustRead }),
      isCalibrated: this.parts.learning.isCalibrated(model),
      contextWindow: model.contextWindow,
      ...(outcome && { outcome }),
      notes: [...(outcome?.notes ?? []), ...notes, ...tooLong],
      began: this.parts.clock.now(),
    };
  }

  private learn({ id }: LiveConversation, prepared: PreparedRequest, usage: Usage): void {
    const cut = this.parts.learning.answered(prepared, usage);
    if (cut === undefined) return;
    const message = `The model's server has read ${formatTokens(cut)} tokens of about ${formatTokens(prepared.tokens)} that it was sent: it seems to silently cut off anything longer. Give it a larger context (Ollama: num_ctx, or OLLAMA_CONTEXT_LENGTH), or set contextWindow in the profile to what it reads.`;
    this.parts.emit({ kind: 'problem', conversation: id, message });
  }

  private changed({ id }: LiveConversation): void {
    this.parts.emit({ kind: 'changed', conversation: id });
  }
}

/**
 * Where the prompt cache should have breakpoints: at the end of the condensed prefix, which stays put; at what was the
 * newest message of the request before, where the cache surely has one; and at the newest. Breakpoints look back only 20
 * blocks (Anthropic API guide, "Prompt caching"), so the middle one is needed where many were added at once.
 * @param previous messages of the view that the last request had.
 * @returns indexes of the view, ascending.
 */
function breakpoints({ edits, messages, origins }: Shown, previous: number): number[] {
  const newest = messages.length - 1;
  const marks = [edits.length > 0 ? condensedEnd({ edits, origins }) : -1, Math.min(previous - 1, newest), newest];
  return [...new Set(marks)]
    .filter((index) => index >= 0)
    .sort((a, b) => a - b)
    .slice(-MESSAGE_CACHE_MARKS);
}

/** Index of the last message of the view that an edit changed. */
function condensedEnd({ edits, origins }: Pick<Shown, 'edits' | 'origins'>): number {
  const last = edits.reduce(
    (most, edit) => Math.max(most, edit.kind === 'summary' ? edit.end - 1 : edit.place.message),
    -1,
  );
  // Of a summary the message before the first behind its range is the summary itself.
  const behind = origins.findIndex((origin) => origin > last);
  return behind < 0 ? origins.length - 1 : behind - 1;
}

/**
 * A conversation as a list or a status bar shows it.
 * @param all the conversations at hand, this one among them.
 */
function summaryOf(
  conversation: LiveConversation,
  { learning, manager, settings }: LiveParts,
  all: readonly LiveConversation[],
): LiveSummary {
  const { id, title, messages, shown, model, ledger, countedTokens, lastDecision, spent, lastUsed } = conversation;
  return {
    id,
    title,
    tokens: Math.ceil(countedTokens * learning.factor(model)),
    contextWindow: model.contextWindow,
    thresholdTokens: duePointOf(model).tokens,
    ...(conversation.whyNot !== undefined && { whyNot: conversation.whyNot }),
    ...(settings().isPaused === true && { isPaused: true as const }),
    ...(conversation.exhausted !== undefined && { exhausted: conversation.exhausted }),
    messages: messages.length,
    shownMessages: shown.messages.length,
    isCareful: conversation.isCareful,
    condensations: condensationsOf(conversation)
      .filter((one) => !isOnArrival(one))
      .map((one) => ({
        id: one.id,
        at: one.at,
        provider: one.provider,
        ...(one.configName !== undefined && { configName: one.configName }),
        by: namesOfCondensations([...(one.before ?? []), one], (provider) => manager.providerName(provider)),
        ...(one.request && { request: one.request }),
        tokensBefore: one.tokensBefore,
        tokensAfter: one.tokensAfter,
        ...(one.cost !== undefined && { cost: one.cost }),
        isUndone: ledger.undone.has(one.id),
        ...optionalUse(conversation.useOf(one.id)),
      })),
    ...(lastDecision && { lastDecision }),
    ...arrivalsOf(conversation),
    ...toolsOf(conversation, all),
    ...(spent !== undefined && { spent }),
    canUndo: undoCommand(conversation).entries.length > 0,
    canRedo: redoCommand(conversation).entries.length > 0,
    pinned: [...conversation.pinned],
    lastUsed,
    isPreparing: conversation.preparation?.isOver === false,
  };
}

const optionalUse = (use: UseAfter | undefined): { readonly use?: UseAfter } => (use ? { use } : {});

function toolsOf(conversation: LiveConversation, all: readonly LiveConversation[]): Pick<LiveSummary, 'tools'> {
  const { tools, calls } = conversation;
  if (tools.length === 0) return {};
  const others = all.filter((other) => other !== conversation);
  return {
    tools: toolWeights(
      tools,
      calls,
      others.map((other) => other.calls),
    ),
  };
}

function arrivalsOf({ ledger }: LiveConversation): Pick<LiveSummary, 'onArrival'> {
  const arrivals = ledger.condensations.find(isOnArrival);
  if (!arrivals || ledger.undone.has(arrivals.id)) return {};
  const { edits, tokensBefore, tokensAfter, rereads = 0 } = arrivals;
  return { onArrival: { results: edits.length, tokens: tokensBefore - tokensAfter, rereads } };
}
