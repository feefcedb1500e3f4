import * as vscode from 'vscode';
import { isApiError, type ApiError } from '../api/apiError';
import type { ApiHandler, Usage } from '../api/types';
import { summarizerOf } from '../api/summarizer';
import type { Summarizer, SummarizerModel, Unavailable } from '../core/condense/summary/summarizer';
import { errorMessage } from '../core/errors';
import { hashText } from '../core/hash';
import type { ApiMessage } from '../core/messages/types';
import { betweenSteps } from '../core/betweenSteps';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { familyOf, tokenizerFactor } from '../core/vendors/families';
import { cacheSpanOf } from '../core/vendors/caches';
import { requestLimitsOf } from '../core/vendors/requestLimits';
import { accountingOf } from '../core/vendors/vendors';
import { allowedTokens, type Threshold } from '../core/condense/trigger/thresholds';
import type { ApiProfile } from '../settings/profiles';
import { answer, type Answer, type AnswerParts } from './answer';
import { apiRequest, cacheLifetimeOf, newestMarks, type PromptRoom } from './apiRequest';
import { fromChat, messageOf, toolsOf, type ConvertedMessages } from './conversion';
import type { ChatSpending } from './chatSpending';
import { chatError, Failures } from './failures';
import type { Handlers } from './handlers';
import { EngineDiedError } from '../engine/engineThread';
import { KeptThinking, withKeptThinking } from './keptThinking';
import { RECALL_TOOL } from './names';
import type { AgentRequest, LiveId } from '../live/request';
import type { ChatConversations, PreparedChat } from '../live/types';
import { isReadOtherwise } from '../live/vendorReads';
import type { ModelCatalog } from './modelCatalog';
import type { ModelGroups } from './modelGroups';
import { informationOf, type ModelInformation, type OfferedModel } from './offeredModels';
import type { AgentSettings } from './offeredModels';
import { isSmallRequest, titleOfRequest, type ChatRequest } from './chatRequests';
import { CHARS_PER_TOKEN, LONG_PART, lengthOf, TokenCounts } from './tokenCounts';
import { usagePart, wordsFor } from './answerParts';
import { thinkingPart } from '../window/languageModels';

export interface ProviderParts {
  readonly catalog: ModelCatalog;
  readonly groups: ModelGroups;
  readonly handlers: Handlers;
  readonly counter: () => Promise<MessageCounter>;
  readonly live: () => Promise<ChatConversations>;
  readonly settings: () => AgentSettings;
  readonly threshold: (profile: ApiProfile) => Threshold;
  /** The user's settings for summaries by a model. */
  readonly summaries: (profile: ApiProfile) => SummaryPreferences;
  readonly spending: Pick<ChatSpending, 'begin'>;
  /** A tool is called in a live conversation. */
  readonly onCall: (conversation: LiveId, tool: string, input: object) => void;
  readonly log: Pick<vscode.LogOutputChannel, 'info' | 'warn' | 'error'>;
}

/** `mayCost`: whether a condensation may cost anything. */
type SummaryPreferences = Pick<SummarizerModel, 'prompt' | 'maskSecrets'> & { readonly mayCost: boolean };

type ChatMessages = readonly vscode.LanguageModelChatRequestMessage[];
type ChatProgress = vscode.Progress<vscode.LanguageModelResponsePart>;

/** One request of the chat, on its way to the model. */
interface Passage {
  readonly model: OfferedModel;
  readonly chat: ConvertedMessages;
  readonly options: vscode.ProvideLanguageModelChatResponseOptions;
  readonly progress: ChatProgress;
  /** Gives the model its earlier thinking back. */
  readonly handler: ApiHandler;
  readonly signal: AbortSignal;
}

/** The part of a conversation that is sent. */
interface Sent {
  readonly messages: readonly ApiMessage[];
  readonly cacheMarks: readonly number[] | undefined;
  readonly room: PromptRoom;
  /** O200k tokens that the vendor has to read at the least, where that is known. */
  readonly mustRead?: number | undefined;
}

/** How a live conversation follows an answer while it comes. */
interface Follower extends Pick<AnswerParts, 'expand' | 'used'> {
  readonly conversation?: LiveId;
  readonly called: (tool: string, input: object) => void;
}

/** A request that belongs to no conversation of ours. */
const NOBODY: Follower = {
  expand: (input) => Promise.resolve({ input }),
  used: () => undefined,
  called: () => undefined,
};

/** The models that the extension contributes to VS Code's chat: each request is condensed where that is due, then sent on. */
export class CondensingProvider {
  private readonly kept = new KeptThinking();
  private readonly failures = new Failures();
  private counts: TokenCounts | undefined;

  constructor(private readonly parts: ProviderParts) {}

