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
/** Whether a provider is one of ours, and not another extension's. */
export const isBuiltIn = (id: string): id is BuiltInProviderId => BUILT_IN_PROVIDERS.some((known) => known === id);

/** Stored as the provider of condensations of new results. */
export const NEW_RESULTS = 'on-arrival';

/**
 * The name of a condensation's provider for people; its id where its extension is gone.
 * @param registered those that may be other extensions'.
 */
export function providerNameOf(
  id: string,
  registered: readonly { readonly id: string; readonly name: string }[] = [],
): string {
  if (id === NEW_RESULTS) return 'New results';
  return isBuiltIn(id) ? PROVIDER_NAMES[id] : (registered.find((provider) => provider.id === id)?.name ?? id);
}

/** "Smart (File-Aware)": a provider's name with that of the preset or strategy that it ran with. */
export const withConfigName = (provider: string, configName: string | undefined): string =>
  configName === undefined ? provider : `${provider} (${configName})`;

/** The preset that runs where Lossless is not enough, as people know it. */
export const FILE_AWARE_NAME = withConfigName(PROVIDER_NAMES.smart, 'File-Aware');

export interface ProviderCapabilities {
  /** True where all that the provider leaves out can be had back without a model. */
  readonly supportsLossless: boolean;
  readonly supportsBatchMode: boolean;
  readonly supportsIndividualMode: boolean;
  readonly supportsMultiPass: boolean;
  readonly supportsLLMSummarization: boolean;
  readonly estimatedSpeed: 'fast' | 'medium' | 'slow';
}

/** A wrong setting: where, what was found, what is allowed. */
export interface ConfigProblem {
  /** Dotted path of the setting, such as `toolResults.maxLines`. */
  readonly path: string;
  readonly message: string;
}

/** A setting that is not wrong, but has no effect. */
export interface ConfigWarning extends ConfigProblem {
  /** The name that may have been meant; the message says it too. */
  readonly suggestion?: string;
}

export type ValidationResult<Config> =
  | { readonly valid: true; readonly config: Config; readonly warnings?: readonly ConfigWarning[] }
  | {
      readonly valid: false;
      readonly problems: readonly ConfigProblem[];
      /** What can be used of the configuration; absent: nothing. */
      readonly rest?: UsableRest<Config>;
    };

/** A configuration without what is wrong in it. */
export interface UsableRest<Config> {
  readonly config: Config;
  /** The same as it was written, without the defaults. */
  readonly written: unknown;
  /** Parts that are sound themselves, but left out because of what is wrong. Default: none. */
  readonly leftOut?: readonly ConfigProblem[];
}

/** A JSON Schema, as the panel and package.json take it. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

/** The material that a provider works on. */
export interface ConversationContext {
  /** Its id: what calls cost on it counts together. */
  readonly conversation?: string;
  /** The immutable conversation. */
  readonly messages: readonly ApiMessage[];
  /** Edits of earlier condensations that still hold; the view starts with them. */
  readonly edits: readonly Edit[];
  readonly counter: MessageCounter;
  /** The conversation's system prompt, where it is known. */
  readonly system?: string;
  /** Who the conversation's own model belongs to, such as `anthropic`; what looks like a key doesn't go to another. */
  readonly vendor?: string;
  /** Indexes of the messages that a person pinned: no lossy operation touches them. */
  readonly pinned?: ReadonlySet<number>;
  /** The conversation's own model, which sums up where no profile can; absent: it can't be called here. */
  readonly ownModel?: OwnModel;
  /** Earlier runs of Lossless over it, for all providers that begin with it; absent: nothing is remembered. */
  readonly losslessRuns?: LosslessRuns;
}

/** A run of Lossless over a conversation. */
export interface LosslessRun {
  readonly draft: Draft;
  readonly steps: readonly StepReport[];
}

/** A run with what it depends on beside the messages. */
export interface KnownLosslessRun extends LosslessRun {
  /** Its configuration and the edits before it. */
  readonly key: string;
  readonly targetTokens: number | undefined;
}

/** By conversation, the latest last. */
export type LosslessRuns = WeakMap<readonly ApiMessage[], readonly KnownLosslessRun[]>;

