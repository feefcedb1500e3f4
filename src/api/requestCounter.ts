import type { MessageCounter } from '../core/tokens/messageCounter';
import { getTokenizerFactor } from '../core/vendors/families';
import type { ApiRequest, Usage, UsageAccounting } from './types';

/** Estimates o200k tokens times the model family's factor. */
export interface RequestTokenCounter {
  request(request: ApiRequest): number;
  usage(request: ApiRequest, output: string): Usage;
}

export function createRequestCounter(
  counter: MessageCounter,
  model: string,
  accounting: UsageAccounting,
): RequestTokenCounter {
  const factor = getTokenizerFactor(model);
  const request = ({ system, messages, tools }: ApiRequest): number => {
    const prompt =
      typeof system === 'string'
        ? counter.countText(system)
        : (system ?? []).reduce((sum, block) => sum + counter.countBlock(block), 0);
    const declared = tools && tools.length > 0 ? counter.countJson(tools) : 0;
    return Math.ceil((prompt + declared + counter.countMessages(messages)) * factor);
  };
  return {
    request,
    usage: (prompt, output) => ({
      accounting,
      source: 'counted',
      inputTokens: request(prompt),
      outputTokens: Math.ceil(counter.countText(output) * factor),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    }),
  };
}
