/**
 * The o200k pattern for ASCII as a state table: one lookup per byte and one jump per piece, since
 * mispredicted branches dominate scanning. Everything else is left to the general scanner.
 */

/** Kinds of bytes: the table's columns. */
const KINDS = {
  lower: 0,
  upper: 1,
  digit: 2,
  blank: 3,
  tab: 4, // and the other ASCII spaces but line breaks
  newline: 5,
  slash: 6,
  apostrophe: 7,
  other: 8,
  wide: 9, // beyond ASCII
  end: 10, // END_BYTE
} as const;
type Kind = keyof typeof KINDS;
const COLUMNS = 16;

/** From here on, states end the piece: before the last byte, one byte earlier, or undecided. */
export const BEFORE = 13 * COLUMNS;
export const EARLIER = 14 * COLUMNS;
const UNKNOWN = 15 * COLUMNS;

/** States in row order; the first is initial. */
const STATES = {
  start: 0,
  upper: 1, // capitals of a word
  lower: 2, // the rest of a word
  blank: 3, // a blank, may stand before a word or punctuation
  tab: 4, // another space, may stand before a word
  spaces: 5, // more of them
  prefix: 6, // one character that may stand before a word
  others: 7, // punctuation
  tail: 8, // line breaks and slashes after punctuation
  digit: 9,
  digits: 10, // two of them
  number: 11, // three of them
  newlines: 12,
} as const;
type State = keyof typeof STATES;
type Step = State | 'BEFORE' | 'EARLIER' | 'UNKNOWN';

const WORD: Partial<Record<Kind, Step>> = { upper: 'upper', lower: 'lower' };
const OTHERS: Partial<Record<Kind, Step>> = { slash: 'others', apostrophe: 'others', other: 'others' };
const SPACES: Partial<Record<Kind, Step>> = { blank: 'spaces', tab: 'spaces', newline: 'UNKNOWN', end: 'BEFORE' };

/** Unlisted kinds end the piece; non-ASCII bytes are undecided. */
const STEPS: Record<State, Partial<Record<Kind, Step>>> = {
  start: {
    ...{ ...WORD, digit: 'digit', blank: 'blank', tab: 'tab', newline: 'newlines' },
    ...{ slash: 'prefix', apostrophe: 'prefix', other: 'prefix' },
  },
  upper: { ...WORD, apostrophe: 'UNKNOWN' },
  lower: { lower: 'lower', apostrophe: 'UNKNOWN' },
  blank: { ...WORD, ...OTHERS, ...SPACES },
  tab: { ...WORD, ...SPACES },
  // the last space belongs to the visible character after it
  spaces: { ...SPACES, ...toAll('EARLIER', 'lower', 'upper', 'digit', 'slash', 'apostrophe', 'other') },
  prefix: { ...WORD, ...OTHERS, newline: 'tail' },
  others: { ...OTHERS, newline: 'tail' },
  tail: { newline: 'tail', slash: 'tail', wide: 'BEFORE' },
  digit: { digit: 'digits' },
  digits: { digit: 'number' },
  number: { wide: 'BEFORE' },
  newlines: { newline: 'newlines', blank: 'UNKNOWN', tab: 'UNKNOWN' },
};

function toAll(step: Step, ...kinds: Kind[]): Partial<Record<Kind, Step>> {
  return Object.fromEntries(kinds.map((kind) => [kind, step]));
}

function encodeStep(step: Step): number {
  if (step === 'BEFORE') return BEFORE;
  if (step === 'EARLIER') return EARLIER;
  return step === 'UNKNOWN' ? UNKNOWN : STATES[step] * COLUMNS;
}

/** Indexed by state + kind of byte. */
export const NEXT = new Uint8Array(256);
for (const [state, steps] of Object.entries(STEPS) as [State, Partial<Record<Kind, Step>>][]) {
  for (const [kind, column] of Object.entries(KINDS) as [Kind, number][])
    NEXT[STATES[state] * COLUMNS + column] = encodeStep(steps[kind] ?? (kind === 'wide' ? 'UNKNOWN' : 'BEFORE'));
}

function classifyByte(byte: number): Kind {
  if (byte >= 0x80) return byte === 0xff ? 'end' : 'wide';
  const char = String.fromCharCode(byte);
  if (/[a-z]/.test(char)) return 'lower';
  if (/[A-Z]/.test(char)) return 'upper';
  if (/[0-9]/.test(char)) return 'digit';
  if (/[\r\n]/.test(char)) return 'newline';
  if (char === ' ') return 'blank';
  if (/\s/.test(char)) return 'tab';
  if (char === '/') return 'slash';
  return char === "'" ? 'apostrophe' : 'other';
}

export const KIND = Uint8Array.from({ length: 256 }, (_, byte) => KINDS[classifyByte(byte)]);
