import { MIN_REPORTED_SHARE } from '../../cost/usage';
import { formatTokens } from '../../format';
import type { MessageCounter } from '../../tokens/messageCounter';
import type { SummarizerModel, SummaryReply } from '../summarizer';

/**
 * If fewer tokens are reported, the request was not cut off: the server leaves out cached tokens
 * (ollama/ollama#5371, #16428). The smallest default window is 2,048 tokens, of which Ollama fills
 * half when it cuts (#17427).
 */
const MIN_TRUNCATED_TOKENS = 1_000;

/**
 * Refusals and answers such as "OK" have fewer tokens than this. One sentence on what was done has
 * more.
 */
const MIN_SUMMARY_TOKENS = 15;
const MIN_TOKENS_WORTH_A_SUMMARY = 10_000;

export interface TokensSentToModel {
  /** o200k tokens of the request. */
  readonly counted: number;
  /**
   * Tokens that may be cached, in the model's tokens. Some servers leave them out of what they
   * report.
   */
  readonly cached: number;
}

/**
 * If the server silently cuts off the request, a summary lacks what was cut off. Ollama cuts at its
 * context length (4,096 tokens by default) and reports the tokens that it read
 * (`prompt_eval_count`: ollama/ollama#17889). A false alarm wastes a paid summary, so the server
 * must have read fewer tokens than any tokenizer makes of the request.
 */
export function failIfServerTruncatedRequest(
  reply: SummaryReply,
  { counted, cached }: TokensSentToModel,
  { model, tokenFactor }: SummarizerModel,
): SummaryReply {
  const { usage } = reply;
  if (reply.kind !== 'complete' || usage?.source !== 'reported') return reply;
  // Servers that mix up both ways of accounting report cached tokens only separately.
  const tokensRead = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const minTokensRead = counted - cached / tokenFactor;
  if (tokensRead < MIN_TRUNCATED_TOKENS || tokensRead >= minTokensRead * MIN_REPORTED_SHARE) return reply;
  const sentTokens = formatTokens(Math.round(counted * tokenFactor));
  return {
    ...reply,
    kind: 'failed',
    message: `The server of ${model} read only ${formatTokens(tokensRead)} of about ${sentTokens} tokens that it was sent: it silently cuts off anything longer, so its summary would lack the rest. Give it a larger context (Ollama: num_ctx, or OLLAMA_CONTEXT_LENGTH), or set the model’s context window to what it reads.`,
    canRetry: false,
    offerOtherProfile: true,
  };
}

/** @returns undefined if the summary is not too short */
export function explainTooShortSummary(
  summary: string,
  countedTokens: number,
  counter: MessageCounter,
): string | undefined {
  if (countedTokens < MIN_TOKENS_WORTH_A_SUMMARY) return undefined;
  const tokens = counter.countText(summary);
  if (tokens >= MIN_SUMMARY_TOKENS) return undefined;
  const tokensText = tokens === 1 ? '1 token' : `${tokens} tokens`;
  return `The model answered with ${tokensText} in place of ${formatTokens(countedTokens)}, which can’t be a summary. Try again, or use another model.`;
}
