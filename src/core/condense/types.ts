import type { TokensByKind, Usage } from '../cost/usage';
import type { ToolTable } from '../messages/tools';
import type { ApiMessage } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import type { Draft } from './draft/draft';
import type { Edit } from './edits/edits';
import type { StepReport } from './stepReport';
import type { OwnModel } from './summarizer';

export type { StepReport } from './stepReport';

/** The providers of this product; other extensions may register more under IDs of their own. */
export const BUILT_IN_PROVIDERS = ['native', 'lossless', 'truncation', 'smart', 'strategy'] as const;
export type BuiltInProviderId = (typeof BUILT_IN_PROVIDERS)[number];
export const PROVIDER_NAMES: Readonly<Record<BuiltInProviderId, string>> = {
  native: 'Native',
  lossless: 'Lossless',
  truncation: 'Truncation',
  smart: 'Smart',
  strategy: 'Strategy',
};
/** True if the provider is not another extension's. */
export const isBuiltIn = (id: string): id is BuiltInProviderId => BUILT_IN_PROVIDERS.some((known) => known === id);

/** Stored as the provider of condensations of new results. */
export const NEW_RESULTS = 'on-arrival';

/**
 * A provider's name for people; its ID if its extension is gone.
 * @param registered providers that may be other extensions'
 */
export function providerNameOf(
  id: string,
  registered: readonly { readonly id: string; readonly name: string }[] = [],
): string {
  if (id === NEW_RESULTS) return 'New results';
  return isBuiltIn(id) ? PROVIDER_NAMES[id] : (registered.find((provider) => provider.id === id)?.name ?? id);
}

/** A provider's name with its preset or strategy, such as "Smart (File-Aware)". */
export const withConfigName = (provider: string, configName: string | undefined): string =>
  configName === undefined ? provider : `${provider} (${configName})`;

/** The preset that runs if Lossless is not enough. */
export const FILE_AWARE_NAME = withConfigName(PROVIDER_NAMES.smart, 'File-Aware');

export interface ProviderCapabilities {
  /** True if everything that the provider removes can be restored without a model. */
  readonly supportsLossless: boolean;
  readonly supportsBatchMode: boolean;
  readonly supportsIndividualMode: boolean;
  readonly supportsMultiPass: boolean;
  readonly supportsLLMSummarization: boolean;
  readonly estimatedSpeed: 'fast' | 'medium' | 'slow';
}

/** A wrong setting, with what was found and what is allowed. */
export interface ConfigProblem {
  /** Dotted path of the setting, such as `toolResults.maxLines`. */
  readonly path: string;
  readonly message: string;
}

/** A setting without effect. */
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

/** A configuration without its wrong parts. */
export interface UsableRest<Config> {
  readonly config: Config;
  /** As written, without defaults. */
  readonly written: unknown;
  /** Valid parts that are left out because of wrong ones. Default none. */
  readonly leftOut?: readonly ConfigProblem[];
}

/** A JSON Schema as the panel and package.json accept it. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

/** What a provider works on. */
export interface ConversationContext {
  /** Its ID, by which the costs of calls are summed. */
  readonly conversation?: string;
  /** The immutable conversation. */
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
  readonly ownModel?: OwnModel;
  /** Earlier runs of Lossless, for all providers that begin with it; absent to remember none. */
  readonly losslessRuns?: LosslessRuns;
}

export interface LosslessRun {
  readonly draft: Draft;
  readonly steps: readonly StepReport[];
}

/** A run with what it depends on besides the messages. */
export interface KnownLosslessRun extends LosslessRun {
  /** Its configuration and the edits before it. */
  readonly key: string;
  readonly targetTokens: number | undefined;
}

/** By conversation, the latest last. */
export type LosslessRuns = WeakMap<readonly ApiMessage[], readonly KnownLosslessRun[]>;

