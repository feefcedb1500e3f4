import fc from 'fast-check';
import { expect, it } from 'vitest';
import type * as vscode from 'vscode';
import { escapeMarkdown, makeMarkdown, showMarkdown, makeTextWithCommand } from './markdownText';

it.each([
  ['22,909 → 12,890 tokens (-44%)', '22,909 → 12,890 tokens \\(\\-44%\\)'],
  ['Open [this](command:x) <b>now</b> & `then`', 'Open \\[this\\]\\(command\\:x\\) \\<b\\>now\\</b\\> \\& \\`then\\`'],
  ['https://x.y/z_a', 'https\\://x\\.y/z\\_a'],
  ['a@b.c', 'a\\@b\\.c'],
  ['1. of 2.', '1\\. of 2\\.'],
  ['# one\n\n two\t', '\\# one two'],
  ['a\\*b*', 'a\\\\\\*b\\*'],
])('Markdown shows the text %j literally, with ordinary spaces', (text, markdown) => {
  expect(escapeMarkdown(text)).toBe(markdown);
});

/**
 * Texts that Markdown treats as more than plain text: forms of links, addresses that become links
 * by themselves, HTML, headings, lists.
 */
const hostile = fc
  .array(
    fc.constantFrom(
      ...[
        '[a](command:x)',
        '[a] (vscode:x)',
        '[a]( command:x )',
        '[a][b]',
        '\n\n[b]: command:x',
        '![i](https://x.y/z)',
        '<command:x>',
      ],
      ...[
        'https://x.y',
        'www.x.y',
        'me@x.y',
        '<b>',
        '&#91;',
        '`',
        '```\n',
        '\n# h',
        '\n- l',
        '\n1. n',
        '\n> q',
        '$(alert)',
        '|a|\n|-|',
      ],
      ...['\u2028# h', '\u0085- l', '\r\n\r\n***', '\\', '\\[', '] (', '\v', '\f', '\u00a0', 'words'],
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

/** Returns the characters that Markdown interprets and that have no backslash before them. */
const listBareCharacters = (source: string): string[] =>
  source.replace(/\\[!-/:-@[-`{-~]/g, '').match(/[[\]()<>`#*_&@:.$|\n\r\u0085\u2028\u2029\v\f]/g) ?? [];

it('untrusted text in the chat is escaped everywhere', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const said: string[] = [];
      const stream = { markdown: ({ value }: vscode.MarkdownString) => void said.push(value) };
      showMarkdown(
        stream as unknown as vscode.ChatResponseStream,
        makeMarkdown`${text}${makeMarkdown`${text}`}${[makeMarkdown`${text}`]}`,
      );
      expect(listBareCharacters(said.join(''))).toEqual([]);
      const link = makeTextWithCommand('', { command: 'own', title: text, arguments: [text] }, text);
      expect(link.isTrusted).toEqual({ enabledCommands: ['own'] });
      expect(listBareCharacters(link.value.replace(/^\n(`+)\w*\n[^]*\n\1\n/, '')).join('')).toMatch(
        /^\[\]\(:[_.*]*\)$/,
      );
    }),
  );
});
