/**
 * A text as a person sees it: without terminal escapes and invisible characters, and with URL encoding, escapes of JSON and source, and
 * HTML entities read. A key that stands behind a color or `%22` looks like no key in the text itself.
 */
import type { Steps } from '../pace';
import type { Slice } from '../slice';

/** A piece of the source in whose place a person sees something else: one character, or nothing. */
interface Piece {
  /** Where that stands in the seen text. */
  readonly at: number;
  readonly length: 0 | 1;
  /** The piece in the source. */
  readonly start: number;
  readonly end: number;
}

export interface SeenText {
  readonly text: string;
  /**
   * What of the text can read otherwise than the source, in order and apart: the lines with something else in them, and of a very long
   * line {@link REACH} on both sides of that, to where the next space stands.
   */
  readonly changed: readonly Slice[];
  /** Slices of the seen text, in order and apart, as slices of the source; what is hidden inside of one belongs to it. */
  readonly inSource: (slices: readonly Slice[]) => Slice[];
}

/**
 * ESC as it is, as JSON, source and shells write it, however often the backslash is escaped, URL-encoded, and as `cat -v` and others
 * show it.
 */
const ESC = String.raw`(?:\x1b|\\{1,8}(?:u001[bB]|u\{1[bB]\}|x1[bB]|033|e(?=\[))|%1[bB]|\^\[(?=\[)|\u241b)`;
const BEL = String.raw`(?:\x07|\\{1,8}(?:u0007|x07|a)|%07)`;
/** ECMA-48: control sequences, then strings such as OSC (titles, links, the clipboard), then what is left. */
const ESCAPES = [
  String.raw`(?:${ESC}\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]`,
  // A color whose ESC was lost, as in many logs of CI
  String.raw`\[\d{1,3}(?:;\d{1,3}){0,8}m`,
  String.raw`(?:${ESC}[\]PX^_]|[\x9d\x90\x98\x9e\x9f])(?:[^\x07\x1b\x9c\n\r\\%]|%(?!1[bB]|07)){0,2048}(?:${BEL}|${ESC}\\{1,8}|\x9c)`,
  String.raw`${ESC}[()*+#%][0-9A-Za-z]`,
  String.raw`${ESC}[0-9=>A-Z\\^_c]`,
].join('|');
/** Soft hyphens, zero-width and bidi characters, tags: they change how a text looks, not what it says. */
const INVISIBLE = String.raw`[\0\u00ad\u034f\u061c\u115f\u1160\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]|\udb40[\udc00-\udc7f\udd00-\uddef]`;
const ENTITY =
  '&(?:quot|apos|amp|lt|gt|nbsp|equals|colon|num|lowbar|dollar|sol|plus|commat|period|#\\d{1,7}|#[xX][0-9a-fA-F]{1,6});';
const HEX_ESCAPE = String.raw`\\{1,8}(?:u(?<unicode>[0-9a-fA-F]{4})|u\{(?<code>[0-9a-fA-F]{1,6})\}|x(?<byte>[0-9a-fA-F]{2})|(?<octal>[01][0-7]{2}))`;
/** The full-width forms of ASCII, as Chinese and Japanese keyboards write `：` and `＝`. */
const WIDE = String.raw`(?<wide>[\uff01-\uff5e])`;
/** `%41`, `%2541` and so on; quoted-printable writes `=` and quotes with "=". */
const URL_ESCAPE = '%(?:25){0,3}(?<percent>[2-7][0-9a-fA-F])|=(?<quoted>3D|22|27)';

const hiddenWith = (gone: string): RegExp =>
  new RegExp(`(?<gone>${gone})|${HEX_ESCAPE}|${URL_ESCAPE}|(?<entity>${ENTITY})|${WIDE}`, 'g');
const HIDDEN = hiddenWith(`${ESCAPES}|(?:${INVISIBLE}){1,256}`);
/** Also what was struck over; apart, for it may begin with anything. */
const HIDDEN_OR_STRUCK = hiddenWith(String.raw`${ESCAPES}|(?:${INVISIBLE}){1,256}|[^\x08\n]\x08`);
/** Something of this stands in each match of {@link HIDDEN}; looking for it costs a tenth. */
const SIGN_OF_HIDDEN = new RegExp(
  String.raw`[\x08\x1b\x80-\x9f\u241b\uff01-\uff5e]|${INVISIBLE}|\\[ux01e]|%[0-7]|&[#a-z]|\^\[|\[\d{1,3}[;m]|=(?:3D|2[27])`,
);

/** UTF-16 units of a line that a secret and what tells it as one take up at most, other than in a single run. */
const REACH = 4_096;
/** Matches that are read in one step. */
const MATCHES_A_STEP = 1_000;
const INVISIBLE_ALONE = new RegExp(`^(?:${INVISIBLE})$`);

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&nbsp;', ' '],
  ['&equals;', '='],
  ['&colon;', ':'],
  ['&num;', '#'],
  ['&lowbar;', '_'],
  ['&dollar;', '$'],
  ['&sol;', '/'],
  ['&plus;', '+'],
  ['&commat;', '@'],
  ['&period;', '.'],
]);

/** A space parts what an escape parts: a key may begin behind a color in the middle of a run. */
const GAP = ' ';
const isWord = (unit: string | undefined): boolean => unit !== undefined && /[A-Za-z0-9]/.test(unit);

