/** Figures as people read them. */
import { formatShare } from './percent';

// When it is first needed: it takes several milliseconds of the editor's start.
let number: Intl.NumberFormat | undefined;

/** A whole number with separators of thousands. */
export const formatTokens = (tokens: number): string =>
  (number ??= new Intl.NumberFormat('en-US')).format(Math.round(tokens));

/** Change in percent, with its sign; where something changed it is never 0. */
export function formatChange(before: number, after: number): string {
  const words = formatShare(after - before, before);
  return before > 0 && after > before && !words.startsWith('<') ? `+${words}` : words;
}

/** US dollars with as many digits as the amount needs; what nobody knows is "unknown", not 0. */
export function formatCost(dollars: number | undefined): string {
  if (dollars === undefined) return 'unknown';
  if (dollars === 0) return '$0';
  if (dollars < 0.0001) return 'less than $0.0001';
  return `$${dollars.toFixed(dollars < 0.01 ? 4 : 2)}`;
}

/** Seconds, or milliseconds below one. */
export function formatTime(ms: number): string {
  const whole = Math.round(ms);
  return whole < 1000 ? `${whole} ms` : `${(ms / 1000).toFixed(1)} seconds`;
}
