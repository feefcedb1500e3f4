/**
 * The core's view of a model that summarizes. The models themselves lie above the core (`src/api/summarizer.ts`), so
 * that a summary can be planned, estimated and tested without one.
 */
import type { CacheLifetime, ModelPrices } from '../cost/prices';
import type { Usage, UsageAccounting } from '../cost/usage';
import type { ApiMessage } from '../messages/types';

/** The model that would be called, as far as planning needs it. */
export interface SummarizerModel {
  /** The profile's name for people. */
  readonly profile: string;
  readonly vendor: string;
  /** The vendor's id of the model. */
  readonly model: string;
  readonly accounting: UsageAccounting;
  /** Input and output together in the model's tokens; undefined where nobody told. */
  readonly contextWindow?: number;
  /** The model's tokens of one reply at most. */
  readonly maxOutputTokens?: number;
  /** The model's tokens for one o200k token, calibrated where calls were reported. */
  readonly tokenFactor: number;
  /** Undefined: the price is not known. */
  readonly prices?: ModelPrices;
  /** `included`: paid otherwise than by the token (a subscription, one's own machine). */
  readonly billing: 'per-token' | 'included';
  readonly cacheLifetime: CacheLifetime;
  /** The user's own prompt for summaries of conversations by this model; absent or blank: the built-in one. */
  readonly prompt?: string;
  /** The vendor can be asked to sum a conversation up itself; see {@link SummaryRequest.messages}. */
  readonly compacts?: boolean;
  /** When the user wants keys masked, whatever asks for the summary. */
  readonly maskSecrets?: MaskPolicy;
  /** What the limits on its cost are called where it is called from. Default: VS Code's settings. */
  readonly limitNames?: LimitNames;
}

/** The limits on what condensing costs, as the user knows them. */
export interface LimitNames {
  readonly condensation: string;
  readonly conversation: string;
  readonly day: string;
  /** What to do about a model whose price is not known: a sentence. */
  readonly unknownPrice: string;
}

/** The names of the limits on a model's cost. */
export const limitNamesIn = ({ limitNames, profile }: SummarizerModel): LimitNames =>
  limitNames ?? {
    condensation: 'contextCondenser.maxCostPerCondensation',
    conversation: 'contextCondenser.maxCostPerConversation',
    day: 'contextCondenser.maxCostPerDay',
    unknownPrice: `Set its prices in the profile "${profile}"; 0 where it costs nothing.`,
  };

/** When what looks like a key is masked before a text goes to a model. */
export const MASK_POLICIES = ['otherVendor', 'always', 'never'] as const;
export type MaskPolicy = (typeof MASK_POLICIES)[number];

/**
 * Whether keys are masked before a text goes to a model: of what the user wants and what a run asks for, the more careful counts.
 * @param vendor of the conversation's own model.
 * @param asked what the run's configuration says.
 */
export function masksFor(
  { vendor: other, maskSecrets }: SummarizerModel,
  vendor: string | undefined,
  asked?: MaskPolicy,
): boolean {
  const wanted = [maskSecrets, asked].filter((policy) => policy !== undefined);
  const policy = (['always', 'otherVendor', 'never'] as const).find((each) => wanted.includes(each)) ?? 'otherVendor';
  return policy === 'always' || (policy === 'otherVendor' && other !== vendor);
}

export interface SummaryRequest {
  readonly system: string;
  readonly prompt: string;
  /** The conversation that the vendor's own compaction sums up, in the place of the prompt, which is empty then. */
  readonly messages?: readonly ApiMessage[];
  /** See {@link outputLimit}. */
  readonly maxOutputTokens: number;
}

/** Assumed of a model whose window nobody told: what nearly every model of today has. Tokens. */
export const DEFAULT_WINDOW = 128_000;

/**
 * Tokens that a model may think before it answers. Most of today's think unasked, and their vendors count that to the
 * answer's limit (OpenAI guide, "Reasoning models"; Anthropic guide, "Thinking"): with a limit as long as the summary they
 * would be paid for thinking alone.
 */
const THINKING_TOKENS = 8_192;
/** Not more of a small window: the request must fit beside it. */
const MAX_THINKING_SHARE = 0.05;

