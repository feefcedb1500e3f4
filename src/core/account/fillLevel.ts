/** How full a model's context window is: one figure, wherever it is shown. */
import type { MessageCounter } from '../tokens/messageCounter';
import type { ApiMessage } from '../messages/types';
import { promptTokens } from '../cost/usage';
import { formatShare } from '../percent';
import type { LastRequest } from './recordedRequest';

/** Plain data: it crosses worker boundaries and is kept on disk. */
export interface FillLevel {
  /** Tokens of the conversation with its instructions and tools, as the model counts them. */
  readonly tokens: number;
  /** The model's window in tokens; undefined where nobody says. */
  readonly window?: number | undefined;
  /** The agent recorded the last request, to which what was said since is added; else it is our count. */
  readonly isRecorded: boolean;
  /** The model that answered last; absent where nobody says. */
  readonly model?: string | undefined;
}

/** What is known of the model that answers. */
export interface FillModel {
  /** Its tokens for one o200k token. */
  readonly tokenFactor: number;
  readonly window?: number | undefined;
}

/** The larger window that Claude models have where it is asked for, in tokens (Anthropic API guide, "Context windows"). */
const LARGE_WINDOW = 1_000_000;

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
  const count = (of: readonly ApiMessage[]): number => Math.round(tokenFactor * counter.messages(of));
  if (usage && messagesSince !== undefined) {
    const since = messagesSince === 0 ? 0 : count(messages.slice(-messagesSince));
    const tokens = promptTokens(usage) + usage.outputTokens + since;
    return { tokens, ...windowFor(promptTokens(usage), last?.window ?? window, last?.model), isRecorded: true };
  }
  const tokens = count(messages) + Math.round(tokenFactor * declared);
  return { tokens, ...windowFor(0, last?.window ?? window, last?.model), isRecorded: false };
}

/**
 * The window of a model: what is known of it, unless requests did not fit that and were answered.
 * @param prompt tokens of the largest request that was answered
 */
export function windowFor(prompt: number, window: number | undefined, model: string | undefined): { window?: number } {
  if (window === undefined) return {};
  if (prompt <= window) return { window };
  return prompt <= LARGE_WINDOW && /claude/i.test(model ?? '') ? { window: LARGE_WINDOW } : {};
}

const formatted = (tokens: number): string => tokens.toLocaleString('en-US');

/** True where a figure is ours, or where the window is not known to be the model's. */
const isRough = ({ isRecorded, window }: FillLevel): boolean => !isRecorded || window === undefined;

/**
 * `52%`; `≈ 52%` where it is not the agent's own figure.
 * @param assumed the window that is taken where the model's is not known, in tokens
 */
export const fillShare = (fill: FillLevel, assumed: number): string =>
  `${isRough(fill) ? '≈ ' : ''}${formatShare(fill.tokens, fill.window ?? assumed, 0)}`;

/** One line: `52%, 516,627 of 1,000,000 tokens, by the last recorded request`. */
export const fillSentence = (fill: FillLevel): string =>
  [
    ...(fill.window === undefined ? [] : [fillShare(fill, fill.window)]),
    fillTokens(fill),
    fill.isRecorded ? 'by the last recorded request' : 'estimated, since no request was recorded',
    ...(fill.window === undefined ? ['of a window that is not known'] : []),
  ].join(', ');

/** `516,627 of 1,000,000 tokens`; `≈ 4,000 tokens` where no window is known. */
export const fillTokens = ({ tokens, window, isRecorded }: FillLevel): string =>
  `${isRecorded ? '' : '≈ '}${formatted(tokens)}${window === undefined ? '' : ` of ${formatted(window)}`} tokens`;
