/**
 * The API that Context Condenser gives to other extensions. The file stands alone: copy it into your extension.
 *
 * ```ts
 * const extension = vscode.extensions.getExtension<ContextCondenserExports>('context-condenser.context-condenser');
 * const api = (await extension?.activate())?.getApi(1);
 * const outcome = await api?.condense({ id: 'chat-1', messages });
 * ```
 *
 * The API keeps nothing of a conversation: the caller keeps its messages, which are never changed, and the edits that an
 * outcome gives; both together make the view that a model is sent. Methods reject with a `TypeError` that names the field
 * where they were given something else than what stands here; `viewOf`, `expand` and `registerProvider` throw it.
 * docs/guide/extensions.md has examples.
 */
import type { Disposable, Event, LanguageModelChatMessage } from 'vscode';

/** The result of the extension's `activate()`. */
export interface ContextCondenserExports {
  /**
   * @param version of the API. Within a version things are added only.
   * @throws RangeError for a version that this extension doesn't have.
   */
  getApi(version: 1): ContextCondenserApi;
}

export interface ContextCondenserApi {
  readonly version: 1;

  /** The providers that can condense: those of this extension and those that were registered. */
  listProviders(): Promise<readonly ProviderInfo[]>;

  /** The user's API profiles, without their keys. */
  listProfiles(): Promise<readonly ProfileInfo[]>;

  /** Tokens and cost that {@link condense} would have. Makes no paid call. */
  estimate(conversation: Conversation, options?: CondenseOptions): Promise<Estimate>;

  /**
   * Condenses now. What a provider does wrong is told in the outcome and applied never. A call that is paid for stays
   * within what the user's settings allow for one condensation.
   */
  condense(conversation: Conversation, options?: CondenseOptions): Promise<Outcome>;

  /**
   * Condenses where the model's window is filled up to the threshold, else does nothing. Where the provider fails, others
   * take its place as far as the user's settings allow; truncation does only where the window would be exceeded.
   */
  condenseIfNeeded(
    conversation: Conversation,
    model: ModelWindow,
    options?: CondenseOptions,
  ): Promise<AutomaticOutcome>;

  /**
   * The messages with the edits applied: what to send to the model, also after the conversation has grown. Anthropic's Messages API
   * takes it as it is, as far as it takes the conversation's own messages; a summary is a user message with one text.
   */
  viewOf(conversation: Conversation): readonly Message[];

  /**
   * The original text behind a marker `⟦condensed: … · ref ab12cd⟧` of the view; undefined where no edit has this
   * reference.
   */
  expand(conversation: Conversation, reference: string): string | undefined;

  /** Messages of OpenAI's Chat Completions as {@link Conversation.messages}; {@link toOpenAI} gives the very same back. */
  fromOpenAI(messages: readonly object[]): readonly Message[];

  /** A view as OpenAI's Chat Completions takes it. Thinking and `is_error` have no form there and are left out. */
  toOpenAI(messages: readonly Message[]): readonly object[];

  /**
   * Messages of VS Code's language model API as {@link Conversation.messages}. Thinking and cache marks are left out, results that
   * answer one message are put together.
   */
  fromVSCode(messages: readonly Pick<LanguageModelChatMessage, 'role' | 'content'>[]): {
    /** System messages at the head; undefined where there are none. */
    readonly system: string | undefined;
    readonly messages: readonly Message[];
  };

  /** A view as VS Code's language model API takes it. What it has no part for is left out. */
  toVSCode(messages: readonly Message[]): readonly LanguageModelChatMessage[];

  /**
   * Adds a provider under an id of its own, until the returned value is disposed of. Its results pass the same checks as
   * those of the built-in ones before anybody sees them.
   * @throws TypeError where the provider is not what it should be; Error where the id is taken.
   */
  registerProvider(provider: Provider): Disposable;

  /** A conversation was condensed: through this API, by a command, or during a task of VS Code's agent. */
  readonly onDidCondense: Event<CondensedEvent>;
}

/** A message in the shape of Anthropic's Messages API; fields that are not named here are kept. */
export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly [field: string]: unknown;
}

