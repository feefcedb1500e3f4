/** Tool results for which careless code is slow, or which two programs might parse differently. */
import type { ApiMessage } from '../../src/core/messages/types';
import { makeToolExchange, user } from '../../src/core/testing';
import { Random } from './random';

const CODE = 'if (request.retry > limit) return undefined; ';

/** Repeats a piece without cutting it. */
const repeatText = (piece: string, chars: number): string =>
  piece.repeat(Math.max(1, Math.floor(chars / piece.length)));

function base64(chars: number): string {
  const random = new Random(5);
  const bytes = Buffer.alloc(Math.ceil((chars * 3) / 4));
  for (let byteIndex = 0; byteIndex < bytes.length; byteIndex++) bytes[byteIndex] = random.int(256);
  return bytes.toString('base64').slice(0, chars);
}

/** Functions by name; each generates a text of about this many UTF-16 code units. */
export const HOSTILE_TEXTS: Readonly<Record<string, (chars: number) => string>> = {
  'one line of code': (chars) => repeatText(CODE, chars),
  'one letter': (chars) => repeatText('a', chars),
  'JSON on one line': (chars) => `[${repeatText('{"id":17,"tags":["a","b"],"text":"it \\"fails\\"\\n"},', chars)}{}]`,
  'deeply nested JSON': (chars) => `${'['.repeat(chars / 2)}${']'.repeat(chars / 2)}`,
  'equal lines': (chars) => repeatText(`${CODE}\n`, chars),
  'short lines, each different': (chars) => Array.from({ length: chars / 12 }, (_, at) => `line ${at}`).join('\n'),
  'empty lines': (chars) => repeatText('\n', chars),
  'lines that end in CR LF': (chars) => repeatText(`${CODE}\r\n`, chars),
  'lines that end in CR': (chars) => repeatText(`${CODE}\r`, chars),
  'error lines': (chars) =>
    Array.from({ length: chars / 36 }, (_, at) =>
      at % 50 === 0 ? `error: failed module ${at} of many` : `building module ${at} of many`,
    ).join('\n'),
  'numbered lines': (chars) =>
    Array.from({ length: chars / 24 }, (_, at) => `${String(at + 1).padStart(6)}→const a${at} = ${at};`).join('\n'),
  markers: (chars) => repeatText('⟦condensed: 12 lines of a result · ref abcdef⟧\n', chars),
  'half markers': (chars) => repeatText('⟦condensed: ', chars),
  digits: (chars) => repeatText('1234567890', chars),
  base64,
  emoji: (chars) => repeatText('👩‍👩‍👧🎉', chars),
  'lone surrogates': (chars) => repeatText('\ud83d \udc00\n', chars),
  'lone surrogates on one line': (chars) => repeatText('\ud800', chars),
  'NUL characters': (chars) => repeatText('\0', chars),
  'escape sequences': (chars) => repeatText('\u001b[31mred\u001b[0m\u001b[2K\r', chars),
  'byte order marks': (chars) => repeatText('\uFEFFline\u2028line\u2029', chars),
};

/**
 * Creates a conversation with the text in three old results, of which the last has one more line.
 */
export const makeConversationWith = (text: string): ApiMessage[] => [
  user('Look into the log, and mend what fails.'),
  ...makeToolExchange('first', 'Read', { file_path: '/p/src/a.ts' }, 'const a = 1;\nexport default a;'),
  ...makeToolExchange('long', 'Bash', { command: 'cat log' }, text),
  ...makeToolExchange('same', 'Bash', { command: 'cat ./log' }, text),
  ...makeToolExchange('again', 'Bash', { command: 'cat log; echo end' }, `${text}\nend`),
  ...Array.from({ length: 12 }, (_, at) =>
    makeToolExchange(`later-${at}`, 'Bash', { command: `ls ${at}` }, `file-${at}`),
  ).flat(),
  user('Go on.'),
];
