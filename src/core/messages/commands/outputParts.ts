import type { Slice } from '../../slice';
import { joinPath } from '../filePath';
import { mayContainMarker } from '../markers';
import type { LineNumberForm } from '../../agents/types';
import { readNumberAt } from '../numberForms';
import { readPatches } from '../patches';
import type { CommandStep } from './commandSteps';
import type { ExpectedPrint } from './printed';

/** A line number, a search result's path, or a diff sign. */
export type OutputLinePrefix = LineNumberForm | 'search' | 'diff';

export interface OutputPart extends Slice {
  readonly path: string;
  /** Git revision that the lines are from; undefined for the current file. */
  readonly revision: string | undefined;
  readonly linePrefix: OutputLinePrefix | undefined;
  /** Number of the first line, if known but not printed. */
  readonly firstLine: number | undefined;
}

interface IndexedOutput {
  readonly text: string;
  /** Start offset of each line, then the offset after the last line. */
  readonly lineStarts: readonly number[];
  readonly lineCount: number;
  /** Lines of the agent's notice that it removed text; undefined if the output is complete. */
  readonly truncation: { readonly first: number; readonly last: number } | undefined;
}

/**
 * A line belongs to no part if either of two commands may have printed it.
 * @param text excludes the agent's additions
 */
export function splitCommandOutput(steps: readonly CommandStep[], text: string): OutputPart[] {
  const output = indexOutputLines(text);
  if (output.lineCount === 0) return [];
  const parts: OutputPart[] = [];
  for (const { printed, lines, isStartSure } of assignOutputLinesToPrints(steps, output)) {
    if (lines.last < lines.first) continue;
    parts.push(...locateOutputParts(printed, output, lines, isStartSure));
  }
  return parts;
}

