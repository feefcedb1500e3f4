import { expect, it } from 'vitest';
import type { LineNumberForm } from '../agents/types';
import { readNumberAt } from './numberForms';

const CODE = ['import a', '', '  b()', 'end'];
/** For each tool, its line-number format, and a function that prints a line as the tool does. */
const PRINTED: Readonly<Record<string, readonly [LineNumberForm, (number: number, line: string) => string]>> = {
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

it.each(Object.entries(PRINTED))('a line number written as "%s" is recognized and removed', (_, [form, print]) => {
  for (const first of [1, 9, 98]) {
    for (const [at, line] of CODE.entries()) {
      const printed = print(first + at, line);
      const found = readNumberAt(printed, 0, form);
      expect(found?.number).toBe(first + at);
      expect(printed.slice(found?.end)).toBe(line);
    }
  }
});