/** The limit for an answer that is to have so many of the model's tokens at most, with room to think before it. */
export function outputLimit(answerTokens: number, { contextWindow, maxOutputTokens }: SummarizerModel): number {
  const room = Math.min(THINKING_TOKENS, (contextWindow ?? DEFAULT_WINDOW) * MAX_THINKING_SHARE);
  return Math.min(answerTokens + Math.floor(room), maxOutputTokens ?? Infinity);
}

export interface SummarizeOptions {
  readonly signal?: AbortSignal;
  /** The id of the conversation that the call is for: its costs count together. */
  readonly conversation?: string | undefined;
}

/** Why a reply can't be used. `too-long`: the model's window was exceeded. `not-compacted`: the vendor did not take the request to compact. */
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

interface ReplyBase {
  /** Undefined where the vendor was not reached or told nothing. Paid for failed replies, too. */
  readonly usage: Usage | undefined;
  /**
   * US dollars; undefined where the price is not known, or the call may be billed and nobody told for how much: one that was cancelled or
   * broke off. 0 where nothing was used.
   */
  readonly cost: number | undefined;
  /** Milliseconds from the request to the end of the reply. */
  readonly timeMs: number;
}

export type SummaryReply = ReplyBase &
  (
    | { readonly kind: 'complete'; readonly text: string }
    | {
        readonly kind: SummaryFailure;
        /** The problem and its remedy, for a person. Holds no key. */
        readonly message: string;
        readonly canRetry: boolean;
        readonly offerOtherProfile: boolean;
      }
  );

export interface Summarizer {
  readonly model: SummarizerModel;
  /** Never throws: what went wrong is in the reply. An abort closes the connection. */
  summarize(request: SummaryRequest, options?: SummarizeOptions): Promise<SummaryReply>;
}

/** A profile that can't be used now, and why. */
export interface Unavailable {
  readonly profile: string;
  readonly reason: string;
}

/** The model that a conversation runs on, as one that sums up. Asked for only where no profile can be used. */
export type OwnModel = () => Promise<Summarizer | Unavailable>;

export interface SummarizerCandidates {
  /** The profile that a pass names, else the one that was chosen for condensing. */
  readonly condensing?: Summarizer | Unavailable;
  /** The condensing profile, where a pass names another one. */
  readonly instead?: Summarizer | Unavailable;
  /** The conversation's own. */
  readonly conversation?: Summarizer | Unavailable;
}

export interface SelectedSummarizer {
  readonly summarizer: Summarizer;
  readonly chosen: 'condensing-profile' | 'conversation';
  /** Set where it is not the one that the user chose. */
  readonly warning?: string;
}

/** There is no model to summarize with; the message says what to do. */
export class NoSummarizerError extends Error {
  override readonly name = 'NoSummarizerError';
}

const isThere = (candidate: Summarizer | Unavailable | undefined): candidate is Summarizer =>
  candidate !== undefined && 'summarize' in candidate;

/**
 * The profile that was asked for, else the condensing profile, else the conversation's own model (FR-PR-002).
 * @throws NoSummarizerError
 */
export function selectSummarizer({ condensing, instead, conversation }: SummarizerCandidates): SelectedSummarizer {
  if (isThere(condensing)) return { summarizer: condensing, chosen: 'condensing-profile' };
  const why = condensing ? `The profile "${condensing.profile}" can't be used: ${condensing.reason}` : '';
  if (isThere(instead)) {
    const warning = `${why} The condensing profile (${instead.model.profile}, ${instead.model.model}) is used.`;
    return { summarizer: instead, chosen: 'condensing-profile', ...(condensing && { warning }) };
  }
  if (isThere(conversation)) {
    const first = why === '' ? 'No condensing profile is chosen.' : why;
    const warning = `${first} The conversation's own model (${conversation.model.profile}, ${conversation.model.model}) is used.`;
    return { summarizer: conversation, chosen: 'conversation', warning };
  }
  const second = instead ? `The condensing profile "${instead.profile}" can't be used: ${instead.reason}` : '';
  const third = conversation ? `The conversation's own model can't be used: ${conversation.reason}` : '';
  throw new NoSummarizerError(
    [why, second, third].filter((text) => text !== '').join(' ') ||
      'No model is set up for condensing. Add an API profile, or choose one of the models in VS Code.',
  );
}
