import { MESSAGE_HEADING } from '../../messages/heading';
import { MAX_COMPARED_CHARS, renderConversation } from '../../messages/render';
import { createUneditedView, type View } from '../edits/view';

/** Two states of a conversation for a diff editor. */
export interface DiffTexts {
  readonly before: string;
  readonly after: string;
  /** First line of `after` that differs, from 0. */
  readonly firstChange: number | undefined;
}

const CONTEXT_LINES = 3;
/** Limits on changed lines: the total, and the least and most that each section gets. */
const MAX_CHANGED_LINES = 2_000;
const MIN_CHANGED_LINES_PER_SECTION = 12;
/**
 * VS Code compares the characters of a change in quadratic time (250 lines replaced by a marker took
 * 0.3 s, 1,000 took 4 s) and stops after 5 s.
 */
const MAX_CHANGED_LINES_PER_SECTION = 250;

/** These signs begin the lines that {@link renderConversation} writes for blocks. */
const BLOCK_LINE = /^[▶◀▹▫] /;

function splitTextIntoSections(text: string): readonly (readonly string[])[] {
  const sections: string[][] = [];
  for (let lineStart = 0; lineStart <= text.length;) {
    const newline = text.indexOf('\n', lineStart);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(lineStart, end);
    const lastSection = sections.at(-1);
    if (!lastSection || MESSAGE_HEADING.test(line)) sections.push([line]);
    else lastSection.push(line);
    lineStart = end + 1;
  }
  return sections;
}

const formatFoldLine = (count: number, what: string): string => `⋯ ${count.toLocaleString('en-US')} ${what} ⋯`;

function* pairSections(
  sectionsBefore: readonly (readonly string[])[],
  sectionsAfter: readonly (readonly string[])[],
): Generator<readonly [readonly string[], readonly string[]]> {
  const indexByKey = new Map(createSectionKeys(sectionsAfter).map((key, at) => [key, at]));
  const keysBefore = createSectionKeys(sectionsBefore);
  let nextSection = 0;
  for (const [index, section] of sectionsBefore.entries()) {
    const indexAfter = indexByKey.get(keysBefore[index] ?? '');
    if (indexAfter === undefined || indexAfter < nextSection) {
      yield [section, []];
      continue;
    }
    for (; nextSection < indexAfter; nextSection++) yield [[], sectionsAfter[nextSection] ?? []];
    yield [section, sectionsAfter[indexAfter] ?? []];
    nextSection = indexAfter + 1;
  }
  for (; nextSection < sectionsAfter.length; nextSection++) yield [[], sectionsAfter[nextSection] ?? []];
}

/** Makes repeated headings unique. */
function createSectionKeys(sections: readonly (readonly string[])[]): readonly string[] {
  const counts = new Map<string, number>();
  return sections.map(([heading = '']) => {
    const occurrence = counts.get(heading) ?? 0;
    counts.set(heading, occurrence + 1);
    return `${occurrence} ${heading}`;
  });
}

/** @param isPreview true if the edits were not applied */
export function renderDiffOfViews(
  viewAfter: View,
  viewBefore = createUneditedView(viewAfter.original),
  isPreview = false,
): DiffTexts {
  const renderView = ({ messages, origins, original }: View): string =>
    renderConversation(messages, origins, original, MAX_COMPARED_CHARS);
  return foldUnchangedText(renderView(viewBefore), renderView(viewAfter), isPreview);
}

export const FOLD_TEXT_WHEN_APPLIED = 'more lines: “Read What Was Condensed” shows them';
/** A preview is not stored, so only its markers lead to the removed text. */
export const FOLD_TEXT_IN_PREVIEW = 'more lines; markers open what would be removed';

