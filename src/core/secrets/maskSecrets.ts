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

/** Characters of a piece, as a rule: pieces end where lines do, over which no secret but a private key and a .netrc's reaches. */
const PIECE = 64_000;

/**
 * {@link maskSecrets} in steps, each of a pass over a piece, so that a long text does not hold the thread.
 * @param pieceChars for tests: the result is the same whatever it is.
 * @param rules for tests.
 */
export function* masking(text: string, pieceChars = PIECE, rules = SECRET_RULES): Steps<string> {
  let whole = withoutSlices(text, privateKeys(text));
  whole = withoutSlices(whole, netrcSecrets(whole));
  const masked: string[] = [];
  for (let start = 0; start < whole.length;) {
    yield;
    const lineEnd = whole.indexOf('\n', start + pieceChars - 1);
    const end = lineEnd < 0 ? whole.length : lineEnd + 1;
    masked.push(yield* maskingOfLines(whole.slice(start, end), rules));
    start = end;
  }
  return masked.join('');
}

function* maskingOfLines(lines: string, { forms, shapes, beside }: SecretRules): Steps<string> {
  let masked = withoutSlices(lines, yield* knownKeys(lines, beginningsOf(forms)));
  yield;
  for (const { shape, holds } of shapes) {
    if (!masked.includes(holds)) continue;
    masked = masked.replace(shape, SECRET_MASK);
    yield;
  }
  if (masked.includes('eyJ')) masked = masked.replace(DOTTED_RUN, withoutWebToken);
  yield;
  return withoutSlices(masked, yield* namedSecrets(masked, beside));
}

/** The keys that have a known form. */
function* knownKeys(text: string, { start: begins, rests }: Beginnings): Steps<Slice[]> {
  const keys: Slice[] = [];
  begins.lastIndex = 0;
  for (let found = begins.exec(text); found; found = begins.exec(text)) {
    yield;
    // Where this is none, one may begin within the beginning: `napi_` in `\napi_org_`.
    begins.lastIndex = found.index + 1;
    for (const { length, body, more, needsDigit } of rests.get(found[0]) ?? []) {
      body.lastIndex = found.index + length;
      const rest = body.exec(text)?.[0];
      if (rest === undefined || (needsDigit && !/\d/.test(rest))) continue;
      more.lastIndex = body.lastIndex;
      more.exec(text);
      keys.push({ start: found.index, end: more.lastIndex });
      begins.lastIndex = more.lastIndex;
      break;
    }
  }
  return keys;
}

/** A run of letters, digits and dots without the JSON Web Token that it holds. */
function withoutWebToken(run: string): string {
  const start = run.indexOf('eyJ');
  if (start < 0) return run;
  JWT.lastIndex = start;
  const token = JWT.exec(run);
  return token ? run.slice(0, token.index) + SECRET_MASK + run.slice(token.index + token[0].length) : run;
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
