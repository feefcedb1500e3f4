/** UTF-16 units of a text from which on work on it is done in steps that may give the thread back. */
export const LARGE_TEXT = 128 * 1024;

/** UTF-16 units that are kept alive beside the newest text. */
const KEPT_CHARS = 32e6;

/**
 * What is known of large texts, by what they say. To look one up costs a comparison of its bytes: V8 hashes a text of more than 16,383
 * units by its length alone.
 */
export class LargeTexts<V> {
  private readonly known = new Map<string, V>();
  private chars = 0;

  get(text: string): V | undefined {
    return text.length < LARGE_TEXT ? undefined : this.known.get(text);
  }

  set(text: string, value: V): void {
    if (text.length < LARGE_TEXT || this.known.has(text)) return;
    this.known.set(text, value);
    this.chars += text.length;
    for (const oldest of this.known.keys()) {
      if (oldest === text || this.chars - text.length <= KEPT_CHARS) break;
      this.known.delete(oldest);
      this.chars -= oldest.length;
    }
  }
}

/** The slices of a text that one step takes, none of which cuts a character in two. */
export function* slicesOf(text: string, chars = LARGE_TEXT): Generator<string> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + chars);
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    yield text.slice(from, to);
    from = to;
  }
}

/** Whether a value holds a text that is worked on in steps, however deep. */
export function holdsLargeText(value: unknown): boolean {
  const open: unknown[] = [value];
  for (let item = open.pop(); item !== undefined || open.length > 0; item = open.pop()) {
    if (typeof item === 'string' && item.length >= LARGE_TEXT) return true;
    if (typeof item === 'object' && item !== null) for (const inner of Object.values(item)) open.push(inner);
  }
  return false;
}
