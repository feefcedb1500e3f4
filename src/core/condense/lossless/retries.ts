import { placeOf, toolExchanges, type ToolExchange } from '../../messages/exchanges';
import { commandOf, pathOf, ruleFor, type ToolTable } from '../../messages/tools';
import { findMarkers } from '../markers';
import type { DraftStep } from '../steps';
import { protectedFrom } from './protect';

/** Shorter parameters say what was tried. */
const LONG_CHARS = 160;

/** Calls that failed and were made again with success: their long parameters go, the error stays. */
export const retriedErrors = (tools: ToolTable): DraftStep => {
  const name = 'Failed calls made again';
  return {
    name,
    async run(draft, pace) {
      const exchanges = toolExchanges(draft.messages);
      const lastSuccess = new Map<string, number>();
      for (const [at, exchange] of exchanges.entries()) {
        const target = targetOf(tools, exchange);
        if (target !== undefined && !exchange.isError && exchange.results.length > 0) lastSuccess.set(target, at);
      }
      for (const [at, exchange] of exchanges.entries()) {
        const target = exchange.isError ? targetOf(tools, exchange) : undefined;
        if (target === undefined || (lastSuccess.get(target) ?? -1) < at) continue;
        for (const content of exchange.parameters.toReversed()) {
          const { text, start, end } = content;
          if (text.length < LONG_CHARS || findMarkers(text).length > 0 || protectedFrom(draft, content)) continue;
          draft.cut(name, placeOf(content), [{ start, end, marker: 'failed, made again later' }], {
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

/** What a call works on: the same target means the same attempt. */
function targetOf(tools: ToolTable, exchange: ToolExchange): string | undefined {
  const kind = ruleFor(tools, exchange.tool)?.kind;
  if (kind === 'edit' || kind === 'write') {
    const path = pathOf(tools, exchange);
    return path === undefined ? undefined : `file ${path}`;
  }
  if (kind === 'command') {
    const words = commandOf(exchange)?.trim().split(/\s+/, 3);
    return words && words.length > 1 ? `command ${words.join(' ')}` : undefined;
  }
  return kind === undefined ? `tool ${exchange.tool}` : undefined;
}
