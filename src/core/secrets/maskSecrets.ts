/**
 * Masks what looks like a key or a password. Everything that leaves for another vendor, a file or a log passes here, whole: a key
 * that was cut in two before looks like none. A false alarm costs a word; a key that goes to a stranger costs more.
 */
import { BODIES, KEY_FORMS, SHAPES, type KeyForm, type KeyShape } from './keyForms';
import { memoizeByObject } from '../memoizeByObject';
import { inOneGo, type Steps } from '../pace';
import { BESIDE, namedSecrets, netrcSecrets, type BesideRule } from './namedSecrets';
import { privateKeys } from './privateKeys';
import type { Slice } from '../slice';
import { finding, matchIn, matching, WINDOW, windowsOf } from './windows';

export const SECRET_MASK = '[key]';

const escaped = (literal: string): string => literal.replace(/[$.*+?()[\]{}|\\^/-]/g, '\\$&');

/** A key begins where no word goes on before it; in JSON inside a string an escaped end of line may stand there. */
const BEGINS = '(?:(?<![A-Za-z0-9_])|(?<=\\\\[nrt]))';

/** Characters that are looked at before a run is known to be a key, so that many beginnings in one run cost no more than it is long. */
const MAX_LOOK = 256;

/**
 * The text that may follow a literal beginning: the rest of its own form, or of one that begins with less of it (`sk-` in
 * `sk-or-`).
 */
interface Rest {
  readonly length: number;
  /** As much as is enough to tell a key; `more` is what else belongs to it. */
  readonly body: RegExp;
  readonly more: RegExp;
  readonly needsDigit: boolean;
}

/** What is looked for; tests leave rules out of it. */
export interface SecretRules {
  readonly forms: readonly KeyForm[];
  readonly shapes: readonly KeyShape[];
  readonly beside: readonly BesideRule[];
}

/** All rules. */
export const SECRET_RULES: SecretRules = { forms: KEY_FORMS, shapes: SHAPES, beside: BESIDE };

/** A search for the literal beginnings of forms. */
interface Beginnings {
  readonly rests: ReadonlyMap<string, readonly Rest[]>;
  /** One search for all beginnings, the longest first. */
  readonly start: RegExp;
}

const beginningsOf = memoizeByObject((forms: readonly KeyForm[]): Beginnings => {
  const starts = forms
    .flatMap(({ starts: own, body, min, needsDigit = false }) =>
      own.map((start) => ({
        start,
        body: new RegExp(`[${BODIES[body]}]{${min},${MAX_LOOK}}`, 'y'),
        more: new RegExp(`[${BODIES[body]}]*`, 'y'),
        needsDigit,
      })),
    )
    .sort((a, b) => b.start.length - a.start.length);
  return {
    rests: new Map(
      starts.map(({ start }) => [
        start,
        starts
          .filter((other) => start.startsWith(other.start))
          .map((other) => ({ ...other, length: other.start.length })),
      ]),
    ),
    start: new RegExp(`${BEGINS}(?:${starts.map(({ start }) => escaped(start)).join('|')})`, 'g'),
  };
});

/** Three parts, the first of which is JSON: `eyJ` is `{"` in Base64. A run is looked at once, wherever in it a token begins. */
const JWT = /eyJ[\w-]{8,}\.(?:eyJ)?[\w-]{8,}(?:\.[\w-]*){0,3}/y;
const DOTTED_RUN = /(?<![\w-])[\w-]{8,}(?:\.[\w-]+){1,6}\.?/g;

/** The text with `[key]` in place of what looks like a secret. Linear in its length. */
export const maskSecrets = (text: string): string => inOneGo(masking(text));

/**
 * {@link maskSecrets} in steps, each of a pass over a piece, so that a long text does not hold the thread. Pieces end where lines do, over
 * which no secret but a private key and a .netrc's reaches; a line that is longer than a piece is searched in windows.
 * @param pieceChars for tests: the result is the same whatever it is.
 * @param rules for tests.
 */
