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
  let index = skipSpace(text, start + 1);
  while (index < text.length && text.charAt(index) !== ']') {
    const end = findEndOfValueIfWhole(text, index);
    if (end === undefined) break;
    values.push(JSON.parse(text.slice(index, end)));
    index = skipComma(text, end);
  }
  return values;
}

function parseObjectFields(text: string, start: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  let index = skipSpace(text, start + 1);
  while (text.charAt(index) === '"') {
    const keyEnd = findEndOfValueIfWhole(text, index);
    if (keyEnd === undefined) break;
    const key = String(JSON.parse(text.slice(index, keyEnd)));
    const colon = skipSpace(text, keyEnd);
    const valueStart = skipSpace(text, colon + 1);
    if (text.charAt(colon) !== ':' || valueStart >= text.length) break;
    const end = findEndOfValueIfWhole(text, valueStart);
    if (end === undefined) {
      if (text.charAt(valueStart) === '[') entries.push([key, parseArrayElements(text, valueStart)]);
      break;
    }
    entries.push([key, JSON.parse(text.slice(valueStart, end))]);
    index = skipComma(text, end);
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
  const position = skipSpace(text, from);
  return text.charAt(position) === ',' ? skipSpace(text, position + 1) : text.length;
}
