import * as vscode from 'vscode';
import { ApiError, isApiError } from '../api/apiError';
import type { ApiHandler, Usage } from '../api/types';
import { createSummarizer } from '../api/summarizer';
import type { Summarizer, SummarizerModel, UnavailableProfile } from '../core/condense/summarizer';
import { getErrorMessage } from '../core/errors';
import { hashText } from '../core/hash';
import type { ApiMessage } from '../core/messages/types';
import { yieldBetweenSteps } from '../core/betweenSteps';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { findModelFamily, getTokenizerFactor } from '../core/vendors/families';
import { getCacheLifespan } from '../core/vendors/caches';
import { getRequestLimits } from '../core/vendors/requestLimits';
import { getAccounting } from '../core/vendors/vendors';
import { computeMaxPromptTokens, type CondensationThreshold } from '../core/condense/trigger/thresholds';
import type { ApiProfile } from '../settings/profiles';
import { streamAnswer, type StreamedAnswer, type AnswerDependencies } from './answer';
import { buildApiRequest, getCacheLifetime, selectCacheMarksAtNewestMessages, type PromptFill } from './apiRequest';
import { convertChatMessages, convertChatMessage, convertChatTools, type ConvertedMessages } from './conversion';
import type { ChatSpending } from './chatSpending';
import type { ApiHandlerCache } from './handlers';
import { EngineDiedError } from '../engine/engineThread';
import { ThinkingStore, keepThinkingOfAnswers } from './thinkingStore';
import { RECALL_TOOL_NAME } from './names';
import { countCommonPrefix } from '../live/align';
import { RequestAttempts, classifyRejection, RecentFailures, type RequestChange } from '../live/attempts';
import type { AgentRequest, LiveId } from '../live/request';
import type { ChatConversations, PreparedChat } from '../live/types';
import { hasServerSideContextEdits } from '../live/vendorReads';
import type { ModelCatalog } from './modelCatalog';
import type { ModelGroups } from './modelGroups';
import { toModelInformation, type ModelInformation, type OfferedModel } from './offeredModels';
import type { AgentSettings } from './offeredModels';
import { isSmallRequest, makeRequestTitle, type ChatRequest } from './chatRequests';
import { CHARS_PER_TOKEN, MIN_ESTIMATED_PART_CHARS, measureCharacters, CachedTokenCounter } from './tokenCounts';
import { toChatError, toUsagePart, describeMissingAnswerPart } from './answerParts';
import { createThinkingPart } from '../window/languageModels';

export interface CondensingProviderDependencies {
  readonly catalog: ModelCatalog;
  readonly groups: ModelGroups;
  readonly handlers: ApiHandlerCache;
  readonly counter: () => Promise<MessageCounter>;
  readonly live: () => Promise<ChatConversations>;
  readonly settings: () => AgentSettings;
  readonly threshold: (profile: ApiProfile) => CondensationThreshold;
  readonly summaries: (profile: ApiProfile) => SummaryPreferences;
  readonly spending: Pick<ChatSpending, 'beginRequest'>;
  readonly onCall: (conversation: LiveId, tool: string, input: object) => void;
  readonly log: Pick<vscode.LogOutputChannel, 'info' | 'warn' | 'error'>;
}

type SummaryPreferences = Pick<SummarizerModel, 'prompt' | 'maskSecrets'> & { readonly mayCost: boolean };

type ChatMessages = readonly vscode.LanguageModelChatRequestMessage[];
type ChatProgress = vscode.Progress<vscode.LanguageModelResponsePart>;

interface ChatTurn {
  readonly model: OfferedModel;
  readonly chat: ConvertedMessages;
  readonly options: vscode.ProvideLanguageModelChatResponseOptions;
  readonly progress: ChatProgress;
  /** Calls the model, and restores its earlier thinking in requests. */
  readonly handler: ApiHandler;
  readonly signal: AbortSignal;
}

interface SendableRequest {
  readonly messages: readonly ApiMessage[];
  readonly cacheMarks: readonly number[] | undefined;
  readonly promptFill: PromptFill;
  /**
   * Minimum o200k tokens that the vendor must read; absent if its report says nothing about the
   * request.
   */
  readonly minReadTokens?: number | undefined;
  readonly follower: ResponseObserver;
  /** The request as the engine prepared it; undefined if the engine failed. */
  readonly prepared?: PreparedChat | undefined;
  /** False if the messages are the original ones. */
  readonly isCondensed: boolean;
}

