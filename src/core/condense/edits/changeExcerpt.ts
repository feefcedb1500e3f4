export interface BeforeAndAfterExcerpt {
  readonly before: string;
  readonly after: string;
}

const UNCHANGED_LINES_AROUND_CHANGE = 1;
const MAX_EXCERPT_LINES = 8;
const MAX_LINE_CHARS = 240;

export function makeChangeExcerpt(before: string, after: string): BeforeAndAfterExcerpt {
  const [oldLines, newLines] = [before.split('\n'), after.split('\n')];
  const shorterLength = Math.min(oldLines.length, newLines.length);
  let sameLinesAtStart = 0;
  while (sameLinesAtStart < shorterLength && oldLines[sameLinesAtStart] === newLines[sameLinesAtStart])
    sameLinesAtStart++;
  let sameLinesAtEnd = 0;
  while (
    sameLinesAtEnd < shorterLength - sameLinesAtStart &&
    oldLines[oldLines.length - 1 - sameLinesAtEnd] === newLines[newLines.length - 1 - sameLinesAtEnd]
  )
    sameLinesAtEnd++;
  const firstLine = Math.max(0, sameLinesAtStart - UNCHANGED_LINES_AROUND_CHANGE);
  const omittedLinesAfter = Math.max(0, sameLinesAtEnd - UNCHANGED_LINES_AROUND_CHANGE);
  return {
    before: formatLines(oldLines, firstLine, omittedLinesAfter),
    after: formatLines(newLines, firstLine, omittedLinesAfter),
  };
}

function formatLines(lines: readonly string[], firstLine: number, linesAfter: number): string {
  const endLine = lines.length - linesAfter;
  const excerptLines = lines.slice(firstLine, endLine);
  const limitedLines =
    excerptLines.length > MAX_EXCERPT_LINES ? [...excerptLines.slice(0, MAX_EXCERPT_LINES - 1), '…'] : excerptLines;
  return [...(firstLine > 0 ? ['…'] : []), ...limitedLines.map(shortenLine), ...(linesAfter > 0 ? ['…'] : [])].join(
    '\n',
  );
}

const shortenLine = (line: string): string =>
  line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : line;
