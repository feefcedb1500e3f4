import { shortenPath } from '../../messages/filePath';
import { MARKER_CHARACTERS } from '../../messages/markers';
import { getCommandOfCall } from '../../messages/tools';
import type { ToolExchange } from '../../messages/exchanges';
import { memoizeByObject } from '../../memoizeByObject';
import type { KeptRangeInSource, RepeatedLineRange } from './runs';
import { areSameFile, type LineSource } from './sources';

type LineRangeFormatter = (source: LineSource, first: number, last: number) => string | undefined;

/**
 * Describes the range in the longest form, because the marker's token cost must not depend on which
 * lines were cut before.
 */
export const describeRangeWithLongestNumbers = (run: RepeatedLineRange): string =>
  describeRepeatedRange(run, (source) => {
    if (!source.lines.mayHaveNumbers) return undefined;
    return source === run.source ? '1000-1999' : '3000-3999';
  });

export function describeRepeatedRange(
  run: RepeatedLineRange,
  formatRange: LineRangeFormatter = formatStatedLineNumbers,
): string {
  const { source, first, last, places } = run;
  const lineNumbersText = formatRange(source, first, last);
  // If a call shows several files, the marker must name the file.
  const fileText = source.path === undefined || source.isNamed ? '' : ` of ${shortenPath(source.path)}`;
  const rangeText = `${lineNumbersText ? `lines ${lineNumbersText}` : formatLineCount(last - first + 1)}${fileText}`;
  const [firstPlace] = places;
  const isSameRange =
    firstPlace &&
    places.length === 1 &&
    lineNumbersText === formatRange(firstPlace.source, firstPlace.first, firstPlace.last);
  if (isSameRange && lineNumbersText && firstPlace.source.isNamed && areSameFile(firstPlace.source, source))
    return `${rangeText}, shown ${isLaterSource(firstPlace.source, source) ? 'later' : 'above'}`;
  const placeTexts = new Set(places.map((place) => describeSourcePlace(source, place, formatRange)));
  return `${rangeText}, shown ${[...placeTexts].join(' and ')}`;
}

function describeSourcePlace(
  source: LineSource,
  { source: keeper, first, last, lineCount }: KeptRangeInSource,
  formatRange: LineRangeFormatter,
): string {
  if (keeper.exchange === source.exchange) return `in ${describePartOfSameCall(keeper, source)}`;
  const range = formatRange(keeper, first, last);
  const isWholeRange = last - first + 1 === lineCount;
  const isLater = isLaterSource(keeper, source);
  if (areSameFile(keeper, source) && keeper.isNamed && range)
    return `${isLater ? 'later' : 'above'} ${isWholeRange ? 'as' : 'within'} ${range}`;
  const name = areSameFile(keeper, source) && keeper.isNamed ? keeper.exchange.tool : describeSource(keeper);
  const lineRangeText = range ? ` (${isWholeRange ? '' : 'within '}${first === last ? 'line' : 'lines'} ${range})` : '';
  return `in the ${isLater ? `later ${name}` : `${name} above`}${lineRangeText}`;
}

function describePartOfSameCall(keeper: LineSource, source: LineSource): string {
  const isResult = ({ content }: LineSource): boolean => content.type === 'toolResults';
  if (isResult(keeper)) return isResult(source) ? 'the same result' : 'its result';
  return `${isResult(source) ? 'the call’s ' : ''}${String(keeper.content.path.at(-1))}`;
}

export const formatLineCount = (count: number): string => (count === 1 ? '1 line' : `${count} lines`);

const isLaterSource = (a: LineSource, b: LineSource): boolean => {
  if (a.content.message !== b.content.message) return a.content.message > b.content.message;
  // Index of the block, then of its part in a result with several.
  const indexPairs = [1, 3].map(
    (depth) => [Number(a.content.path[depth] ?? 0), Number(b.content.path[depth] ?? 0)] as const,
  );
  const [placeOfA, placeOfB] = indexPairs.find(([one, other]) => one !== other) ?? [0, 0];
  return placeOfA > placeOfB;
};

function formatStatedLineNumbers({ lines }: LineSource, firstLine: number, lastLine: number): string | undefined {
  const firstNumber = lines.getStatedLineNumber(firstLine);
  let lastNumberedLine = lastLine;
  while (
    lastNumberedLine > firstLine &&
    lines.getStatedLineNumber(lastNumberedLine) === 0 &&
    lines.getStartAfterPrefix(lastNumberedLine) === lines.getEnd(lastNumberedLine)
  )
    lastNumberedLine--;
  const lastNumber = lines.getStatedLineNumber(lastNumberedLine);
  if (firstNumber === 0 || lastNumber - firstNumber !== lastNumberedLine - firstLine) return undefined;
  return firstNumber === lastNumber ? String(firstNumber) : `${firstNumber}-${lastNumber}`;
}

const describeSource = memoizeByObject((source: LineSource): string => {
  const { path, exchange } = source;
  const requestText =
    path === undefined || !source.isNamed || 'pattern' in exchange.input ? describeReadRequest(exchange) : undefined;
  if (requestText !== undefined) return `${exchange.tool} "${requestText}"`;
  return path === undefined ? exchange.tool : `${exchange.tool} of ${shortenPath(path)}`;
});

const MAX_REQUEST_CHARS = 40;

function describeReadRequest(exchange: ToolExchange): string | undefined {
  const { input } = exchange;
  const text =
    stripFolderChange(exchange) ??
    input['pattern'] ??
    input['query'] ??
    input['task_id'] ??
    input['bash_id'] ??
    describeFileArguments(input['args']);
  if (typeof text !== 'string') return undefined;
  const firstLineText = text
    .trim()
    .split('\n')[0]
    ?.split(MARKER_CHARACTERS)[0]
    ?.replace(/\p{Cc}+/gu, ' ')
    .trim();
  if (!firstLineText) return undefined;
  return firstLineText.length > MAX_REQUEST_CHARS
    ? `${firstLineText.slice(0, MAX_REQUEST_CHARS).trim()}…`
    : firstLineText;
}

/** Roo reads several files in one call: `<args><file><path>x</path></file>…</args>`. */
const describeFileArguments = (args: unknown): string | undefined =>
  typeof args === 'string'
    ? [...args.matchAll(/<path>([^<]*)<\/path>/g)].map((match) => shortenPath(match[1] ?? '')).join(', ')
    : undefined;

export const stripFolderChange = (exchange: ToolExchange): string | undefined =>
  getCommandOfCall(exchange)
    ?.trim()
    .replace(/^cd\s+\S+\s*(?:&&|;|\n)\s*/, '')
    .replace(/^git\s+-C\s+\S+/, 'git');
