import { expect, it } from 'vitest';
import { formatChange } from './l10n';

it('a change has its sign, and none where it rounds to nothing', () => {
  expect([-14.6, -8.27, -0.04, 0, 0.03, 11.2].map(formatChange)).toEqual(['-15%', '-8.3%', '0%', '0%', '0%', '+11%']);
});
