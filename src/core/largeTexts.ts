/** UTF-16 units of a text from which on work on it is done in steps that may give the thread back. */
export const LARGE_TEXT = 128 * 1024;

/** So many are kept alive however large they are: an original, what is cut out of it, and what is left, in the forms that are tried. */
const KEPT_TEXTS = 6;
/** UTF-16 units that are kept alive beside the newest. */
const KEPT_CHARS = 32e6;

/**
 * What is known of large texts, by what they say. To look one up costs a comparison with those of its length: a map would hash it by
 * its length, too, which is what V8 does with more than 16,383 units.
 */
export class LargeTexts<V> {
  /** The one that was used last is the last. */
  private readonly known: { readonly text: string; readonly value: V }[] = [];
  private chars = 0;

  get(text: string): V | undefined {
    if (text.length < LARGE_TEXT) return undefined;
    const at = this.known.findLastIndex((each) => each.text === text);
    const [found] = at < 0 ? [] : this.known.splice(at, 1);
    if (found) this.known.push(found);
    return found?.value;
  }

  /** Keeps what is not known yet. */
  set(text: string, value: V): void {
    if (text.length < LARGE_TEXT || this.get(text) !== undefined) return;
    this.known.push({ text, value });
    this.chars += text.length;
    while (this.known.length > KEPT_TEXTS && this.chars - text.length > KEPT_CHARS)
      this.chars -= this.known.shift()?.text.length ?? 0;
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
