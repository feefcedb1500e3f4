/**
 * Never splits surrogate pairs, and masks possible keys first.
 * @param maxLength characters, including the "…"
 */
export function shortenText(text: string, maxLength: number): string {
  return text.length <= maxLength
    ? text
    : `${text
        .slice(0, maxLength - 1)
        .replace(/[\uD800-\uDBFF]$/, '')
        .trimEnd()}…`;
}
