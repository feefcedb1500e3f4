import type { Draft } from '../draft/draft';
import { getContentPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import type { ToolTable } from '../../messages/tools';
import type { CutRequest } from '../draft/cuts';
import type { MechanicalStep } from '../draft/steps';
import { isProtectedContent } from '../draft/exchanges';
import { getLineCache, createMemoryPerLineCache } from './knownLines';
import { ProcessedItems } from './settled';

export interface ResultStepRule {
  readonly name: string;
  readonly reason: string;
  /** True if everything the rule cuts is elsewhere in the view or follows from it. */
  readonly strict: boolean;
  /** Returns undefined if results of this call must stay as they are. */
  readonly findNoise: (
    exchange: ToolExchange,
  ) => ((text: string, content: PlacedContent) => readonly CutRequest[]) | undefined;
}

export function createResultStep(
  createRule: (tools: ToolTable) => ResultStepRule,
): (tools: ToolTable) => MechanicalStep {
  const getSettledExchanges = createMemoryPerLineCache(() => new ProcessedItems<ToolExchange>());
  return (tools) => {
    const { name, reason, strict, findNoise } = createRule(tools);
    return {
      name,
      run(draft, signal) {
        const exchanges = draft.exchanges;
        const processedExchanges = getSettledExchanges(getLineCache(draft, tools));
        const handledIndexes: number[] = [];
        const { sentCount: sentBefore } = draft;
        // Other drafts may change these exchanges, so they are not marked as settled.
        const unprocessedIndexes =
          sentBefore > 0 ? findNewExchanges(draft, exchanges) : processedExchanges.listUnprocessedIndexes(exchanges);
        for (const exchangeIndex of unprocessedIndexes) {
          signal?.throwIfAborted();
          const exchange = exchanges[exchangeIndex] as ToolExchange;
          const findNoiseInText = findNoise(exchange);
          if (!findNoiseInText) continue;
          // In reverse, because one text may contain several results.
          for (const content of exchange.results.toReversed()) {
            if (isProtectedContent(draft, content)) continue;
            const requestsInText = findNoiseInText(content.text, content);
            const requests =
              content.start === 0 ? requestsInText : requestsInText.map((request) => shiftCutRequest(content, request));
            const editInfo = {
              contentType: content.type,
              operation: strict ? 'reference' : 'cut',
              reason,
              strict,
            } as const;
            if (draft.cutText(name, getContentPlace(content), requests, editInfo) > 0)
              handledIndexes.push(exchangeIndex);
          }
        }
        if (sentBefore === 0) processedExchanges.markProcessed(exchanges, handledIndexes);
      },
    };
  };
}

function findNewExchanges({ original, sentCount: sentBefore }: Draft, exchanges: readonly ToolExchange[]): number[] {
  // Some agents store each call and each answer as a message of its own.
  let firstNewMessage = sentBefore;
  for (const role of ['user', 'assistant'] as const)
    while (original[firstNewMessage - 1]?.role === role) firstNewMessage--;
  const newIndexes: number[] = [];
  for (let exchangeIndex = exchanges.length - 1; exchangeIndex >= 0; exchangeIndex--) {
    const { resultMessage, callMessage } = exchanges[exchangeIndex] as ToolExchange;
    if (resultMessage !== undefined && resultMessage >= sentBefore) newIndexes.push(exchangeIndex);
    else if (callMessage < firstNewMessage) break;
  }
  return newIndexes;
}

const shiftCutRequest = ({ start }: PlacedContent, request: CutRequest): CutRequest => ({
  ...request,
  start: start + request.start,
  end: start + request.end,
});
