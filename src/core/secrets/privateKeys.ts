import { byStart, type Slice } from '../slice';
import { matchesIn, WINDOW } from './windows';

const HEADER = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: ?\d{1,3}/g;
const FOOTER = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/**
 * The text around a key's lines in source, JSON, YAML and in tools' output: ends of lines as two letters, quotes, plus,
 * line numbers.
 */
const BETWEEN = /(?:\\{1,4}[nrt]|[\s"'`+,;:|>→]|\d{1,6}(?=[\t→|:])){1,64}/y;
/** Lines such as `Proc-Type: 4,ENCRYPTED` and `Comment: …` in front of the key. */
const FIELD = /(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset|MessageID)[ \t]{0,4}:[^\r\n\\]{0,200}/y;
const BODY = /[A-Za-z0-9+/=]{1,4096}/y;

/** A run this long is a line of a key; a shorter one is its last line, or a word of what follows. */
const FULL_RUN = 16;

/** The private keys of a text, each from its header to its end or to where it was cut off; also the rest of one whose head was cut off. */
export function privateKeys(text: string, chars = WINDOW): Slice[] {
  const keys: Slice[] = [];
  let reached = 0;
  for (const header of matchesIn(text, HEADER, chars)) {
    // A header alone, as source code tests for it, is no key.
    const end = header.start < reached ? undefined : bodyFrom(text, header.end);
    if (end === undefined) continue;
    keys.push({ start: header.start, end });
    reached = end;
  }
  return [...keys, ...withoutHead(text, keys, matchesIn(text, END, chars))].sort(byStart);
}

/** Keys whose head was cut off: the lines in front of a footer that ends none of the others. */
function withoutHead(text: string, others: readonly Slice[], footers: readonly Slice[]): Slice[] {
  const keys: Slice[] = [];
  const next = others[Symbol.iterator]();
  let other = next.next().value;
  let reached = 0;
  for (const { start: footer, end } of footers) {
    for (; other && other.end <= footer; other = next.next().value) reached = other.end;
    if (!other || other.start > footer) {
      const start = bodyUpTo(text, footer, reached);
      if (footer - start >= FULL_RUN) keys.push({ start, end });
    }
    reached = end;
  }
  return keys;
}

/** Where the key ends whose header ends at `from`; undefined where none follows. */
function bodyFrom(text: string, from: number): number | undefined {
  let at = from;
  let end: number | undefined;
  const skip = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    const length = pattern.exec(text)?.[0].length ?? 0;
    at += length;
    return length;
  };
  for (;;) {
    while (skip(BETWEEN));
    if (skip(FIELD)) continue;
    const run = skip(BODY);
    if (run >= FULL_RUN) {
      end = at;
      continue;
    }
    const afterRun = at;
    while (skip(BETWEEN));
    if (skip(FOOTER)) return run > 0 || end !== undefined ? at : undefined;
    // A short run is its last line, or all that was not cut off.
    return run > 0 && (end !== undefined || at === text.length) ? afterRun : end;
  }
}

/** Lines of a key whose head was cut off: all but the last are full. */
const FULL_LINE = /^[\s"'`+,|>→\d:\\nr]{0,32}?[A-Za-z0-9+/=]{40,}[\s"'`+,;\\nr]{0,32}$/;
const LAST_LINE = /^[\s"'`+,|>→\d:\\nr]{0,32}?[A-Za-z0-9+/=]{1,80}[\s"'`+,;\\nr]{0,32}$/;

/** Where the lines of a key begin that end at a footer, not before `from`. */
function bodyUpTo(text: string, footer: number, from: number): number {
  let start = footer;
  for (let lines = 0; start > from; lines++) {
    const lineStart = Math.max(from, text.lastIndexOf('\n', start - 2) + 1);
    const line = text.slice(Math.max(lineStart, start - 400), start).trimEnd();
    if (!(lines === 0 ? LAST_LINE : FULL_LINE).test(line)) break;
    start = lineStart;
  }
  return start;
}
