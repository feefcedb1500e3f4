/**
 * Never splits surrogate pairs, and masks possible keys first.
 * @param most characters, including the "…"
 */
export function shortenText(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text
        .slice(0, most - 1)
        .replace(/[\uD800-\uDBFF]$/, '')
        .trimEnd()}…`;
}
