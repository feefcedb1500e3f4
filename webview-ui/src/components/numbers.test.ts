import { afterEach, describe, expect, it } from 'vitest';
import { setLanguage } from '../l10n';
import { toJsonSchema } from '../../../src/core/condense/config';
import { profileSchema } from '../../../src/settings/profiles';
import { SETTING_NAMES, SETTINGS } from '../../../src/settings/table';
import type { Path } from '../state/path';
import { parseNumber, getUnitOfSetting, formatTypedNumber } from './numbers';
import { getSchemaFields, type JsonSchema } from './schema';
import { getFieldTitle } from './titles';

const speak = (language: string): void => {
  setLanguage(() => undefined, language);
};
afterEach(() => {
  speak('en');
});

describe('a number typed in a field', () => {
  it.each([
    ['en', '500,000', 500_000],
    ['en', '1,000,000', 1_000_000],
    ['en', '50,000', 50_000],
    ['en', '1000000', 1_000_000],
    ['en', '0.25', 0.25],
    ['en', '0.500', 0.5],
    ['en', '1.125', 1.125],
    ['en', ' 1,234.5 ', 1_234.5],
    ['en', '200k', 200_000],
    ['en', '1.1K', 1_100],
    ['en', '1.5 M', 1_500_000],
    ['en', '-1', -1],
    ['en', '75 %', 75],
    ['en', '$0.50', 0.5],
    ['de', '500.000', 500_000],
    ['de', '0,25', 0.25],
    ['fr', '500 000', 500_000],
    ['fr', '500\u202f000,5', 500_000.5],
    ['en-IN', '10,00,000', 1_000_000],
    ['de-CH', '500’000', 500_000],
  ])('in %s as "%s" means %d', (language, text, value) => {
    speak(language);
    expect(parseNumber(text)).toEqual({ value });
  });

  it.each([
    ['en', '0,5'],
    ['en', '1,5'],
    ['en', '500,00'],
    ['en', '5,00,000'],
    ['en', '1.000.000'],
    ['en', '1 000'],
    ['en', 'many'],
    ['en', '1e3'],
    ['en', '50.000'],
    ['en', '1.500'],
    ['de', '50,000'],
    ['en', '0x10'],
    ['en', '5kk'],
    ['en', '.'],
    ['de', '0.5'],
    ['de', '1,000,000'],
    ['de', '1.00'],
  ])('in %s as "%s" is rejected', (language, text) => {
    speak(language);
    expect(parseNumber(text).problem).toBeDefined();
    expect(parseNumber(text).value).toBeUndefined();
  });

  it('is read back as it is shown, in every language', () => {
    for (const language of ['en', 'de', 'fr', 'es', 'pl', 'en-IN', 'de-CH', 'ja', 'pt-BR', 'ru', 'sv']) {
      speak(language);
      for (const value of [0, 0.25, 5, 999, 1_000, 12_345.678, 1_000_000, 100_000_000, -1]) {
        expect(parseNumber(formatTypedNumber(value)), `${language}: ${formatTypedNumber(value)}`).toEqual({ value });
      }
    }
  });

  it('is empty for an empty text', () => {
    expect(parseNumber('  ')).toEqual({});
  });
});

it('a setting’s unit is next to its field and not also in its title', () => {
  const titles = SETTING_NAMES.map((name) => [name, getFieldTitle(name, { title: SETTINGS[name].title })] as const);
  const inner = ['timeoutSeconds', 'percentage', 'windowPercent'].map(
    (name) => [name, getFieldTitle(name, {})] as const,
  );
  for (const [name, title] of [...titles, ...inner]) {
    const unit = getUnitOfSetting(name, []);
    if (unit === 's' || unit === '%') expect(title, name).not.toMatch(/second|percent|%/i);
  }
});

it('all number fields in the settings have units', () => {
  expect(getUnitOfSetting('agent.declaredWindow', [])).toBe('tokens');
  expect(getUnitOfSetting('thresholdTokens', [])).toBe('tokens');
  expect(getUnitOfSetting('profiles', [0, 'prices', 'input'])).toBe('$ per million tokens');
  expect(getUnitOfSetting('profiles', [0, 'timeoutSeconds'])).toBe('s');
  expect(getUnitOfSetting('maxCostPerCondensation', [])).toBe('$');
  expect(getUnitOfSetting('manual.targetPercent', [])).toBe('%');
  expect(getUnitOfSetting('coherenceFloor', ['files'])).toBe('%');
  expect(getUnitOfSetting('native', ['keepLast'])).toBeUndefined();
});

/** The unit that a number's text names. */
const NAMED_UNITS: readonly (readonly [RegExp, string])[] = [
  [/^US dollars per million/, '$ per million tokens'],
  [/^(?:Maximum )?[Nn]umber of [a-z' ]*tokens\b/, 'tokens'],
  [/^Percentage of/, '%'],
];

it('a profile’s number fields have the units that their texts name', () => {
  const numbersIn = (schema: JsonSchema, path: Path): (readonly [Path, string])[] =>
    Object.entries(getSchemaFields(schema)).flatMap(([field, inner]) => {
      const text = typeof inner['description'] === 'string' ? inner['description'] : '';
      const at = [...path, field];
      return ['number', 'integer'].includes(String(inner['type'])) ? [[at, text] as const] : numbersIn(inner, at);
    });
  const told = numbersIn(toJsonSchema(profileSchema), [0]).flatMap(([path, text]) =>
    NAMED_UNITS.filter(([words]) => words.test(text)).map(([, unit]) => ({ path, unit })),
  );
  expect(told.length).toBeGreaterThan(10);
  for (const { path, unit } of told) {
    // The token factor is a ratio of two token counts, so it has no unit.
    if (path.at(-1) === 'tokenFactor') continue;
    expect(getUnitOfSetting('profiles', path), path.join('.')).toBe(unit);
  }
});

it.each([
  ['en', 0.5, '0.50'],
  ['en', 5, '5.00'],
  ['en', 0.125, '0.125'],
  ['de', 1_234.5, '1.234,50'],
])('in %s, an amount of %d is written as "%s" and read back', (language, value, text) => {
  speak(language);
  expect(formatTypedNumber(value, true)).toBe(text);
  expect(parseNumber(text)).toEqual({ value });
});
