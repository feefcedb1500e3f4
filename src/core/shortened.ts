/**
 * Shortens a text to a maximum length; "…" shows that more was cut off. Surrogate pairs are never split. Possible keys
 * are masked first.
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
