import { expect, it } from 'vitest';
import { recommendedProfile, type ProfileFigures } from './recommendedProfile';

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

it('is the one that pays for itself first', () => {
  expect(recommendedProfile([figures('a', after(9)), figures('b', { cost: 0.3, ...after(4) })])).toBe('b');
});

it('else the one that takes out a token for the least', () => {
  expect(recommendedProfile([figures('a'), figures('b', { cost: 0.12, tokensSaved: 2_000 })])).toBe('b');
  expect(recommendedProfile([figures('a', after(4)), figures('b', { cost: 0.05, ...after(4) })])).toBe('b');
});

it('is undefined if there is no choice, no cost, or nothing to gain', () => {
  expect(recommendedProfile([figures('a')])).toBeUndefined();
  expect(recommendedProfile([figures('a'), figures('b', { cost: undefined })])).toBeUndefined();
  expect(recommendedProfile([figures('a'), figures('b', { tokensSaved: 0 })])).toBeUndefined();
  expect(recommendedProfile([figures('a', after(undefined)), figures('b', after(undefined))])).toBeUndefined();
});
