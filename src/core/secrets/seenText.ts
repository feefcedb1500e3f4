/**
 * Shows a text as people see it. Terminal escapes, invisible characters and encodings such as `%22`
 * could hide a key.
 */
import type { Slice } from '../slice';

/** A piece of the source that is displayed as one other character, or not at all. */
interface TextPieceWithSource {
  readonly displayedStart: number;
  readonly length: 0 | 1;
  readonly start: number;
  readonly end: number;
}

export interface DisplayedText {
  readonly text: string;
  /**
   * Whole lines with hidden characters; of a very long line, {@link MAX_CHARS_AROUND_HIDDEN_CHARS}
   * on both sides of them.
   */
  readonly changedSlices: readonly Slice[];
  /** Maps sorted slices to the source, including hidden characters inside them. */
  readonly mapToSource: (slices: readonly Slice[]) => Slice[];
}

/**
 * ESC: raw, as escaped in JSON, source and shells (any number of backslashes), URL-encoded, and as
 * `cat -v` prints it.
 */
const ESCAPE_PATTERN = String.raw`(?:\x1b|\\{1,8}(?:u001[bB]|u\{1[bB]\}|x1[bB]|033|e(?=\[))|%1[bB]|\^\[(?=\[)|\u241b)`;
const BELL_PATTERN = String.raw`(?:\x07|\\{1,8}(?:u0007|x07|a)|%07)`;
/**
 * ECMA-48: control sequences, then strings such as OSC (titles, links, clipboard), then other
 * escapes.
 */
const TERMINAL_ESCAPES_PATTERN = [
  String.raw`(?:${ESCAPE_PATTERN}(?:\[|%5[bB])|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]`,
  // A color without its ESC, as in many CI logs
  String.raw`\[\d{1,3}(?:;\d{1,3}){0,8}m`,
  String.raw`(?:${ESCAPE_PATTERN}[\]PX^_]|[\x9d\x90\x98\x9e\x9f])(?:[^\x07\x1b\x9c\n\r\\%]|%(?!1[bB]|07)){0,2048}(?:${BELL_PATTERN}|${ESCAPE_PATTERN}\\{1,8}|\x9c)`,
  String.raw`${ESCAPE_PATTERN}[()*+#%][0-9A-Za-z]`,
  String.raw`${ESCAPE_PATTERN}[0-9=>A-Z\\^_c]`,
  // A soft line break in quoted-printable and shells
  String.raw`[=\\]\r?\n`,
  // A word-break opportunity in HTML
  '<wbr ?/?>',
].join('|');
/** Soft hyphens, zero-width and bidi characters, tags: they change only the appearance. */
const INVISIBLE_PATTERN = String.raw`[\0\u00ad\u034f\u061c\u115f\u1160\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|\udb40[\udc00-\udc7f\udd00-\uddef]|\ud834[\udd73-\udd7a]`;
/** `&quot;`, `&#34;`, also with an encoded `&`. */
const ENTITY_PATTERN = '&(?:amp;){0,3}(?:[A-Za-z]{2,14}|#\\d{1,7}|#[xX][0-9a-fA-F]{1,6});';
const HEX_ESCAPE_PATTERN = String.raw`\\{1,8}(?:u(?<unicode>[0-9a-fA-F]{4})|u\{(?<code>[0-9a-fA-F]{1,6})\}|U(?<long>[0-9a-fA-F]{8})|x(?<byte>[0-9a-fA-F]{2})|(?<octal>[01][0-7]{2}|[4-7][0-7](?![0-7])))`;
/**
 * Full-width ASCII as typed on Chinese and Japanese keyboards (`：`, `＝`), typographic hyphens and
 * spaces, and Markdown escapes.
 */
const OTHER_DISGUISE_PATTERN = String.raw`(?<wide>[\uff01-\uff5e])|(?<hyphen>[\u2010-\u2012\u2212\ufe63])|(?<space>[\u00a0\u2000-\u200a\u202f\u205f\u3000])|\\{1,2}(?<sign>[_-])`;
/** `%41`, `%2541`, `%u0041` and multi-byte UTF-8; quoted-printable uses "=". */
const URL_ESCAPE_PATTERN =
  '%(?:25){0,9}(?:(?<percent>0[9aAdD]|[2-7][0-9a-fA-F])|u(?<wideUrl>[0-9a-fA-F]{4})|(?<utf8>[c-fC-F][0-9a-fA-F](?:%(?:25){0,9}[89abAB][0-9a-fA-F]){1,3}))|=(?<quoted>3D|22|27|5F|2D|2E)';

