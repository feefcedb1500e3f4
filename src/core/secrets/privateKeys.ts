import { compareStart, type Slice } from '../slice';
import { findMatchesInWindows, WINDOW_CHARS } from './windows';

const KEY_HEADER = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: ?\d{1,3}/g;
const KEY_FOOTER = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** What separates a key's lines in source, JSON, YAML and tool output. */
const BETWEEN_KEY_LINES = /(?:\\{1,4}[nrt]|[\s"'`+,;:|>→]|\d{1,6}(?=[\t→|:])){1,64}/y;
/** Headers such as `Proc-Type: 4,ENCRYPTED` and `Comment: …`. */
const KEY_FIELD = /(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset|MessageID)[ \t]{0,4}:[^\r\n\\]{0,200}/y;
const KEY_BODY = /[A-Za-z0-9+/=]{1,4096}/y;

/** A shorter run is a key's last line, or unrelated words. */
const MIN_KEY_BODY_CHARS = 16;

/** A key extends from its header to its footer, but either may be cut off. */
export function findPrivateKeys(text: string, chars = WINDOW_CHARS): Slice[] {
  const keys: Slice[] = [];
  let lastEnd = 0;
  for (const header of findMatchesInWindows(text, KEY_HEADER, chars)) {
    // Source code that tests for the header contains no key.
    const end = header.start < lastEnd ? undefined : findStartOfKeyBody(text, header.end);
    if (end === undefined) continue;
    keys.push({ start: header.start, end });
    lastEnd = end;
  }
  return [...keys, ...findKeysWithoutHeader(text, keys, findMatchesInWindows(text, KEY_END, chars))].sort(compareStart);
}

function findKeysWithoutHeader(text: string, knownKeys: readonly Slice[], footers: readonly Slice[]): Slice[] {
  const keys: Slice[] = [];
  const keyIterator = knownKeys[Symbol.iterator]();
  let knownKey = keyIterator.next().value;
  let lastEnd = 0;
  for (const { start: footer, end } of footers) {
    for (; knownKey && knownKey.end <= footer; knownKey = keyIterator.next().value) lastEnd = knownKey.end;
    if (!knownKey || knownKey.start > footer) {
      const start = findStartOfBodyAboveFooter(text, footer, lastEnd);
      if (footer - start >= MIN_KEY_BODY_CHARS) keys.push({ start, end });
    }
    lastEnd = end;
  }
  return keys;
}

/** Returns undefined if no key follows the header. */
function findStartOfKeyBody(text: string, from: number): number | undefined {
  let offset = from;
  let end: number | undefined;
  const skipPattern = (pattern: RegExp): number => {
    pattern.lastIndex = offset;
    const length = pattern.exec(text)?.[0].length ?? 0;
    offset += length;
    return length;
  };
  for (;;) {
    while (skipPattern(BETWEEN_KEY_LINES));
    if (skipPattern(KEY_FIELD)) continue;
    const bodyLength = skipPattern(KEY_BODY);
    if (bodyLength >= MIN_KEY_BODY_CHARS) {
      end = offset;
      continue;
    }
    const bodyEnd = offset;
    while (skipPattern(BETWEEN_KEY_LINES));
    if (skipPattern(KEY_FOOTER)) return bodyLength > 0 || end !== undefined ? offset : undefined;
    return bodyLength > 0 && (end !== undefined || offset === text.length) ? bodyEnd : end;
  }
}

/** In a key without a start, all lines but the last are full. */
const FULL_KEY_BODY_LINE = /^[\s"'`+,|>→\d:\\nr]{0,32}?[A-Za-z0-9+/=]{40,}[\s"'`+,;\\nr]{0,32}$/;
const LAST_KEY_BODY_LINE = /^[\s"'`+,|>→\d:\\nr]{0,32}?[A-Za-z0-9+/=]{1,80}[\s"'`+,;\\nr]{0,32}$/;

function findStartOfBodyAboveFooter(text: string, footer: number, searchStart: number): number {
  let start = footer;
  for (let lineCount = 0; start > searchStart; lineCount++) {
    const lineStart = Math.max(searchStart, text.lastIndexOf('\n', start - 2) + 1);
    const line = text.slice(Math.max(lineStart, start - 400), start).trimEnd();
    if (!(lineCount === 0 ? LAST_KEY_BODY_LINE : FULL_KEY_BODY_LINE).test(line)) break;
    start = lineStart;
  }
  return start;
}
