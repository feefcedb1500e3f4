import type { Slice } from '../../slice';

/** A run of lines in a text, without the newline behind the last one. */
export interface LineRun extends Slice {
  readonly lines: number;
}

/** The longest runs of lines that all stand in another text, too. Blank lines alone make no run. */
export function standingRuns(text: string, standing: ReadonlySet<string>): LineRun[] {
  const runs: LineRun[] = [];
  let start = -1;
  let lines = 0;
  let hasText = false;
  const close = (end: number): void => {
    // A line's end may be two characters; both stay.
    if (start >= 0 && hasText) runs.push({ start, end: text[end - 1] === '\r' ? end - 1 : end, lines });
    start = -1;
    lines = 0;
    hasText = false;
  };
  let at = 0;
  for (;;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (line.trim() === '' || standing.has(line)) {
      if (start < 0) start = at;
      hasText ||= line.trim() !== '';
      lines++;
    } else {
      close(at - 1);
    }
    if (newline < 0) break;
    at = newline + 1;
  }
  close(text.length);
  return runs;
}

/** The different lines of a text, without their ends. */
export const linesOf = (text: string): Set<string> => new Set(text.split('\n'));
