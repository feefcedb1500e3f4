import { Buffer } from 'node:buffer';
import { isRecord } from '../../core/messages/blocks';
import { formatPlural } from '../../core/plural';
import { ConversationReadError, describeValue, type ReadErrorDetails } from '../readError';
import type { ConversationNote } from '../types';
import { JsonError, MAX_JSON_DEPTH, isDeeperThan, scanValue, skipSpace } from './json';
import type { Line } from './lines';

export interface JsonRecord {
  /** One-based line number. */
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
  /** The nearest damaged line before this one, which may have held what the record refers to. */
  readonly gap?: number;
}

/**
 * Passes records to `takeRecord` one at a time, so that each can be freed. Notes damaged lines,
 * including those that `takeRecord` rejects with a {@link ConversationReadError}.
 * @throws {ConversationReadError} for the first damaged line if there is no valid record
 */
export function readJsonLineRecords(
  lines: Iterable<Line>,
  source: string,
  notes: ConversationNote[],
  takeRecord: (record: JsonRecord) => void,
): void {
  const damages: DamagedLine[] = [];
  let lastDamagedLine: number | undefined;
  let recordCount = 0;
  for (const line of lines) {
    const { values, damage } = parseLineValues(line, source);
    if (damage) damages.push(damage);
    if (damage || !line.valid) lastDamagedLine = line.number;
    const recordCountBefore = recordCount;
    for (const { value, bytes } of values) {
      try {
        takeRecord({
          line: line.number,
          value: requireRecord(value, line.number, source),
          ...(lastDamagedLine !== undefined && { gap: lastDamagedLine }),
        });
        recordCount += 1;
      } catch (error) {
        if (!(error instanceof ConversationReadError)) throw error;
        damages.push({ line: line.number, bytes: bytes(), error: error.data });
        lastDamagedLine = line.number;
      }
    }
    if (recordCount - recordCountBefore > 1)
      notes.push(`Line ${line.number} contains ${recordCount - recordCountBefore} records; all were read.`);
    if (!line.valid && values.length > 0) {
      notes.push(`Line ${line.number} contains bytes that are not UTF-8; they were replaced with "\ufffd".`);
    }
  }
  const [firstDamage] = damages;
  if (firstDamage && recordCount === 0) throw new ConversationReadError(firstDamage.error);
  notes.push(...describeDamagedLines(damages).map((damage) => ({ damage })));
}

/** If a record's parent is missing, the conversation continues from the record above the gap. */
export function findRecordBeforeGap<T extends Pick<JsonRecord, 'line' | 'gap'>>(
  records: readonly T[],
  { line, gap }: T,
): T | undefined {
  return gap === undefined ? undefined : records.findLast((each) => each.line < gap && each.line < line);
}

interface DamagedLine {
  readonly line: number;
  readonly bytes: number;
  readonly error: ReadErrorDetails;
}

const MAX_NOTES_IN_FULL = 5;
const MAX_LISTED_LINE_NUMBERS = 20;

function describeDamagedLines(damages: readonly DamagedLine[]): string[] {
  const descriptions = damages.slice(0, MAX_NOTES_IN_FULL).map(({ line, bytes, error }) => {
    const { found, expected } = error;
    return `Line ${line} is damaged; skipped ${formatPlural(bytes, 'byte')}: found ${found}; expected ${expected}.`;
  });
  const otherDamages = damages.slice(MAX_NOTES_IN_FULL);
  if (otherDamages.length === 0) return descriptions;
  const lineNumbers = otherDamages.slice(0, MAX_LISTED_LINE_NUMBERS).map(({ line }) => line);
  const bytes = otherDamages.reduce((sum, each) => sum + each.bytes, 0);
  const ellipsis = otherDamages.length > lineNumbers.length ? ', …' : '';
  return [
    ...descriptions,
    `Also damaged: line${otherDamages.length === 1 ? '' : 's'} ${lineNumbers.join(', ')}${ellipsis}; skipped ${formatPlural(bytes, 'byte')}.`,
  ];
}

function requireRecord(value: unknown, line: number, source: string): JsonRecord['value'] {
  if (!isRecord(value)) throw createRecordError(source, line, describeValue(value), 'a record: a JSON object');
  if (isDeeperThan(value, MAX_JSON_DEPTH)) {
    throw createRecordError(
      source,
      line,
      'a record that is nested too deeply',
      `at most ${MAX_JSON_DEPTH} levels of nesting`,
    );
  }
  return value;
}

