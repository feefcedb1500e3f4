import { Buffer, isUtf8 } from 'node:buffer';
import { ConversationReadError } from '../readError';

export interface Line {
  /** Counted from 1; blank lines count. */
  readonly number: number;
  readonly text: string;
  /** False where bytes that are no UTF-8 had to be replaced. */
  readonly valid: boolean;
  /** Its size in the file, where it came from bytes. */
  readonly bytes?: number;
  /** The last line that isn't blank. */
  readonly last: boolean;
}

/**
 * The lines of a text that aren't blank, without LF (a CR before it is a blank to JSON). Bytes are decoded line by line, so that a file may be longer
 * than the longest string (512 MB in V8). Only LF ends a line: JSON strings may hold U+2028 and U+2029 as they are.
 */
export function* linesOf(input: string | Uint8Array, name: string): Generator<Line, void> {
  // One line is held back: only what follows shows whether it was the last.
  let held: Omit<Line, 'last'> | undefined;
  let number = 0;
  for (const decoded of typeof input === 'string' ? splitText(input) : splitBytes(input, name)) {
    number += 1;
    if (decoded.text.trim() === '') continue;
    if (held) yield { ...held, last: false };
    held = { number, ...decoded };
  }
  if (held) yield { ...held, last: true };
}

type Decoded = Pick<Line, 'text' | 'valid' | 'bytes'>;

function* splitText(text: string): Generator<Decoded, void> {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf('\n', start);
    yield { text: text.slice(start, end === -1 ? text.length : end), valid: true };
    start = end === -1 ? text.length : end + 1;
  }
}

function* splitBytes(bytes: Uint8Array, name: string): Generator<Decoded, void> {
  const buffer = asBuffer(bytes);
  let start = 0;
  while (start < buffer.length) {
    const newline = buffer.indexOf(0x0a, start);
    const end = newline === -1 ? buffer.length : newline;
    const line = buffer.subarray(start, end);
    yield { text: decode(line, name), valid: isUtf8(line), bytes: line.length };
    start = end + 1;
  }
}

/** The same bytes as a Buffer, not copied. */
export const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @throws {ConversationReadError} where the text is longer than a string can be */
export function decode(bytes: Buffer, name: string): string {
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
