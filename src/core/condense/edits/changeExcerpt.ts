export interface BeforeAndAfterExcerpt {
  readonly before: string;
  readonly after: string;
}

const UNCHANGED_LINES_AROUND_CHANGE = 1;
const MAX_EXCERPT_LINES = 8;
const MAX_LINE_CHARS = 240;

export function makeChangeExcerpt(before: string, after: string): BeforeAndAfterExcerpt {
  const [oldLines, newLines] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(oldLines.length, newLines.length);
  let start = 0;
  while (start < shorter && oldLines[start] === newLines[start]) start++;
  let end = 0;
  while (end < shorter - start && oldLines[oldLines.length - 1 - end] === newLines[newLines.length - 1 - end]) end++;
  const firstLine = Math.max(0, start - UNCHANGED_LINES_AROUND_CHANGE);
  const linesAfter = Math.max(0, end - UNCHANGED_LINES_AROUND_CHANGE);
  return { before: formatLines(oldLines, firstLine, linesAfter), after: formatLines(newLines, firstLine, linesAfter) };
}

function formatLines(lines: readonly string[], firstLine: number, linesAfter: number): string {
  const to = lines.length - linesAfter;
  const picked = lines.slice(firstLine, to);
  const cut = picked.length > MAX_EXCERPT_LINES ? [...picked.slice(0, MAX_EXCERPT_LINES - 1), '…'] : picked;
  return [...(firstLine > 0 ? ['…'] : []), ...cut.map(shortenLine), ...(linesAfter > 0 ? ['…'] : [])].join('\n');
}

const shortenLine = (line: string): string =>
  line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : line;
