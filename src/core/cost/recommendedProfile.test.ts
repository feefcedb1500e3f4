import { expect, it } from 'vitest';
import { recommendProfile, type ProfileFigures } from './recommendedProfile';

const figures = (profile: string, changes: Partial<ProfileFigures> = {}): ProfileFigures => ({
  profile,
  cost: 0.1,
  tokensSaved: 1_000,
  saving: undefined,
  ...changes,
});
const after = (breakEvenRequests: number | undefined): Partial<ProfileFigures> => ({
  saving: { perRequest: 0.01, cacheBreak: 0, breakEvenRequests },
});

it('the recommended profile is the profile that pays for itself first', () => {
  expect(recommendProfile([figures('a', after(9)), figures('b', { cost: 0.3, ...after(4) })])).toBe('b');
});

it('the recommended profile is the one with the lowest cost per removed token if none pays for itself', () => {
  expect(recommendProfile([figures('a'), figures('b', { cost: 0.12, tokensSaved: 2_000 })])).toBe('b');
  expect(recommendProfile([figures('a', after(4)), figures('b', { cost: 0.05, ...after(4) })])).toBe('b');
});

it('no profile is recommended if there is only one, or no cost, or nothing to gain', () => {
  expect(recommendProfile([figures('a')])).toBeUndefined();
  expect(recommendProfile([figures('a'), figures('b', { cost: undefined })])).toBeUndefined();
  expect(recommendProfile([figures('a'), figures('b', { tokensSaved: 0 })])).toBeUndefined();
  expect(recommendProfile([figures('a', after(undefined)), figures('b', after(undefined))])).toBeUndefined();
});
