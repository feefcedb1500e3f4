/**
 * The code that calls models is outside the core (`src/api/summarizer.ts`), so that summaries can
 * be planned and tested without a model.
 */
import type { CacheLifetime, ModelPrices } from '../cost/prices';
import type { Usage, UsageAccounting } from '../cost/usage';
import type { ApiMessage } from '../messages/types';

export interface SummarizerModel {
  /** The profile's display name. */
  readonly profile: string;
  readonly vendor: string;
  readonly model: string;
  readonly accounting: UsageAccounting;
  /** Input and output together, in the model's tokens; undefined if unknown. */
  readonly contextWindow?: number;
  /** Limit of one reply, in the model's tokens. */
  readonly maxOutputTokens?: number;
  /** The model's tokens per o200k token, calibrated by reported usage. */
  readonly tokenFactor: number;
  readonly prices?: ModelPrices;
  /** `included`: not paid by the token (a subscription, the user's own machine). */
  readonly billing: 'per-token' | 'included';
  readonly cacheLifetime: CacheLifetime;
  /** Used for summaries of conversations; blank for the built-in prompt. */
  readonly prompt?: string;
  /** True if the vendor offers its own compaction; see {@link SummaryRequest.messages}. */
  readonly compacts?: boolean;
  readonly maskSecrets?: MaskPolicy;
  /** Names of the spending limits for messages. Default: the names of VS Code's settings. */
  readonly limitNames?: SpendingLimitNames;
}

export interface SpendingLimitNames {
  readonly condensation: string;
  readonly conversation: string;
  readonly day: string;
  /** A sentence that says what to do if a model's price is unknown. */
  readonly unknownPrice: string;
}

export const getSpendingLimitNames = ({ limitNames, profile }: SummarizerModel): SpendingLimitNames =>
  limitNames ?? {
    condensation: 'contextCondenser.maxCostPerCondensation',
    conversation: 'contextCondenser.maxCostPerConversation',
    day: 'contextCondenser.maxCostPerDay',
    unknownPrice: `Set the prices of “${profile}” in the settings (0 if it costs nothing).`,
  };

/** When to mask likely keys before text goes to a model. */
export const MASK_POLICIES = ['otherVendor', 'always', 'never'] as const;
export type MaskPolicy = (typeof MASK_POLICIES)[number];

/**
 * The stricter of the two policies applies.
 * @param vendor vendor of the conversation's own model
 * @param requested policy of the run's configuration
 */
export function shouldMaskSecrets(
  { vendor: otherVendor, maskSecrets }: SummarizerModel,
  vendor: string | undefined,
  requested?: MaskPolicy,
): boolean {
  const requestedPolicies = [maskSecrets, requested].filter((policy) => policy !== undefined);
  const policy =
    (['always', 'otherVendor', 'never'] as const).find((each) => requestedPolicies.includes(each)) ?? 'otherVendor';
  return policy === 'always' || (policy === 'otherVendor' && otherVendor !== vendor);
}

export interface SummaryRequest {
  readonly system: string;
  readonly prompt: string;
  /** The input of the vendor's own compaction; the prompt is empty then. */
  readonly messages?: readonly ApiMessage[];
  /** See {@link computeOutputLimit}. */
  readonly maxOutputTokens: number;
}

/** Assumed if a window is unknown; nearly every current model has this many tokens. */
export const DEFAULT_WINDOW_TOKENS = 128_000;

/**
 * Most current models think by default, and vendors count thinking toward the output limit (OpenAI
 * guide, "Reasoning models"; Anthropic guide, "Thinking").
 */
const THINKING_ALLOWANCE_TOKENS = 8_192;
/** Upper bound for small windows: the request must fit, too. */
const MAX_THINKING_WINDOW_SHARE = 0.05;

/** Leaves room to think before an answer of this many tokens. */
export function computeOutputLimit(answerTokens: number, { contextWindow, maxOutputTokens }: SummarizerModel): number {
  const thinkingTokens = Math.min(
    THINKING_ALLOWANCE_TOKENS,
    (contextWindow ?? DEFAULT_WINDOW_TOKENS) * MAX_THINKING_WINDOW_SHARE,
  );
  return Math.min(answerTokens + Math.floor(thinkingTokens), maxOutputTokens ?? Infinity);
}