  async information(options: vscode.PrepareLanguageModelChatModelOptions): Promise<ModelInformation[]> {
    const { catalog, groups, settings } = this.parts;
    const declared = settings();
    return groups.answer(options, await catalog.list()).map((model) =>
      informationOf(model, declared, {
        suffix: vscode.l10n.t('condensed'),
        detail: model.wraps?.vendor ?? model.profile.vendor,
        tooltip: tooltipOf(model),
      }),
    );
  }

  async respond(
    { id }: vscode.LanguageModelChatInformation,
    messages: ChatMessages,
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: ChatProgress,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const abort = new AbortController();
    const subscription = token.onCancellationRequested(() => {
      abort.abort(new vscode.CancellationError());
    });
    if (token.isCancellationRequested) abort.abort(new vscode.CancellationError());
    try {
      await this.pass(id, messages, options, progress, abort.signal);
    } catch (error) {
      if (abort.signal.aborted) throw new vscode.CancellationError();
      this.parts.log.error(errorMessage(error));
      throw chatError(error);
    } finally {
      subscription.dispose();
    }
  }

  /** Tokens of the model; the model's own tokenizer is known by a factor. */
  async countTokens(
    { version }: vscode.LanguageModelChatInformation,
    content: string | vscode.LanguageModelChatRequestMessage,
  ): Promise<number> {
    this.counts ??= new TokenCounts(await this.parts.counter(), async (part) =>
      (await this.parts.live()).countPart(part),
    );
    const factor = tokenizerFactor(version);
    return typeof content === 'string'
      ? this.counts.text(content, factor)
      : this.counts.message(messageOf(content), factor);
  }

  private async pass(
    id: string,
    messages: ChatMessages,
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: ChatProgress,
    signal: AbortSignal,
  ): Promise<void> {
    const model = await this.parts.catalog.find(id);
    if (!model) throw new Error(vscode.l10n.t('This model is no longer offered. Choose another one.'));
    const chat = fromChat(messages);
    // Images come as bytes and are sent as text, which takes its time.
    await betweenSteps(signal);
    const identity = identityOf(id, chat.messages);
    const attempt = this.failures.attempt(identity);
    if (attempt.kind === 'hopeless') throw attempt.error;
    try {
      const handler = withKeptThinking(await this.parts.handlers.handlerOf(model, attempt.kind === 'first'), {
        kept: this.kept,
        model: modelKey(model),
        onLeftOut: (refusal) => {
          this.parts.log.info(`The model's earlier thinking is left out from here on. ${refusal.message}`);
        },
      });
      const passage: Passage = { model, chat, options, progress, handler, signal };
      const isStep = !isSmallRequest(requestIn(passage));
      const condenses = this.parts.settings().automatic && (isStep || (await this.isTooLarge(passage)));
      await (condenses ? this.condensed(passage) : this.plain(passage, isStep));
      this.failures.succeeded(identity);
    } catch (error) {
      if (isApiError(error) && error.kind !== 'aborted') this.failures.failed(identity, error);
      throw error;
    }
  }

  /**
   * VS Code's own summaries go out as they are while they fit; one of a conversation that has outgrown the window is
   * condensed like any other request.
   */
  private async isTooLarge(passage: Passage): Promise<boolean> {
    const { contextWindow, maxOutputTokens } = passage.model;
    return (await this.promptTokens(passage)) > allowedTokens(contextWindow, maxOutputTokens);
  }

  /** Tokens of a request as it came, in the model's own count as far as it is known by its family. */
  private async promptTokens(passage: Passage): Promise<number> {
    const { model } = passage;
    const request = this.agentRequest(passage, 0);
    const { messages, system = '', tools } = request;
    const length = lengthOf([messages, system, tools]);
    const count = async (): Promise<number> => {
      if (length >= LONG_PART) return (await this.parts.live()).count(request);
      const counter = await this.parts.counter();
      return counter.messages(messages) + counter.text(system) + counter.text(JSON.stringify(tools));
    };
    // Where nothing can count it, it is a guess, and the request goes out all the same.
    return Math.ceil((await count().catch(() => length / CHARS_PER_TOKEN)) * model.tokenFactor);
  }

  /** As it came; steps of an agent's task with cache marks, without which they would cost many times as much. */
  private async plain(passage: Passage, isStep: boolean): Promise<void> {
    const { messages } = passage.chat;
    const { contextWindow } = passage.model;
    const cacheMarks = isStep ? newestMarks(messages) : undefined;
    const room = { contextWindow, promptTokens: await this.promptTokens(passage), isCalibrated: false };
    await this.send(passage, { messages, cacheMarks, room }, NOBODY);
  }

