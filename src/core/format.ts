import { formatShare } from './percent';

// Created on demand, since creating it takes several milliseconds.
let numberFormat: Intl.NumberFormat | undefined;

export const formatTokens = (tokens: number): string =>
  (numberFormat ??= new Intl.NumberFormat('en-US')).format(Math.round(tokens));

/** Never formats a change as 0%. */
export function formatPercentChange(before: number, after: number): string {
  const shareText = formatShare(after - before, before);
  return before > 0 && after > before && !shareText.startsWith('<') ? `+${shareText}` : shareText;
}

export function formatCost(dollars: number | undefined): string {
  if (dollars === undefined) return 'unknown';
  if (dollars === 0) return '$0';
  if (dollars < 0.0001) return 'less than $0.0001';
  return `$${dollars.toFixed(dollars < 0.01 ? 4 : 2)}`;
}

export function formatDurationMs(ms: number): string {
  const wholeMs = Math.round(ms);
  return wholeMs < 1000 ? `${wholeMs} ms` : `${(ms / 1000).toFixed(1)} seconds`;
}
