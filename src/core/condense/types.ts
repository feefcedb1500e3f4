import type { TokensByKind, Usage } from '../cost/usage';
import type { ToolTable } from '../messages/tools';
import type { ApiMessage } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import type { Draft } from './draft/draft';
import type { Edit } from './edits/edits';
import type { StepReport } from './stepReport';
import type { LoadOwnModel } from './summarizer';

export type { StepReport } from './stepReport';

/** The providers of this product; other extensions may register more under IDs of their own. */
export const BUILT_IN_PROVIDERS = ['native', 'lossless', 'truncation', 'smart', 'strategy'] as const;
export type BuiltInProviderId = (typeof BUILT_IN_PROVIDERS)[number];
export const PROVIDER_NAMES: Readonly<Record<BuiltInProviderId, string>> = {
  native: 'Summary',
  lossless: 'Lossless',
  truncation: 'Truncation',
  smart: 'Smart',
  strategy: 'Strategy',
};
export const isBuiltIn = (id: string): id is BuiltInProviderId => BUILT_IN_PROVIDERS.some((known) => known === id);

/** Whether a provider calls a model; some do only if their configuration says so. */
export const CALLS_MODEL: Readonly<Record<BuiltInProviderId, boolean | 'if-configured'>> = {
  native: true,
  lossless: false,
  truncation: false,
  smart: 'if-configured',
  strategy: 'if-configured',
};

/** True for providers that can't do without a model or are another extension's. */
export const needsModelOrExtension = (id: string): boolean => !isBuiltIn(id) || CALLS_MODEL[id] === true;

/** Stored as the provider of condensations of new results. */
export const NEW_RESULTS_PROVIDER_ID = 'on-arrival';

/**
 * A provider's name for people; its ID if its extension is gone.
 * @param registered providers that may be other extensions'
 */
export function getProviderName(
  id: string,
  registered: readonly { readonly id: string; readonly name: string }[] = [],
): string {
  if (id === NEW_RESULTS_PROVIDER_ID) return 'New results';
  return isBuiltIn(id) ? PROVIDER_NAMES[id] : (registered.find((provider) => provider.id === id)?.name ?? id);
}

/** A provider's name with its preset or strategy, such as "Smart (File-Aware)". */
export const formatProviderName = (provider: string, configName: string | undefined): string =>
  configName === undefined ? provider : `${provider} (${configName})`;

/** The preset that runs if Lossless is not enough. */
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
      /** The usable part of the configuration; absent if there is none. */
      readonly rest?: UsableRest<Config>;
    };

export interface UsableRest<Config> {
  readonly config: Config;
  /** The configuration as written, without defaults. */
  readonly written: unknown;
  /** Valid parts that are left out because of wrong ones. Default none. */
  readonly leftOut?: readonly ConfigProblem[];
}

/** A JSON Schema as the panel and package.json accept it. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

export interface ConversationContext {
  /** ID of the conversation to which the costs of calls are added. */
  readonly conversation?: string;
  readonly messages: readonly ApiMessage[];
  /** Edits of earlier condensations that still apply; the view starts with them. */
  readonly edits: readonly Edit[];
  readonly counter: MessageCounter;
  /** The conversation's system prompt, if known. */
  readonly system?: string;
  /**
   * Vendor of the conversation's own model, such as `anthropic`. Likely keys are not sent to other
   * vendors.
   */
  readonly vendor?: string;
  /** Indexes of pinned messages, which lossy operations must not change. */
  readonly pinned?: ReadonlySet<number>;
  /**
   * The conversation's own model, used if no profile can summarize; absent if it can't be called
   * here.
   */
  readonly ownModel?: LoadOwnModel;
  /** Earlier runs of Lossless, for all providers that begin with it; absent to remember none. */
  readonly losslessRuns?: LosslessRuns;
}

export interface LosslessRun {
  readonly draft: Draft;
  readonly steps: readonly StepReport[];
}

/** A run with what it depends on besides the messages. */
export interface CachedLosslessRun extends LosslessRun {
  /** Identifies the configuration and the preceding edits. */
  readonly key: string;
  readonly targetTokens: number | undefined;
}

/** By conversation, the latest last. */
export type LosslessRuns = WeakMap<readonly ApiMessage[], readonly CachedLosslessRun[]>;