  private async condensed(passage: Passage): Promise<void> {
    const { signal } = passage;
    const live = await this.parts.live();
    const key = modelKey(passage.model);
    const extraTokens = await this.keptTokens(passage.model, passage.chat.messages);
    const request = this.agentRequest(passage, extraTokens);
    const first = await this.preparedOrPassed(passage, live, request);
    if (!first) return;
    let prepared = first;
    // `tooLong` ends it: it makes one request smaller a few times only.
    for (;;) {
      this.showNotes(prepared);
      if (prepared.outcome?.kind === 'condensed') {
        this.kept.forgetBefore(key, prepared.messages, familyOf(passage.model.profile.model)?.callsNeedThinking);
      }
      try {
        const { messages, cacheMarks, tokens: promptTokens, isCalibrated, contextWindow } = prepared;
        const follower = this.follower(live, prepared);
        const { usages } = await this.send(
          passage,
          { messages, cacheMarks, room: { contextWindow, promptTokens, isCalibrated }, mustRead: prepared.mustRead },
          follower,
        );
        // Thinking that a condensation dropped was counted before, and is not sent.
        const forgotten = extraTokens - (await this.keptTokens(passage.model, prepared.messages));
        live.answered({ ...prepared, countedTokens: prepared.countedTokens - forgotten }, usages[0]);
        return;
      } catch (error) {
        // Refused before anything was told: once more, shorter.
        if (!isTooLong(error)) throw error;
        const smaller = await live
          .tooLong(prepared, request, signal, error.details.overflow)
          // Without its engine nothing more can be done, and the refusal is what there is to tell.
          .catch(() => undefined);
        signal.throwIfAborted();
        if (!smaller) throw error;
        prepared = smaller;
      }
    }
  }

  /**
   * The view to send. Whatever goes wrong must not cost the user the task: the request goes out as it came, and only one that is refused
   * for its length waits for another engine.
   * @returns undefined where it went out as it came
   */
  private async preparedOrPassed(
    passage: Passage,
    live: ChatConversations,
    request: AgentRequest,
  ): Promise<PreparedChat | undefined> {
    let refusal: ApiError | undefined;
    for (;;) {
      try {
        return await live.prepare(request, passage.signal);
      } catch (error) {
        passage.signal.throwIfAborted();
        const mayGoOn = error instanceof EngineDiedError && !error.isResting;
        if (refusal && !mayGoOn) throw refusal;
        this.parts.log.warn(`The request was not condensed and goes out as it came. ${errorMessage(error)}`);
      }
      if (refusal) continue;
      try {
        await this.plain(passage, true);
        return undefined;
      } catch (error) {
        if (!isTooLong(error)) throw error;
        refusal = error;
      }
    }
  }

  private follower(live: ChatConversations, prepared: PreparedChat): Follower {
    const { conversation } = prepared;
    return {
      conversation,
      expand: (input) => live.expandMarkers(conversation, input),
      used: (usage?: Usage) => {
        live.used(prepared, usage);
      },
      called: (tool, input) => {
        this.parts.onCall(conversation, tool, input);
      },
    };
  }

  /** O200k tokens of the thinking that goes back with these messages. */
  private async keptTokens(model: OfferedModel, messages: readonly ApiMessage[]): Promise<number> {
    const kept = { key: modelKey(model), tokenFactor: model.tokenFactor };
    return Math.ceil(this.kept.tokens(kept, messages, await this.parts.counter()));
  }

