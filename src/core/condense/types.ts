import type { TokensByKind, Usage } from '../cost/usage';
import type { ToolTable } from '../messages/tools';
import type { ApiMessage } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import type { Draft } from './draft/draft';
import type { Edit } from './edits/edits';
import type { StepReport } from './stepReport';
import type { LoadOwnModel } from './summarizer';

export type { StepReport } from './stepReport';

/**
 * In display order: those that cost nothing first, then those that lose less. Other extensions may
 * register more.
 */
export const BUILT_IN_PROVIDERS = ['lossless', 'smart', 'truncation', 'native', 'strategy'] as const;
export type BuiltInProviderId = (typeof BUILT_IN_PROVIDERS)[number];
export const PROVIDER_NAMES: Readonly<Record<BuiltInProviderId, string>> = {
  lossless: 'Lossless',
  smart: 'Smart',
  truncation: 'Truncation',
  native: 'Summary',
  strategy: 'Strategy',
};
export const PROVIDER_DESCRIPTIONS: Readonly<Record<BuiltInProviderId, string>> = {
  lossless: 'Replaces repeated content with references. Free; every byte can be restored.',
  smart:
    'Removes old content by its kind, in passes. Free unless a pass calls a model; what is removed can be recalled.',
  truncation: 'Shortens old tool results and parameters, and removes old images. Free; what is cut can be recalled.',
  native: 'Has a model write a summary in place of older messages. Costs what the model costs.',
  strategy: 'Runs several providers in order, each only if its condition is met. Costs what they cost.',
};
export const isBuiltInProvider = (id: string): id is BuiltInProviderId =>
  BUILT_IN_PROVIDERS.some((known) => known === id);

export const PROVIDER_CALLS_MODEL: Readonly<Record<BuiltInProviderId, boolean | 'if-configured'>> = {
  native: true,
  lossless: false,
  truncation: false,
  smart: 'if-configured',
  strategy: 'if-configured',
};

export const needsModelOrExtension = (id: string): boolean =>
  !isBuiltInProvider(id) || PROVIDER_CALLS_MODEL[id] === true;

/** Stored as the provider if new tool results are condensed before they are first sent. */
export const NEW_RESULTS_PROVIDER_ID = 'on-arrival';

/**
 * Returns the ID if the provider's extension is no longer installed.
 * @param registered all registered providers, including those of other extensions
 */
export function getProviderName(
  id: string,
  registered: readonly { readonly id: string; readonly name: string }[] = [],
): string {
  if (id === NEW_RESULTS_PROVIDER_ID) return 'New results';
  return isBuiltInProvider(id) ? PROVIDER_NAMES[id] : (registered.find((provider) => provider.id === id)?.name ?? id);
}

/** For example "Smart (File-Aware)". */
export const formatProviderName = (provider: string, configName: string | undefined): string =>
  configName === undefined ? provider : `${provider} (${configName})`;

/** Display name of the preset that runs if Lossless is not enough. */
export const FILE_AWARE_NAME = formatProviderName(PROVIDER_NAMES.smart, 'File-Aware');

export interface ProviderCapabilities {
  /** True if everything that the provider removes can be restored without a model. */
  readonly supportsLossless: boolean;
  readonly supportsBatchMode: boolean;
  readonly supportsIndividualMode: boolean;
  readonly supportsMultiPass: boolean;
  readonly supportsLLMSummarization: boolean;
  readonly estimatedSpeed: 'fast' | 'medium' | 'slow';
}

export interface ConfigProblem {
  /** Dotted path of the setting, such as `toolResults.maxLines`. */
  readonly path: string;
  readonly message: string;
}

export interface ConfigWarning extends ConfigProblem {
  /** The name that was probably meant; also part of the message. */
  readonly suggestion?: string;
}

export type ValidationResult<Config> =
  | { readonly valid: true; readonly config: Config; readonly warnings?: readonly ConfigWarning[] }
  | {
      readonly valid: false;
      readonly problems: readonly ConfigProblem[];
      /** The configuration without its invalid parts; absent if nothing is usable. */
      readonly rest?: ConfigWithoutInvalidParts<Config>;
    };

export interface ConfigWithoutInvalidParts<Config> {
  readonly config: Config;
  /** The configuration as written, without defaults. */
  readonly written: unknown;
  /** Valid parts that are left out because they depend on invalid ones. */
  readonly leftOut?: readonly ConfigProblem[];
}

/** A JSON Schema that the panel and package.json accept. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

export interface ConversationContext {
  /** The conversation to which the cost of calls is booked. */
  readonly conversation?: string;
  readonly messages: readonly ApiMessage[];
  /** Edits of earlier condensations that still apply; the view starts with them. */
  readonly edits: readonly Edit[];
  readonly counter: MessageCounter;
  readonly system?: string;
  /** For example `anthropic`. Texts that look like API keys are not sent to other vendors. */
  readonly vendor?: string;
  /** Indexes of messages that lossy operations must not change. */
  readonly pinned?: ReadonlySet<number>;
  /** Loads the model to use if no profile can summarize. */
  readonly ownModel?: LoadOwnModel;
  /**
   * Cached Lossless runs, shared by all providers that begin with Lossless; absent to cache none.
   */
  readonly losslessRuns?: CachedLosslessRunsByMessages;
}

export interface LosslessRun {
  readonly draft: Draft;
  readonly steps: readonly StepReport[];
}

