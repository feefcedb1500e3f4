/**
 * A text of at most so many characters: where more of it was cut off, "…" says so. A sign that takes two units is never parted. What
 * may be a key is masked before.
 * @param most characters, the "…" among them.
 */
export function shortenText(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text
        .slice(0, most - 1)
        .replace(/[\uD800-\uDBFF]$/, '')
        .trimEnd()}…`;
}