export interface CondensationProgress {
  /** The current step, in words. */
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

/** A provider's result: edits, never messages. */
export interface ProviderResult {
  readonly edits: readonly Edit[];
  readonly steps: readonly StepReport[];
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
  /** Why there are no edits, where the provider knows it better than "found nothing". */
  readonly unchanged?: { readonly reason: UnchangedReason; readonly detail: string };
  /** Notes for a person, beside the figures. */
  readonly notes?: readonly string[];
  /** The paid calls that were made, in order. */
  readonly calls?: readonly ModelCall[];
  /**
   * US dollars that the calls were expected to cost, before they were made; undefined where that
   * was not known.
   */
  readonly estimatedCost?: number;
}

/** Why a conversation was left as it is. */
export type UnchangedReason =
  | 'nothing-to-gain'
  | 'below-minimum-gain'
  | 'grew'
  | 'cooling-down'
  | 'target-met'
  /** There are too few messages between those that are kept. */
  | 'not-enough'
  /** Nothing is new since the last summary. */
  | 'already-condensed'
  /** It would cost more than is allowed. */
  | 'over-budget'
  /** Too little of the conversation's facts would still stand in the view. */
  | 'incoherent';

/** One call to a model, as it really was. */
export interface ModelCall {
  readonly profile: string;
  readonly vendor: string;
  readonly model: string;
  /**
   * Why this model: it is the condensing profile's, or the conversation's own because that one
   * can't be used.
   */
  readonly chosen: 'condensing-profile' | 'conversation';
  /**
   * o200k tokens of the request as counted here; with the reported usage they calibrate the model's
   * token factor.
   */
  readonly countedTokens: number;
  /**
   * o200k tokens that the summary of a single content was asked to have at most; absent of a
   * conversation's summary.
   */
  readonly askedTokens?: number;
  readonly expectedOutputTokens: number;
  readonly usage: Usage | undefined;
  /** US dollars. */
  readonly cost: number | undefined;
  /** In milliseconds. */
  readonly timeMs: number;
  /** `complete`, or why the reply could not be used. */
  readonly outcome: string;
}

/** What may help after a failure. */
export interface FailureAdvice {
  /** The same may succeed later. */
  readonly canRetry: boolean;
  /** Another profile may succeed now. */
  readonly offerOtherProfile: boolean;
}

/** Thrown by a provider that had already spent something. */
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

/** The expected figures of a condensation. */
export interface CondensationEstimate {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly steps: readonly StepReport[];
  /** In US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
  /**
   * The edits for a preview, with placeholder text for summaries; absent if the provider can't
   * tell.
   */
  readonly edits?: readonly Edit[];
  /** The calls' tokens by kind, in the models' tokens; absent without calls or if unknown. */
  readonly callTokens?: TokensByKind;
  /** Absent where there are no calls, or a price is not known. */
  readonly costRange?: CostRange;
  /**
   * Why none of the calls would be made, and nothing changed: they would cost more than may be
   * spent.
   */
  readonly refusal?: string;
  /** Absent if the estimate is exact. */
  readonly confidence?: Confidence;
}

/** US dollars that the calls of a run cost at least and at most. */
export interface CostRange {
  readonly least: number;
  readonly most: number;
  /** Set where the run stops at its cost limit, which `most` then is. */
  readonly endsAtLimit?: boolean | undefined;
}

/** `high`: based on many replies of the model; `medium`: on some; `low`: on none. */
export type Confidence = 'high' | 'medium' | 'low';

/** A way to condense, with its configuration's rules (FR-PA-001). `Config` is what {@link validateConfig} accepts. */
export interface CondensationProvider<Config = unknown> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;

  /** Its capabilities, whatever its configuration. */
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

/** For providers whose passes or steps may be of any kind. */
export const EVERYTHING: ProviderCapabilities = {
  supportsLossless: true,
  supportsBatchMode: true,
  supportsIndividualMode: true,
  supportsMultiPass: true,
  supportsLLMSummarization: true,
  estimatedSpeed: 'medium',
};
