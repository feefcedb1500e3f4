/** How full a model's context window is; all displays use this figure. */
import type { MessageCounter } from '../tokens/messageCounter';
import type { ApiMessage } from '../messages/types';
import { countPromptTokens } from '../cost/usage';
import { formatShare } from '../percent';
import type { LastRequest } from './recordedRequest';

/** Plain data, stored on disk and passed between workers. */
export interface FillLevel {
  /** Model tokens of the conversation including instructions and tools. */
  readonly tokens: number;
  /** Window in tokens; undefined if unknown. */
  readonly window?: number | undefined;
  /**
   * True if based on the agent's last recorded request plus what followed; false if counted by us.
   */
  readonly isRecorded: boolean;
  /** The model that answered last, if known. */
  readonly model?: string | undefined;
  /** The model's tokens per token counted here; absent: taken as 1. */
  readonly tokenFactor?: number | undefined;
  /** For a copy without a request of its own, whose figures come from its original. */
  readonly fromOriginal?: {
    /** Tokens counted here of what the copy lacks because its agent adds it when it continues. */
    readonly renewed: number;
  };
}

export interface FillModel {
  /** Its tokens per o200k token. */
  readonly tokenFactor: number;
  readonly window?: number | undefined;
}

/** Optional larger window of Claude models in tokens (Anthropic API guide, "Context windows"). */
const LARGE_WINDOW_TOKENS = 1_000_000;

/**
 * @param messages what the agent would send next
 * @param declared o200k tokens of the instructions and tools, as far as the file has them
 */
export function fillLevel(
  messages: readonly ApiMessage[],
  { tokenFactor, window }: FillModel,
  last: LastRequest | undefined,
  counter: MessageCounter,
  declared: number,
): FillLevel {
  const { usage, messagesSince } = last ?? {};
  const count = (of: readonly ApiMessage[]): number => Math.round(tokenFactor * counter.countMessages(of));
  if (usage && messagesSince !== undefined) {
    const since = messagesSince === 0 ? 0 : count(messages.slice(-messagesSince));
    const tokens = countPromptTokens(usage) + usage.outputTokens + since;
    return { tokens, ...chooseWindow(countPromptTokens(usage), last?.window ?? window, last?.model), isRecorded: true };
  }
  const tokens = count(messages) + Math.round(tokenFactor * declared);
  return { tokens, ...chooseWindow(0, last?.window ?? window, last?.model), isRecorded: false };
}

/**
 * The window of a model: what is known of it, unless requests did not fit that and were answered.
 * @param prompt tokens of the largest request that was answered
 */
export function chooseWindow(
  prompt: number,
  window: number | undefined,
  model: string | undefined,
): { window?: number } {
  if (window === undefined) return {};
  if (prompt <= window) return { window };
  return prompt <= LARGE_WINDOW_TOKENS && /claude/i.test(model ?? '') ? { window: LARGE_WINDOW_TOKENS } : {};
}

/**
 * The fill level with fewer messages: the total less what was removed, at the model's tokens per
 * token counted here. Not in proportion to the messages, because the rest of the total stays.
 * Regression over 9 Claude Code sessions of Claude 4.7 and later: a request has 27,000 to 64,000
 * tokens of instructions and tools, 1.5 to 1.66 for each token counted here, and 0.22 to 0.33 for
 * each character of a thinking block's signature where the file has no text of it.
 * @param counted tokens of the messages in `fill`, as counted here
 * @param after tokens of the messages that replace them
 */
export function estimateCondensedFill(fill: FillLevel, counted: number, after: number): FillLevel {
  if (after === counted) return fill;
  // No more per token than there is, so that the result can't be negative.
  const factor = counted > 0 ? Math.min(fill.tokenFactor ?? 1, fill.tokens / counted) : (fill.tokenFactor ?? 1);
  return { ...fill, tokens: Math.max(0, Math.round(fill.tokens - factor * (counted - after))), isRecorded: false };
}

/**
 * The same for a copy that was given back, until its agent records a request in it.
 * @param original with `renewed`, the tokens of its messages that the copy lacks, because the agent
 * adds them when it continues
 * @param tokens of the copy's messages, as counted here
 */
export const estimateCopyFill = (
  original: { readonly fill: FillLevel; readonly tokens: number; readonly renewed: number },
  tokens: number,
): FillLevel => ({
  ...estimateCondensedFill(original.fill, original.tokens, tokens + original.renewed),
  isRecorded: false,
  fromOriginal: { renewed: original.renewed },
});

/**
 * Why the recorded total is more than the messages, in a sentence; undefined if nothing is to be
 * explained.
 * @param counted tokens of the messages, as counted here
 */
export function explainFill({ tokens, tokenFactor = 1, isRecorded }: FillLevel, counted: number): string | undefined {
  const rest = Math.round(tokens - tokenFactor * counted);
  if (!isRecorded || rest <= 0) return undefined;
  const more =
    tokenFactor === 1
      ? ''
      : `The model’s tokenizer counts about ${tokenFactor} times as many tokens for the messages. `;
  return `${more}About ${formatTokens(rest)} are the rest, such as instructions, tools, and thinking that is stored encrypted.`;
}

const formatTokens = (tokens: number): string => tokens.toLocaleString('en-US');

/** True if the count is ours or the window is uncertain. */
const isRough = ({ isRecorded, window }: FillLevel): boolean => !isRecorded || window === undefined;

/**
 * `52%`; `≈ 52%` where it is not the agent's own figure.
 * @param assumed the window that is taken where the model's is not known, in tokens
 */
export const fillShare = (fill: FillLevel, assumed: number): string =>
  `${isRough(fill) ? '≈ ' : ''}${formatShare(fill.tokens, fill.window ?? assumed, 0)}`;

/**
 * `61% → ≈ 46% full`.
 * @param assumed the window that is taken where the model's is not known, in tokens
 */
export const fillChange = (before: FillLevel, after: FillLevel, assumed: number): string =>
  `${fillShare(before, assumed)} → ${fillShare(after, assumed)} full`;

/**
 * `52% full: 516,627 of 1,000,000 tokens, …`, with why it is more than the messages alone.
 * @param assumed the window that is taken where the model's is not known, in tokens; default: none
 */
export function fillSentence(fill: FillLevel, assumed?: number): string {
  const window = fill.window ?? assumed;
  const share = window === undefined ? '' : `${fillShare(fill, window)} full: `;
  const source = fill.isRecorded
    ? 'by the last recorded request with its instructions and tools, as the vendor counts'
    : fill.fromOriginal
      ? `estimated from the original’s last request${describeRenewed(fill.fromOriginal.renewed)}`
      : 'estimated, since no request was recorded';
  const unknown =
    assumed === undefined ? 'of a window that is not known' : `of a window taken as ${formatTokens(assumed)} tokens`;
  return `${share}${fillTokens(fill)}, ${source}${fill.window === undefined ? `, ${unknown}` : ''}`;
}

const describeRenewed = (tokens: number): string =>
  tokens === 0
    ? ''
    : `, with ${formatTokens(tokens)} of lists of skills, agents and tools that are added when it continues`;

/** `516,627 of 1,000,000 tokens`; `≈ 4,000 tokens` if the window is unknown. */
export const fillTokens = ({ tokens, window, isRecorded }: FillLevel): string =>
  `${isRecorded ? '' : '≈ '}${formatTokens(tokens)}${window === undefined ? '' : ` of ${formatTokens(window)}`} tokens`;
