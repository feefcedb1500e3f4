import { listFileParts, type FilePart } from '../../messages/fileParts';
import { findMarkers } from '../../messages/markers';
import { getToolRule } from '../../messages/tools';
import type { Slice } from '../../slice';
import type { CutRequest } from '../draft/cuts';
import type { TextLayout } from '../lines/lines';
import { findEndOfLine, detectLineTerminator, type LineTerminator } from '../lines/lineEnds';
import {
  getRequiredNumberedLines,
  readLinePrefix,
  detectPrefixFormat,
  getPrefixHintForToolKind,
  statesLineNumbers,
  type LinePrefix,
  type LinePrefixFormat,
} from '../lines/prefixes';
import { createResultStep } from './resultStep';

/** Some numbers stay, so that a model need not count hundreds of lines. */
const KEPT_NUMBER_INTERVAL = 50;

/**
 * Removes line numbers that follow from the line before, except the first of a run, the last before
 * other text, and every fiftieth. In search results only a file's first line keeps the path.
 */
export const createLineNumbersStep = createResultStep((tools) => ({
  name: 'Line numbers and paths',
  reason: 'the numbers follow from the first line’s',
  strict: true,
  findNoise: (exchange) => {
    const rule = getToolRule(tools, exchange);
    const prefixOptions = { hint: getPrefixHintForToolKind(rule?.kind), forms: rule?.numbers };
    return exchange.isError
      ? undefined
      : (text, content) =>
          findPrefixesThatCanBeInferred(text, { ...prefixOptions, parts: listFileParts(tools, exchange, content) });
  },
}));

function findPrefixesThatCanBeInferred(text: string, { hint, forms, parts }: TextLayout): CutRequest[] {
  const lineEnd = detectLineTerminator(text);
  if (lineEnd === '\n' && parts.some(({ linePrefix }) => linePrefix !== undefined))
    return findCutsOfLinePrefixes(text, parts);
  const format = detectPrefixFormat(text, hint, lineEnd, forms);
  if (!format) return [];
  const lines = readPrefixes(text, format, lineEnd);
  const cuts =
    format === 'search'
      ? findCutsOfSearchPrefixes(text, lines)
      : findCutsOfLineNumbers(text, lines, format, getRequiredNumberedLines(format, hint));
  return cuts.map(({ start, end }) => ({ start, end, marker: null }));
}

function findCutsOfLinePrefixes(text: string, parts: readonly FilePart[]): CutRequest[] {
  const cuts: Slice[] = [];
  let searchLines: LineWithPrefix[] = [];
  let previousPartEnd = -1;
  const cutPathsOfSearchLines = (): void => {
    cuts.push(...findCutsOfSearchPrefixes(text, searchLines, true));
    searchLines = [];
  };
  for (const part of parts) {
    const textBetweenParts = text.slice(previousPartEnd + 1, part.start);
    if (part.linePrefix !== 'search' || (textBetweenParts !== '' && textBetweenParts !== '--\n'))
      cutPathsOfSearchLines();
    else if (textBetweenParts !== '') searchLines.push({ start: previousPartEnd + 1, prefix: undefined });
    previousPartEnd = part.end;
    if (part.linePrefix === undefined || part.linePrefix === 'diff') continue;
    const lines = readPrefixes(text, part.linePrefix, '\n', part);
    if (part.linePrefix === 'search') searchLines = searchLines.concat(lines);
    else cuts.push(...findCutsOfLineNumbers(text, lines, part.linePrefix, 1));
  }
  cutPathsOfSearchLines();
  return cuts.map(({ start, end }) => ({ start, end, marker: null }));
}

interface LineWithPrefix {
  readonly start: number;
  readonly prefix: LinePrefix | undefined;
  /** True if the number cannot be inferred, because no marker names the lines missing before it. */
  readonly afterGap?: boolean;
}

