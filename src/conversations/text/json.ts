/**
 * Finds where a text is broken. Many V8 errors lack a position, and one line can contain several
 * values (Claude Code has written two records without a newline).
 */

export interface JsonProblem {
  readonly offset: number;
  /** True if the text is valid so far but ends too early. */
  readonly truncated: boolean;
  readonly expected: string;
}

export class JsonError extends Error {
  override readonly name = 'JsonError';
  constructor(readonly problem: JsonProblem) {
    super(`${problem.expected} expected at offset ${problem.offset}`);
  }
}

const JSON_NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TRUNCATED_JSON_NUMBER = /-?(?:(?:0|[1-9]\d*)(?:\.|(?:\.\d+)?[eE][+-]?))?$/y;
const JSON_LITERALS = ['true', 'false', 'null'];
const JSON_ESCAPES = '"\\/bfnrt';

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

export function skipSpace(text: string, from: number): number {
  let position = from;
  while (position < text.length && isSpace(text.charCodeAt(position))) position += 1;
  return position;
}

const throwJsonError = (text: string, offset: number, expected: string): never => {
  throw new JsonError({ offset, truncated: offset >= text.length, expected });
};

function scanString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const char = text.charAt(index);
    if (char === '"') return index + 1;
    if (char === '\n')
      throwJsonError(text, skipSpace(text, index) === text.length ? text.length : index, 'the end of a string');
    if (char < ' ') throwJsonError(text, index, 'an escaped control character');
    if (char !== '\\') continue;
    index += 1;
    const escapeChar = text.charAt(index);
    if (escapeChar === 'u') {
      for (let digit = 0; digit < 4; digit += 1) {
        index += 1;
        if (!/^[0-9a-fA-F]$/.test(text.charAt(index))) throwJsonError(text, index, 'four hexadecimal digits');
      }
    } else if (escapeChar === '' || !JSON_ESCAPES.includes(escapeChar)) throwJsonError(text, index, 'an escape');
  }
  return throwJsonError(text, text.length, 'the end of a string');
}

function scanScalar(text: string, start: number): number {
  if (start >= text.length) return throwJsonError(text, start, 'a value');
  if (text.charAt(start) === '"') return scanString(text, start);
  for (const literal of JSON_LITERALS) {
    if (text.startsWith(literal, start)) return start + literal.length;
    if (literal.startsWith(text.slice(start))) return throwJsonError(text, text.length, literal);
  }
  TRUNCATED_JSON_NUMBER.lastIndex = start;
  if (TRUNCATED_JSON_NUMBER.test(text)) return throwJsonError(text, text.length, 'a value');
  JSON_NUMBER.lastIndex = start;
  return start + (JSON_NUMBER.exec(text)?.[0].length ?? throwJsonError(text, start, 'a value'));
}

/**
 * Returns the offset after the value. Iterative, so deep nesting does not overflow the stack.
 * @throws {JsonError}
 */
export function scanValue(text: string, start: number): number {
  const closers: ('}' | ']')[] = [];
  let index = start;
  let isJustOpened = false;
  for (;;) {
    index = skipSpace(text, index);
    const closer = closers.at(-1);
    if (isJustOpened && closer !== undefined && text.charAt(index) === closer) {
      closers.pop();
      index += 1;
      isJustOpened = false;
    } else {
      if (closer === '}') index = scanObjectKey(text, index);
      const char = text.charAt(index);
      if (char === '{' || char === '[') {
        closers.push(char === '{' ? '}' : ']');
        index += 1;
        isJustOpened = true;
        continue;
      }
      index = scanScalar(text, index);
      isJustOpened = false;
    }
    index = closeBrackets(text, index, closers);
    if (closers.length === 0) return index;
  }
}

function scanObjectKey(text: string, start: number): number {
  if (text.charAt(start) !== '"') throwJsonError(text, start, 'a key in double quotes');
  const colon = skipSpace(text, scanString(text, start));
  if (text.charAt(colon) !== ':') throwJsonError(text, colon, '":"');
  return skipSpace(text, colon + 1);
}

function closeBrackets(text: string, start: number, closers: ('}' | ']')[]): number {
  let index = start;
  while (closers.length > 0) {
    const nextIndex = skipSpace(text, index);
    const char = text.charAt(nextIndex);
    if (char === ',') return nextIndex + 1;
    if (char !== closers.at(-1)) throwJsonError(text, nextIndex, `"," or "${closers.at(-1) ?? ''}"`);
    closers.pop();
    index = nextIndex + 1;
  }
  return index;
}

/** @throws {JsonError} with the offset */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const end = skipSpace(text, scanValue(text, skipSpace(text, 0)));
    return throwJsonError(`${text} `, end, 'the end of the text');
  }
}

/** Deeply nested values would overflow the stack of serializers. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit <= 0) return true;
  // This runs for every record, so it avoids arrays of values and calls for scalars.
  if (Array.isArray(value)) {
    for (const child of value as readonly unknown[]) {
      if (typeof child === 'object' && isDeeperThan(child, limit - 1)) return true;
    }
    return false;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    const child = fields[name];
    if (typeof child === 'object' && isDeeperThan(child, limit - 1)) return true;
  }
  return false;
}

/** Real messages nest about ten levels; serializers fail at several thousand. */
export const MAX_JSON_DEPTH = 500;
