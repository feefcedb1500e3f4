/**
 * Shows small shares as "<1%" or "<0.1%", not "0%", and shares just below 100 as "99.9%".
 * @param percent 0 to 100; a change may be negative
 * @param decimals maximum; default: one below 10 percent, none above
 */
export function formatPercent(percent: number, decimals = Math.abs(percent) < 9.95 ? 1 : 0): string {
  const rounded = Number(percent.toFixed(decimals));
  if (rounded === 0) return percent === 0 ? '0%' : `<${10 ** -decimals}%`;
  const shownPercent = Math.abs(rounded) === 100 && Math.abs(percent) < 100 ? Math.trunc(percent * 10) / 10 : rounded;
  // The minus sign (U+2212) replaces the hyphen.
  return `${shownPercent}%`.replace('-', '−');
}

export const formatShare = (part: number, whole: number, decimals?: number): string =>
  formatPercent(whole === 0 ? 0 : (100 * part) / whole, decimals);