  private agentRequest({ model, chat, options }: Passage, extraTokens: number): AgentRequest {
    const { profile } = model;
    const title = titleOfRequest(requestIn({ chat, options }));
    const conversationId = conversationOf(options);
    const hasRecall = options.tools?.some(({ name }) => name === RECALL_TOOL) === true;
    // VS Code's chat has the tool where its user lets it; other extensions bring their own tools alone.
    const canRecall = hasRecall || (conversationId === undefined ? false : undefined);
    const host = profile.baseUrl === undefined ? undefined : new URL(profile.baseUrl).host;
    const cacheSpan = cacheSpanOf({
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
      tools: toolsOf(options.tools),
      extraTokens,
      ...(profile.extraBody && isReadOtherwise(profile.extraBody) && { isReadOtherwise: true }),
      ...(canRecall !== undefined && { canRecall }),
      model: {
        key: modelKey(model),
        vendor: vendorOf(model),
        contextWindow: model.contextWindow,
        ...(model.maxOutputTokens !== undefined && { maxOutputTokens: model.maxOutputTokens }),
        ...(profile.maxOutputTokens !== undefined && { reservedOutput: profile.maxOutputTokens }),
        tokenFactor: model.tokenFactor,
        ...(model.prices && { prices: model.prices }),
        accounting: accountingOf(profile.vendor, profile.model),
        cacheLifetime: cacheLifetimeOf(profile),
        ...(cacheSpan && { cacheSpan }),
        threshold: this.parts.threshold(profile),
        limits: requestLimitsOf(profile.vendor, profile.model, host),
        summarizer: () => this.summarizerOf(model),
      },
    };
  }

  /** The chat's model, asked beside the chat: the conversation has gone to its vendor anyway, and the user pays it already. */
  private async summarizerOf(model: OfferedModel): Promise<Summarizer | Unavailable> {
    const { name: profile, prices, tokenFactor } = model;
    const { mayCost, ...preferences } = this.parts.summaries(model.profile);
    // The price per token of VS Code's models is often unknown: a subscription pays, or one's own machine.
    const isIncluded = model.wraps !== undefined && !prices;
    if (isIncluded && !mayCost) return { profile, reason: 'nothing may be spent, and its price is not known.' };
    try {
      return summarizerOf({
        profile,
        handler: await this.parts.handlers.handlerOf(model, true),
        vendor: vendorOf(model),
        ...(prices && { prices }),
        billing: isIncluded ? 'included' : 'per-token',
        tokenFactor,
        preferences,
      });
    } catch (error) {
      return { profile, reason: errorMessage(error) };
    }
  }

  private async send(
    { model, chat, options, progress, handler, signal }: Passage,
    { messages: view, cacheMarks, room, mustRead }: Sent,
    { conversation, expand, used, called }: Follower,
  ): Promise<Answer> {
    await betweenSteps(signal);
    const chatId = conversationOf(options);
    const request = apiRequest(model, {
      system: chat.system,
      messages: view,
      tools: toolsOf(options.tools),
      toolRequired: options.toolMode === vscode.LanguageModelChatToolMode.Required,
      cacheMarks,
      room,
      conversation: chatId,
    });
    // A conversation that VS Code names is one for its user, its subagents with it.
    const paid = await this.parts.spending.begin(model, chatId ?? conversation, room.promptTokens, mustRead);
    let reported = 0;
    const show = (part: vscode.LanguageModelResponsePart | undefined): void => {
      reported++;
      if (part) progress.report(part);
    };
    let answered: Answer;
    try {
      answered = await answer(request, {
        handler,
        signal,
        expand,
        used: (usage) => {
          paid?.used(usage);
          used(usage);
        },
        text: (text) => {
          show(new vscode.LanguageModelTextPart(text));
        },
        thinking: (text) => {
          show(thinkingPart(text));
        },
        call: (id, name, input) => {
          called(name, input);
          show(new vscode.LanguageModelToolCallPart(id, name, input));
        },
      });
    } finally {
      await paid?.end(reported > 0 || signal.aborted);
    }
    const words = wordsFor(answered);
    if (words !== undefined) progress.report(new vscode.LanguageModelTextPart(words));
    const usage = answered.usages.at(-1);
    if (usage) progress.report(usagePart(usage));
    return answered;
  }

  private showNotes({ notes }: PreparedChat): void {
    for (const note of notes) this.parts.log.info(note);
  }
}

/** Who gets to see what a model is asked. */
const vendorOf = ({ wraps, profile: { vendor, baseUrl } }: OfferedModel): string =>
  wraps?.vendor ?? (baseUrl === undefined ? vendor : new URL(baseUrl).host);

const requestIn = ({ chat, options }: Pick<Passage, 'chat' | 'options'>): ChatRequest => ({
  system: chat.system,
  messages: chat.messages,
  tools: options.tools ?? [],
  conversationId: conversationOf(options),
});

/** VS Code's id of a conversation; undefined where it names none. */
function conversationOf({ modelOptions }: Passage['options']): string | undefined {
  const id: unknown = modelOptions?.['_conversationId'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Names the model whose signatures an answer carries. */
const modelKey = ({ id, profile: { vendor, model, baseUrl = '' } }: OfferedModel): string =>
  [id, vendor, model, baseUrl].join('\n');

/** Two requests are the same if they have the same model and the same last message at the same place. */
const identityOf = (model: string, messages: readonly ApiMessage[]): string =>
  `${model} ${messages.length} ${hashText(JSON.stringify(messages.at(-1) ?? ''))}`;

const isTooLong = (error: unknown): error is ApiError =>
  isApiError(error) && (error.kind === 'context-too-long' || error.kind === 'too-many-bytes');

function tooltipOf({ contextWindow, isWindowKnown, profile }: OfferedModel): string {
  const window = contextWindow.toLocaleString('en-US');
  return isWindowKnown
    ? vscode.l10n.t(
        '{0} with a window of {1} tokens; conversations are condensed to stay within it.',
        profile.model,
        window,
      )
    : vscode.l10n.t(
        '{0}; its window is not known, {1} tokens are assumed. Set contextWindow in its profile.',
        profile.model,
        window,
      );
}
