/**
 * JSON that says where it is broken. `JSON.parse` is tried first everywhere; this scanner runs only after it has failed,
 * because V8's messages name no position for many errors, and because one line can hold several values (Claude Code was
 * seen to write two records without a newline between them).
 */

export interface JsonProblem {
  readonly offset: number;
  /** The text is fine as far as it goes, but ends too early. */
  readonly truncated: boolean;
  readonly expected: string;
}

/** Where a text stops being JSON. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  constructor(readonly problem: JsonProblem) {
    super(`${problem.expected} expected at offset ${problem.offset}`);
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** A number that the end of the text cuts off before it is one. */
const CUT_NUMBER = /-?(?:(?:0|[1-9]\d*)(?:\.|(?:\.\d+)?[eE][+-]?))?$/y;
const LITERALS = ['true', 'false', 'null'];
const ESCAPES = '"\\/bfnrt';

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** The offset of the next character that is no white space of JSON, or the text's length. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

const fail = (text: string, offset: number, expected: string): never => {
  throw new JsonError({ offset, truncated: offset >= text.length, expected });
};

/** The offset behind a string that opens at `from`. */
function scanString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') return at + 1;
    if (char === '\n') fail(text, skipSpace(text, at) === text.length ? text.length : at, 'the end of a string');
    if (char < ' ') fail(text, at, 'an escaped control character');
    if (char !== '\\') continue;
    at += 1;
    const escape = text.charAt(at);
    if (escape === 'u') {
      for (let digit = 0; digit < 4; digit += 1) {
        at += 1;
        if (!/^[0-9a-fA-F]$/.test(text.charAt(at))) fail(text, at, 'four hexadecimal digits');
      }
    } else if (escape === '' || !ESCAPES.includes(escape)) fail(text, at, 'an escape');
  }
  return fail(text, text.length, 'the end of a string');
}

function scanScalar(text: string, from: number): number {
  if (from >= text.length) return fail(text, from, 'a value');
  if (text.charAt(from) === '"') return scanString(text, from);
  for (const literal of LITERALS) {
    if (text.startsWith(literal, from)) return from + literal.length;
    if (literal.startsWith(text.slice(from))) return fail(text, text.length, literal);
  }
  CUT_NUMBER.lastIndex = from;
  if (CUT_NUMBER.test(text)) return fail(text, text.length, 'a value');
  NUMBER.lastIndex = from;
  return from + (NUMBER.exec(text)?.[0].length ?? fail(text, from, 'a value'));
}

/**
 * The offset behind the JSON value that starts at `from` (after blanks). Iterative: depth costs no stack.
 * @throws {JsonError} where the text breaks the grammar
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
      if (closer === '}') at = scanKey(text, at);
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
    at = closeAll(text, at, closers);
    if (closers.length === 0) return at;
  }
}

/** From a key to its value. */
function scanKey(text: string, from: number): number {
  if (text.charAt(from) !== '"') fail(text, from, 'a key in double quotes');
  const colon = skipSpace(text, scanString(text, from));
  if (text.charAt(colon) !== ':') fail(text, colon, '":"');
  return skipSpace(text, colon + 1);
}

/** Behind a value: closes what ends here, and steps over the comma where the innermost container goes on. */
function closeAll(text: string, from: number, closers: ('}' | ']')[]): number {
  let at = from;
  while (closers.length > 0) {
    const next = skipSpace(text, at);
    const char = text.charAt(next);
    if (char === ',') return next + 1;
    if (char !== closers.at(-1)) fail(text, next, `"," or "${closers.at(-1) ?? ''}"`);
    closers.pop();
    at = next + 1;
  }
  return at;
}

/**
 * A whole text as one JSON value.
 * @throws {JsonError} with the offset
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const end = skipSpace(text, scanValue(text, skipSpace(text, 0)));
    return fail(`${text} `, end, 'the end of the text');
  }
}

/** Whether a value of JSON nests deeper than `limit`: what does overflows the stack of serializers further on. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit <= 0) return true;
  // Without lists of values and without calls for scalars: every record that is read goes through here.
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

/** Real messages nest some ten levels; serializers give up at some thousand. */
export const MAX_DEPTH = 500;
