import { describe, expect, it } from 'vitest';
import { formatNoteLine } from './notes';

const KINDS = `Left out because it is not sent to the model: ${'1 progress, '.repeat(20)}1 summary.`;
const DAMAGE = 'Line 7 is damaged; skipped 512 bytes: found NUL bytes in the line; expected one JSON record per line.';

describe('the line that sums up the notes on reading a conversation', () => {
  it.each([
    { notes: [], line: undefined },
    { notes: [DAMAGE], line: DAMAGE },
    { notes: [KINDS], line: 'Left out because it is not sent to the model. (More: below)' },
    { notes: [DAMAGE, KINDS], line: `${DAMAGE} (1 more note: below)` },
    { notes: [KINDS, DAMAGE, 'x'], line: 'Left out because it is not sent to the model. (2 more notes: below)' },
  ])('reads: $line', ({ notes, line }) => {
    expect(formatNoteLine(notes, 'below')).toBe(line);
  });
});
