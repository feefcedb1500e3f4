/** What a terminal would obey is written so that it shows: names, paths and errors come from files that anybody may have written. */
import type { CliIo } from './io';

/**
 * Control characters but tab and line feed (a carriage return only before one), those of 8 bits (C1), and characters that change the
 * direction of text or can't be seen: ECMA-48, UAX #9, and the tag characters of UTS #51.
 */
const OBEYED =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\r(?!\n)|\udb40[\udc00-\udc7f]/g;

/** As JSON writes them, so that JSON stays valid and says the same. */
export const harmless = (text: string): string =>
  text.replace(OBEYED, (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );

/** What goes on one line of a terminal. */
const onOneLine = (words: string): string => harmless(words).replace(/[\r\n\t]+/g, ' ');

/** The process's ends, on which nothing that a terminal would obey is written but what is our own. */
export const forTerminal = (io: CliIo): CliIo => ({
  ...io,
  stdout: (text) => {
    io.stdout(harmless(text));
  },
  stderr: (text) => {
    io.stderr(harmless(text));
  },
  ...(io.showProgress && {
    showProgress: (words: string) => {
      io.showProgress?.(onOneLine(words));
    },
  }),
});
