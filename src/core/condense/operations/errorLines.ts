import type { Slice } from '../../slice';
import { findMarkers } from '../../messages/markers';

/** Words by which compilers, test runners and shells tell of a failure. */
const TELLS =
  /\b(?:error|errors|exception|failed|failure|fatal|panic|panicked|traceback|assertion|undefined reference|not found|no such file|permission denied|cannot|segmentation fault)\b|^\s*(?:E\s{2,}|✗|✖|×|(?:--- )?FAIL\b|ERR!)|\w+(?:Error|Exception)\b/i;

/** What test runners say of a test that passed, whatever its name speaks of. */
const PASSES = /\(pass\)|\.\.\. ok$|\bPASSED\b|^\s*(?:ok \d+\b|[✓✔√] |PASS\b|--- PASS:)/;
/** Counts of what did not happen. */
const NONE = /\b0 (?:failed|failures?|errors?|exceptions?)\b/gi;

const tells = (line: string): boolean =>
  TELLS.test(line) && !PASSES.test(line) && TELLS.test(line.replace(NONE, '')) && findMarkers(line).length === 0;

const MAX_LINES = 12;
/** A longer line is data that happens to hold the word. */
const LONGEST = 300;

/** The first lines of a text that tell of an error, as slices without the newline behind them. */
export function errorLines(text: string): Slice[] {
  const found: Slice[] = [];
  for (let start = 0; start < text.length && found.length < MAX_LINES;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    if (end - start <= LONGEST && tells(text.slice(start, end))) found.push({ start, end });
    start = end + 1;
  }
  return found;
}
