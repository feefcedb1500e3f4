/**
 * Finds where a text is broken. Runs only after `JSON.parse` failed, because many V8 errors lack a
 * position and one line can contain several values (Claude Code has written two records without a
 * newline).
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
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

const throwJsonError = (text: string, offset: number, expected: string): never => {
  throw new JsonError({ offset, truncated: offset >= text.length, expected });
};

function scanString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') return at + 1;
    if (char === '\n')
      throwJsonError(text, skipSpace(text, at) === text.length ? text.length : at, 'the end of a string');
    if (char < ' ') throwJsonError(text, at, 'an escaped control character');
    if (char !== '\\') continue;
    at += 1;
    const escape = text.charAt(at);
    if (escape === 'u') {
      for (let digit = 0; digit < 4; digit += 1) {
        at += 1;
        if (!/^[0-9a-fA-F]$/.test(text.charAt(at))) throwJsonError(text, at, 'four hexadecimal digits');
      }
    } else if (escape === '' || !JSON_ESCAPES.includes(escape)) throwJsonError(text, at, 'an escape');
  }
  return throwJsonError(text, text.length, 'the end of a string');
}

function scanScalar(text: string, from: number): number {
  if (from >= text.length) return throwJsonError(text, from, 'a value');
  if (text.charAt(from) === '"') return scanString(text, from);
  for (const literal of JSON_LITERALS) {
    if (text.startsWith(literal, from)) return from + literal.length;
    if (literal.startsWith(text.slice(from))) return throwJsonError(text, text.length, literal);
  }
  TRUNCATED_JSON_NUMBER.lastIndex = from;
  if (TRUNCATED_JSON_NUMBER.test(text)) return throwJsonError(text, text.length, 'a value');
  JSON_NUMBER.lastIndex = from;
  return from + (JSON_NUMBER.exec(text)?.[0].length ?? throwJsonError(text, from, 'a value'));
}

/**
 * Returns the offset after the value. Iterative, so depth costs no stack.
 * @throws {JsonError}
 */
export function scanValue(text: string, from: number): number {
  const closers: ('}' | ']')[] = [];
  let at = from;
  let opened = false;
  for (;;) {
    at = skipSpace(text, at);
    const closer = closers.at(-1);
    if (opened && closer !== undefined && text.charAt(at) === closer) {
      closers.pop();
      at += 1;
      opened = false;
    } else {
      if (closer === '}') at = scanObjectKey(text, at);
      const char = text.charAt(at);
      if (char === '{' || char === '[') {
        closers.push(char === '{' ? '}' : ']');
        at += 1;
        opened = true;
        continue;
      }
      at = scanScalar(text, at);
      opened = false;
    }
    at = closeBrackets(text, at, closers);
    if (closers.length === 0) return at;
  }
}

function scanObjectKey(text: string, from: number): number {
  if (text.charAt(from) !== '"') throwJsonError(text, from, 'a key in double quotes');
  const colon = skipSpace(text, scanString(text, from));
  if (text.charAt(colon) !== ':') throwJsonError(text, colon, '":"');
  return skipSpace(text, colon + 1);
}

function closeBrackets(text: string, from: number, closers: ('}' | ']')[]): number {
  let at = from;
  while (closers.length > 0) {
    const next = skipSpace(text, at);
    const char = text.charAt(next);
    if (char === ',') return next + 1;
    if (char !== closers.at(-1)) throwJsonError(text, next, `"," or "${closers.at(-1) ?? ''}"`);
    closers.pop();
    at = next + 1;
  }
  return at;
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

/** Deep values would overflow the stack of serializers. */
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
