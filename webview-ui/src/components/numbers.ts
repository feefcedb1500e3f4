/** Numbers as people write them in their language, and the units of fields. */
import { formatNumber, numberSeparators, t } from '../l10n';
import type { Path } from '../state/path';
import type { Parsed } from '../state/useDraft';

/** Short for thousands and millions. */
const FACTORS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6 };

/** With the signs that keyboards have: some languages write narrow spaces, curved apostrophes and a minus of their own. */
const typed = (text: string): string =>
  text
    .replace(/[\s\u00a0\u202f]+/g, ' ')
    .replace(/[\u200e\u200f\u061c]/g, '')
    .replaceAll('\u2212', '-')
    .replaceAll('\u2019', "'")
    .trim();

/** A number as the language writes it, with all its decimals. */
export const writtenNumber = (value: number): string => formatNumber(value, { maximumFractionDigits: 20 });

/**
 * The number that a text says in the user's language: plain, in groups, or short, such as "200k". Whatever may mean another number
 * is refused, never guessed. An empty text takes the setting back.
 */
export function parseNumber(text: string): Parsed {
  const written = typed(text).replace(/^[$€%]\s?|\s?[$€%]$/g, '');
  if (written === '') return {};
  const [, figures = '', short = ''] = /^(.*?)\s?([kKmM]?)$/.exec(written) ?? [];
  const otherwise = thousandsIn(figures);
  if (otherwise !== undefined) {
    const problem = t('This may mean {0} or {1}. Enter one of them.', ...otherwise.map((each) => writtenNumber(each)));
    return { problem };
  }
  const value = readFigures(figures);
  if (value === undefined) {
    const problem = t(
      'This is not a number. Enter a number such as {0} or {1}.',
      formatNumber(200_000),
      formatNumber(0.5),
    );
    return { problem };
  }
  // Not 1.1 × 1000 = 1100.0000000000001.
  return { value: short === '' ? value : Number((value * (FACTORS[short.toLowerCase()] ?? 1)).toPrecision(12)) };
}

/** The two numbers that "50.000" may mean: many languages write thousands as others write decimals, which nobody ends with a zero. */
function thousandsIn(figures: string): readonly number[] | undefined {
  const { decimal } = numberSeparators();
  const [whole = '', fraction = '', ...more] = figures.split(decimal);
  if (more.length > 0 || !/^-?[1-9]\d{0,2}$/.test(whole) || !/^\d\d0$/.test(fraction)) return undefined;
  return [Number(whole + fraction), Number(`${whole}.${fraction}`)];
}

function readFigures(figures: string): number | undefined {
  const { group, decimal } = numberSeparators();
  const separator = typed(group) || ' ';
  const [whole = '', fraction, ...more] = figures.split(decimal);
  if (more.length > 0 || (fraction !== undefined && !/^\d+$/.test(fraction))) return undefined;
  const digits = whole.replaceAll(separator, '');
  if (!/^-?\d+$/.test(digits)) return undefined;
  const isGrouped = digits !== whole;
  // In groups it must be written as the language does: "1,5" in English may be one and a half.
  if (isGrouped && typed(formatNumber(Number(digits), { useGrouping: 'always' })) !== whole) return undefined;
  const value = Number(fraction === undefined ? digits : `${digits}.${fraction}`);
  return Number.isFinite(value) ? value : undefined;
}

/** The unit that a number field shows; undefined for plain numbers. */
export function unitOf(name: string, path: Path): string | undefined {
  const steps = [name, ...path].map(String);
  const last = steps.at(-1) ?? '';
  if (/percent(age)?$/i.test(last) || last === 'threshold' || name === 'coherenceFloor') return '%';
  if (steps.some((step) => /TokenThresholds$/.test(step)) || /(tokens?|tokenThreshold|window)$/i.test(last)) {
    return t('tokens');
  }
  if (steps.includes('prices')) return t('$ per million tokens');
  if (/seconds$/i.test(last)) return t('s');
  if (/cost|budgetLeft$/i.test(last)) return '$';
  return /chars$/i.test(last) ? t('characters') : undefined;
}
