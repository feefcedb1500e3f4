/**
 * A share or a change in percent, for people: one decimal below 10, none above, unless it is said. What is not nothing is never "0%":
 * "<1%", "<0.1%". Without anything of the host's; the panel has its own in the user's language (webview-ui/src/l10n.ts).
 * @param percent 0 to 100; a change may be negative.
 * @param decimals at most so many.
 */
export function formatPercent(percent: number, decimals = Math.abs(percent) < 9.95 ? 1 : 0): string {
  const rounded = Number(percent.toFixed(decimals));
  if (rounded === 0) return percent === 0 ? '0%' : `<${10 ** -decimals}%`;
  // With the minus sign (U+2212), not a hyphen.
  return `${rounded}%`.replace('-', '−');
}

/** 0 percent of an empty whole. */
export const formatShare = (part: number, whole: number, decimals?: number): string =>
  formatPercent(whole === 0 ? 0 : (100 * part) / whole, decimals);
