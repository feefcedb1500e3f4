import { describe, expect, it } from 'vitest';
import type { NumberForm } from '../agents/types';
import { findNumberForm, numberAt } from './numberForms';

const CODE = ['import a', '', '  b()', 'end'];
/** Each form as its tool prints it. */
const PRINTED: Readonly<Record<string, readonly [NumberForm, (number: number, line: string) => string]>> = {
  'Claude Code, formerly': ['arrow', (number, line) => `${String(number).padStart(6)}→${line}`],
  'Claude Code': ['tab', (number, line) => `${number}\t${line}`],
  'nl and cat -n': ['tab', (number, line) => `${String(number).padStart(6)}\t${line}`],
  'Roo and Cline': ['pipe', (number, line) => `${String(number).padStart(3)} | ${line}`.trimEnd()],
  OpenCode: ['colon', (number, line) => `${number}: ${line}`.trimEnd()],
  'OpenCode, formerly': ['bar', (number, line) => `${String(number).padStart(5, '0')}| ${line}`],
  Cursor: ['bar', (number, line) => `${String(number).padStart(6)}|${line}`],
  'Copilot CLI': ['dot', (number, line) => `${number}. ${line}`],
  "Codex' read_file": ['L', (number, line) => `L${number}: ${line}`],
  bat: ['box', (number, line) => `${String(number).padStart(4)} │ ${line}`.trimEnd()],
};

describe.each(Object.entries(PRINTED))('line numbers of the form "%s"', (_, [form, print]) => {
  it('are recognized and removed line by line', () => {
    for (const first of [1, 9, 98]) {
      const lines = CODE.map((line, at) => print(first + at, line));
      const text = `Some words.\n${lines.join('\n')}\n(more follows)`;
      expect(findNumberForm(text)?.form).toBe(form);
      lines.forEach((line, at) => {
        const found = numberAt(line, 0, form);
        expect(found?.number).toBe(first + at);
        expect(line.slice(found?.end)).toBe(CODE[at]);
      });
    }
  });
});

describe('text that only resembles line numbers', () => {
  it.each([
    ['a list of which one item has more lines', '1. one\n2. two\n   more of two\n3. three'],
    ['a table that counts by more than one', '1\ta\n5\tb\n9\tc'],
    ['years', '2024: good\n2025: better\nnone\n2026: best'],
    ['a log', '12:01:02 start\n12:01:03 stop'],
    ['one line', '12: text'],
    ['code', 'switch (x) {\n  case 1: a()\n  case 2: b()\n}'],
    ['zeros', '007: James\n008: Bill'],
    ['numbers behind much text', `${'text\n'.repeat(20)}1: a\n2: b`],
    ['keys of JSON', '{\n  "1": 2,\n  "2": 3\n}'],
  ])('is not recognized: %s', (_, text) => {
    expect(findNumberForm(text)).toBeUndefined();
  });

  it('includes a gap that the text does not mark', () => {
    expect(findNumberForm('1: a\n2: b\n...\n9: c')?.form).toBe('colon');
    expect(findNumberForm('1: a\n2: b\n9: c')).toBeUndefined();
  });
});