/** One change that a condensation made. JSON; keep it as it is and hand it in again. */
export interface Edit {
  readonly kind: string;
  readonly id: string;
  readonly step: string;
  /** The operation, such as `suppress`, `summarize` or `reference`; absent in edits from before 1.1. */
  readonly operation?: string;
  /** Why, in words. */
  readonly reason: string;
  /** True where what is left out stands elsewhere in the view or follows from it. */
  readonly strict: boolean;
  /** Of the text at its place, in o200k tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly [field: string]: unknown;
}

export interface Conversation {
  /** Names the conversation: after a condensation that freed little, the next automatic one of the same waits. */
  readonly id: string;
  /** Oldest first, as they were before any condensation. */
  readonly messages: readonly Message[];
  /** The edits of the last outcome. Default: none. */
  readonly edits?: readonly Edit[];
  /** The system prompt. */
  readonly system?: string;
  /** Whose model the conversation is with, such as `anthropic`: what looks like a key is masked for others. */
  readonly vendor?: string;
  /** Tokens (o200k) of what is sent beside the messages: system prompt and tools. Default 0. */
  readonly overheadTokens?: number;
}

export interface CondenseOptions {
  /** Id of a provider. Default: the one in the user's settings. */
  readonly provider?: string;
  /** The provider's configuration. Default: the one in the user's settings. */
  readonly config?: unknown;
  /**
   * Tokens (o200k) that the messages may keep. Default: as far as the provider goes; of `condenseIfNeeded`: as the user's
   * settings say, two thirds of the threshold.
   */
  readonly targetTokens?: number;
  /** US dollars that may be spent; never more than the user's settings allow. */
  readonly maxCost?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  /** The step that runs, in words. */
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

/** The model that a conversation is sent to. */
export interface ModelWindow {
  /** Input and output together, in the model's tokens. */
  readonly contextWindow: number;
  /** Kept free for the reply, in the model's tokens. Default 8192. */
  readonly maxOutputTokens?: number;
  /** The model's tokens for one o200k token. Default 1. */
  readonly tokenFactor?: number;
  /** Percent of the window at which to condense, 5 to 100. Default: as in the user's settings. */
  readonly thresholdPercent?: number;
  /** The model's tokens at which to condense, where they are less than the percentage of the window. */
  readonly thresholdTokens?: number;
}

export interface ProviderInfo {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** True where it calls a language model. */
  readonly usesModel: boolean;
  /** JSON Schema of its configuration. */
  readonly configSchema: Readonly<Record<string, unknown>>;
}

export interface ProfileInfo {
  readonly id: string;
  readonly name: string;
  readonly vendor: string;
  readonly model: string;
  /** True for the profile that summarizes. */
  readonly isCondensing: boolean;
}

export interface Estimate {
  /** Of the messages, in o200k tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
}

/**
 * The module `dist/providerBench.cjs`: runs a provider outside VS Code, with the checks that it passes in VS Code. For tests of yours:
 * `const bench = require('…/dist/providerBench.cjs') as ProviderBench`.
 */
export interface ProviderBench {
  /** @throws TypeError where the provider is not what it should be */
  condense(provider: Provider, conversation: Conversation, options?: BenchOptions): Promise<Outcome>;
  /** @throws TypeError where the provider is not what it should be; what the provider's own estimate throws */
  estimate(provider: Provider, conversation: Conversation, options?: BenchOptions): Promise<Estimate>;
  /** As {@link ContextCondenserApi.viewOf}. */
  viewOf(conversation: Conversation): readonly Message[];
}

/** As {@link CondenseOptions}; there are no settings outside VS Code. */
export type BenchOptions = Omit<CondenseOptions, 'provider'>;

interface OutcomeBase {
  /** Id of the provider. */
  readonly provider: string;
  /** Of the messages, in o200k tokens. */
  readonly tokensBefore: number;
  /** US dollars, spent also where nothing was applied; undefined where a price is not known. */
  readonly cost: number | undefined;
  /** Milliseconds. */
  readonly timeMs: number;
  /** Notes for a person, in sentences. */
  readonly notes: readonly string[];
}

export type Outcome = OutcomeBase &
  (
    | {
        readonly kind: 'condensed';
        readonly tokensAfter: number;
        /** All edits that the view now shows: keep them in place of those that were handed in. */
        readonly edits: readonly Edit[];
        readonly view: readonly Message[];
      }
    /** Nothing was worth it, or the target was met already; `reason` is a short name such as `target-met` or `over-budget`. */
    | { readonly kind: 'unchanged'; readonly reason: string; readonly detail: string }
    /** The result would not have been a valid conversation; nothing of it was applied. */
    | { readonly kind: 'refused'; readonly problems: readonly string[] }
    | { readonly kind: 'failed'; readonly message: string }
    | { readonly kind: 'cancelled' }
  );

export type AutomaticOutcome =
  | {
      readonly kind: 'not-due';
      /** The model's tokens of the whole request. */
      readonly tokens: number;
      /** Of the window that the request fills. */
      readonly percent: number;
    }
  | Outcome;

export interface CondensedEvent {
  readonly source: 'api' | 'command' | 'agent';
  /** Id of the conversation. */
  readonly conversation: string;
  /** Id of the provider. */
  readonly provider: string;
  /** Of the messages, in o200k tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
}

/** A condensation strategy of another extension. */
export interface Provider {
  /** Letters, digits, `.`, `_` and `-`, at most 64; begin it with your extension's name. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** JSON Schema (an object with `properties` and their defaults) of its configuration. Default: it has none. */
  readonly configSchema?: Readonly<Record<string, unknown>>;
  /** True where it calls a model: then it needs {@link estimate}. Default false. */
  readonly usesModel?: boolean;