export interface CondensationProgress {
  /** The step that runs, in words. */
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

export interface CondensationOptions {
  /**
   * Stop as soon as the messages have no more tokens than this (o200k, without system prompt and tools); undefined: as
   * far as the provider goes.
   */
  readonly targetTokens?: number;
  /** US dollars that may be spent; what is estimated above it isn't begun. Undefined: no limit. */
  readonly maxCost?: number;
  /** o200k tokens that the model's window holds. */
  readonly windowTokens?: number;
  /** o200k tokens of what is sent beside the messages: system prompt and tools. */
  readonly overheadTokens?: number;
  /** Whether the vendor's prompt cache has lost the conversation, as far as the caller can tell. */
  readonly cacheCold?: boolean;
  /** The user's rows for tools, by which references of earlier condensations are checked; default none. */
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
  /** US dollars that the calls were expected to cost, before they were made; undefined where that was not known. */
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
  /** Why this model: it is the condensing profile's, or the conversation's own because that one can't be used. */
  readonly chosen: 'condensing-profile' | 'conversation';
  /** o200k tokens of the request as counted here; with the reported usage they calibrate the model's token factor. */
  readonly countedTokens: number;
  /**
   * o200k tokens that the summary of a single content was asked to have at most; absent of a conversation's summary.
   */
  readonly askedTokens?: number;
  readonly expectedOutputTokens: number;
  readonly usage: Usage | undefined;
  /** US dollars. */
  readonly cost: number | undefined;
  /** Milliseconds. */
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
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
  /**
   * The edits that would be made, for a preview; where a model would write, words without meaning stand for its text. Absent
   * of a provider that can't tell.
   */
  readonly edits?: readonly Edit[];
  /** Tokens of the calls by kind, as the models count them; absent where there are no calls, or nobody can tell. */
  readonly callTokens?: TokensByKind;
  /** Absent where there are no calls, or a price is not known. */
  readonly costRange?: CostRange;
  /** Why none of the calls would be made, and nothing changed: they would cost more than may be spent. */
  readonly refusal?: string;
  /** How sure the estimate is; absent: exact, for nothing of it is guessed. */
  readonly confidence?: Confidence;
}

/** US dollars that the calls of a run cost at least and at most. */
export interface CostRange {
  readonly least: number;
  readonly most: number;
  /** Set where the run stops at its cost limit, which `most` then is. */
  readonly endsAtLimit?: boolean | undefined;
}

/** `high`: many replies of the model have been seen; `medium`: some; `low`: none. */
export type Confidence = 'high' | 'medium' | 'low';

/** A way to condense, with its configuration's rules (FR-PA-001). `Config` is what {@link validateConfig} accepts. */
export interface CondensationProvider<Config = unknown> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;

  /** Its abilities, whatever its configuration. */
  getCapabilities(): ProviderCapabilities;
  /** The schema of its configuration: forms, settings and documents are made of it. Every field has a default. */
  getConfigSchema(): ConfigSchema;
  /** Checks a configuration from outside; what is absent takes its default. */
  validateConfig(config: unknown): ValidationResult<Config>;
  /** The name of the preset or strategy that a configuration from outside is or names; undefined: it is the user's own. */
  nameOfConfig?(config: unknown): string | undefined;
  /** Whether a condensation with this configuration may call a model. Absent: as its capabilities say. */
  asksModel?(config: Config): boolean;

  /**
   * Condenses, without side effects.
   * @throws the signal's reason where it was aborted; any other error means that nothing came of it.
   */
  condense(context: ConversationContext, config: Config, options: CondensationOptions): Promise<ProviderResult>;

  /** Tokens and cost of the plan that {@link condense} would run, worked out once and without any paid call. */
  estimate(context: ConversationContext, config: Config, options: CondensationOptions): Promise<CondensationEstimate>;
}

/** Of providers whose passes or steps may be of any kind. */
export const EVERYTHING: ProviderCapabilities = {
  supportsLossless: true,
  supportsBatchMode: true,
  supportsIndividualMode: true,
  supportsMultiPass: true,
  supportsLLMSummarization: true,
  estimatedSpeed: 'medium',
};