interface CondensableRequest {
  readonly live: ChatConversations;
  readonly request: AgentRequest;
  /** o200k tokens of the thinking that is restored in the request. */
  readonly extraTokens: number;
}

interface ResponseObserver extends Pick<AnswerDependencies, 'expand' | 'onUsage'> {
  readonly conversation?: LiveId;
  readonly onToolCall: (tool: string, input: object) => void;
  readonly recordAnswer?: (usage: Usage | undefined) => Promise<void>;
}

const NO_CONVERSATION_OBSERVER: ResponseObserver = {
  expand: (input) => Promise.resolve({ input }),
  onUsage: () => undefined,
  onToolCall: () => undefined,
};

/** Condenses each request of VS Code's chat if due, then forwards it. */
export class CondensingProvider {
  private readonly thinkingStore = new ThinkingStore();
  private readonly recentFailures = new RecentFailures();
  /**
   * IDs of conversations that are sent unchanged, because a vendor rejected the view but accepted
   * the original.
   */
  private readonly uncondensableConversations = new Set<LiveId>();
  private tokenCounter: CachedTokenCounter | undefined;

  constructor(private readonly dependencies: CondensingProviderDependencies) {}

  async provideInformation(options: vscode.PrepareLanguageModelChatModelOptions): Promise<ModelInformation[]> {
    const { catalog, groups, settings } = this.dependencies;
    const agentSettings = settings();
    return groups.listModelsForGroup(options, await catalog.listModels()).map((model) =>
      toModelInformation(model, agentSettings, {
        suffix: vscode.l10n.t('condensed'),
        detail: model.wrappedModel?.vendor ?? model.profile.vendor,
        tooltip: formatModelTooltip(model),
      }),
    );
  }

  async provideResponse(
    { id }: vscode.LanguageModelChatInformation,
    messages: ChatMessages,
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: ChatProgress,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const abortController = new AbortController();
    const subscription = token.onCancellationRequested(() => {
      abortController.abort(new vscode.CancellationError());
    });
    if (token.isCancellationRequested) abortController.abort(new vscode.CancellationError());
    try {
      await this.respondToChat(id, messages, options, progress, abortController.signal);
    } catch (error) {
      if (abortController.signal.aborted) throw new vscode.CancellationError();
      this.dependencies.log.error(getErrorMessage(error));
      throw toChatError(error);
    } finally {
      subscription.dispose();
    }
  }

  /** Counts tokens as the model does: o200k tokens times a factor for its tokenizer. */
  async countTokens(
    { version }: vscode.LanguageModelChatInformation,
    content: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    this.tokenCounter ??= new CachedTokenCounter(await this.dependencies.counter(), async (part) =>
      (await this.dependencies.live()).countPart(part),
    );
    const tokenFactor = getTokenizerFactor(version);
    return typeof content === 'string'
      ? this.tokenCounter.countText(content, tokenFactor)
      : this.tokenCounter.countMessage(convertChatMessage(content), tokenFactor);
  }

  private async respondToChat(
    id: string,
    messages: ChatMessages,
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: ChatProgress,
    signal: AbortSignal,
  ): Promise<void> {
    const model = await this.dependencies.catalog.findModel(id);
    if (!model) throw new Error(vscode.l10n.t('This model is no longer offered. Choose another one.'));
    const chat = convertChatMessages(messages);
    // Lets other work go first, since encoding many images as text takes time.
    await yieldBetweenSteps(signal);
    const identity = identifyRequest(id, chat.messages);
    const retryPolicy = this.recentFailures.getRetryPolicy(identity);
    if (retryPolicy.kind === 'stop') throw retryPolicy.reason;
    try {
      const baseHandler = await this.dependencies.handlers.getHandler(model, retryPolicy.kind === 'none');
      const handler = keepThinkingOfAnswers(baseHandler, this.thinkingStore, getModelKey(model));
      const turn: ChatTurn = { model, chat, options, progress, handler, signal };
      const isAgentStep = !isSmallRequest(toChatRequest(turn));
      const shouldCondense =
        this.dependencies.settings().automatic && (isAgentStep || (await this.isLargerThanWindow(turn)));
      await (shouldCondense
        ? this.sendCondensed(turn)
        : this.sendWithRetries(turn, await this.sendUncondensed(turn, isAgentStep)));
      this.recentFailures.recordSuccess(identity);
    } catch (error) {
      if (!isApiError(error) || error.kind === 'aborted') throw error;
      const failure = this.addAdviceToTurnOn(error);
      this.recentFailures.recordFailure(identity, failure);
      throw failure;
    }
  }

