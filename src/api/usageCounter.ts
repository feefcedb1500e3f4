import type { MessageCounter } from '../core/tokens/messageCounter';
import { getTokenizerFactor } from '../core/vendors/families';
import type { ApiRequest, Usage, UsageAccounting } from './types';

/** Estimates a call's usage: o200k tokens times the model family's factor. */
export function createUsageCounter(
  counter: MessageCounter,
  model: string,
  accounting: UsageAccounting,
): (request: ApiRequest, output: string) => Usage {
  const tokenFactor = getTokenizerFactor(model);
  return ({ system, messages, tools }, output) => {
    const promptTokens =
      typeof system === 'string'
        ? counter.countText(system)
        : (system ?? []).reduce((sum, block) => sum + counter.countBlock(block), 0);
    const toolTokens = tools && tools.length > 0 ? counter.countJson(tools) : 0;
    return {
      accounting,
      source: 'counted',
      inputTokens: Math.ceil((promptTokens + toolTokens + counter.countMessages(messages)) * tokenFactor),
      outputTokens: Math.ceil(counter.countText(output) * tokenFactor),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
  };
}
