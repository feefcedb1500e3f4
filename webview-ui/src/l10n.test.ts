import { expect, it } from 'vitest';
import { formatChange, formatDollars, formatPercent, formatPrice } from './l10n';

it('a share is shown as 0 only if there is nothing', () => {
  expect([0, 0.03, 0.3, 9.97, 42.4].map(formatPercent)).toEqual(['0%', '<0.1%', '0.3%', '10%', '42%']);
});

it('a share is shown as 100 only if it is all', () => {
  expect([99.4, 99.5, 99.98, 100].map(formatPercent)).toEqual(['99%', '99.5%', '99.9%', '100%']);
  expect(formatChange(-99.93)).toBe('−99.9%');
});

it('a change is shown with its sign, unless it is too small to show', () => {
  expect([-14.6, -8.27, -0.04, 0, 0.03, 11.2].map(formatChange)).toEqual([
    '−15%',
    '−8.3%',
    '<0.1%',
    '0%',
    '<0.1%',
    '+11%',
  ]);
});

it('a cost is shown as 0 only if there is none, with as many decimals as in messages', () => {
  expect([undefined, 0, 0.00001, 0.002, 0.0149, 3].map(formatDollars)).toEqual([
    'unknown',
    '$0',
    '<$0.0001',
    '$0.0020',
    '$0.01',
    '$3.00',
  ]);
});

it('a price is shown with all its decimals', () => {
  expect([0, 0.075, 3].map(formatPrice)).toEqual(['$0', '$0.075', '$3.00']);
});
