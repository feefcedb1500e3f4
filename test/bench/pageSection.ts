/** Reads and replaces sections of a page, which different benchmarks write. */

/** Returns the text of a section; undefined if the page lacks it. */
export function getSection(page: string, title: string): string | undefined {
  const start = findStart(page, title);
  return start < 0 ? undefined : `${page.slice(start, findEnd(page, start, title)).trimEnd()}\n`;
}

/**
 * Replaces a section of a page, or appends it if there is none.
 * @param text the section, which begins with its title.
 */
export function replaceSection(page: string, title: string, text: string): string {
  const start = findStart(page, title);
  return start < 0
    ? `${page.trimEnd()}\n\n${text}`
    : page.slice(0, start) + text + page.slice(findEnd(page, start, title));
}

const findStart = (page: string, title: string): number => `\n${page}`.indexOf(`\n${title}\n`);

function findEnd(page: string, start: number, title: string): number {
  const next = page.indexOf('\n## ', start + title.length);
  return next < 0 ? page.length : next;
}