  /** If condensing is off, replaces the usual advice to condense further. */
  private addAdviceToTurnOn(error: ApiError): ApiError {
    if (error.kind !== 'context-too-long' || this.dependencies.settings().automatic) return error;
    const advice = 'Turn on “Condense automatically”, or use a model with a larger window.';
    return new ApiError(error.kind, { ...error.details, advice });
  }

  /**
   * True if VS Code's own summary request must be condensed, because the conversation has outgrown
   * the window.
   */
  private async isLargerThanWindow(turn: ChatTurn): Promise<boolean> {
    const { contextWindow, maxOutputTokens } = turn.model;
    return (await this.countPromptTokensOfModel(turn)) > computeMaxPromptTokens(contextWindow, maxOutputTokens);
  }

  private async countPromptTokensOfModel(turn: ChatTurn): Promise<number> {
    const { model } = turn;
    const request = this.makeAgentRequest(turn, 0);
    const { messages, system = '', tools } = request;
    const characterCount = measureCharacters([messages, system, tools]);
    const countRequestTokens = async (): Promise<number> => {
      if (characterCount >= MIN_ESTIMATED_PART_CHARS) return (await this.dependencies.live()).count(request);
      const counter = await this.dependencies.counter();
      return counter.countMessages(messages) + counter.countText(system) + counter.countText(JSON.stringify(tools));
    };
    // If counting fails, guesses the tokens, so that the request is still sent.
    return Math.ceil((await countRequestTokens().catch(() => characterCount / CHARS_PER_TOKEN)) * model.tokenFactor);
  }

  /**
   * Sends the original messages with cache marks. Without these, steps of a task would cost many
   * times as much.
   */
  private async sendUncondensed(
    turn: ChatTurn,
    isStep: boolean,
    preparedForm?: Pick<SendableRequest, 'follower' | 'prepared'>,
  ): Promise<SendableRequest> {
    const { messages } = turn.chat;
    const { contextWindow } = turn.model;
    const cacheMarks = isStep ? selectCacheMarksAtNewestMessages(messages) : undefined;
    const promptFill = { contextWindow, promptTokens: await this.countPromptTokensOfModel(turn), isCalibrated: false };
    return {
      follower: NO_CONVERSATION_OBSERVER,
      ...preparedForm,
      messages,
      cacheMarks,
      promptFill,
      isCondensed: false,
    };
  }

  private async sendCondensed(turn: ChatTurn): Promise<void> {
    const live = await this.dependencies.live();
    const extraTokens = await this.countRestoredThinkingTokens(turn.model, turn.chat.messages);
    const condensableRequest: CondensableRequest = {
      live,
      request: this.makeAgentRequest(turn, extraTokens),
      extraTokens,
    };
    const preparedChat = await this.prepareChat(turn, condensableRequest);
    const view = preparedChat && this.createCondensedForm(turn, condensableRequest, preparedChat);
    const isUncondensable = view && this.uncondensableConversations.has(preparedChat.conversation);
    const firstRequestForm = view && !isUncondensable ? view : await this.sendUncondensed(turn, true, view);
    await this.sendWithRetries(turn, firstRequestForm, async (change, requestForm, refusal) => {
      if (change === 'send-as-it-came') return this.sendUncondensed(turn, true, requestForm);
      if (change !== 'shorten') return undefined;
      const shorterChat = await this.shortenRequest(turn, condensableRequest, requestForm.prepared, refusal);
      turn.signal.throwIfAborted();
      return shorterChat && this.createCondensedForm(turn, condensableRequest, shorterChat);
    });
  }

  /** @returns undefined on failure; the task then continues uncondensed */
  private async prepareChat(turn: ChatTurn, { live, request }: CondensableRequest): Promise<PreparedChat | undefined> {
    try {
      return await live.prepare(request, turn.signal);
    } catch (error) {
      turn.signal.throwIfAborted();
      this.dependencies.log.warn(`The request was not condensed and goes out as it came. ${getErrorMessage(error)}`);
      return undefined;
    }
  }

