import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CliIo } from './io';
import { escapeOutput, escapeControlCharacters } from './terminal';

/** Terminals obey these control characters and direction-changing characters. */
const OBEYED = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\x1b]0;title\x07',
        '\x1b]52;c;ZXZpbA==\x07',
        '\x1b[2J',
        '\x9b31m',
        '\x9d0;x\x9c',
        '\u202e',
        '\r',
        '\b',
      ),
      fc.constantFrom('\x1bPq\x1b\\', '\u2066', '\udb40\udc41', '\0', 'words', '\n', '\t', '\r\n', '👩‍👩‍👧', 'é'),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

describe("the command line's output", () => {
  it('contains nothing that a terminal would interpret', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        let written = '';
        const take = (words: string): void => {
          written += words;
        };
        const io = escapeOutput({ stdout: take, stderr: take, showProgress: take } as unknown as CliIo);
        io.stdout(text);
        io.stderr(text);
        io.showProgress?.(text);
        expect(written).not.toMatch(OBEYED);
        expect(written.replaceAll('\r\n', '')).not.toContain('\r');
      }),
    );
  });

  it('parses to the same JSON after escaping of control characters', () => {
    fc.assert(
      fc.property(hostile, hostile, (key, value) => {
        const json = JSON.stringify({ [key]: value, n: 1 });
        expect(JSON.parse(escapeControlCharacters(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  it('stays unchanged except that control and direction characters are escaped', () => {
    const text = 'Sitzung „Prüfen“ 👩‍👩‍👧 → 12 %\tund\r\nmehr\n';
    expect(escapeControlCharacters(text)).toBe(text);
    expect(escapeControlCharacters('a\x1b[31mb\u202e')).toBe('a\\u001b[31mb\\u202e');
  });
});
