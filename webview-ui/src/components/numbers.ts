import { formatNumber, getNumberSeparators, t } from '../l10n';
import type { Path } from '../state/path';
import type { ParsedText } from '../state/useDraft';

/** Suffixes for thousands and millions. */
const FACTOR_BY_SUFFIX: Readonly<Record<string, number>> = { k: 1e3, m: 1e6 };

/**
 * Some languages use narrow spaces, curved apostrophes and another minus; keyboards don't have
 * these.
 */
const normalizeTypedNumber = (text: string): string =>
  text
    .replace(/[\s\u00a0\u202f]+/g, ' ')
    .replace(/[\u200e\u200f\u061c]/g, '')
    .replaceAll('\u2212', '-')
    .replaceAll('\u2019', "'")
    .trim();

/** Shows all decimals, and at least two for money. */
export const formatTypedNumber = (value: number, isAmount = false): string =>
  formatNumber(value, { minimumFractionDigits: isAmount ? 2 : 0, maximumFractionDigits: 20 });

/**
 * Accepts plain and grouped numbers, and suffixes, such as "200k". Rejects ambiguous text. Empty
 * text resets the setting.
 */
export function parseNumber(text: string): ParsedText {
  const typedNumber = normalizeTypedNumber(text).replace(/^[$€%]\s?|\s?[$€%]$/g, '');
  if (typedNumber === '') return {};
  const [, figures = '', suffix = ''] = /^(.*?)\s?([kKmM]?)$/.exec(typedNumber) ?? [];
  const groupedNumbers = parseGroupedNumbers(figures);
  if (groupedNumbers !== undefined) {
    const problem = t(
      'This may mean {0} or {1}. Enter one of them.',
      ...groupedNumbers.map((each) => formatTypedNumber(each)),
    );
    return { problem };
  }
  const value = parsePlainNumber(figures);
  if (value === undefined) {
    const problem = t(
      'This is not a number. Enter a number such as {0} or {1}.',
      formatNumber(200_000),
      formatNumber(0.5),
    );
    return { problem };
  }
  // Avoids 1.1 × 1000 = 1100.0000000000001.
  return {
    value: suffix === '' ? value : Number((value * (FACTOR_BY_SUFFIX[suffix.toLowerCase()] ?? 1)).toPrecision(12)),
  };
}

/** Returns both meanings of "50.000": many languages group thousands as others write decimals. */
function parseGroupedNumbers(figures: string): readonly number[] | undefined {
  const { decimal } = getNumberSeparators();
  const [whole = '', fraction = '', ...more] = figures.split(decimal);
  if (more.length > 0 || !/^-?[1-9]\d{0,2}$/.test(whole) || !/^\d\d0$/.test(fraction)) return undefined;
  return [Number(whole + fraction), Number(`${whole}.${fraction}`)];
}

function parsePlainNumber(figures: string): number | undefined {
  const { group, decimal } = getNumberSeparators();
  const separator = normalizeTypedNumber(group) || ' ';
  const [integerPart = '', fraction, ...more] = figures.split(decimal);
  if (more.length > 0 || (fraction !== undefined && !/^\d+$/.test(fraction))) return undefined;
  const digits = integerPart.replaceAll(separator, '');
  if (!/^-?\d+$/.test(digits)) return undefined;
  const isGrouped = digits !== integerPart;
  // Groups must be exactly as the language writes them: "1,5" in English may mean one and a half.
  if (isGrouped && normalizeTypedNumber(formatNumber(Number(digits), { useGrouping: 'always' })) !== integerPart)
    return undefined;
  const value = Number(fraction === undefined ? digits : `${digits}.${fraction}`);
  return Number.isFinite(value) ? value : undefined;
}

/** True if the unit is written before the number. */
export const isMoneyUnit = (unit: string | undefined): boolean => unit?.startsWith('$') === true;

/** Returns undefined for plain numbers. */
export function getUnitOfSetting(name: string, path: Path): string | undefined {
  const pathSteps = [name, ...path].map(String);
  const lastStep = pathSteps.at(-1) ?? '';
  if (/percent(age)?$/i.test(lastStep) || lastStep === 'threshold' || name === 'coherenceFloor') return '%';
  if (pathSteps.some((step) => /TokenThresholds$/.test(step)) || /(tokens?|tokenThreshold|window)$/i.test(lastStep)) {
    return t('tokens');
  }
  if (pathSteps.includes('prices')) return t('$ per million tokens');
  if (/seconds$/i.test(lastStep)) return t('s');
  if (/cost|budgetLeft$/i.test(lastStep)) return '$';
  return /chars$/i.test(lastStep) ? t('characters') : undefined;
}
