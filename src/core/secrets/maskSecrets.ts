/**
 * Masks keys and passwords in everything that goes to another vendor, a file or a log. False
 * positives cost a word, false negatives a secret.
 */
import { KEY_CHARACTERS, KEY_FORMS, KEY_SHAPES, type KeyForm, type KeyShape } from './keyForms';
import { memoizeByObject } from '../memoizeByObject';
import { SECRET_IN_CONTEXT_RULES, findNamedSecrets, findNetrcSecrets, type SecretInContextRule } from './namedSecrets';
import { findPrivateKeys } from './privateKeys';
import { listDisplayedTexts } from './seenText';
import { compareStart, type Slice } from '../slice';
import { findMatchesInWindows, findMatchInWindow, WINDOW_CHARS, splitIntoWindows } from './windows';

export const SECRET_MASK = '[key]';

const escapeRegExp = (literal: string): string => literal.replace(/[$.*+?()[\]{}|\\^/-]/g, '\\$&');

/**
 * A key can also follow an escaped line end in JSON or source. After an underscore, {@link
 * isKeyPartOfIdentifier} decides.
 */
const NO_LETTER_OR_DIGIT_BEFORE_KEY = '(?:(?<![A-Za-z0-9])|(?<=\\\\[bfnrtv]))';

/**
 * Examines only this many characters to recognize a key, to bound the cost if a run of characters
 * contains many prefixes.
 */
const MAX_KEY_CHARS = 256;

/**
 * What may follow a prefix: the remainder of its own form, or of a form with a shorter prefix
 * (`sk-` in `sk-or-`).
 */
interface KeyPartAfterPrefix {
  readonly length: number;
  /** `body` is enough to recognize a key; `trailingPattern` matches what else belongs to it. */
  readonly body: RegExp;
  readonly trailingPattern: RegExp;
  readonly needsDigit: boolean;
}

export interface SecretRules {
  readonly forms: readonly KeyForm[];
  readonly shapes: readonly KeyShape[];
  readonly contextRules: readonly SecretInContextRule[];
}

export const SECRET_RULES: SecretRules = {
  forms: KEY_FORMS,
  shapes: KEY_SHAPES,
  contextRules: SECRET_IN_CONTEXT_RULES,
};

interface CompiledKeyForms {
  readonly partsByPrefix: ReadonlyMap<string, readonly KeyPartAfterPrefix[]>;
  readonly prefixPattern: RegExp;
}

const compileKeyForms = memoizeByObject((forms: readonly KeyForm[]): CompiledKeyForms => {
  const prefixes = forms
    .flatMap(({ starts: ownStarts, body, min, needsDigit = false }) =>
      ownStarts.map((start) => ({
        start,
        body: new RegExp(`[${KEY_CHARACTERS[body]}]{${min},${MAX_KEY_CHARS}}`, 'y'),
        trailingPattern: new RegExp(`[${KEY_CHARACTERS[body]}]*`, 'y'),
        needsDigit,
      })),
    )
    .sort((a, b) => b.start.length - a.start.length);
  return {
    partsByPrefix: new Map(
      prefixes.map(({ start }) => [
        start,
        prefixes
          .filter((other) => start.startsWith(other.start))
          .map((other) => ({ ...other, length: other.start.length })),
      ]),
    ),
    prefixPattern: new RegExp(
      `${NO_LETTER_OR_DIGIT_BEFORE_KEY}(?:${prefixes.map(({ start }) => escapeRegExp(start)).join('|')})`,
      'g',
    ),
  };
});

/**
 * Parts joined by dots, the first of which is JSON (`eyJ` is `{"` in Base64). Each run of joined
 * parts is examined once.
 */
const WEB_TOKEN = /eyJ[\w-]{8,}\.(?:eyJ)?[\w-]{8,}(?:\.[\w-]*){0,3}/y;
const WORDS_JOINED_BY_DOTS = /(?<![\w-])[\w-]{8,}(?:\.[\w-]+){1,6}\.?/g;

/**
 * Takes linear time. Only private keys and .netrc secrets may span several lines.
 * @param pieceChars for tests: the result does not depend on it
 */
export function maskSecrets(text: string, pieceChars = WINDOW_CHARS, rules = SECRET_RULES): string {
  let slices = findSecrets(text, undefined, pieceChars, rules);
  for (const displayedText of listDisplayedTexts(text))
    slices = mergeSlices(
      slices,
      displayedText.mapToSource(findSecrets(displayedText.text, displayedText.changedSlices, pieceChars, rules)),
    );
  return maskFoundSlices(text, extendSlicesToContinuedKeyLines(text, slices));
}

/** @param parts slices to search; the whole text is searched if a secret spans several lines */
function findSecrets(
  text: string,
  parts: readonly Slice[] | undefined,
  pieceChars: number,
  rules: SecretRules,
): readonly Slice[] {
  const maskedText = new MaskedText(text);
  maskedText.maskSlices(findPrivateKeys(maskedText.text, pieceChars));
  maskedText.maskSlices(findNetrcSecrets(maskedText.text, pieceChars));
  const secretSlices: Slice[] = [];
  const searchedParts = maskedText.slices.length === 0 ? parts : undefined;
  for (const part of searchedParts ?? [{ start: 0, end: maskedText.text.length }]) {
    for (let start = part.start; start < part.end;) {
      const lineEnd = maskedText.text.indexOf('\n', start + pieceChars - 1);
      const end = lineEnd < 0 ? part.end : Math.min(part.end, lineEnd + 1);
      for (const slice of findSecretsInLines(maskedText.text.slice(start, end), pieceChars, rules))
        secretSlices.push({ start: start + slice.start, end: start + slice.end });
      start = end;
    }
  }
  maskedText.maskSlices(secretSlices);
  return maskedText.slices;
}

function findSecretsInLines(
  text: string,
  chars: number,
  { forms, shapes, contextRules }: SecretRules,
): readonly Slice[] {
  const maskedText = new MaskedText(text);
  maskedText.maskSlices(findKnownKeys(maskedText.text, chars, compileKeyForms(forms)));
  for (const { shape, precheck: holds } of shapes) {
    const mayMatch = typeof holds === 'string' ? maskedText.text.includes(holds) : holds.test(maskedText.text);
    if (mayMatch) maskedText.maskSlices(findMatchesInWindows(maskedText.text, shape, chars));
  }
  maskedText.maskSlices(findWebTokens(maskedText.text));
  maskedText.maskSlices(findNamedSecrets(maskedText.text, chars, contextRules));
  return maskedText.slices;
}

/** Each search gets the text in which the earlier searches' secrets are masked. */
class MaskedText {
  /** Masked slices of the original text. */
  slices: readonly Slice[] = [];

  constructor(public text: string) {}

  /** @param slices sorted slices of the current text */
  maskSlices(slices: readonly Slice[]): void {
    if (slices.length === 0) return;
    const text = maskFoundSlices(this.text, slices);
    this.slices = mergeSlices(this.slices, this.mapToOriginalSlices(slices));
    this.text = text;
  }

  private mapToOriginalSlices(slices: readonly Slice[]): Slice[] {
    if (this.slices.length === 0) return [...slices];
    let nextSliceIndex = 0;
    let lostChars = 0;
    const mapToOriginal = (place: number, isEnd: boolean): number => {
      for (let maskedSlice = this.slices[nextSliceIndex]; maskedSlice; maskedSlice = this.slices[nextSliceIndex]) {
        const maskStart = maskedSlice.start - lostChars;
        if (place < maskStart + SECRET_MASK.length && (place <= maskStart || !isEnd))
          return Math.min(place, maskStart) + lostChars;
        if (place < maskStart + SECRET_MASK.length) return maskedSlice.end;
        lostChars += maskedSlice.end - maskedSlice.start - SECRET_MASK.length;
        nextSliceIndex++;
      }
      return place + lostChars;
    };
    return slices.map(({ start, end }) => ({ start: mapToOriginal(start, false), end: mapToOriginal(end, true) }));
  }
}

function mergeSlices(first: readonly Slice[], second: readonly Slice[]): Slice[] {
  const joinedSlices: { start: number; end: number }[] = [];
  for (const { start, end } of [...first, ...second].sort(compareStart)) {
    const lastSlice = joinedSlices.at(-1);
    if (lastSlice && start < lastSlice.end) lastSlice.end = Math.max(lastSlice.end, end);
    else joinedSlices.push({ start, end });
  }
  return joinedSlices;
}

/**
 * The rest of a key that a terminal or editor wrapped: alone on its line, indented, and not a word.
 */
const KEY_CONTINUED_ON_NEXT_LINE =
  /\r?\n[ \t]{0,16}(?:[│|][ \t]{0,4})?([\w+/=-]{8,256})(?=[ \t]{0,16}(?:[│|][ \t]{0,4})?(?:\r?\n|$)|["'`])/y;
const MIN_CHARS_OF_CONTINUED_KEY = 16;

function extendSlicesToContinuedKeyLines(text: string, slices: readonly Slice[]): readonly Slice[] {
  const continuedSlices: Slice[] = [];
  let lastEnd = 0;
  for (const { start, end } of slices) {
    if (end - start < MIN_CHARS_OF_CONTINUED_KEY || end <= lastEnd) continue;
    for (let lineEnd = end; ;) {
      KEY_CONTINUED_ON_NEXT_LINE.lastIndex = lineEnd;
      const match = KEY_CONTINUED_ON_NEXT_LINE.exec(text);
      const keyPart = match?.[1];
      if (!match || keyPart === undefined || !looksRandomlyGenerated(keyPart)) break;
      lineEnd = KEY_CONTINUED_ON_NEXT_LINE.lastIndex;
      lastEnd = lineEnd;
      continuedSlices.push({ start: lineEnd - keyPart.length, end: lineEnd });
    }
  }
  return continuedSlices.length === 0 ? slices : mergeSlices(slices, continuedSlices);
}

/** Words and numbers don't mix cases and digits. */
const looksRandomlyGenerated = (run: string): boolean => /\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run);

/**
 * True if what follows a prefix inside an identifier, as in `MY_AKIA…`, is a key and not a part of
 * the identifier.
 */
const isKeyPartOfIdentifier = (keyPart: string): boolean =>
  looksRandomlyGenerated(keyPart) ||
  (keyPart.replace(/\D/g, '').length >= 4 && keyPart.length >= 16) ||
  /^(?=\D*\d)[A-Z\d]{12,}$/.test(keyPart);

function findKnownKeys(
  text: string,
  chars: number,
  { prefixPattern: begins, partsByPrefix }: CompiledKeyForms,
): Slice[] {
  const keys: Slice[] = [];
  let searchStart = 0;
  for (const window of splitIntoWindows(text, chars)) {
    for (
      let match = findMatchInWindow(text, begins, searchStart, window);
      match;
      match = findMatchInWindow(text, begins, searchStart, window)
    ) {
      // Another key may start within the prefix, such as `napi_` in `\napi_org_`.
      searchStart = match.start + 1;
      for (const { length, body, trailingPattern, needsDigit } of partsByPrefix.get(match.groups[0] ?? '') ?? []) {
        body.lastIndex = match.start + length;
        const keyPart = body.exec(text)?.[0];
        if (keyPart === undefined || (needsDigit && !/\d/.test(keyPart))) continue;
        if (text[match.start - 1] === '_' && !isKeyPartOfIdentifier(keyPart)) continue;
        trailingPattern.lastIndex = body.lastIndex;
        trailingPattern.exec(text);
        searchStart = trailingPattern.lastIndex;
        keys.push({ start: match.start, end: searchStart });
        break;
      }
    }
  }
  return keys;
}

function findWebTokens(text: string): Slice[] {
  const tokens: Slice[] = [];
  for (let jsonStart = text.indexOf('eyJ'); jsonStart >= 0;) {
    let start = jsonStart;
    while (start > 0 && isDottedTokenChar(text.charCodeAt(start - 1))) start--;
    let end = jsonStart;
    while (end < text.length && isDottedTokenChar(text.charCodeAt(end))) end++;
    for (const { index, 0: run } of text.slice(start, end).matchAll(WORDS_JOINED_BY_DOTS)) {
      const token = findWebToken(run);
      if (token) tokens.push({ start: start + index + token.start, end: start + index + token.end });
    }
    jsonStart = text.indexOf('eyJ', end);
  }
  return tokens;
}

const isDottedTokenChar = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) ||
  (unit >= 0x41 && unit <= 0x5a) ||
  (unit >= 0x30 && unit <= 0x39) ||
  unit === 0x5f ||
  unit === 0x2e ||
  unit === 0x2d;

function findWebToken(run: string): Slice | undefined {
  const start = run.indexOf('eyJ');
  if (start < 0) return undefined;
  WEB_TOKEN.lastIndex = start;
  const token = WEB_TOKEN.exec(run);
  return token ? { start, end: start + token[0].length } : undefined;
}

function maskFoundSlices(text: string, slices: readonly Slice[]): string {
  if (slices.length === 0) return text;
  const keptTexts: string[] = [];
  let lastEnd = 0;
  for (const { start, end } of slices) {
    if (start < lastEnd) continue;
    keptTexts.push(text.slice(lastEnd, start), SECRET_MASK);
    lastEnd = end;
  }
  keptTexts.push(text.slice(lastEnd));
  return keptTexts.join('');
}
