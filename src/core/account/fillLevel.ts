import type { MessageCounter } from '../tokens/messageCounter';
import type { ApiMessage } from '../messages/types';
import { countPromptTokens } from '../cost/usage';
import { formatShare } from '../percent';
import type { LastRequest } from './recordedRequest';

export interface FillLevel {
  /** Tokens including instructions and tools, as the model counts them. */
  readonly tokens: number;
  readonly window?: number | undefined;
  /** True if based on the agent's last recorded request; false if we counted the tokens. */
  readonly isRecorded: boolean;
  readonly model?: string | undefined;
  /** The model's tokens per o200k token; default 1. */
  readonly tokenFactor?: number | undefined;
  /** Set for a copy without a request of its own; the figures come from its original. */
  readonly fromOriginal?: {
    /**
     * o200k tokens that the copy does not contain because its agent adds them when it continues.
     */
    readonly renewed: number;
  };
}

export interface FillLevelModel {
  readonly tokenFactor: number;
  readonly window?: number | undefined;
}

/** Optional larger window of Claude models in tokens (Anthropic API guide, "Context windows"). */
const LARGE_WINDOW_TOKENS = 1_000_000;

/**
 * @param messages what the agent would send next
 * @param declaredTokens o200k tokens of instructions and tools, if the file has them
 */
export function computeFillLevel(
  messages: readonly ApiMessage[],
  { tokenFactor, window }: FillLevelModel,
  lastRequest: LastRequest | undefined,
  counter: MessageCounter,
  declaredTokens: number,
): FillLevel {
  const { usage, messagesSince } = lastRequest ?? {};
  const countTokens = (countedMessages: readonly ApiMessage[]): number =>
    Math.round(tokenFactor * counter.countMessages(countedMessages));
  if (usage && messagesSince !== undefined) {
    const tokensSince = messagesSince === 0 ? 0 : countTokens(messages.slice(-messagesSince));
    const tokens = countPromptTokens(usage) + usage.outputTokens + tokensSince;
    return {
      tokens,
      ...chooseLikelyWindow(countPromptTokens(usage), lastRequest?.window ?? window, lastRequest?.model),
      isRecorded: true,
    };
  }
  const tokens = countTokens(messages) + Math.round(tokenFactor * declaredTokens);
  return { tokens, ...chooseLikelyWindow(0, lastRequest?.window ?? window, lastRequest?.model), isRecorded: false };
}

/**
 * Returns the known window. If the vendor answered a request that exceeds it, returns Claude's
 * larger window or nothing.
 */
export function chooseLikelyWindow(
  prompt: number,
  window: number | undefined,
  model: string | undefined,
): { window?: number } {
  if (window === undefined) return {};
  if (prompt <= window) return { window };
  return prompt <= LARGE_WINDOW_TOKENS && /claude/i.test(model ?? '') ? { window: LARGE_WINDOW_TOKENS } : {};
}

/**
 * Subtracts instead of scaling, because instructions and tools stay (27,000 to 64,000 tokens in
 * nine Claude Code sessions).
 * @param countedTokens o200k tokens of the messages in `fill`
 * @param tokensAfter o200k tokens of their replacement
 */
export function estimateCondensedFill(fill: FillLevel, countedTokens: number, tokensAfter: number): FillLevel {
  if (tokensAfter === countedTokens) return fill;
  // A larger factor could make the result negative.
  const factor =
    countedTokens > 0 ? Math.min(fill.tokenFactor ?? 1, fill.tokens / countedTokens) : (fill.tokenFactor ?? 1);
  return {
    ...fill,
    tokens: Math.max(0, Math.round(fill.tokens - factor * (countedTokens - tokensAfter))),
    isRecorded: false,
  };
}

/**
 * @param original `renewed`: tokens of its messages that the agent adds again when it continues the
 * copy
 */
export const estimateFillOfCopy = (
  original: { readonly fill: FillLevel; readonly tokens: number; readonly renewed: number },
  tokens: number,
): FillLevel => ({
  ...estimateCondensedFill(original.fill, original.tokens, tokens + original.renewed),
  isRecorded: false,
  fromOriginal: { renewed: original.renewed },
});

/** Formats o200k tokens of messages, such as `269,057 tokens (≈ 403,586 as the vendor counts)`. */
export const formatMessageTokens = (countedTokens: number, { tokenFactor = 1 }: Partial<FillLevel> = {}): string =>
  tokenFactor === 1
    ? `${formatTokens(countedTokens)} tokens`
    : `${formatTokens(countedTokens)} tokens (≈ ${formatTokens(Math.round(tokenFactor * countedTokens))} as the vendor counts)`;

const formatTokens = (tokens: number): string => tokens.toLocaleString('en-US');

const isEstimatedFill = ({ isRecorded, window }: FillLevel): boolean => !isRecorded || window === undefined;

/**
 * Formats `52%`, or `≈ 52%` if the agent did not record the figure.
 * @param assumed window in tokens if the model's is unknown
 */
export function formatFillShare(fill: FillLevel, assumed: number): string {
  const share = formatShare(fill.tokens, fill.window ?? assumed, 0);
  return isEstimatedFill(fill) && !share.startsWith('<') ? `≈ ${share}` : share;
}

/** Formats `61% → ≈ 46% full`, or `still ≈ 61% full`. */
export function formatFillChange(before: FillLevel, after: FillLevel, assumed: number): string {
  const [from, to] = [formatFillShare(before, assumed), formatFillShare(after, assumed)];
  return from.replace('≈ ', '') === to.replace('≈ ', '') ? `still ${to} full` : `${from} → ${to} full`;
}

export function formatFillSentence(fill: FillLevel, assumed?: number): string {
  const window = fill.window ?? assumed;
  const shareText = window === undefined ? '' : `${formatFillShare(fill, window)} full: `;
  const source = fill.isRecorded
    ? 'by the last recorded request and its answer, with instructions and tools, as the vendor counts'
    : fill.fromOriginal
      ? `estimated from the original’s last request${describeRenewedTokens(fill.fromOriginal.renewed)}`
      : 'estimated from its file, since no request with these messages was recorded; what the file lacks, such as instructions and tools, comes on top';
  const windowText =
    assumed === undefined ? ' of a window that is not known' : ` of a window taken as ${formatTokens(assumed)}`;
  return `${shareText}${formatFillTokens(fill)}${fill.window === undefined ? windowText : ''}, ${source}`;
}

const describeRenewedTokens = (tokens: number): string =>
  tokens === 0
    ? ''
    : `, with ${formatTokens(tokens)} of lists of skills, agents and tools that are added when it continues`;

export const formatFillTokens = ({ tokens, window, isRecorded }: FillLevel): string =>
  `${isRecorded ? '' : '≈ '}${formatTokens(tokens)}${window === undefined ? '' : ` of ${formatTokens(window)}`} tokens`;
