/** Local midnight at the start of a period that includes today, in milliseconds since the epoch. */
export function getPeriodStartMs(days: number, now: number): number {
  const today = new Date(now);
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1)).getTime();
}

/**
 * Formats a local date such as `2026-11-23`.
 * @param at milliseconds since the epoch
 */
export function formatLocalDay(at: number): string {
  const date = new Date(at);
  const padToTwoDigits = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${padToTwoDigits(date.getMonth() + 1)}-${padToTwoDigits(date.getDate())}`;
}
