import type { LineNumberRange } from './printed';

/** Only prints or quits: `12p`, `3,9p`, `/a/,/b/p`, `80q`, `$p`. */
const SED_LINE_COMMAND = /^(?:(\d+|\$)(?:,(\d+|\$|\+\d+))?)?\s*(p|q|d)$/;
const SED_TEXT_COMMAND = /^(?:\/(?:[^/\\]|\\.)+\/|\d+|\$)(?:\s*,\s*(?:\/(?:[^/\\]|\\.)+\/|\d+|\$|\+\d+))?\s*p$/;

/**
 * @param isQuiet true for `-n`
 * @returns 'some' if the selection depends on the lines' content; undefined if the script changes
 *   lines or is unknown
 */
export function readSedRanges(script: string, isQuiet: boolean): readonly LineNumberRange[] | 'some' | undefined {
  const commands = splitSedScript(script);
  const ranges: LineNumberRange[] = [];
  let lastPrintedLine = Infinity;
  let selectsByText = false;
  let hasQuit = false;
  for (const command of commands) {
    const [, firstLine, lastLine, action] = SED_LINE_COMMAND.exec(command) ?? [];
    if (action === undefined) {
      if (!isQuiet || !SED_TEXT_COMMAND.test(command)) return undefined;
      selectsByText = true;
      continue;
    }
    if (hasQuit || firstLine === '$' || firstLine === undefined) {
      // `$p` prints the last line, whose number is unknown.
      if (action !== 'p' || !isQuiet || hasQuit) return undefined;
      if (firstLine === undefined) ranges.push({ first: 1, last: Infinity });
      else selectsByText = true;
      continue;
    }
    if (action === 'q') {
      if (lastLine !== undefined) return undefined;
      lastPrintedLine = Number(firstLine);
      hasQuit = true;
    } else if (action === 'd') {
      const range = parseSedRange(firstLine, lastLine);
      if (isQuiet || commands.length > 1) return undefined;
      return [
        ...(range.first > 1 ? [{ first: 1, last: range.first - 1 }] : []),
        ...(range.last < Infinity ? [{ first: range.last + 1, last: Infinity }] : []),
      ];
    } else {
      if (!isQuiet) return undefined;
      ranges.push(parseSedRange(firstLine, lastLine));
    }
  }
  if (commands.length === 0) return undefined;
  if (selectsByText) return 'some';
  if (!isQuiet) return [{ first: 1, last: lastPrintedLine }];
  return sortRangesIfDisjoint(ranges.map(({ first, last }) => ({ first, last: Math.min(last, lastPrintedLine) })));
}

function parseSedRange(firstLine: string, lastLine: string | undefined): LineNumberRange {
  const firstNumber = Number(firstLine);
  if (lastLine === undefined) return { first: firstNumber, last: firstNumber };
  if (lastLine === '$') return { first: firstNumber, last: Infinity };
  // If a range ends before it starts, sed takes only its first line.
  return {
    first: firstNumber,
    last: lastLine.startsWith('+') ? firstNumber + Number(lastLine.slice(1)) : Math.max(firstNumber, Number(lastLine)),
  };
}

/** sed prints lines in the file's order, and prints a line once for each matching command. */
function sortRangesIfDisjoint(ranges: readonly LineNumberRange[]): readonly LineNumberRange[] | undefined {
  const sortedRanges = ranges.filter(({ first, last }) => last >= first).sort((a, b) => a.first - b.first);
  const areDisjoint = sortedRanges.every(
    (range, at) => at === 0 || range.first > (sortedRanges[at - 1] as LineNumberRange).last,
  );
  return areDisjoint && sortedRanges.length > 0 ? sortedRanges : undefined;
}

function splitSedScript(script: string): string[] {
  const commands: string[] = [];
  let command = '';
  let isInPattern = false;
  for (let offset = 0; offset < script.length; offset++) {
    const letter = script[offset] as string;
    if (letter === '\\' && isInPattern) {
      command += letter + (script[++offset] ?? '');
    } else if (letter === '/') {
      isInPattern = !isInPattern;
      command += letter;
    } else if (!isInPattern && (letter === ';' || letter === '\n')) {
      commands.push(command.trim());
      command = '';
    } else {
      command += letter;
    }
  }
  commands.push(command.trim());
  return commands.filter((each) => each !== '');
}