const createHiddenCharsPattern = (hiddenPattern: string): RegExp =>
  new RegExp(
    `(?<gone>${hiddenPattern})|${HEX_ESCAPE_PATTERN}|${URL_ESCAPE_PATTERN}|(?<entity>${ENTITY_PATTERN})|${OTHER_DISGUISE_PATTERN}`,
    'g',
  );
const HIDDEN_CHARS = createHiddenCharsPattern(`${TERMINAL_ESCAPES_PATTERN}|(?:${INVISIBLE_PATTERN}){1,256}`);
/**
 * Also matches overstruck characters. A separate pattern, since such a match can start with any
 * character.
 */
const HIDDEN_OR_STRUCK_CHARS = createHiddenCharsPattern(
  String.raw`${TERMINAL_ESCAPES_PATTERN}|(?:${INVISIBLE_PATTERN}){1,256}|[^\x08\n]\x08`,
);
/** A first test, because searching for these characters is ten times faster. */
const MAY_CONTAIN_HIDDEN_CHARS = new RegExp(
  String.raw`[\x08\x1b\x80-\xa0\u2000-\u2012\u202f\u205f\u2212\u241b\u3000\ufe63\uff01-\uff5e]|${INVISIBLE_PATTERN}|\\(?:[uUx014-7e_\r\n]|-)|%[0-9c-fuC-F]|&(?:#|[A-Za-z]{2,14};)|\^\[|\[\d{1,3}[;m]|=(?:3D|2[27DE]|5F|\r?\n)|<wbr`,
);

/** Maximum UTF-16 units of a secret with its context, unless it is a single run of characters. */
const MAX_CHARS_AROUND_HIDDEN_CHARS = 4_096;
const ONLY_INVISIBLE = new RegExp(`^(?:${INVISIBLE_PATTERN})$`);

const CHAR_BY_ENTITY: ReadonlyMap<string, string> = new Map([
  ['quot', '"'],
  ['apos', "'"],
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['nbsp', ' '],
  ['equals', '='],
  ['colon', ':'],
  ['num', '#'],
  ['lowbar', '_'],
  ['UnderBar', '_'],
  ['hyphen', '-'],
  ['dash', '-'],
  ['dollar', '$'],
  ['sol', '/'],
  ['plus', '+'],
  ['commat', '@'],
  ['period', '.'],
  ...['shy', 'zwnj', 'zwj', 'lrm', 'rlm', 'ZeroWidthSpace', 'NoBreak'].map((name) => [name, ''] as const),
]);

/** Replaces escapes, since a key may start after a color code. */
const PLACEHOLDER_FOR_HIDDEN_CHARS = ' ';
const isWordChar = (unit: string | undefined): boolean => unit !== undefined && /[A-Za-z0-9]/.test(unit);

/**
 * Empty if the displayed text equals the source. If an escape is inside a word, also returns the
 * text with a gap there: the escape may split a key (`grep --color`) or precede one.
 */
export function listDisplayedTexts(source: string): readonly DisplayedText[] {
  if (!MAY_CONTAIN_HIDDEN_CHARS.test(source)) return [];
  const decodedSlices: DecodedSlice[] = [];
  for (const match of source.matchAll(source.includes('\b') ? HIDDEN_OR_STRUCK_CHARS : HIDDEN_CHARS)) {
    const decodedText = decodeHiddenMatch(match);
    if (decodedText !== match[0])
      decodedSlices.push({ start: match.index, end: match.index + match[0].length, decoded: decodedText });
  }
  if (decodedSlices.length === 0) return [];
  const hidesInsideWord = decodedSlices.some(
    ({ start, end, decoded }) => decoded === '' && isWordChar(source[start - 1]) && isWordChar(source[end]),
  );
  const joinedText = makeDisplayedText(source, decodedSlices, '');
  return hidesInsideWord
    ? [joinedText, makeDisplayedText(source, decodedSlices, PLACEHOLDER_FOR_HIDDEN_CHARS)]
    : [joinedText];
}

interface DecodedSlice extends Slice {
  readonly decoded: string;
}

function makeDisplayedText(source: string, decodedSlices: readonly DecodedSlice[], gap: string): DisplayedText {
  const pieces: TextPieceWithSource[] = [];
  const parts: string[] = [];
  let lastEnd = 0;
  let displayedLength = 0;
  for (const { start, end, decoded } of decodedSlices) {
    const shownText = decoded || gap;
    displayedLength += start - lastEnd;
    pieces.push({ displayedStart: displayedLength, length: shownText === '' ? 0 : 1, start, end });
    parts.push(source.slice(lastEnd, start), shownText);
    displayedLength += shownText.length;
    lastEnd = end;
  }
  parts.push(source.slice(lastEnd));
  const text = parts.join('');
  return {
    text,
    changedSlices: findSlicesAroundHiddenChars(text, pieces),
    mapToSource: (slices) => mapSlicesToSource(slices, pieces),
  };
}

