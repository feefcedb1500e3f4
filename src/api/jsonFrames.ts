/**
 * `JSON.stringify` blocks the thread for megabytes of text. A frame is a copy with placeholders for
 * large texts, so that it is serialized in pieces. The result is byte-identical.
 */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../core/messages/blocks';

/** Longer texts (in UTF-16 units) are serialized in slices. */
export const LARGE_TEXT_CHARS = 128 * 1024;

/** Deeper values are serialized in one piece; `JSON.stringify` itself handles twice this depth. */
const MAX_NESTING_DEPTH = 500;

export class LargeTextPlaceholders {
  private readonly key = randomUUID();
  /** Texts by placeholder. */
  private readonly texts = new Map<string, string>();

  insertPlaceholders<T>(value: T): T {
    // Only strings are replaced, so the type stays the same.
    return containsLargeText(value) ? (this.replaceLargeTexts(value) as T) : value;
  }

  get isEmpty(): boolean {
    return this.texts.size === 0;
  }

  *writeJsonInPieces(json: string): Generator<string> {
    let at = 0;
    const next = (): number => (this.isEmpty ? -1 : json.indexOf(this.key, at));
    for (let found = next(); found >= 0; found = next()) {
      const end = json.indexOf('"', found);
      yield json.slice(at, found);
      const text = this.texts.get(json.slice(found, end));
      if (text === undefined) throw new Error('A text that was to be sent has lost its place.');
      for (const slice of sliceText(text)) yield JSON.stringify(slice).slice(1, -1);
      at = end;
    }
    yield json.slice(at);
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
    const name = `${this.key}-${this.texts.size}`;
    this.texts.set(name, text);
    return name;
  }
}

/** Never splits a surrogate pair. */
export function* sliceText(text: string, chars = LARGE_TEXT_CHARS): Generator<string> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + chars);
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    yield text.slice(from, to);
    from = to;
  }
}

export function containsLargeText(value: unknown): boolean {
  const open: unknown[] = [value];
  for (let item = open.pop(); item !== undefined || open.length > 0; item = open.pop()) {
    if (typeof item === 'string' && item.length >= LARGE_TEXT_CHARS) return true;
    if (typeof item === 'object' && item !== null) for (const inner of Object.values(item)) open.push(inner);
  }
  return false;
}