function readPrefixes(
  text: string,
  format: LinePrefixFormat,
  lineEnd: LineTerminator,
  slice: Slice = { start: 0, end: text.length },
): LineWithPrefix[] {
  const lines: LineWithPrefix[] = [];
  const hasGapBefore = createTestForStartAfterUnknownGap(text);
  for (let lineStart = slice.start, end = slice.start; end < slice.end; lineStart = end + lineEnd.length) {
    end = findEndOfLine(text, lineStart, lineEnd);
    lines.push({
      start: lineStart,
      prefix: readLinePrefix(text, lineStart, format),
      afterGap: hasGapBefore(lineStart),
    });
  }
  return lines;
}

/** A gap is a marker that does not say which lines it replaces. */
function createTestForStartAfterUnknownGap(text: string): (at: number) => boolean {
  const lineStartsAfterMarkers = new Set(
    findMarkers(text)
      .filter(({ what }) => !statesLineNumbers(what))
      .map(({ end }) => text.indexOf('\n', end) + 1),
  );
  return lineStartsAfterMarkers.size === 0 ? () => false : (at) => at > 0 && lineStartsAfterMarkers.has(at);
}

function findCutsOfLineNumbers(
  text: string,
  lines: readonly LineWithPrefix[],
  format: LinePrefixFormat,
  keptNumbers: number,
): Slice[] {
  const cuts: Slice[] = [];
  let previousLine: LineWithPrefix | undefined;
  let previousNumber: number | undefined;
  let linesInRun = 0;
  const addCutIfInferable = (line: LineWithPrefix, nextLine: LineWithPrefix | undefined): void => {
    const { start: lineStart, prefix, afterGap } = line;
    const followsPreviousNumber = !afterGap && prefix !== undefined && prefix.number - 1 === previousNumber;
    linesInRun = followsPreviousNumber ? linesInRun + 1 : 0;
    if (linesInRun >= keptNumbers && prefix && prefix.number % KEPT_NUMBER_INTERVAL !== 0) {
      const isLastOfRun = nextLine !== undefined && nextLine.prefix?.number !== prefix.number + 1;
      // If the rest of the line looks numbered, the number stays, because the rest would be read as
      // numbered without it.
      if (!isLastOfRun && !readLinePrefix(text, prefix.end, format)) cuts.push({ start: lineStart, end: prefix.end });
    }
    previousNumber = prefix?.number;
  };
  for (const line of lines) {
    if (previousLine) addCutIfInferable(previousLine, line);
    previousLine = line;
  }
  if (previousLine) addCutIfInferable(previousLine, undefined);
  return cuts;
}

function findCutsOfSearchPrefixes(text: string, lines: readonly LineWithPrefix[], keepNumbers = false): Slice[] {
  const cuts: Slice[] = [];
  let pathSpellings: string[] = [];
  let previousNumber: number | undefined;
  for (const { start: lineStart, prefix, afterGap } of lines) {
    if (!prefix || afterGap) {
      // In search results, `--` separates groups of context lines.
      if (!text.startsWith('--\n', lineStart)) pathSpellings = [];
      previousNumber = undefined;
      if (!prefix) continue;
    }
    const path = text.slice(lineStart, Math.max(lineStart, prefix.pathEnd - 1));
    if (!pathSpellings.some((spelling) => isSameFile(spelling, path))) pathSpellings = [];
    const isKnownSpelling = pathSpellings.includes(path);
    if (!isKnownSpelling) pathSpellings.push(path);
    const followsPreviousNumber =
      !keepNumbers && !prefix.isMatch && prefix.number - 1 === previousNumber && isKnownSpelling;
    const cutEnd = followsPreviousNumber ? prefix.end : prefix.pathEnd;
    if (isKnownSpelling && cutEnd > lineStart && !(followsPreviousNumber && readLinePrefix(text, cutEnd, 'search')))
      cuts.push({ start: lineStart, end: cutEnd });
    previousNumber = prefix.number;
  }
  return cuts;
}

/** Some searches print a path from the root on one line and from the workspace on the next. */
const isSameFile = (a: string, b: string): boolean =>
  a === b || (a !== '' && b !== '' && (a.endsWith(`/${b}`) || b.endsWith(`/${a}`)));