  /** Condenses a request further that was rejected as too long. */
  private async shortenRequest(
    turn: ChatTurn,
    { live, request }: CondensableRequest,
    preparedChat: PreparedChat | undefined,
    refusal: ApiError,
  ): Promise<PreparedChat | undefined> {
    const { signal } = turn;
    if (preparedChat)
      return live.prepareAfterOverflow(preparedChat, request, signal, refusal.details.overflow).catch(() => undefined);
    // Tries again after the engine dies. The loop ends, because no engine is started after two
    // deaths in a row.
    for (;;) {
      try {
        return await live.prepare(request, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof EngineDiedError) || error.isResting) return undefined;
      }
    }
  }

  private createCondensedForm(
    turn: ChatTurn,
    { live, extraTokens }: CondensableRequest,
    preparedChat: PreparedChat,
  ): SendableRequest {
    const { model } = turn;
    const { messages, cacheMarks, tokens: promptTokens, isCalibrated, contextWindow, minReadTokens } = preparedChat;
    for (const note of preparedChat.notes) this.dependencies.log.info(note);
    if (preparedChat.outcome?.kind === 'condensed') {
      this.thinkingStore.forgetBlocksBeforeAnswer(
        getModelKey(model),
        messages,
        findModelFamily(model.profile.model)?.callsNeedThinking,
      );
    }
    const promptFill = { contextWindow, promptTokens, isCalibrated };
    const observer = {
      ...this.createObserver(live, preparedChat),
      recordAnswer: async (usage: Usage | undefined) => {
        // Thinking that the condensation dropped was counted before, but is not sent.
        const forgottenTokens = extraTokens - (await this.countRestoredThinkingTokens(model, messages));
        live.recordAnswer({ ...preparedChat, countedTokens: preparedChat.countedTokens - forgottenTokens }, usage);
      },
    };
    return {
      messages,
      cacheMarks,
      promptFill,
      minReadTokens,
      follower: observer,
      prepared: preparedChat,
      isCondensed: true,
    };
  }

  private createObserver(live: ChatConversations, preparedChat: PreparedChat): ResponseObserver {
    const { conversation } = preparedChat;
    return {
      conversation,
      expand: (input) => live.expandMarkers(conversation, input),
      onUsage: (usage?: Usage) => {
        live.recordUsage(preparedChat, usage);
      },
      onToolCall: (tool, input) => {
        this.dependencies.onCall(conversation, tool, input);
      },
    };
  }

  /** Counts the o200k tokens of the thinking that is restored in these messages. */
  private async countRestoredThinkingTokens(model: OfferedModel, messages: readonly ApiMessage[]): Promise<number> {
    const thinkingModel = { key: getModelKey(model), tokenFactor: model.tokenFactor };
    return Math.ceil(
      this.thinkingStore.countRestoredTokens(thinkingModel, messages, await this.dependencies.counter()),
    );
  }

  private makeAgentRequest({ model, chat, options }: ChatTurn, extraTokens: number): AgentRequest {
    const { profile } = model;
    const title = makeRequestTitle(toChatRequest({ chat, options }));
    const conversationId = getConversationId(options);
    const hasRecall = options.tools?.some(({ name }) => name === RECALL_TOOL_NAME) === true;
    // VS Code's chat offers the recall tool if the user allows it. Whether other extensions can
    // recall is unknown.
    const canRecall = hasRecall || (conversationId === undefined ? false : undefined);
    const host = profile.baseUrl === undefined ? undefined : new URL(profile.baseUrl).host;
    const cacheLifespan = getCacheLifespan({
      vendor: profile.vendor,
      model: profile.model,
      host,
      lifetime: profile.cacheLifetime,
    });
    return {
      ...(conversationId !== undefined && { conversationId }),
      ...(title !== undefined && { title }),
      ...(chat.system !== undefined && { system: chat.system }),
      messages: chat.messages,
      tools: convertChatTools(options.tools),
      extraTokens,
      ...(profile.extraBody && hasServerSideContextEdits(profile.extraBody) && { isTransformedByVendor: true }),
      ...(canRecall !== undefined && { canRecall }),
      model: {
        key: getModelKey(model),
        profile: profile.id,
        vendor: identifyVendor(model),
        contextWindow: model.contextWindow,
        ...(model.maxOutputTokens !== undefined && { maxOutputTokens: model.maxOutputTokens }),
        ...(profile.maxOutputTokens !== undefined && { reservedOutput: profile.maxOutputTokens }),
        tokenFactor: model.tokenFactor,
        ...(model.prices && { prices: model.prices }),
        accounting: getAccounting(profile.vendor, profile.model),
        cacheLifetime: getCacheLifetime(profile),
        ...(cacheLifespan && { cacheSpan: cacheLifespan }),
        threshold: this.dependencies.threshold(profile),
        limits: getRequestLimits(profile.vendor, profile.model, host),
        summarizer: () => this.createChatSummarizer(model),
      },
    };
  }

  /**
   * Summarizes with the chat's model, because its vendor already has the conversation and the user
   * already pays for it.
   */
  private async createChatSummarizer(model: OfferedModel): Promise<Summarizer | UnavailableProfile> {
    const { name: profile, prices, tokenFactor } = model;
    const { mayCost, ...preferences } = this.dependencies.summaries(model.profile);
    // VS Code's models often have no token price: they run locally, or a subscription pays for
    // them.
    const isIncluded = model.wrappedModel !== undefined && !prices;
    if (isIncluded && !mayCost) return { profile, reason: 'nothing may be spent, and its price is not known.' };
    try {
      return createSummarizer({
        profile,
        handler: await this.dependencies.handlers.getHandler(model, true),
        vendor: identifyVendor(model),
        ...(prices && { prices }),
        billing: isIncluded ? 'included' : 'per-token',
        tokenFactor,
        preferences,
      });
    } catch (error) {
      return { profile, reason: getErrorMessage(error) };
    }
  }

  /**
   * Sends changed forms of a request as long as the vendor rejects it.
   * @param createChangedForm returns undefined if there is no other form
   */
  private async sendWithRetries(
    turn: ChatTurn,
    firstForm: SendableRequest,
    createChangedForm: (
      change: RequestChange,
      form: SendableRequest,
      refusal: ApiError,
    ) => Promise<SendableRequest | undefined> = () => Promise.resolve(undefined),
  ): Promise<void> {
    const attempts = new RequestAttempts<ApiError | undefined>();
    for (let requestForm = firstForm; ;) {
      try {
        const { usages } = await this.sendOnce(turn, requestForm, attempts);
        if (requestForm.isCondensed) await requestForm.follower.recordAnswer?.(usages[0]);
        else this.stopCondensingConversation(requestForm, attempts);
        return;
      } catch (error) {
        if (!isApiError(error) || !attempts.hasFailedFor(error)) throw error;
        requestForm = await this.createNextForm(
          attempts,
          (change) => createChangedForm(change, requestForm, error),
          error,
        );
      }
    }
  }

  /** @throws ApiError if no other form is left */
  private async createNextForm(
    attempts: RequestAttempts<ApiError | undefined>,
    createChangedForm: (change: RequestChange) => Promise<SendableRequest | undefined>,
    refusal: ApiError,
  ): Promise<SendableRequest> {
    for (;;) {
      const { next } = attempts;
      if (next.kind === 'stop') throw next.reason ?? refusal;
      const changedForm = await createChangedForm(next.change);
      if (changedForm) return changedForm;
      attempts.recordImpossible(next.change);
    }
  }

  /** If the vendor accepts the original after rejecting the view, the view was the cause. */
  private stopCondensingConversation({ prepared }: SendableRequest, attempts: RequestAttempts<unknown>): void {
    if (!prepared || !attempts.hasTried('send-as-it-came')) return;
    this.uncondensableConversations.add(prepared.conversation);
    this.dependencies.log.warn('The vendor refused a condensed conversation, which is left alone from now on.');
  }

  private async sendOnce(
    { model, chat, options, progress, handler, signal }: ChatTurn,
    {
      messages: view,
      cacheMarks,
      promptFill,
      minReadTokens,
      isCondensed: isCondensedForm,
      follower: { conversation, expand, onUsage, onToolCall },
    }: SendableRequest,
    attempts: RequestAttempts<ApiError | undefined>,
  ): Promise<StreamedAnswer> {
    const isCondensed = (): boolean =>
      isCondensedForm && countCommonPrefix(view, chat.messages) < Math.max(view.length, chat.messages.length);
    await yieldBetweenSteps(signal);
    const chatId = getConversationId(options);
    const request = buildApiRequest(model, {
      system: chat.system,
      messages: view,
      tools: convertChatTools(options.tools),
      toolRequired: options.toolMode === vscode.LanguageModelChatToolMode.Required,
      cacheMarks,
      promptFill,
      conversation: chatId,
    });
    // VS Code's conversation ID also covers the conversation's subagents.
    const paidRequest = await this.dependencies.spending.beginRequest(
      model,
      chatId ?? conversation,
      promptFill.promptTokens,
      minReadTokens,
    );
    let shownPartCount = 0;
    const showPart = (part: vscode.LanguageModelResponsePart | undefined): void => {
      shownPartCount++;
      if (part) progress.report(part);
    };
    let answer: StreamedAnswer;
    try {
      answer = await streamAnswer(request, {
        handler,
        signal,
        shouldRetry: (error, messages) => {
          const problem = isApiError(error) ? classifyRejection(error) : undefined;
          if (!isApiError(error) || !problem) return false;
          attempts.recordFailure(problem, isCondensed(), error);
          const { next } = attempts;
          if (next.kind === 'stop' || next.change !== 'leave-out-thinking') return false;
          if (this.thinkingStore.forgetBlocks(getModelKey(model), messages)) {
            this.dependencies.log.info(`The model’s earlier thinking is left out from here on. ${error.message}`);
            return true;
          }
          attempts.recordImpossible('leave-out-thinking');
          return false;
        },
        shouldCorrect: () => {
          attempts.recordFailure('wrong-calls', isCondensed(), undefined);
          return attempts.next.kind === 'change';
        },
        expand,
        onUsage: (usage) => {
          paidRequest?.addUsage(usage);
          onUsage(usage);
        },
        onText: (text) => {
          showPart(new vscode.LanguageModelTextPart(text));
        },
        onThinking: (text) => {
          showPart(createThinkingPart(text));
        },
        onCall: (id, name, input) => {
          onToolCall(name, input);
          showPart(new vscode.LanguageModelToolCallPart(id, name, input));
        },
      });
    } finally {
      await paidRequest?.end(shownPartCount > 0 || signal.aborted);
    }
    const notice = describeMissingAnswerPart(answer);
    if (notice !== undefined) progress.report(new vscode.LanguageModelTextPart(notice));
    const usage = answer.usages.at(-1);
    if (usage) progress.report(toUsagePart(usage));
    return answer;
  }
}

