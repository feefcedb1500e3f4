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
 * `52% full: 516,627 of 1,000,000 tokens, …`, with why it is more than the messages alone.
 * @param assumed the window that is taken where the model's is not known, in tokens; default: none
 */
export function fillSentence(fill: FillLevel, assumed?: number): string {
  const window = fill.window ?? assumed;
  const share = window === undefined ? '' : `${fillShare(fill, window)} full: `;
  const source = fill.isRecorded
    ? 'by the last recorded request with its instructions and tools, as the vendor counts'
    : 'estimated, since no request was recorded';
  const unknown =
    assumed === undefined ? 'of a window that is not known' : `of a window taken as ${formatTokens(assumed)} tokens`;
  return `${share}${fillTokens(fill)}, ${source}${fill.window === undefined ? `, ${unknown}` : ''}`;
}

/** `516,627 of 1,000,000 tokens`; `≈ 4,000 tokens` if the window is unknown. */
export const fillTokens = ({ tokens, window, isRecorded }: FillLevel): string =>
  `${isRecorded ? '' : '≈ '}${formatTokens(tokens)}${window === undefined ? '' : ` of ${formatTokens(window)}`} tokens`;
