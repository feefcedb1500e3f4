const MAX_NAME_CHARS = 60;

/** Removes dots, colons and commas at the end, because more text follows a tab's name. */
export const toTabName = (title: string): string => title.trim().replace(/[\s.,:;…]+$/u, '') || title.trim();

/**
 * Returns a file name without extension that is valid on every system.
 * @param fallback used if nothing of the title is left
 */
export function toFileName(title: string, fallback: string): string {
  const cleanedTitle = title
    // Windows forbids these: learn.microsoft.com/windows/win32/fileio/naming-a-file
    .replace(/[<>:"/\\|?*\p{C}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const shortTitle =
    cleanedTitle.length > MAX_NAME_CHARS
      ? cleanedTitle
          .slice(0, MAX_NAME_CHARS)
          .replace(/\s\S*$/, '')
          .toWellFormed()
      : cleanedTitle;
  const name = toTabName(shortTitle).replace(/^\.+/, '').trim();
  return name === '' || /^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(name) ? fallback : name;
}
