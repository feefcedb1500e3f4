/** Names for tabs and files, of a conversation's title. */

/** Characters of a file's name. */
const NAME_CHARS = 60;

/** A title as a name: no dots, colons or commas at its end, where more follows. */
export const asTabName = (title: string): string => title.trim().replace(/[\s.,:;…]+$/u, '') || title.trim();

/**
 * A title as the name of a file, on every system; without an extension.
 * @param otherwise where nothing of the title is left
 */
export function asFileName(title: string, otherwise: string): string {
  const words = title
    // Windows allows none of these, nor control characters: learn.microsoft.com/windows/win32/fileio/naming-a-file
    .replace(/[<>:"/\\|?*\p{C}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const short =
    words.length > NAME_CHARS
      ? words
          .slice(0, NAME_CHARS)
          .replace(/\s\S*$/, '')
          .toWellFormed()
      : words;
  const name = asTabName(short).replace(/^\.+/, '').trim();
  return name === '' || /^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(name) ? otherwise : name;
}
