/**
 * Escapes terminal control sequences in output, because names, paths and errors come from untrusted
 * files.
 */
import type { CliIo } from './io';

/**
 * Control characters except tab and line feed, and invisible or direction-changing characters.
 * Sources: ECMA-48, UAX #9, tag characters of UTS #51.
 */
const CONTROL_CHARACTERS =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\r(?!\n)|\udb40[\udc00-\udc7f]/g;

/** Replaces control characters by JSON escapes, so that JSON stays valid. */
export const escapeControlCharacters = (text: string): string =>
  text.replace(CONTROL_CHARACTERS, (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );

const escapeOnOneLine = (words: string): string => escapeControlCharacters(words).replace(/[\r\n\t]+/g, ' ');

/** Escapes all output, except the control sequences that we write ourselves. */
export const escapeOutput = (io: CliIo): CliIo => ({
  ...io,
  stdout: (text) => {
    io.stdout(escapeControlCharacters(text));
  },
  stderr: (text) => {
    io.stderr(escapeControlCharacters(text));
  },
  ...(io.showProgress && {
    showProgress: (words: string) => {
      io.showProgress?.(escapeOnOneLine(words));
    },
  }),
});
