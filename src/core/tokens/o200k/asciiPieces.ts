/**
 * A state table: one lookup per byte and one jump per piece, since mispredicted branches dominate
 * scanning.
 */

/** Kinds of bytes: the table's columns. */
const BYTE_KINDS = {
  lower: 0,
  upper: 1,
  digit: 2,
  blank: 3,
  tab: 4, // and other ASCII white space, except line breaks
  newline: 5,
  slash: 6,
  apostrophe: 7,
  other: 8,
  wide: 9, // beyond ASCII
  end: 10, // BYTE_AFTER_TEXT_END
} as const;
type ByteKind = keyof typeof BYTE_KINDS;
const STATE_TABLE_COLUMNS = 16;

/**
 * The states from here on mean that the piece ended: before the last byte, one byte earlier, or at
 * an unknown place.
 */
export const PIECE_ENDS_BEFORE_BYTE = 13 * STATE_TABLE_COLUMNS;
export const PIECE_ENDED_EARLIER = 14 * STATE_TABLE_COLUMNS;
const PIECE_END_UNKNOWN = 15 * STATE_TABLE_COLUMNS;

const SCANNER_STATES = {
  start: 0,
  upper: 1, // capitals of a word
  lower: 2, // the rest of a word
  blank: 3, // a blank, may precede a word or punctuation
  tab: 4, // another space, may precede a word
  spaces: 5, // more spaces
  prefix: 6, // one character that may precede a word
  others: 7, // punctuation
  tail: 8, // line breaks and slashes after punctuation
  digit: 9,
  digits: 10, // two digits
  number: 11, // three digits
  newlines: 12,
} as const;
type ScannerState = keyof typeof SCANNER_STATES;
type ScannerStep = ScannerState | 'BEFORE' | 'EARLIER' | 'UNKNOWN';

const STEPS_AFTER_LETTERS: Partial<Record<ByteKind, ScannerStep>> = { upper: 'upper', lower: 'lower' };
const STEPS_AFTER_OTHER_CHARS: Partial<Record<ByteKind, ScannerStep>> = {
  slash: 'others',
  apostrophe: 'others',
  other: 'others',
};
const STEPS_AFTER_SPACES: Partial<Record<ByteKind, ScannerStep>> = {
  blank: 'spaces',
  tab: 'spaces',
  newline: 'UNKNOWN',
  end: 'BEFORE',
};

/** Kinds of bytes that are not listed end the piece; at non-ASCII bytes, its end is unknown. */
const STEPS_BY_STATE: Record<ScannerState, Partial<Record<ByteKind, ScannerStep>>> = {
  start: {
    ...{ ...STEPS_AFTER_LETTERS, digit: 'digit', blank: 'blank', tab: 'tab', newline: 'newlines' },
    ...{ slash: 'prefix', apostrophe: 'prefix', other: 'prefix' },
  },
  upper: { ...STEPS_AFTER_LETTERS, apostrophe: 'UNKNOWN' },
  lower: { lower: 'lower', apostrophe: 'UNKNOWN' },
  blank: { ...STEPS_AFTER_LETTERS, ...STEPS_AFTER_OTHER_CHARS, ...STEPS_AFTER_SPACES },
  tab: { ...STEPS_AFTER_LETTERS, ...STEPS_AFTER_SPACES },
  // The last space belongs to the visible character after it.
  spaces: {
    ...STEPS_AFTER_SPACES,
    ...makeStepsForKinds('EARLIER', 'lower', 'upper', 'digit', 'slash', 'apostrophe', 'other'),
  },
  prefix: { ...STEPS_AFTER_LETTERS, ...STEPS_AFTER_OTHER_CHARS, newline: 'tail' },
  others: { ...STEPS_AFTER_OTHER_CHARS, newline: 'tail' },
  tail: { newline: 'tail', slash: 'tail', wide: 'BEFORE' },
  digit: { digit: 'digits' },
  digits: { digit: 'number' },
  number: { wide: 'BEFORE' },
  newlines: { newline: 'newlines', blank: 'UNKNOWN', tab: 'UNKNOWN' },
};

function makeStepsForKinds(step: ScannerStep, ...kinds: ByteKind[]): Partial<Record<ByteKind, ScannerStep>> {
  return Object.fromEntries(kinds.map((kind) => [kind, step]));
}

function encodeScannerStep(step: ScannerStep): number {
  if (step === 'BEFORE') return PIECE_ENDS_BEFORE_BYTE;
  if (step === 'EARLIER') return PIECE_ENDED_EARLIER;
  return step === 'UNKNOWN' ? PIECE_END_UNKNOWN : SCANNER_STATES[step] * STATE_TABLE_COLUMNS;
}

/** Indexed by state + kind of byte. */
export const NEXT_SCANNER_STATE = new Uint8Array(256);
for (const [state, steps] of Object.entries(STEPS_BY_STATE) as [
  ScannerState,
  Partial<Record<ByteKind, ScannerStep>>,
][]) {
  for (const [kind, column] of Object.entries(BYTE_KINDS) as [ByteKind, number][])
    NEXT_SCANNER_STATE[SCANNER_STATES[state] * STATE_TABLE_COLUMNS + column] = encodeScannerStep(
      steps[kind] ?? (kind === 'wide' ? 'UNKNOWN' : 'BEFORE'),
    );
}

function classifyByte(byte: number): ByteKind {
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

export const KIND_BY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => BYTE_KINDS[classifyByte(byte)]);