export interface SummarizeOptions {
  readonly signal?: AbortSignal;
  /** ID of the conversation to which the costs are added. */
  readonly conversation?: string | undefined;
}

/**
 * `too-long`: the request exceeded the model's window. `not-compacted`: the vendor did not accept
 * the request to compact.
 */
export type SummaryFailure =
  | 'empty'
  | 'refused'
  | 'cut-at-limit'
  | 'cut-off'
  | 'tool-call'
  | 'too-long'
  | 'not-compacted'
  | 'aborted'
  | 'failed';

interface ReplyFields {
  /** Undefined if the vendor reported none. Failed replies may be paid, too. */
  readonly usage: Usage | undefined;
  /**
   * In US dollars; 0 if nothing was used. Undefined if the price is unknown, or if a canceled or
   * broken call may be billed.
   */
  readonly cost: number | undefined;
  /** In milliseconds, to the end of the reply. */
  readonly timeMs: number;
}

export type SummaryReply = ReplyFields &
  (
    | { readonly kind: 'complete'; readonly text: string }
    | {
        readonly kind: SummaryFailure;
        /** The problem and its remedy, for the user. Contains no key. */
        readonly message: string;
        readonly canRetry: boolean;
        readonly offerOtherProfile: boolean;
      }
  );

export interface Summarizer {
  readonly model: SummarizerModel;
  /** Never throws: the reply reports errors. Aborting closes the connection. */
  summarize(request: SummaryRequest, options?: SummarizeOptions): Promise<SummaryReply>;
}

export interface UnavailableProfile {
  readonly profile: string;
  readonly reason: string;
}

/** Loads the conversation's own model; called only if no profile can be used. */
export type LoadOwnModel = () => Promise<Summarizer | UnavailableProfile>;

export interface SummarizerCandidates {
  /** The profile that a pass names; if it names none, the condensing profile. */
  readonly condensing?: Summarizer | UnavailableProfile;
  /** The profile for condensing, if a pass names another one. */
  readonly fallback?: Summarizer | UnavailableProfile;
  readonly conversation?: Summarizer | UnavailableProfile;
}

export interface SelectedSummarizer {
  readonly summarizer: Summarizer;
  readonly chosen: 'condensing-profile' | 'conversation';
  /** Set if the user chose another summarizer than this one. */
  readonly warning?: string;
}

/** Its message says what to do. */
export class NoSummarizerError extends Error {
  override readonly name = 'NoSummarizerError';
}

const isUsableSummarizer = (candidate: Summarizer | UnavailableProfile | undefined): candidate is Summarizer =>
  candidate !== undefined && 'summarize' in candidate;

/**
 * Prefers the requested profile, then the condensing profile, then the conversation's own model.
 * @throws NoSummarizerError
 */
export function selectSummarizer({ condensing, fallback, conversation }: SummarizerCandidates): SelectedSummarizer {
  if (isUsableSummarizer(condensing)) return { summarizer: condensing, chosen: 'condensing-profile' };
  const condensingProblem = condensing ? `The model “${condensing.profile}” can’t be used: ${condensing.reason}` : '';
  if (isUsableSummarizer(fallback)) {
    const warning = `${condensingProblem} The model chosen for summaries (${fallback.model.profile}, ${fallback.model.model}) is used.`;
    return { summarizer: fallback, chosen: 'condensing-profile', ...(condensing && { warning }) };
  }
  if (isUsableSummarizer(conversation)) {
    const firstSentence = condensingProblem === '' ? 'No model for summaries is chosen.' : condensingProblem;
    const warning = `${firstSentence} The conversation’s own model (${conversation.model.profile}, ${conversation.model.model}) is used.`;
    return { summarizer: conversation, chosen: 'conversation', warning };
  }
  const fallbackProblem = fallback
    ? `The model chosen for summaries, “${fallback.profile}”, can’t be used: ${fallback.reason}`
    : '';
  const conversationProblem = conversation ? `The conversation’s own model can’t be used: ${conversation.reason}` : '';
  throw new NoSummarizerError(
    [condensingProblem, fallbackProblem, conversationProblem].filter((text) => text !== '').join(' ') ||
      'No model for summaries is chosen. Add one, or choose one of the models in VS Code.',
  );
}
