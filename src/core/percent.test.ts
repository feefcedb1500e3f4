import { expect, it } from 'vitest';
import { formatPercent, formatShare } from './percent';

it.each<[number, number | undefined, string]>([
  [0, undefined, '0%'],
  [0.04, undefined, '<0.1%'],
  [-0.04, undefined, '<0.1%'],
  [0.06, undefined, '0.1%'],
  [-5.3, undefined, '−5.3%'],
  [9.96, undefined, '10%'],
  [91.24, undefined, '91%'],
  [91.24, 1, '91.2%'],
  [75, 1, '75%'],
  [99.6, undefined, '99.6%'],
  [-99.93, undefined, '−99.9%'],
  [99.99, 1, '99.9%'],
  [99.5, 0, '99.5%'],
  [100, undefined, '100%'],
  [-100, undefined, '−100%'],
  [100.04, undefined, '100%'],
  [0.4, 0, '<1%'],
  [0.6, 0, '1%'],
])('the percentage %d with decimals %s is written as %s', (percent, decimals, words) => {
  expect(formatPercent(percent, decimals)).toBe(words);
});

it('a share of nothing is written as 0%, and a tiny share is not', () => {
  expect(formatShare(0, 0)).toBe('0%');
  expect(formatShare(71, 200_000)).toBe('<0.1%');
  expect(formatShare(71, 200_000, 0)).toBe('<1%');
});