export interface CondensationProgress {
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

export interface CondensationOptions {
  /**
   * Stop as soon as the messages have at most this many o200k tokens, without system prompt and
   * tools; undefined to do everything.
   */
  readonly targetTokens?: number;
  /** US dollars that may be spent; more expensive calls are not started. Undefined for no limit. */
  readonly maxCost?: number;
  /** Size of the model's window in o200k tokens. */
  readonly windowTokens?: number;
  /** o200k tokens of system prompt and tools. */
  readonly overheadTokens?: number;
  /** Whether the vendor's prompt cache has expired, as far as the caller knows. */
  readonly cacheCold?: boolean;
  /** The user's rules for tools, used to check earlier references. Default none. */
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
  /** Notes for a person. */
  readonly notes?: readonly string[];
  /** The paid calls, in order. */
  readonly calls?: readonly ModelCall[];
  /** Estimated US dollars of the calls; undefined if unknown. */
  readonly estimatedCost?: number;
}

/** Why a conversation was not changed. */
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
  /** The condensation would exceed the cost limit. */
  | 'over-budget'
  /** Too few of the conversation's facts would remain in the view. */
  | 'incoherent';

export interface ModelCall {
  readonly profile: string;
  readonly vendor: string;
  readonly model: string;
  /**
   * Why this model: it belongs to the condensing profile, or to the conversation because that
   * profile can't be used.
   */
  readonly chosen: 'condensing-profile' | 'conversation';
  /** o200k tokens of the request; with reported usage they calibrate the model's token factor. */
  readonly countedTokens: number;
  /** Limit in o200k tokens of a single content's summary; absent for a conversation's. */
  readonly askedTokens?: number;
  readonly expectedOutputTokens: number;
  readonly usage: Usage | undefined;
  /** In US dollars. */
  readonly cost: number | undefined;
  /** In milliseconds. */
  readonly timeMs: number;
  /** `complete`, or why the reply could not be used. */
  readonly outcome: string;
}

export interface FailureAdvice {
  /** The same request may succeed later. */
  readonly canRetry: boolean;
  /** Another profile may succeed now. */
  readonly offerOtherProfile: boolean;
}

/** Thrown by a provider that has already spent something. */
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
  /** The edits for a preview, with placeholder text for summaries; absent if the provider can't predict them. */
  readonly edits?: readonly Edit[];
  /** The calls' tokens by kind, in the models' tokens; absent without calls or if unknown. */
  readonly callTokens?: TokensByKind;
  /** Absent without calls or if a price is unknown. */
  readonly costRange?: CostRange;
  /** Set if no call would be made because all exceed the spending limit. */
  readonly refusal?: string;
  /** Absent if the estimate is exact. */
  readonly confidence?: Confidence;
}

/** Minimum and maximum US dollars of a run's calls. */
export interface CostRange {
  readonly least: number;
  readonly most: number;
  /** Set if the run stops at its cost limit, which is `most` then. */
  readonly endsAtLimit?: boolean | undefined;
}

/** `high`: based on many replies of the model; `medium`: on some; `low`: on none. */
export type Confidence = 'high' | 'medium' | 'low';

/** A way to condense, with its configuration's rules. `Config` is what {@link validateConfig} accepts. */
export interface CondensationProvider<Config = unknown> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;

  getCapabilities(): ProviderCapabilities;
  /**
   * Schema of its configuration, from which forms, settings and documents are made. Every field has
   * a default.
   */
  getConfigSchema(): ConfigSchema;
  /** Checks a configuration from outside; absent fields take their defaults. */
  validateConfig(config: unknown): ValidationResult<Config>;
  /**
   * Name of the preset or strategy that a configuration is or names; undefined for the user's own.
   */
  nameOfConfig?(config: unknown): string | undefined;
  /** True if this configuration may call a model. Absent: decided by the capabilities. */
  asksModel?(config: Config): boolean;

  /**
   * Condenses without side effects.
   * @throws the signal's reason if it was aborted; after any other error nothing changes
   */
  condense(context: ConversationContext, config: Config, options: CondensationOptions): Promise<ProviderResult>;

  /** Tokens and cost of the plan that {@link condense} would run, without paid calls. */
  estimate(context: ConversationContext, config: Config, options: CondensationOptions): Promise<CondensationEstimate>;
}

/** Capabilities of providers whose passes or steps may be of any kind. */
export const FULL_CAPABILITIES: ProviderCapabilities = {
  supportsLossless: true,
  supportsBatchMode: true,
  supportsIndividualMode: true,
  supportsMultiPass: true,
  supportsLLMSummarization: true,
  estimatedSpeed: 'medium',
};
