import { placeOf, type ToolExchange } from '../../messages/exchanges';
import { pathOf, ruleFor, type ToolTable } from '../../messages/tools';
import { perObject } from '../../perObject';
import { findMarkers } from '../markers';
import type { DraftStep } from '../steps';
import { exchangesOf } from './draftExchanges';
import { plainCommand } from './describe';
import { protectedFrom } from './protect';

/** Shorter parameters say what was tried. */
const LONG_CHARS = 160;

/** A retry comes within so many calls. */
const SOON = 20;

/** Calls that failed and were made again with success: their long parameters go, the error stays. */
export const retriedErrors = (tools: ToolTable): DraftStep => {
  const name = 'Failed calls made again';
  return {
    name,
    async run(draft, pace) {
      const exchanges = exchangesOf(draft);
      const successes = new Map<string, number[]>();
      for (const [at, exchange] of exchanges.entries()) {
        const target = exchange.isError || exchange.results.length === 0 ? undefined : targetOf(tools, exchange);
        if (target === undefined) continue;
        const known = successes.get(target);
        if (known) known.push(at);
        else successes.set(target, [at]);
      }
      for (const [at, exchange] of exchanges.entries()) {
        const target = exchange.isError ? targetOf(tools, exchange) : undefined;
        const next = target === undefined ? undefined : successes.get(target)?.find((success) => success > at);
        if (next === undefined || next - at > SOON) continue;
        for (const content of exchange.parameters.toReversed()) {
          const { text, start, end } = content;
          if (text.length < LONG_CHARS || findMarkers(text).length > 0 || protectedFrom(draft, content)) continue;
          draft.cut(name, placeOf(content), [{ start, end, marker: 'this call failed and was made again later' }], {
            contentType: content.type,
            reason: 'the call failed and was made again with success',
            strict: false,
          });
        }
        await pace.breathe();
      }
    },
  };
};

const commandTarget = perObject((exchange: ToolExchange) => {
  const words = plainCommand(exchange)?.split(/\s+/, 3);
  return words?.length === 3 ? `command ${words.join(' ')}` : undefined;
});

/** What a call works on: the same target means the same attempt. */
function targetOf(tools: ToolTable, exchange: ToolExchange): string | undefined {
  const kind = ruleFor(tools, exchange.tool)?.kind;
  if (kind === 'edit' || kind === 'write') {
    const path = pathOf(tools, exchange);
    return path === undefined ? undefined : `file ${path}`;
  }
  if (kind === 'command') {
    return commandTarget(exchange);
  }
  return kind === undefined ? `tool ${exchange.tool}` : undefined;
}
