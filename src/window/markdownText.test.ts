import { expect, it } from 'vitest';
import { asMarkdown } from './markdownText';

it.each([
  ['22,909 → 12,890 tokens (-44%)', '22,909 → 12,890 tokens \\(\\-44%\\)'],
  ['Open [this](command:x) <b>now</b> & `then`', 'Open \\[this\\]\\(command\\:x\\) \\<b\\>now\\</b\\> \\& \\`then\\`'],
  ['https://x.y/z_a', 'https\\://x\\.y/z\\_a'],
  ['a@b.c', 'a\\@b\\.c'],
  ['1. of 2.', '1\\. of 2\\.'],
  ['# one\n\n two\t', '\\# one two'],
  ['a\\*b*', 'a\\\\\\*b\\*'],
])('%j is shown as it is, with spaces at which it may break', (text, markdown) => {
  expect(asMarkdown(text)).toBe(markdown);
});
