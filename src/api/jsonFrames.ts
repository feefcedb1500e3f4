/**
 * JSON in pieces. `JSON.stringify` holds the thread for as long as megabytes of text take: it is given a frame of the value, in which a
 * name stands for each large text, and the texts are written between the pieces of that. Together these are what `JSON.stringify` makes
 * of the value, to the byte.
 */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../core/messages/blocks';

/** UTF-16 units of a text from which on its JSON is made in slices. */
export const LARGE_TEXT = 128 * 1024;

/** Levels that are gone down; what lies deeper is written in one go. `JSON.stringify` itself comes twice as deep as we could. */
const DEEPEST = 500;

export class JsonFrames {
  private readonly key = randomUUID();
  /** By name. */
  private readonly texts = new Map<string, string>();

  /** The frame of a value; the very same value where it holds no large text. */
  of<T>(value: T): T {
    // Names take the place of texts, and nothing else changes.
    return holdsLargeText(value) ? (this.framed(value) as T) : value;
  }

  /** Whether no text has to be put into its place. */
  get isEmpty(): boolean {
    return this.texts.size === 0;
  }

  /** The pieces of a text that holds the JSON of frames, with the texts in their places. */
  *pieces(json: string): Generator<string> {
    let at = 0;
    const next = (): number => (this.isEmpty ? -1 : json.indexOf(this.key, at));
    for (let found = next(); found >= 0; found = next()) {
      const end = json.indexOf('"', found);
      yield json.slice(at, found);
      const text = this.texts.get(json.slice(found, end));
      // Who writes JSON of a frame and changes the names would send something else than was said.
      if (text === undefined) throw new Error('A text that was to be sent has lost its place.');
      for (const slice of sliceText(text)) yield JSON.stringify(slice).slice(1, -1);
      at = end;
    }
    yield json.slice(at);
  }

  private framed(value: unknown, level = 0): unknown {
    if (typeof value === 'string') return value.length < LARGE_TEXT ? value : this.named(value);
    if (level >= DEEPEST) return value;
    if (Array.isArray(value)) return value.map((item) => this.framed(item, level + 1));
    // What says itself how it is written, such as a date, does so.
    if (!isRecord(value) || typeof value['toJSON'] === 'function') return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.framed(item, level + 1)]));
  }

  private named(text: string): string {
    const name = `${this.key}-${this.texts.size}`;
    this.texts.set(name, text);
    return name;
  }
}

/** The slices of a text, none of which cuts a character in two. */
export function* sliceText(text: string, chars = LARGE_TEXT): Generator<string> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + chars);
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    yield text.slice(from, to);
    from = to;
  }
}

/** Whether a value holds a text that is written in slices, however deep. */
export function holdsLargeText(value: unknown): boolean {
  const open: unknown[] = [value];
  for (let item = open.pop(); item !== undefined || open.length > 0; item = open.pop()) {
    if (typeof item === 'string' && item.length >= LARGE_TEXT) return true;
    if (typeof item === 'object' && item !== null) for (const inner of Object.values(item)) open.push(inner);
  }
  return false;
}