export function* masking(text: string, pieceChars = WINDOW, rules = SECRET_RULES): Steps<string> {
  let whole = withoutSlices(text, yield* privateKeys(text, pieceChars));
  whole = withoutSlices(whole, yield* netrcSecrets(whole, pieceChars));
  const masked: string[] = [];
  let holdsSecrets = false;
  for (let start = 0; start < whole.length;) {
    yield;
    const lineEnd = yield* finding(whole, '\n', start + pieceChars - 1);
    const end = lineEnd < 0 ? whole.length : lineEnd + 1;
    const lines = whole.slice(start, end);
    const shown = yield* maskingOfLines(lines, pieceChars, rules);
    holdsSecrets ||= shown !== lines;
    masked.push(shown);
    start = end;
  }
  return holdsSecrets ? masked.join('') : whole;
}

function* maskingOfLines(lines: string, chars: number, { forms, shapes, beside }: SecretRules): Steps<string> {
  let masked = withoutSlices(lines, yield* knownKeys(lines, chars, beginningsOf(forms)));
  for (const { shape, holds } of shapes) {
    yield;
    if ((yield* finding(masked, holds)) >= 0) masked = withoutSlices(masked, yield* matching(masked, shape, chars));
  }
  masked = withoutSlices(masked, yield* webTokens(masked));
  yield;
  return withoutSlices(masked, yield* namedSecrets(masked, chars, beside));
}

/** The keys that have a known form. */
function* knownKeys(text: string, chars: number, { start: begins, rests }: Beginnings): Steps<Slice[]> {
  const keys: Slice[] = [];
  let reached = 0;
  for (const window of windowsOf(text, chars)) {
    for (let found = matchIn(text, begins, reached, window); found; found = matchIn(text, begins, reached, window)) {
      yield;
      // Where this is none, one may begin within the beginning: `napi_` in `\napi_org_`.
      reached = found.start + 1;
      for (const { length, body, more, needsDigit } of rests.get(found.groups[0] ?? '') ?? []) {
        body.lastIndex = found.start + length;
        const rest = body.exec(text)?.[0];
        if (rest === undefined || (needsDigit && !/\d/.test(rest))) continue;
        more.lastIndex = body.lastIndex;
        more.exec(text);
        reached = more.lastIndex;
        keys.push({ start: found.start, end: reached });
        break;
      }
    }
    yield;
  }
  return keys;
}

/** The JSON Web Tokens, each in its own run of letters, digits and dots. */
function* webTokens(text: string): Steps<Slice[]> {
  const tokens: Slice[] = [];
  for (let found = yield* finding(text, 'eyJ'); found >= 0;) {
    let start = found;
    while (start > 0 && isDotted(text.charCodeAt(start - 1))) start--;
    let end = found;
    while (end < text.length && isDotted(text.charCodeAt(end))) end++;
    for (const { index, 0: run } of text.slice(start, end).matchAll(DOTTED_RUN)) {
      const token = webTokenIn(run);
      if (token) tokens.push({ start: start + index + token.start, end: start + index + token.end });
    }
    yield;
    found = yield* finding(text, 'eyJ', end);
  }
  return tokens;
}

/** Whether it is one of `\w`, `.` and `-`. */
const isDotted = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) ||
  (unit >= 0x41 && unit <= 0x5a) ||
  (unit >= 0x30 && unit <= 0x39) ||
  unit === 0x5f ||
  unit === 0x2e ||
  unit === 0x2d;

/** The first JSON Web Token of a run. */
function webTokenIn(run: string): Slice | undefined {
  const start = run.indexOf('eyJ');
  if (start < 0) return undefined;
  JWT.lastIndex = start;
  const token = JWT.exec(run);
  return token ? { start, end: start + token[0].length } : undefined;
}

function withoutSlices(text: string, slices: readonly Slice[]): string {
  if (slices.length === 0) return text;
  const kept: string[] = [];
  let reached = 0;
  for (const { start, end } of slices) {
    if (start < reached) continue;
    kept.push(text.slice(reached, start), SECRET_MASK);
    reached = end;
  }
  kept.push(text.slice(reached));
  return kept.join('');
}