export function foldUnchangedText(textBefore: string, textAfter: string, isPreview = false): DiffTexts {
  const hiddenWords = isPreview ? FOLD_TEXT_IN_PREVIEW : FOLD_TEXT_WHEN_APPLIED;
  const pairedSections = [...pairSections(splitTextIntoSections(textBefore), splitTextIntoSections(textAfter))];
  let changedCount = 0;
  for (const [a, b] of pairedSections) {
    if (!areLinesEqual(a, b)) changedCount++;
  }
  const maxLines = Math.min(
    MAX_CHANGED_LINES_PER_SECTION,
    Math.max(MIN_CHANGED_LINES_PER_SECTION, Math.floor(MAX_CHANGED_LINES / Math.max(1, changedCount))),
  );
  const leftLines: string[] = [];
  const rightLines: string[] = [];
  let firstChange: number | undefined;
  for (const [a, b] of pairedSections) {
    if (areLinesEqual(a, b)) {
      const [heading = '', ...body] = a;
      const shownLines = [heading, ...foldUnchangedLines(body, 1, 1)];
      leftLines.push(...shownLines);
      rightLines.push(...shownLines);
      continue;
    }
    const [leftSection, rightSection] = [stripRemovedLineNumbers(a, b), b];
    const commonEnds = countCommonLinesAtEnds(leftSection, rightSection);
    const foldedHead = foldLinesBeforeChange(leftSection.slice(0, commonEnds.head));
    const foldedTail = foldUnchangedLines(leftSection.slice(leftSection.length - commonEnds.tail), CONTEXT_LINES, 1);
    firstChange ??= rightLines.length + foldedHead.length;
    leftLines.push(
      ...foldedHead,
      ...shortenChangedLines(
        leftSection.slice(commonEnds.head, leftSection.length - commonEnds.tail),
        maxLines,
        hiddenWords,
      ),
      ...foldedTail,
    );
    rightLines.push(
      ...foldedHead,
      ...shortenChangedLines(
        rightSection.slice(commonEnds.head, rightSection.length - commonEnds.tail),
        maxLines,
        hiddenWords,
      ),
      ...foldedTail,
    );
  }
  return { before: leftLines.join('\n'), after: rightLines.join('\n'), firstChange };
}

const LINE_NUMBER_PREFIX = /^[ *]{0,12}L?\d{1,9}(?:→|\t| ?\| ?|: ?|\. ?| {1,3}│ ?)/;

/** Brackets and other short lines are everywhere, so they prove nothing. */
const DISTINCTIVE_LINE = /\w.*\w.*\w.*\w/;

/**
 * A removed line number must not show as a change. Numbers of removed text stay, even if the same
 * short line exists elsewhere.
 */
function stripRemovedLineNumbers(linesBefore: readonly string[], linesAfter: readonly string[]): readonly string[] {
  const lineSetAfter = new Set(linesAfter);
  const linePairsAfter = new Set(linesAfter.map((line, at) => `${linesAfter[at - 1] ?? ''}\n${line}`));
  let previousLine: string | undefined;
  return linesBefore.map((line) => {
    const textWithoutNumber = line.replace(LINE_NUMBER_PREFIX, '');
    // A number without text is recognized only by a separator that ordinary text does not contain.
    const hasLineNumber = textWithoutNumber !== '' || /[→\t|│]\s*$/.test(line);
    const isStripped =
      textWithoutNumber !== line &&
      hasLineNumber &&
      !lineSetAfter.has(line) &&
      lineSetAfter.has(textWithoutNumber) &&
      (DISTINCTIVE_LINE.test(textWithoutNumber) ||
        (previousLine !== undefined && linePairsAfter.has(`${previousLine}\n${textWithoutNumber}`)));
    const shownText = isStripped ? textWithoutNumber : line;
    previousLine = lineSetAfter.has(shownText) ? shownText : undefined;
    return shownText;
  });
}

const areLinesEqual = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, at) => line === b[at]);

function countCommonLinesAtEnds(
  a: readonly string[],
  b: readonly string[],
): { readonly head: number; readonly tail: number } {
  const maxLength = Math.min(a.length, b.length);
  let headLength = 0;
  while (headLength < maxLength && a[headLength] === b[headLength]) headLength++;
  let tail = 0;
  while (tail < maxLength - headLength && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return { head: headLength, tail };
}

/** Folding a single line saves nothing. */
function foldUnchangedLines(lines: readonly string[], first: number, last: number): readonly string[] {
  const hiddenCount = lines.length - first - last;
  return hiddenCount <= 1
    ? lines
    : [...lines.slice(0, first), formatFoldLine(hiddenCount, 'lines unchanged'), ...lines.slice(lines.length - last)];
}

function foldLinesBeforeChange(lines: readonly string[]): readonly string[] {
  const blockLine = lines.findLastIndex((line) => BLOCK_LINE.test(line));
  return blockLine <= 1
    ? foldUnchangedLines(lines, blockLine + 1 || 1, CONTEXT_LINES)
    : [
        ...foldUnchangedLines(lines.slice(0, blockLine), 1, 0),
        ...foldUnchangedLines(lines.slice(blockLine), 1, CONTEXT_LINES),
      ];
}

function shortenChangedLines(lines: readonly string[], maxLines: number, hiddenWords: string): readonly string[] {
  const hiddenCount = lines.length - maxLines;
  if (hiddenCount <= 1) return lines;
  const halfLines = Math.ceil(maxLines / 2);
  return [
    ...lines.slice(0, halfLines),
    formatFoldLine(hiddenCount, hiddenWords),
    ...lines.slice(lines.length - (maxLines - halfLines)),
  ];
}
