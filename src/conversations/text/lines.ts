import { Buffer, isUtf8 } from 'node:buffer';
import { ConversationReadError } from '../readError';

export interface Line {
  /** One-based line number; blank lines count. */
  readonly number: number;
  readonly text: string;
  /** False if invalid UTF-8 had to be replaced. */
  readonly valid: boolean;
  readonly bytes?: number;
  /** True for the last nonblank line. */
  readonly last: boolean;
}

/**
 * Decodes line by line, so a file may exceed the longest string (512 MB in V8). Only LF ends a
 * line, since JSON strings may contain U+2028.
 */
export function* readLines(input: string | Uint8Array, name: string): Generator<Line, void> {
  // Only the next line shows whether the held one was the last.
  let previousLine: Omit<Line, 'last'> | undefined;
  let lineNumber = 0;
  for (const decodedLine of typeof input === 'string' ? splitText(input) : splitBytes(input, name)) {
    lineNumber += 1;
    if (decodedLine.text.trim() === '') continue;
    if (previousLine) yield { ...previousLine, last: false };
    previousLine = { number: lineNumber, ...decodedLine };
  }
  if (previousLine) yield { ...previousLine, last: true };
}

type DecodedLine = Pick<Line, 'text' | 'valid' | 'bytes'>;

function* splitText(text: string): Generator<DecodedLine, void> {
  let lineStart = 0;
  while (lineStart < text.length) {
    const lineEnd = text.indexOf('\n', lineStart);
    yield { text: text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd), valid: true };
    lineStart = lineEnd === -1 ? text.length : lineEnd + 1;
  }
}

function* splitBytes(bytes: Uint8Array, name: string): Generator<DecodedLine, void> {
  const buffer = asBuffer(bytes);
  let lineStart = 0;
  while (lineStart < buffer.length) {
    const newline = buffer.indexOf(0x0a, lineStart);
    const lineEnd = newline === -1 ? buffer.length : newline;
    const line = buffer.subarray(lineStart, lineEnd);
    yield { text: decodeUtf8(line, name), valid: isUtf8(line), bytes: line.length };
    lineStart = lineEnd + 1;
  }
}

export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @throws {ConversationReadError} if the text exceeds the longest string */
export function decodeUtf8(bytes: Buffer, name: string): string {
  try {
    return bytes.toString('utf8');
  } catch (error) {
    throw new ConversationReadError(
      {
        problem: 'too-large',
        source: name,
        found: `a single JSON value of ${Math.round(bytes.length / 1e6)} MB`,
        expected: 'at most 512 MB, the longest text that JavaScript can hold',
        advice: 'Only line-by-line formats (JSONL) can be longer.',
      },
      { cause: error },
    );
  }
}