const TRUNCATION_LINE =
  /…\d+ (?:tokens|chars|lines) truncated…|^\[?\.{3} ?\[?(?:omitted \d+|\d+ (?:more )?lines|output truncated|\d+ lines truncated)|^\[(?:Output truncated|\.\.\. ?\d+|…\d+)|^\.{3}output truncated|^<(?:persisted-output|output_truncated|truncated)|^\[\d+ (?:lines|bytes) (?:omitted|truncated)|^Output too large to read|^\[Showing (?:last|lines) /;

function indexOutputLines(text: string): IndexedOutput {
  const lineStarts = [0];
  for (let newlineIndex = text.indexOf('\n'); newlineIndex >= 0; newlineIndex = text.indexOf('\n', newlineIndex + 1))
    lineStarts.push(newlineIndex + 1);
  let lineCount = lineStarts.length;
  // The agent may have added or removed trailing blank lines.
  while (
    lineCount > 0 &&
    text.slice(lineStarts[lineCount - 1], (lineStarts[lineCount] ?? text.length + 1) - 1).trim() === ''
  )
    lineCount--;
  let truncation: { first: number; last: number } | undefined;
  if (/truncated|omitted|too large|\.\.\. ?\d|…\d|\[Showing|persisted-output/.test(text)) {
    for (let line = 0; line < lineCount; line++) {
      if (!TRUNCATION_LINE.test(text.slice(lineStarts[line], (lineStarts[line + 1] ?? text.length + 1) - 1))) continue;
      truncation = { first: truncation?.first ?? line, last: line };
    }
  }
  lineStarts.push(text.length + 1);
  return { text, lineStarts, lineCount, truncation };
}

function getLineText({ text, lineStarts }: IndexedOutput, line: number): string {
  const end = (lineStarts[line + 1] as number) - 1;
  return text.slice(lineStarts[line], text[end - 1] === '\r' ? end - 1 : end);
}

/** Error messages can appear anywhere in an output. */
const SHELL_MESSAGE =
  /^(?:\/(?:usr\/)?bin\/)?(?:bash|sh|zsh|dash|zsh:\d+|fatal|error|usage): |^(?:bash|zsh|sh): line \d+: |^\(eval\):\d+: |^[\w-]+ ?: (?:The term|Cannot find path)|^At line:\d+ char:\d+/;

function findFailureMessageLines(
  steps: readonly CommandStep[],
  { text, lineStarts, lineCount }: IndexedOutput,
): number[] {
  const programPrefixes = [...new Set(steps.flatMap((step) => step.programs))].map((name) => `${name}: `);
  const lines: number[] = [];
  let colon = -1;
  for (let line = 0; line < lineCount; line++) {
    const start = lineStarts[line] as number;
    // Searches for the next colon only once, since it may be megabytes away.
    if (colon < start) colon = text.indexOf(': ', start);
    if (colon < 0) break;
    if (colon > start + MAX_FAILURE_HEAD_CHARS || colon >= (lineStarts[line + 1] as number)) continue;
    const lineBeginning = text.slice(start, start + MAX_FAILURE_HEAD_CHARS);
    if (programPrefixes.some((head) => lineBeginning.startsWith(head)) || SHELL_MESSAGE.test(lineBeginning))
      lines.push(line);
  }
  return lines;
}

const MAX_FAILURE_HEAD_CHARS = 60;

interface LineCountRange {
  readonly first: number;
  readonly last: number;
}

interface OutputLinesOfExpectedPrint {
  readonly printed: ExpectedPrint;
  readonly lines: LineCountRange;
  /** True if these are certainly the first of the lines that were printed. */
  readonly isStartSure: boolean;
}

interface ExpectedPrintWithLineRange {
  readonly printed: ExpectedPrint;
  maxLines: number;
  /** Line of the output at which this text was found. */
  firstLine: number | undefined;
}

function assignOutputLinesToPrints(steps: readonly CommandStep[], output: IndexedOutput): OutputLinesOfExpectedPrint[] {
  const expectedPrints = steps.flatMap(({ when, printed }) =>
    printed
      .filter(({ kind, maxLines }) => kind !== 'nothing' && maxLines > 0)
      .map((print): ExpectedPrintWithLineRange & { isSure: boolean } => ({
        printed: print,
        maxLines: print.maxLines,
        firstLine: undefined,
        isSure: when === 'always',
      })),
  );
  if (!locateKnownTextsInOutput(expectedPrints, output) || !arePrintsInOutputOrder(expectedPrints)) return [];
  locateNumberedFilesInOutput(expectedPrints, output);
  const failureLines = findFailureMessageLines(steps, output);
  const assignedLines: OutputLinesOfExpectedPrint[] = [];
  let firstLine = 0;
  let firstItemIndex = 0;
  for (let itemIndex = 0; itemIndex <= expectedPrints.length; itemIndex++) {
    const anchor = expectedPrints[itemIndex];
    if (anchor !== undefined && anchor.firstLine === undefined) continue;
    const endLine = anchor?.firstLine ?? output.lineCount;
    // If a range of lines contains an error message, none of them is assigned, because the message
    // may be from any command.
    if (!failureLines.some((line) => line >= firstLine && line < endLine))
      assignedLines.push(
        ...divideLinesBetweenPrints(expectedPrints.slice(firstItemIndex, itemIndex), output, {
          first: firstLine,
          last: endLine - 1,
        }),
      );
    if (anchor) firstLine = endLine + anchor.maxLines;
    if (anchor?.printed.kind === 'lines') {
      const lines = { first: endLine, last: firstLine - 1 };
      assignedLines.push({ printed: anchor.printed, lines, isStartSure: true });
    }
    firstItemIndex = itemIndex + 1;
  }
  return assignedLines;
}

/** Locates printed files by their line numbers, if these are unambiguous. */
function locateNumberedFilesInOutput(
  expectedPrints: readonly ExpectedPrintWithLineRange[],
  output: IndexedOutput,
): void {
  const itemsByRange = new Map<
    string,
    { readonly form: LineNumberForm; readonly first: number; readonly items: ExpectedPrintWithLineRange[] }
  >();
  for (const item of expectedPrints) {
    if (item.printed.kind !== 'lines') continue;
    const { numbers: form, ranges } = item.printed;
    const firstNumber = ranges?.length === 1 ? ranges[0]?.first : undefined;
    if (form === undefined || firstNumber === undefined) continue;
    const key = `${form} ${firstNumber}`;
    const existingEntry = itemsByRange.get(key);
    if (existingEntry) existingEntry.items.push(item);
    else itemsByRange.set(key, { form, first: firstNumber, items: [item] });
  }
  if (expectedPrints.length < 2) return;
  const itemsBefore = expectedPrints.map((item) => ({ ...item }));
  for (const { form, first: firstNumber, items: sameRange } of itemsByRange.values()) {
    const startLines: number[] = [];
    for (let line = 0; line < output.lineCount; line++)
      if (
        readLineNumber(output, line, form) === firstNumber &&
        (line === 0 || readLineNumber(output, line - 1, form) !== firstNumber - 1)
      )
        startLines.push(line);
    if (startLines.length !== sameRange.length) continue;
    sameRange.forEach((item, at) => {
      const startLine = startLines[at] as number;
      item.firstLine = startLine;
      item.maxLines = countNumberedLines(
        output,
        startLine,
        form,
        Math.min(item.maxLines, output.lineCount - startLine),
      );
    });
  }
  if (!arePrintsInOutputOrder(expectedPrints))
    expectedPrints.forEach((item, at) => Object.assign(item, itemsBefore[at]));
}

const readLineNumber = ({ text, lineStarts }: IndexedOutput, line: number, form: LineNumberForm): number | undefined =>
  readNumberAt(text, lineStarts[line] as number, form)?.number;

/**
 * Counts consecutive line numbers. Condensed output may lack some numbers or have a marker instead.
 */
function countNumberedLines(output: IndexedOutput, start: number, form: LineNumberForm, maxLines: number): number {
  let matchedLines = 1;
  let expectedNumber = (readLineNumber(output, start, form) as number) + 1;
  let hasGap = false;
  for (let line = start + 1; line < start + maxLines; line++, expectedNumber++) {
    const number = readLineNumber(output, line, form);
    if (number === undefined) {
      hasGap ||= mayContainMarker(getLineText(output, line));
      continue;
    }
    if (number !== expectedNumber && !(hasGap && number > expectedNumber)) break;
    expectedNumber = number;
    matchedLines = line - start + 1;
    hasGap = false;
  }
  return matchedLines;
}

/**
 * Locates texts that occur as often as the command prints them.
 * @returns false if a text that must be printed is missing
 */
function locateKnownTextsInOutput(
  items: readonly (ExpectedPrintWithLineRange & { isSure: boolean })[],
  output: IndexedOutput,
): boolean {
  const usesByText = new Map<
    string,
    { item: ExpectedPrintWithLineRange & { isSure: boolean }; before: number; after: number }[]
  >();
  for (const item of items) {
    if (item.printed.kind !== 'text') continue;
    const text = extractOnlyTextLine(item.printed.text);
    if (text === undefined) continue;
    usesByText.set(text.line, [...(usesByText.get(text.line) ?? []), { ...text, item }]);
  }
  if (usesByText.size === 0) return true;
  const linesByText = new Map([...usesByText.keys()].map((text): [string, number[]] => [text, []]));
  for (let line = 0; line < output.lineCount; line++) linesByText.get(getLineText(output, line))?.push(line);
  for (const [text, usesOfText] of usesByText) {
    const matchingLines = linesByText.get(text) ?? [];
    if (matchingLines.length === usesOfText.length && (output.truncation === undefined || usesOfText.length === 1)) {
      usesOfText.forEach(({ item, before, after: linesAfter }, at) => {
        const line = matchingLines[at] as number;
        // The agent may have removed leading blank lines.
        item.firstLine = Math.max(0, line - before);
        item.maxLines = line - item.firstLine + linesAfter + 1;
      });
    } else if (matchingLines.length === 0) {
      if (output.truncation === undefined && usesOfText.some(({ item }) => item.isSure)) return false;
      for (const { item } of usesOfText) item.maxLines = 0;
    }
  }
  return true;
}

function arePrintsInOutputOrder(items: readonly ExpectedPrintWithLineRange[]): boolean {
  let end = 0;
  for (const { firstLine, maxLines, printed } of items) {
    if (firstLine === undefined) continue;
    if (firstLine < end) return false;
    // Blank lines around a text may belong to its neighbors.
    end = firstLine + (printed.kind === 'lines' ? maxLines : 1);
  }
  return true;
}

function extractOnlyTextLine(text: string): { line: string; before: number; after: number } | undefined {
  if (!text.endsWith('\n')) return undefined;
  const lines = text.slice(0, -1).split('\n');
  const lineIndex = lines.findIndex((line) => line.trim() !== '');
  const line = lines[lineIndex];
  const isOnlyLine = lines.every((other, index) => index === lineIndex || other.trim() === '');
  return line !== undefined && isOnlyLine
    ? { line, before: lineIndex, after: lines.length - 1 - lineIndex }
    : undefined;
}

function divideLinesBetweenPrints(
  items: readonly ExpectedPrintWithLineRange[],
  output: IndexedOutput,
  lines: LineCountRange,
): OutputLinesOfExpectedPrint[] {
  const openItems = items.filter(({ maxLines }) => maxLines > 0);
  const count = lines.last - lines.first + 1;
  if (count <= 0 || openItems.length === 0) return [];
  const [firstItem] = openItems;
  if (firstItem && openItems.length === 1) {
    return count > firstItem.maxLines && !areOverflowLinesBlank(output, lines, firstItem.maxLines)
      ? []
      : [
          {
            printed: firstItem.printed,
            lines: { first: lines.first, last: Math.min(lines.last, lines.first + firstItem.maxLines - 1) },
            isStartSure: true,
          },
        ];
  }
  // If text was removed, the number of lines is unknown.
  if (output.truncation && output.truncation.last >= lines.first && output.truncation.first <= lines.last) return [];
  limitPrintsToFileLength(openItems, output, lines);
  for (const item of openItems)
    item.maxLines = Math.min(item.maxLines, countLongestMatchingLineSequence(item.printed, output, lines));
  const linesBefore = computePrefixSums(openItems.map(({ maxLines }) => maxLines));
  const suffixSums = computePrefixSums(openItems.map(({ maxLines }) => maxLines).reverse()).reverse();
  // There are more lines than these commands can print, so another command printed some of them.
  if (count > (linesBefore.at(-1) as number) + (openItems.at(-1) as ExpectedPrintWithLineRange).maxLines) return [];
  return openItems.map(({ printed, maxLines }, at): OutputLinesOfExpectedPrint => {
    const [ahead, linesAfter] = [linesBefore[at] as number, suffixSums[at] as number];
    const start = Math.min(count, ahead);
    const end = Math.max(0, count - linesAfter);
    return {
      printed,
      lines: { first: lines.first + start, last: lines.first + end - 1 },
      isStartSure: start <= Math.max(0, count - linesAfter - maxLines),
    };
  });
}

/**
 * Only the last range that prints can be cut short by the file's end. So the total determines how
 * many lines each range printed.
 */
function limitPrintsToFileLength(
  expectedPrints: readonly ExpectedPrintWithLineRange[],
  output: IndexedOutput,
  lines: LineCountRange,
): void {
  let end = 0;
  let previousFileKey: string | undefined;
  for (const { printed } of expectedPrints) {
    if (printed.kind !== 'lines' || printed.ranges?.length !== 1) return;
    const [range] = printed.ranges;
    const fileKey = `${printed.revision ?? ''}:${printed.path}`;
    if (
      range?.first === undefined ||
      range.first <= end ||
      (previousFileKey !== undefined && previousFileKey !== fileKey)
    )
      return;
    previousFileKey = fileKey;
    end = range.first + range.maxLines - 1;
  }
  // A marker replaces an unknown number of lines.
  if (mayContainMarker(output.text.slice(output.lineStarts[lines.first], output.lineStarts[lines.last + 1]))) return;
  let remainingLineCount = lines.last - lines.first + 1;
  for (const item of expectedPrints) {
    item.maxLines = Math.min(item.maxLines, remainingLineCount);
    remainingLineCount -= item.maxLines;
  }
}

function countLongestMatchingLineSequence(
  printed: ExpectedPrint,
  output: IndexedOutput,
  lines: LineCountRange,
): number {
  const isLineOfPrint = createLineTestForPrint(printed);
  if (printed.kind === 'diff') return containsDiff(output, lines) ? Infinity : 0;
  if (!isLineOfPrint) return Infinity;
  let longestRun = 0;
  let runLength = 0;
  for (let line = lines.first; line <= lines.last; line++) {
    runLength = isLineOfPrint(
      output.text.slice(
        output.lineStarts[line],
        Math.min(output.lineStarts[line + 1] as number, (output.lineStarts[line] as number) + MAX_HEAD_CHARS),
      ),
    )
      ? runLength + 1
      : 0;
    longestRun = Math.max(longestRun, runLength);
  }
  return longestRun;
}

function containsDiff({ text, lineStarts }: IndexedOutput, { first, last }: LineCountRange): boolean {
  for (let line = first; line <= last; line++)
    if (
      /^(?:diff --git |--- |commit [0-9a-f]{7})/.test(text.slice(lineStarts[line], (lineStarts[line] as number) + 20))
    )
      return true;
  return false;
}

const MAX_HEAD_CHARS = 500;

function createLineTestForPrint(printed: ExpectedPrint): ((line: string) => boolean) | undefined {
  if (printed.kind === 'status') return (line) => /^(?:##|[ MADRCUT?!]{2}) \S/.test(line) || mayContainMarker(line);
  if (printed.kind === 'matches' && printed.isNumbered)
    return (line) => /^(?:[^\n]*?[:-])?\d{1,9}[:-]|^--\n?$/.test(line) || mayContainMarker(line);
  return undefined;
}

function computePrefixSums(numbers: readonly number[]): number[] {
  const sums: number[] = [];
  let sum = 0;
  for (const number of numbers) {
    sums.push(sum);
    sum += number;
  }
  return sums;
}

/** Some agents append blank lines. */
function areOverflowLinesBlank(output: IndexedOutput, lines: LineCountRange, maxLines: number): boolean {
  for (let line = lines.first + maxLines; line <= lines.last; line++)
    if (getLineText(output, line).trim() !== '') return false;
  return true;
}

const makeTextSlice = (output: IndexedOutput, { first, last }: LineCountRange): Slice => ({
  start: output.lineStarts[first] as number,
  end: Math.min(output.text.length, (output.lineStarts[last + 1] as number) - 1),
});

function locateOutputParts(
  printed: ExpectedPrint,
  output: IndexedOutput,
  lines: LineCountRange,
  isStartSure: boolean,
): OutputPart[] {
  switch (printed.kind) {
    case 'lines':
      return splitShownLines(printed, output, lines, isStartSure);
    case 'headed':
      return splitFilesWithHeaders(printed.folder, output, lines);
    case 'matches':
      return splitSearchMatches(printed, output, lines);
    case 'diff':
      return splitDiffs(printed.folder, output, lines);
    default:
      return [];
  }
}

type PrintedFileLines = Extract<ExpectedPrint, { kind: 'lines' }>;

function splitShownLines(
  printed: PrintedFileLines,
  output: IndexedOutput,
  lines: LineCountRange,
  isStartSure: boolean,
): OutputPart[] {
  const { path, revision, numbers, ranges } = printed;
  const makeParts = (own: LineCountRange, firstLine: number | undefined): OutputPart[] =>
    own.last < own.first ? [] : [{ ...makeTextSlice(output, own), path, revision, linePrefix: numbers, firstLine }];
  const truncation =
    output.truncation && output.truncation.first <= lines.last && output.truncation.last >= lines.first
      ? output.truncation
      : undefined;
  if (numbers !== undefined || ranges === undefined || !isStartSure) {
    if (!truncation) return makeParts(lines, undefined);
    return [
      ...makeParts({ ...lines, last: truncation.first - 1 }, undefined),
      ...makeParts({ ...lines, first: truncation.last + 1 }, undefined),
    ];
  }
  const parts: OutputPart[] = [];
  let firstLine = lines.first;
  const lastLine = truncation ? truncation.first - 1 : lines.last;
  for (const [rangeIndex, { first, maxLines }] of ranges.entries()) {
    if (firstLine > lastLine) break;
    const lastOfRange = Math.min(lastLine, firstLine + maxLines - 1);
    parts.push(
      ...makeParts({ first: firstLine, last: rangeIndex === ranges.length - 1 ? lastLine : lastOfRange }, first),
    );
    firstLine = lastOfRange + 1;
  }
  if (truncation) parts.push(...makeParts({ first: truncation.last + 1, last: lines.last }, undefined));
  return parts;
}

const FILE_HEADER = /^==> (.+) <==$/;

/** head and tail print `==> path <==` before each of several files. */
function splitFilesWithHeaders(folder: string | undefined, output: IndexedOutput, lines: LineCountRange): OutputPart[] {
  const parts: OutputPart[] = [];
  let path: string | undefined;
  let firstLine = lines.first;
  const closePart = (endLine: number): void => {
    // The blank line before the next header does not belong to the file.
    const lastLine =
      endLine < lines.last && endLine >= firstLine && getLineText(output, endLine) === '' ? endLine - 1 : endLine;
    if (
      path !== undefined &&
      lastLine >= firstLine &&
      !isOutputTruncatedAt(output, { first: firstLine, last: lastLine })
    )
      parts.push({
        ...makeTextSlice(output, { first: firstLine, last: lastLine }),
        path,
        revision: undefined,
        linePrefix: undefined,
        firstLine: undefined,
      });
  };
  for (let line = lines.first; line <= lines.last; line++) {
    const [, name] = FILE_HEADER.exec(getLineText(output, line)) ?? [];
    if (name === undefined) continue;
    closePart(line - 1);
    path = joinPath(folder, name);
    firstLine = line + 1;
  }
  closePart(lines.last);
  return parts;
}

const isOutputTruncatedAt = ({ truncation }: IndexedOutput, { first, last }: LineCountRange): boolean =>
  truncation !== undefined && truncation.first <= last && truncation.last >= first;

/** A match has colons around the line number, context has dashes. */
const SEARCH_MATCH = /^((?:[A-Za-z]:[\\/])?[^\n:]{1,400}?):(\d{1,9}):/;
/** A match whose path is on an earlier line. */
const NUMBERED_MATCH_WITHOUT_PATH = /^\d{1,9}[:-]/;
const SEARCH_CONTEXT = /^((?:[A-Za-z]:[\\/])?[^\n]{1,400}?\.\w{1,10})-(\d{1,9})-/;

function splitSearchMatches(
  printed: Extract<ExpectedPrint, { kind: 'matches' }>,
  output: IndexedOutput,
  lines: LineCountRange,
): OutputPart[] {
  const parts: OutputPart[] = [];
  const { path, isNumbered, folder } = printed;
  if (path !== undefined) {
    if (isOutputTruncatedAt(output, lines)) return [];
    // A single name may be a folder; then lines start with file names.
    const firstText = getLineText(output, lines.first);
    if (!isNumbered) return firstText.startsWith(path) ? [] : splitMatchesByFile(output, lines, path);
    if (/^\d{1,9}[:-]/.test(firstText))
      return [
        { ...makeTextSlice(output, lines), path, revision: undefined, linePrefix: 'search', firstLine: undefined },
      ];
  }
  if (!isNumbered) return [];
  let openMatches: { path: string; first: number; last: number } | undefined;
  let previousPath: string | undefined;
  const closePart = (): void => {
    const knownPath = openMatches && joinPath(folder, openMatches.path);
    if (openMatches && knownPath !== undefined)
      parts.push({
        ...makeTextSlice(output, openMatches),
        path: knownPath,
        revision: undefined,
        linePrefix: 'search',
        firstLine: undefined,
      });
    openMatches = undefined;
  };
  for (let line = lines.first; line <= lines.last; line++) {
    const text = getLineText(output, line).slice(0, MAX_HEAD_CHARS);
    const isTruncated = isOutputTruncatedAt(output, { first: line, last: line });
    const matchedPath = isTruncated ? undefined : (SEARCH_MATCH.exec(text)?.[1] ?? SEARCH_CONTEXT.exec(text)?.[1]);
    // A line without a path belongs to the file of the line before. A marker replaces lines of that
    // same file.
    const knownPath =
      matchedPath ??
      (!isTruncated && (NUMBERED_MATCH_WITHOUT_PATH.test(text) || mayContainMarker(text)) ? previousPath : undefined);
    if (text !== '--') previousPath = knownPath;
    if (openMatches && knownPath === openMatches.path) {
      openMatches.last = line;
      continue;
    }
    closePart();
    if (knownPath !== undefined) openMatches = { path: knownPath, first: line, last: line };
  }
  closePart();
  return parts;
}

/** `--` separates lines that are not adjacent. */
function splitMatchesByFile(output: IndexedOutput, lines: LineCountRange, path: string): OutputPart[] {
  const parts: OutputPart[] = [];
  let firstLine = lines.first;
  for (let line = lines.first; line <= lines.last + 1; line++) {
    if (line <= lines.last && getLineText(output, line) !== '--') continue;
    if (line > firstLine)
      parts.push({
        ...makeTextSlice(output, { first: firstLine, last: line - 1 }),
        path,
        revision: undefined,
        linePrefix: undefined,
        firstLine: undefined,
      });
    firstLine = line + 1;
  }
  return parts;
}

function splitDiffs(folder: string | undefined, output: IndexedOutput, lines: LineCountRange): OutputPart[] {
  const { start, end } = makeTextSlice(output, lines);
  return readPatches(output.text.slice(start, end)).flatMap(({ path, movedTo, hunks }) => {
    const knownPath = joinPath(folder, movedTo ?? path);
    if (knownPath === undefined) return [];
    return hunks
      .filter((hunk) => hunk.end > hunk.start)
      .map((hunk): OutputPart => ({
        start: start + hunk.start,
        end: start + hunk.end,
        path: knownPath,
        revision: undefined,
        linePrefix: 'diff',
        firstLine: hunk.firstNew,
      }));
  });
}