function findSlicesAroundHiddenChars(text: string, pieces: readonly TextPieceWithSource[]): Slice[] {
  const changedSlices: { start: number; end: number }[] = [];
  let lastEnd = 0;
  for (const { displayedStart: offset, length } of pieces) {
    if (lastEnd > offset + length) continue;
    const start = Math.max(lastEnd, findStartOfLineOrWord(text, offset, lastEnd));
    const end = findEndOfLineOrWord(text, offset + length);
    const lastSlice = changedSlices.at(-1);
    if (lastSlice?.end === start) lastSlice.end = end;
    else changedSlices.push({ start, end });
    lastEnd = end;
  }
  return changedSlices;
}

function findStartOfLineOrWord(text: string, offset: number, limit: number): number {
  const searchStart = Math.max(limit, offset - MAX_CHARS_AROUND_HIDDEN_CHARS);
  const lineEnd = text.slice(searchStart, offset).lastIndexOf('\n');
  if (lineEnd >= 0) return searchStart + lineEnd + 1;
  let start = searchStart;
  while (start > limit && !isSpaceChar(text.charCodeAt(start - 1))) start--;
  return start;
}

function findEndOfLineOrWord(text: string, offset: number): number {
  const lineEnd = text.slice(offset, offset + MAX_CHARS_AROUND_HIDDEN_CHARS).indexOf('\n');
  if (lineEnd >= 0) return offset + lineEnd + 1;
  let end = Math.min(text.length, offset + MAX_CHARS_AROUND_HIDDEN_CHARS);
  while (end < text.length && !isSpaceChar(text.charCodeAt(end))) end++;
  return end;
}

const isSpaceChar = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);

function decodeHiddenMatch({ 0: match, groups = {} }: RegExpExecArray): string {
  const { gone, unicode, code: braced, long, octal, byte, percent, wideUrl, utf8, quoted, entity, wide, sign } = groups;
  if (gone !== undefined) return '';
  if (entity !== undefined) return decodeEntity(entity, match);
  if (groups['hyphen'] !== undefined) return '-';
  if (groups['space'] !== undefined) return ' ';
  if (sign !== undefined) return sign;
  if (utf8 !== undefined) return decodeCharacter(decodeUtf8CodePoint(utf8), match);
  if (wide !== undefined) return String.fromCharCode(wide.charCodeAt(0) - 0xfee0);
  if (octal !== undefined) return decodeCharacter(Number.parseInt(octal, 8), match);
  const code = Number.parseInt(unicode ?? braced ?? long ?? byte ?? percent ?? wideUrl ?? quoted ?? '', 16);
  return decodeCharacter(code, match);
}

function decodeEntity(entity: string, writtenText: string): string {
  const name = entity.slice(entity.lastIndexOf('&') + 1, -1).replace(/^(?:amp;)+/, '');
  if (!name.startsWith('#')) return CHAR_BY_ENTITY.get(name) ?? writtenText;
  const number = name.slice(1);
  return decodeCharacter(
    /^x/i.test(number) ? Number.parseInt(number.slice(1), 16) : Number.parseInt(number, 10),
    writtenText,
  );
}

/** Returns NaN for invalid UTF-8. */
function decodeUtf8CodePoint(bytes: string): number {
  try {
    return decodeURIComponent(`%${bytes.replace(/%(?:25)*/g, '%')}`).codePointAt(0) ?? Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** Surrogates and control characters stay encoded. */
function decodeCharacter(code: number, written: string): string {
  const isControl = code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d;
  if (Number.isNaN(code) || code > 0xffff || isControl || (code >= 0xd800 && code <= 0xdfff)) return written;
  const character = String.fromCharCode(code);
  return ONLY_INVISIBLE.test(character) ? '' : character;
}

function mapSlicesToSource(slices: readonly Slice[], pieces: readonly TextPieceWithSource[]): Slice[] {
  let nextPieceIndex = 0;
  let hiddenChars = 0;
  /** If `isEnd` is true, invisible characters at `place` are left out. */
  const mapToSource = (place: number, isEnd: boolean): number => {
    for (let piece = pieces[nextPieceIndex]; piece; piece = pieces[nextPieceIndex]) {
      const end = piece.displayedStart + piece.length;
      if (end > place || (isEnd && piece.length === 0 && piece.displayedStart === place)) break;
      hiddenChars += piece.end - piece.start - piece.length;
      nextPieceIndex++;
    }
    return place + hiddenChars;
  };
  return slices.map(({ start, end }) => ({ start: mapToSource(start, false), end: mapToSource(end, true) }));
}
