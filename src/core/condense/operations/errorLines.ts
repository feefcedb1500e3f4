import type { Slice } from '../../slice';
import { findMarkers } from '../../messages/markers';

/** Words of compilers, test runners and shells for a failure. */
const FAILURE =
  /\b(?:error|errors|exception|failed|failure|fatal|panic|panicked|traceback|assertion|undefined reference|not found|no such file|permission denied|cannot|segmentation fault)\b|^\s*(?:E\s{2,}|✗|✖|×|(?:--- )?FAIL\b|ERR!)|\w+(?:Error|Exception)\b/i;

/** Test runners' lines for passed tests, whatever their names contain. */
const PASSES = /\(pass\)|\.\.\. ok$|\bPASSED\b|^\s*(?:ok \d+\b|[✓✔√] |PASS\b|--- PASS:)/;
/** Counts of zero failures. */
const NONE = /\b0 (?:failed|failures?|errors?|exceptions?)\b/gi;

const tells = (line: string): boolean =>
  FAILURE.test(line) && !PASSES.test(line) && FAILURE.test(line.replace(NONE, '')) && findMarkers(line).length === 0;

const MAX_LINES = 12;
/** Longer lines are data that happens to contain such a word. */
const LONGEST = 300;

/** The first error lines of a text, without their newlines. */
export function findErrorLines(text: string): Slice[] {
  const found: Slice[] = [];
  for (let start = 0; start < text.length && found.length < MAX_LINES;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (end - start <= LONGEST && tells(text.slice(start, end))) found.push({ start, end });
    start = end + 1;
  }
  return found;
}