  /**
   * Says what to change, and changes nothing itself. Nothing comes of it where it rejects.
   * @param signal aborted when the user cancels, and after 30 seconds (5 minutes with `usesModel`), when it is given up.
   */
  condense(input: ProviderInput, signal: AbortSignal): Promise<ProviderResult>;

  /** Expected tokens and cost, without a paid call. Default: {@link condense} is asked, and nothing of it applied. */
  estimate?(input: ProviderInput, signal: AbortSignal): Promise<ProviderEstimate>;
}

export interface ProviderInput {
  /** The view as it now stands; a copy. */
  readonly messages: readonly Message[];
  /** The configuration, checked against the schema, with its defaults. */
  readonly config: unknown;
  /** Tokens (o200k) that the messages should not exceed afterwards; undefined: as far as it goes. */
  readonly targetTokens: number | undefined;
  /** US dollars that may be spent; undefined: no limit. */
  readonly maxCost: number | undefined;
  /** The system prompt, where it is known. */
  readonly system: string | undefined;
  /** o200k tokens of a text. */
  readonly countTokens: (text: string) => number;
  readonly onProgress: (progress: Progress) => void;
}

export interface ProviderResult {
  readonly changes: readonly Change[];
  /** US dollars that it spent; undefined where that is not known. Default 0. */
  readonly cost?: number | undefined;
  readonly notes?: readonly string[];
}

/** Indexes are those of {@link ProviderInput.messages}. */
export type Change = CutChange | SummaryChange;

/** A slice of a text is taken out. The first user message, tool names, ids and signatures can't be cut. */
export interface CutChange {
  readonly kind: 'cut';
  readonly message: number;
  /** Keys down to the string, such as `['content', 0, 'content']`. */
  readonly path: readonly (string | number)[];
  /** In UTF-16 units. */
  readonly start: number;
  /** The first unit behind the slice. */
  readonly end: number;
  /** The marker's words for the missing text, a few. */
  readonly what: string;
  /** Why, in words. */
  readonly reason: string;
}

/** A range of messages is replaced by a summary. A tool call and its result stay on the same side of its bounds. */
export interface SummaryChange {
  readonly kind: 'summary';
  readonly start: number;
  /** The first message behind the range. */
  readonly end: number;
  readonly text: string;
  /** Why, in words. */
  readonly reason: string;
}

export interface ProviderEstimate {
  /** o200k tokens of the messages afterwards. */
  readonly tokensAfter: number;
  /** US dollars; undefined where it is not known. */
  readonly cost: number | undefined;
}