/**
 * The text as a person sees it; none where that is the text itself. Where an escape or an invisible character stands inside of a run of
 * letters and digits, also the text with a gap in its place: it may part a key (`grep --color`), or stand in front of one. Linear.
 */
export function* seenTexts(source: string): Steps<readonly SeenText[]> {
  if (!SIGN_OF_HIDDEN.test(source)) return [];
  const found: Shown[] = [];
  let matches = 0;
  for (const match of source.matchAll(source.includes('\b') ? HIDDEN_OR_STRUCK : HIDDEN)) {
    if (++matches % MATCHES_A_STEP === 0) yield;
    const seen = seenIn(match);
    if (seen !== match[0]) found.push({ start: match.index, end: match.index + match[0].length, seen });
  }
  if (found.length === 0) return [];
  const parts = found.some(({ start, end, seen }) => seen === '' && isWord(source[start - 1]) && isWord(source[end]));
  const whole = yield* withSeen(source, found, '');
  return parts ? [whole, yield* withSeen(source, found, GAP)] : [whole];
}

/** What a person sees in the place of a slice. */
interface Shown extends Slice {
  readonly seen: string;
}

function* withSeen(source: string, found: readonly Shown[], nothing: string): Steps<SeenText> {
  const pieces: Piece[] = [];
  const parts: string[] = [];
  let reached = 0;
  let length = 0;
  for (const { start, end, seen } of found) {
    if (pieces.length % MATCHES_A_STEP === 0) yield;
    const shown = seen || nothing;
    length += start - reached;
    pieces.push({ at: length, length: shown === '' ? 0 : 1, start, end });
    parts.push(source.slice(reached, start), shown);
    length += shown.length;
    reached = end;
  }
  parts.push(source.slice(reached));
  const text = parts.join('');
  return { text, changed: changedIn(text, pieces), inSource: (slices) => slicesInSource(slices, pieces) };
}

function changedIn(text: string, pieces: readonly Piece[]): Slice[] {
  const changed: { start: number; end: number }[] = [];
  let reached = 0;
  for (const { at, length } of pieces) {
    if (reached > at + length) continue;
    const start = Math.max(reached, beginOfPart(text, at, reached));
    const end = endOfPart(text, at + length);
    const last = changed.at(-1);
    if (last?.end === start) last.end = end;
    else changed.push({ start, end });
    reached = end;
  }
  return changed;
}

/** Where the line begins, or behind the next space in front of what is in reach; not before `limit`. */
function beginOfPart(text: string, at: number, limit: number): number {
  const far = Math.max(limit, at - REACH);
  const lineEnd = text.slice(far, at).lastIndexOf('\n');
  if (lineEnd >= 0) return far + lineEnd + 1;
  let start = far;
  while (start > limit && !isSpace(text.charCodeAt(start - 1))) start--;
  return start;
}

/** Behind the end of the line, or at the next space behind what is in reach. */
function endOfPart(text: string, at: number): number {
  const lineEnd = text.slice(at, at + REACH).indexOf('\n');
  if (lineEnd >= 0) return at + lineEnd + 1;
  let end = Math.min(text.length, at + REACH);
  while (end < text.length && !isSpace(text.charCodeAt(end))) end++;
  return end;
}

const isSpace = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);

/** The one character that a person sees in the place of a match, or nothing. */
function seenIn({ 0: whole, groups = {} }: RegExpExecArray): string {
  const { gone, unicode, code: braced, octal, byte, percent, quoted, entity, wide } = groups;
  if (gone !== undefined) return '';
  if (entity !== undefined) return ENTITIES.get(entity) ?? characterOf(numberOf(entity), whole);
  if (wide !== undefined) return String.fromCharCode(wide.charCodeAt(0) - 0xfee0);
  if (octal !== undefined) return characterOf(Number.parseInt(octal, 8), whole);
  const code = Number.parseInt(unicode ?? braced ?? byte ?? percent ?? quoted ?? '', 16);
  return characterOf(code, whole);
}

const numberOf = (entity: string): number =>
  /^&#x/i.test(entity) ? Number.parseInt(entity.slice(3), 16) : Number.parseInt(entity.slice(2), 10);

/** Halves of a pair and control characters stay as they are written. */
function characterOf(code: number, written: string): string {
  const isControl = code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d;
  if (Number.isNaN(code) || code > 0xffff || isControl || (code >= 0xd800 && code <= 0xdfff)) return written;
  const character = String.fromCharCode(code);
  return INVISIBLE_ALONE.test(character) ? '' : character;
}

/** Pieces and slices are in order, so both are gone through once. */
function slicesInSource(slices: readonly Slice[], pieces: readonly Piece[]): Slice[] {
  let next = 0;
  let hidden = 0;
  /** Pieces before `place`, and with `isEnd` no invisible ones at it: they stand behind the slice. */
  const inSource = (place: number, isEnd: boolean): number => {
    for (let piece = pieces[next]; piece; piece = pieces[next]) {
      const end = piece.at + piece.length;
      if (end > place || (isEnd && piece.length === 0 && piece.at === place)) break;
      hidden += piece.end - piece.start - piece.length;
      next++;
    }
    return place + hidden;
  };
  return slices.map(({ start, end }) => ({ start: inSource(start, false), end: inSource(end, true) }));
}