const createRecordError = (source: string, line: number, found: string, expected: string): ConversationReadError =>
  new ConversationReadError({ problem: 'wrong-shape', source, line, found, expected });

interface LineValues {
  readonly values: readonly { readonly value: unknown; readonly bytes: () => number }[];
  readonly damage?: DamagedLine;
}

function parseLineValues(line: Line, source: string): LineValues {
  const { text, number } = line;
  try {
    // Most lines hold one record, which is parsed at full speed.
    return { values: [{ value: JSON.parse(text) as unknown, bytes: () => countLineBytes(line) }] };
  } catch {
    // The line contains several records or damage, which the scanner separates.
  }
  const spans: TextSpan[] = [];
  let index = skipBlankAndNul(text, 0);
  let problem: JsonError['problem'] | undefined;
  while (index < text.length) {
    const end = findEndOfValue(text, index);
    if (typeof end === 'number') {
      spans.push({ start: index, end });
      index = skipBlankAndNul(text, end);
      continue;
    }
    problem ??= end;
    index = findNextRecord(text, index + 1, end.offset);
  }
  const readBytes = spans.reduce((sum, span) => sum + countBytes(text, span), 0);
  const skippedBytes = countLineBytes(line) - readBytes;
  return {
    values: spans.map((span) => ({
      value: JSON.parse(text.slice(span.start, span.end)) as unknown,
      bytes: () => countBytes(text, span),
    })),
    ...((problem !== undefined || text.includes('\0')) && {
      damage: { line: number, bytes: skippedBytes, error: toErrorData(line, problem, source) },
    }),
  };
}

interface TextSpan {
  readonly start: number;
  readonly end: number;
}

const countBytes = (text: string, { start, end }: TextSpan): number => Buffer.byteLength(text.slice(start, end));

const countLineBytes = ({ text, bytes }: Line): number => bytes ?? Buffer.byteLength(text);

/** A file system may leave NUL bytes after a power loss. */
function skipBlankAndNul(text: string, from: number): number {
  let index = skipSpace(text, from);
  while (text.charCodeAt(index) === 0) index = skipSpace(text, index + 1);
  return index;
}

function findEndOfValue(text: string, start: number): number | JsonError['problem'] {
  try {
    return scanValue(text, start);
  } catch (error) {
    if (error instanceof JsonError) return error.problem;
    throw error;
  }
}

/** Attempts per line, each of which may scan the whole line. */
const MAX_TRIES_TO_FIND_NEXT_RECORD = 64;

/**
 * Finds the start of the next complete record after damage, or the text's end. Skips braces that
 * can be part of a value: those after `:`, `,`, `[` or whitespace.
 */
function findNextRecord(text: string, searchStart: number, brokenOffset: number): number {
  const recordStartPattern = /(?<![:,[\s\\])\{"/g;
  recordStartPattern.lastIndex = searchStart;
  const damageStarts = text.startsWith('{"', brokenOffset) && brokenOffset >= searchStart ? [brokenOffset] : [];
  for (let attempt = 0; attempt < MAX_TRIES_TO_FIND_NEXT_RECORD; attempt += 1) {
    const start = damageStarts.pop() ?? recordStartPattern.exec(text)?.index;
    if (start === undefined) break;
    const end = findEndOfValue(text, start);
    if (typeof end !== 'number') continue;
    const nextOffset = skipBlankAndNul(text, end);
    if (nextOffset === text.length || text.startsWith('{"', nextOffset)) return start;
  }
  return text.length;
}

function toErrorData(line: Line, problem: JsonError['problem'] | undefined, source: string): ReadErrorDetails {
  const lineLocation = { source, line: line.number };
  if (!problem) {
    return {
      ...lineLocation,
      problem: 'broken-line',
      found: 'NUL bytes in the line',
      expected: 'one JSON record per line',
    };
  }
  if (line.last && problem.truncated) {
    return {
      ...lineLocation,
      problem: 'torn-tail',
      found: 'a last line that is cut off',
      expected: 'a complete JSON record',
      advice: 'The agent may still be writing; try again later.',
    };
  }
  return {
    ...lineLocation,
    problem: 'broken-line',
    found: `a line that breaks at column ${problem.offset + 1}`,
    expected: `${problem.expected} there: one JSON record per line`,
    advice: 'Restore the file from a backup, or repair or remove this line.',
  };
}
