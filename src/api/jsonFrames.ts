/**
 * `JSON.stringify` blocks the thread for megabytes of text. So large texts are replaced by
 * placeholders and serialized in pieces. The result is byte-identical.
 */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../core/messages/blocks';

/** Texts of more UTF-16 units are serialized in slices. */
export const LARGE_TEXT_CHARS = 128 * 1024;

/** Deeper values are serialized in one piece; `JSON.stringify` itself handles twice this depth. */
const MAX_NESTING_DEPTH = 500;

export class LargeTextPlaceholders {
  private readonly placeholderKey = randomUUID();
  /** Large texts, by the placeholder that replaces them. */
  private readonly textByPlaceholder = new Map<string, string>();

  insertPlaceholders<T>(value: T): T {
    // Only strings are replaced, so the type stays the same.
    return containsLargeText(value) ? (this.replaceLargeTexts(value) as T) : value;
  }

  get isEmpty(): boolean {
    return this.textByPlaceholder.size === 0;
  }

  *writeJsonInPieces(json: string): Generator<string> {
    let position = 0;
    const findNextPlaceholder = (): number => (this.isEmpty ? -1 : json.indexOf(this.placeholderKey, position));
    for (
      let placeholderStart = findNextPlaceholder();
      placeholderStart >= 0;
      placeholderStart = findNextPlaceholder()
    ) {
      const placeholderEnd = json.indexOf('"', placeholderStart);
      yield json.slice(position, placeholderStart);
      const text = this.textByPlaceholder.get(json.slice(placeholderStart, placeholderEnd));
      if (text === undefined) throw new Error('A text that was to be sent has lost its place.');
      for (const slice of sliceText(text)) yield JSON.stringify(slice).slice(1, -1);
      position = placeholderEnd;
    }
    yield json.slice(position);
  }

  private replaceLargeTexts(value: unknown, level = 0): unknown {
    if (typeof value === 'string') return value.length < LARGE_TEXT_CHARS ? value : this.addPlaceholder(value);
    if (level >= MAX_NESTING_DEPTH) return value;
    if (Array.isArray(value)) return value.map((item) => this.replaceLargeTexts(item, level + 1));
    // Objects with toJSON, such as dates, serialize themselves.
    if (!isRecord(value) || typeof value['toJSON'] === 'function') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, this.replaceLargeTexts(item, level + 1)]),
    );
  }

  private addPlaceholder(text: string): string {
    const name = `${this.placeholderKey}-${this.textByPlaceholder.size}`;
    this.textByPlaceholder.set(name, text);
    return name;
  }
}

/** Never splits a surrogate pair. */
export function* sliceText(text: string, chars = LARGE_TEXT_CHARS): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + chars);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    yield text.slice(start, end);
    start = end;
  }
}

export function containsLargeText(value: unknown): boolean {
  const unvisitedValues: unknown[] = [value];
  for (
    let item = unvisitedValues.pop();
    item !== undefined || unvisitedValues.length > 0;
    item = unvisitedValues.pop()
  ) {
    if (typeof item === 'string' && item.length >= LARGE_TEXT_CHARS) return true;
    if (typeof item === 'object' && item !== null)
      for (const innerValue of Object.values(item)) unvisitedValues.push(innerValue);
  }
  return false;
}
