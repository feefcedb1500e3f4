import type { Draft } from '../draft/draft';
import { getPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import type { ToolTable } from '../../messages/tools';
import type { CutRequest } from '../draft/cuts';
import type { MechanicalStep } from '../draft/steps';
import { protectedFrom } from '../draft/exchanges';
import { takeKnownLines, stepMemory } from './knownLines';
import { Settled } from './settled';

/** How a step works on results that it judges one by one. */
export interface ResultRule {
  readonly name: string;
  /** Why it cuts, in words. */
  readonly reason: string;
  /** Whether what it cuts stands elsewhere in the view, or follows from what does. */
  readonly strict: boolean;
  /** The cuts in the text of a result, by its offsets; undefined for calls whose results are left alone. */
  readonly noiseOf: (
    exchange: ToolExchange,
  ) => ((text: string, content: PlacedContent) => readonly CutRequest[]) | undefined;
}

/**
 * Makes a step of a rule that needs no other message to judge a result.
 * @param rule the rule for an agent's tools.
 */
export function resultStep(rule: (tools: ToolTable) => ResultRule): (tools: ToolTable) => MechanicalStep {
  const settledOf = stepMemory(() => new Settled<ToolExchange>());
  return (tools) => {
    const { name, reason, strict, noiseOf } = rule(tools);
    return {
      name,
      run(draft, signal) {
        const exchanges = draft.exchanges;
        const settled = settledOf(takeKnownLines(draft, tools));
        const acted: number[] = [];
        const { sentBefore } = draft;
        // Of a draft that has to leave the beginning alone nothing is learned about what could be done there.
        const open = sentBefore > 0 ? newest(draft, exchanges) : settled.open(exchanges);
        for (const at of open) {
          signal?.throwIfAborted();
          const exchange = exchanges[at] as ToolExchange;
          const noiseIn = noiseOf(exchange);
          if (!noiseIn) continue;
          // From the back: several results in one text keep their offsets.
          for (const content of exchange.results.toReversed()) {
            if (protectedFrom(draft, content)) continue;
            const found = noiseIn(content.text, content);
            const requests = content.start === 0 ? found : found.map((request) => behind(content, request));
            const info = {
              contentType: content.type,
              operation: strict ? 'reference' : 'cut',
              reason,
              strict,
            } as const;
            if (draft.cut(name, getPlace(content), requests, info) > 0) acted.push(at);
          }
        }
        if (sentBefore === 0) settled.settle(exchanges, acted);
      },
    };
  };
}

/** The places of the exchanges that are answered in what was not sent before. */
function newest({ original, sentBefore }: Draft, exchanges: readonly ToolExchange[]): number[] {
  // Calls are answered before the agent says more. Some agents store each call, and each answer, in a message of its own.
  let firstCall = sentBefore;
  for (const role of ['user', 'assistant'] as const) while (original[firstCall - 1]?.role === role) firstCall--;
  const places: number[] = [];
  for (let at = exchanges.length - 1; at >= 0; at--) {
    const { resultMessage, callMessage } = exchanges[at] as ToolExchange;
    if (resultMessage !== undefined && resultMessage >= sentBefore) places.push(at);
    else if (callMessage < firstCall) break;
  }
  return places;
}

/** A cut in a content as a cut in the string that holds the content. */
const behind = ({ start }: PlacedContent, request: CutRequest): CutRequest => ({
  ...request,
  start: start + request.start,
  end: start + request.end,
});