export interface CachedLosslessRun extends LosslessRun {
  /** Identifies the configuration and the preceding edits. */
  readonly key: string;
  readonly targetTokens: number | undefined;
}

/** The latest run is last. */
export type CachedLosslessRunsByMessages = WeakMap<readonly ApiMessage[], readonly CachedLosslessRun[]>;

export interface CondensationProgress {
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

export interface CondensationOptions {
  /** Stop when the messages have at most this many o200k tokens; undefined to do everything. */
  readonly targetTokens?: number;
  /** In US dollars; more expensive calls are not started. Undefined for no limit. */
  readonly maxCost?: number;
  /** In o200k tokens. */
  readonly windowTokens?: number;
  /** o200k tokens of system prompt and tools. */
  readonly overheadTokens?: number;
  /** Whether the vendor's prompt cache has expired, as far as the caller knows. */
  readonly cacheCold?: boolean;
  readonly tools?: ToolTable;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CondensationProgress) => void;
}

export interface ProviderResult {
  readonly edits: readonly Edit[];
  readonly steps: readonly StepReport[];
  /** In US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
  /** Why there are no edits, if the provider knows more than "found nothing". */
  readonly unchanged?: { readonly reason: UnchangedReason; readonly detail: string };
  readonly notes?: readonly string[];
  readonly calls?: readonly ModelCall[];
  /** In US dollars; undefined if unknown. */
  readonly estimatedCost?: number;
}

export type UnchangedReason =
  | 'nothing-to-gain'
  | 'below-minimum-gain'
  | 'grew'
  | 'cooling-down'
  | 'target-met'
  /** Too few messages lie between the ones to keep. */
  | 'not-enough'
  /** No new messages since the last summary. */
  | 'already-condensed'
  | 'over-budget'
  /** Too few of the conversation's facts would remain in the view. */
  | 'incoherent';

export interface ModelCall {
  readonly profile: string;
  readonly vendor: string;
  readonly model: string;
  /** `conversation`, its own model, if the condensing profile cannot be used. */
  readonly chosen: 'condensing-profile' | 'conversation';
  /** o200k tokens of the request; with reported usage they calibrate the model's token factor. */
  readonly countedTokens: number;
  /**
   * Limit in o200k tokens for the summary of a single content; absent for the summary of a
   * conversation.
   */
  readonly askedTokens?: number;
  readonly usage: Usage | undefined;
  /** In US dollars. */
  readonly cost: number | undefined;
  readonly timeMs: number;
  /** `complete`, or why the reply could not be used. */
  readonly outcome: string;
}

export interface FailureAdvice {
  /** True if the same request may succeed later. */
  readonly canRetry: boolean;
  /** True if another profile may succeed now. */
  readonly offerOtherProfile: boolean;
}

/** Thrown by a provider that fails after it has already spent something. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';

  constructor(
    message: string,
    readonly spent: Pick<ProviderResult, 'steps' | 'cost' | 'notes' | 'calls' | 'estimatedCost'>,
    readonly advice: FailureAdvice,
  ) {
    super(message);
  }
}

export interface CondensationEstimate {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly steps: readonly StepReport[];
  /** In US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
  /** The edits have placeholders for summaries; absent if they cannot be predicted. */
  readonly edits?: readonly Edit[];
  /** In the models' tokens; absent without calls or if unknown. */
  readonly callTokens?: TokensByKind;
  /** In US dollars; absent without calls or if a price is unknown. */
  readonly costRange?: CostRange;
  /** Set if all calls exceed the spending limit. */
  readonly refusal?: string;
  /** Absent if the estimate is exact. */
  readonly confidence?: Confidence;
}

/** In US dollars. */
export interface CostRange {
  readonly least: number;
  readonly most: number;
  /** True if the run stops at its cost limit, which is `most` then. */
  readonly endsAtLimit?: boolean | undefined;
}

/** `high` is based on many replies of the model, `medium` on some, `low` on none. */
export type Confidence = 'high' | 'medium' | 'low';

/** `Config` is what {@link validateConfig} accepts. */
export interface CondensationProvider<Config = unknown> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;

  getCapabilities(): ProviderCapabilities;
  /** Forms, settings and documents are made from this schema. Every field has a default. */
  getConfigSchema(): ConfigSchema;
  /** Absent fields take their defaults. */
  validateConfig(config: unknown): ValidationResult<Config>;
  /** Returns the name of a preset or strategy; undefined for the user's own configuration. */
  nameOfConfig?(config: unknown): string | undefined;
  /** If absent, the capabilities tell whether the provider calls a model. */
  asksModel?(config: Config): boolean;

  /**
   * Condenses without side effects.
   * @throws the signal's reason if it was aborted; after any other error nothing changes
   */
  condense(context: ConversationContext, config: Config, options: CondensationOptions): Promise<ProviderResult>;

  /** Makes no paid calls. */
  estimate(context: ConversationContext, config: Config, options: CondensationOptions): Promise<CondensationEstimate>;
}

/** For providers whose passes or steps may be of any kind. */
export const FULL_CAPABILITIES: ProviderCapabilities = {
  supportsLossless: true,
  supportsBatchMode: true,
  supportsIndividualMode: true,
  supportsMultiPass: true,
  supportsLLMSummarization: true,
  estimatedSpeed: 'medium',
};
