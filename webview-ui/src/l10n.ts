/** The English text is its own key, as in `vscode.l10n`; the host sends the translations. */

type Translate = (english: string) => string | undefined;

let translate: Translate = () => undefined;
let languageTag = 'en';

/** @param language BCP 47 tag */
export function setLanguage(find: Translate, language: string): void {
  translate = find;
  languageTag = language;
}

/** Replaces `{0}`, `{1}` … by the values. Formats numbers in the user's language. */
export function t(english: string, ...values: readonly (string | number)[]): string {
  const text = translate(english) ?? english;
  if (values.length === 0) return text;
  return text.replace(/\{(\d+)\}/g, (whole, index: string) => {
    const value = values[Number(index)];
    return value === undefined ? whole : typeof value === 'number' ? formatNumber(value) : value;
  });
}

export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(languageTag, options).format(value);

/** Returns "a, b and c". */
export const formatList = (parts: readonly string[]): string => new Intl.ListFormat(languageTag).format(parts);

export const capitalize = (text: string): string => text.charAt(0).toLocaleUpperCase(languageTag) + text.slice(1);

export function getNumberSeparators(): { readonly group: string; readonly decimal: string } {
  const parts = new Intl.NumberFormat(languageTag, { useGrouping: 'always' }).formatToParts(1_234_567.5);
  const getPartValue = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return { group: getPartValue('group'), decimal: getPartValue('decimal') };
}

/**
 * Rounds as `formatCost` in `src/core/format.ts` does: only zero is shown as 0.
 * @param dollars undefined if unknown
 */
export function formatDollars(dollars: number | undefined): string {
  if (dollars === undefined) return t('unknown');
  const absoluteDollars = Math.abs(dollars);
  if (absoluteDollars > 0 && absoluteDollars < 0.0001) return `<${formatDollars(0.0001)}`;
  const digits = absoluteDollars === 0 ? 0 : absoluteDollars < 0.01 ? 4 : 2;
  return formatNumber(dollars, { ...DOLLARS, minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const DOLLARS = { style: 'currency', currency: 'USD' } as const;

/** Shows up to four decimals, since prices per million tokens can have three: $0.075. */
export const formatPrice = (dollars: number | undefined): string =>
  dollars === undefined || dollars === 0
    ? formatDollars(dollars)
    : formatNumber(dollars, { ...DOLLARS, maximumFractionDigits: 4 });

/**
 * Rounds as `src/core/percent.ts` does: only zero is shown as 0.
 * @param share 0 to 100
 */
export const formatPercent = (share: number): string => formatPercentage(share, 'auto');

/**
 * Shows a plus or minus sign.
 * @param change in percent
 */
export const formatChange = (change: number): string => formatPercentage(change, 'exceptZero');

function formatPercentage(percent: number, signDisplay: 'auto' | 'exceptZero'): string {
  const absolutePercent = Math.abs(percent);
  // Less than all is never shown as 100%.
  const isAlmostAll = absolutePercent >= 99.5 && absolutePercent < 100;
  const options = {
    style: 'percent',
    maximumFractionDigits: absolutePercent < 9.95 || isAlmostAll ? 1 : 0,
    ...(isAlmostAll && ({ roundingMode: 'trunc' } as const)),
  } as const;
  return percent !== 0 && Math.abs(percent) < 0.05
    ? `<${formatNumber(0.001, options)}`
    : // With the minus sign (U+2212), not a hyphen.
      formatNumber(percent / 100, { ...options, signDisplay }).replace('-', '−');
}

/** @param iso ISO 8601 time */
export const formatTimeOfDay = (iso: string): string =>
  new Intl.DateTimeFormat(languageTag, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

/** @param iso ISO 8601 date without time */
export const formatDate = (iso: string): string =>
  new Intl.DateTimeFormat(languageTag, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(iso));

/** @param ms milliseconds */
export const formatDuration = (ms: number): string =>
  ms < 1_000
    ? formatNumber(Math.round(ms), { style: 'unit', unit: 'millisecond' })
    : formatNumber(ms / 1_000, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });
