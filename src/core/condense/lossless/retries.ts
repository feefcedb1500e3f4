import type { Content } from '../../messages/content';
import { getContentPlace, type ToolExchange } from '../../messages/exchanges';
import { makeFileKey } from '../../messages/filePath';
import { getCommandOfCall, getToolPath, getToolRule, type ToolTable } from '../../messages/tools';
import type { Path } from '../../messages/types';
import { memoizeByObject } from '../../memoizeByObject';
import { findMarkers } from '../../messages/markers';
import type { MechanicalStep } from '../draft/steps';
import { isProtectedContent } from '../draft/exchanges';
import { stripFolderChange } from './describe';
import { getLineCache, createMemoryPerLineCache } from './knownLines';
import { ProcessedItems } from './settled';

/** Shorter parameters stay, to show what was tried. */
const MIN_LONG_PARAMETER_CHARS = 160;

const MAX_RETRY_CALLS = 20;

const getRetriedExchanges = createMemoryPerLineCache(() => new ProcessedItems<ToolExchange>());

/** Removes long parameters of failed calls that were repeated successfully; the error stays. */
export const createRetriedErrorsStep = (tools: ToolTable): MechanicalStep => {
  const name = 'Failed calls that were retried';
  return {
    name,
    run(draft) {
      const exchanges = draft.exchanges;
      const processedExchanges = getRetriedExchanges(getLineCache(draft, tools));
      const handledIndexes: number[] = [];
      for (const exchangeIndex of includePrecedingIndexes(processedExchanges.listUnprocessedIndexes(exchanges))) {
        const exchange = exchanges[exchangeIndex];
        const callTarget = exchange?.isError ? getCallTarget(tools, exchange) : undefined;
        if (!exchange || callTarget === undefined) continue;
        const retries = exchanges
          .slice(exchangeIndex + 1, exchangeIndex + 1 + MAX_RETRY_CALLS)
          .filter((later) => isSuccessfulRetry(tools, later, callTarget));
        for (const content of exchange.parameters.toReversed()) {
          const { text, start, end } = content;
          if (
            text.length < MIN_LONG_PARAMETER_CHARS ||
            findMarkers(text).length > 0 ||
            isProtectedContent(draft, content)
          )
            continue;
          if (!retries.some((later) => repeatsParameter(later, content))) continue;
          const request = { start, end, marker: 'this call failed and was made again later' };
          const savedTokens = draft.cutText(name, getContentPlace(content), [request], {
            contentType: content.type,
            operation: 'cut',
            reason: 'the call failed and was retried successfully',
            strict: false,
          });
          if (savedTokens > 0) handledIndexes.push(exchangeIndex);
        }
      }
      processedExchanges.markProcessed(exchanges, handledIndexes);
    },
  };
};

/** Adds the places shortly before, because a new call may be a retry of an earlier one. */
function* includePrecedingIndexes(places: readonly number[]): Generator<number> {
  let nextIndex = 0;
  for (const exchangeIndex of places) {
    for (nextIndex = Math.max(nextIndex, exchangeIndex - MAX_RETRY_CALLS); nextIndex <= exchangeIndex; nextIndex++)
      yield nextIndex;
  }
}

const isSuccessfulRetry = (tools: ToolTable, later: ToolExchange, target: string): boolean =>
  !later.isError && later.results.length > 0 && getCallTarget(tools, later) === target;

/** For a retry of a command, the same target is enough. */
function repeatsParameter(later: ToolExchange, { path, text }: Content): boolean {
  if (getCommandOfCall(later) !== undefined) return true;
  const laterLines = getLinesByParameter(later).get(getParameterName(path));
  const lines = collectTrimmedLines(text);
  return laterLines !== undefined && 2 * [...lines].filter((line) => laterLines.has(line)).length >= lines.size;
}

const getLinesByParameter = memoizeByObject(
  ({ parameters }: ToolExchange) =>
    new Map(parameters.map(({ path, text }) => [getParameterName(path), collectTrimmedLines(text)])),
);

const getParameterName = (path: Path): string => path.slice(2).join(' ');

const collectTrimmedLines = (text: string): Set<string> => new Set(text.split('\n').map((line) => line.trim()));

const getCommandTarget = memoizeByObject((exchange: ToolExchange) => {
  const words = stripFolderChange(exchange)?.split(/\s+/, 3);
  return words?.length === 3 ? `command ${words.join(' ')}` : undefined;
});

/** Calls with the same target are attempts at the same thing. */
function getCallTarget(tools: ToolTable, exchange: ToolExchange): string | undefined {
  const kind = getToolRule(tools, exchange)?.kind;
  if (kind === 'edit' || kind === 'write') {
    const path = getToolPath(tools, exchange);
    return path === undefined ? undefined : `file ${makeFileKey(path)}`;
  }
  if (kind === 'command') {
    return getCommandTarget(exchange);
  }
  return kind === undefined || kind === 'fetch' || kind === 'agent' || kind === 'other'
    ? `tool ${exchange.tool}`
    : undefined;
}
