/** Texts that hold one JSON record per line, as Claude Code, Codex, Copilot and Gemini CLI write them. */
import { isRecord } from '../../core/messages/blocks';
import { MAX_DEPTH, isDeeperThan, parseJsonValues } from './json';
import type { Line } from './lines';
import { ConversationReadError, describe } from '../readError';
import type { ReadOptions } from '../types';

export interface JsonRecord {
  /** Counted from 1. */
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
}

const ADVICE_BROKEN = 'Restore the file from a backup, or repair or remove this line.';

/**
 * The records of a text, one at a time: what a reader doesn't keep of one is free before the next.
 * @param notes gets what was odd and passed over
 * @throws {ConversationReadError} for a line that isn't JSON, or that is no object
 */
export function* jsonRecords(
  lines: Iterable<Line>,
  source: string,
  options: ReadOptions,
  notes: string[],
): Generator<JsonRecord, void> {
  for (const line of lines) {
    const { values, torn } = valuesOf(line, source, options);
    for (const value of values) yield recordOf(value, line.number, source);
    if (values.length > 1) notes.push(`Line ${line.number} contains ${values.length} records; all were read.`);
    if (torn) notes.push(`Line ${line.number}, the last one, is cut off and was dropped.`);
  }
}

function recordOf(value: unknown, line: number, source: string): JsonRecord {
  if (isRecord(value)) return { line, value };
  throw wrongRecord(source, line, describe(value), 'a record: a JSON object');
}

/** A record that a reader keeps goes through serializers further on, which give up on endless nesting. */
export function checkDepth({ line, value }: JsonRecord, source: string): void {
  if (isDeeperThan(value, MAX_DEPTH)) {
    throw wrongRecord(source, line, 'a record that is nested too deeply', `at most ${MAX_DEPTH} levels of nesting`);
  }
}

const wrongRecord = (source: string, line: number, found: string, expected: string): ConversationReadError =>
  new ConversationReadError({ problem: 'wrong-shape', source, line, found, expected });

interface LineValues {
  readonly values: readonly unknown[];
  readonly torn: boolean;
}

function valuesOf(line: Line, source: string, options: ReadOptions): LineValues {
  try {
    // The common case, one record per line, at the speed of JSON.parse.
    const values = [JSON.parse(line.text) as unknown];
    if (line.valid) return { values, torn: false };
  } catch {
    // Two records were seen on one line (Claude Code 2.1, written without a newline between them).
    const { values, problem } = parseJsonValues(line.text);
    if (!problem && line.valid) return { values, torn: false };
    if (problem) {
      if (line.last && problem.truncated) return tornTail(line, values, source, options);
      throw new ConversationReadError({
        problem: 'broken-line',
        source,
        line: line.number,
        found: `a line that breaks at column ${problem.offset + 1}`,
        expected: `${problem.expected} there: one JSON record per line`,
        advice: ADVICE_BROKEN,
      });
    }
  }
  throw new ConversationReadError({
    problem: 'encoding',
    source,
    line: line.number,
    found: 'bytes that are not UTF-8',
    expected: 'UTF-8 text',
    advice: ADVICE_BROKEN,
  });
}

/** A crash or a write in progress leaves half a record at the end; what stands before it is whole. */
function tornTail(line: Line, values: readonly unknown[], source: string, options: ReadOptions): LineValues {
  if (options.tornTail === 'drop') return { values, torn: true };
  throw new ConversationReadError({
    problem: 'torn-tail',
    source,
    line: line.number,
    found: 'a last line that is cut off',
    expected: 'a complete JSON record',
    advice: 'The agent may still be writing; try again, or read the conversation without its last line.',
  });
}
