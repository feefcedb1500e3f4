import { JsonError, scanValue, skipSpace } from './json';

/**
 * @param text the beginning of a document
 * @returns an array's complete elements, or an object's complete fields plus the complete elements
 * of a truncated array; undefined if nothing is complete
 */
export function parseTruncatedJson(text: string): unknown {
  const start = skipSpace(text, 0);
  try {
    if (text.charAt(start) === '[') return parseArrayElements(text, start);
    if (text.charAt(start) === '{') return parseObjectFields(text, start);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  return undefined;
}

function parseArrayElements(text: string, start: number): unknown[] {
  const values: unknown[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charAt(at) !== ']') {
    const end = findEndOfValueIfWhole(text, at);
    if (end === undefined) break;
    values.push(JSON.parse(text.slice(at, end)));
    at = skipComma(text, end);
  }
  return values;
}

function parseObjectFields(text: string, start: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  let at = skipSpace(text, start + 1);
  while (text.charAt(at) === '"') {
    const keyEnd = findEndOfValueIfWhole(text, at);
    if (keyEnd === undefined) break;
    const key = String(JSON.parse(text.slice(at, keyEnd)));
    const colon = skipSpace(text, keyEnd);
    const value = skipSpace(text, colon + 1);
    if (text.charAt(colon) !== ':' || value >= text.length) break;
    const end = findEndOfValueIfWhole(text, value);
    if (end === undefined) {
      if (text.charAt(value) === '[') entries.push([key, parseArrayElements(text, value)]);
      break;
    }
    entries.push([key, JSON.parse(text.slice(value, end))]);
    at = skipComma(text, end);
  }
  return Object.fromEntries(entries);
}

/** Undefined if the value is truncated, or may be (a number at the very end). */
function findEndOfValueIfWhole(text: string, from: number): number | undefined {
  try {
    const end = scanValue(text, from);
    return end < text.length ? end : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function skipComma(text: string, from: number): number {
  const at = skipSpace(text, from);
  return text.charAt(at) === ',' ? skipSpace(text, at + 1) : text.length;
}