const identifyVendor = ({ wrappedModel, profile: { vendor, baseUrl } }: OfferedModel): string =>
  wrappedModel?.vendor ?? (baseUrl === undefined ? vendor : new URL(baseUrl).host);

const toChatRequest = ({ chat, options }: Pick<ChatTurn, 'chat' | 'options'>): ChatRequest => ({
  system: chat.system,
  messages: chat.messages,
  tools: options.tools ?? [],
  conversationId: getConversationId(options),
});

function getConversationId({ modelOptions }: ChatTurn['options']): string | undefined {
  const id: unknown = modelOptions?.['_conversationId'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Identifies the model for which a signature is valid. */
const getModelKey = ({ id, profile: { vendor, model, baseUrl = '' } }: OfferedModel): string =>
  [id, vendor, model, baseUrl].join('\n');

/**
 * UTF-16 units compared at each end of a long text. Hashing megabytes would block the extension
 * host.
 */
const COMPARED_END_CHARS = 500;

const abbreviateLongString = (_key: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > 2 * COMPARED_END_CHARS
    ? [value.length, value.slice(0, COMPARED_END_CHARS), value.slice(-COMPARED_END_CHARS)]
    : value;

/** Requests with the same model, number of messages and last message count as the same. */
const identifyRequest = (model: string, messages: readonly ApiMessage[]): string =>
  `${model} ${messages.length} ${hashText(JSON.stringify(messages.at(-1) ?? '', abbreviateLongString))}`;

function formatModelTooltip({ contextWindow, isWindowKnown, profile }: OfferedModel): string {
  const window = contextWindow.toLocaleString('en-US');
  return isWindowKnown
    ? vscode.l10n.t(
        '{0} with a window of {1} tokens; conversations are condensed to stay within it.',
        profile.model,
        window,
      )
    : vscode.l10n.t(
        '{0}; its window is not known, {1} tokens are assumed. Set its contextWindow.',
        profile.model,
        window,
      );
}
