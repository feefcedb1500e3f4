import type { Slice } from '../../slice';
import { findMarkers } from '../../messages/markers';

const FAILURE_WORDS =
  /\b(?:error|errors|exception|failed|failure|fatal|panic|panicked|traceback|assertion|undefined reference|not found|no such file|permission denied|cannot|segmentation fault)\b|^\s*(?:E\s{2,}|✗|✖|×|(?:--- )?FAIL\b|ERR!)|\w+(?:Error|Exception)\b/i;

/** Test runners print these lines for passed tests, whose names may contain any word. */
const PASSED_TEST_LINE = /\(pass\)|\.\.\. ok$|\bPASSED\b|^\s*(?:ok \d+\b|[✓✔√] |PASS\b|--- PASS:)/;
const ZERO_FAILURES = /\b0 (?:failed|failures?|errors?|exceptions?)\b/gi;

const isErrorLine = (line: string): boolean =>
  FAILURE_WORDS.test(line) &&
  !PASSED_TEST_LINE.test(line) &&
  FAILURE_WORDS.test(line.replace(ZERO_FAILURES, '')) &&
  findMarkers(line).length === 0;

const MAX_ERROR_LINES = 12;
/** A longer line is data that happens to contain a word like "error". */
const MAX_ERROR_LINE_CHARS = 300;

export function findErrorLines(text: string): Slice[] {
  const errorLines: Slice[] = [];
  for (let start = 0; start < text.length && errorLines.length < MAX_ERROR_LINES;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (end - start <= MAX_ERROR_LINE_CHARS && isErrorLine(text.slice(start, end))) errorLines.push({ start, end });
    start = end + 1;
  }
  return errorLines;
}
