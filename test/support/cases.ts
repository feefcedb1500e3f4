import fc from 'fast-check';

/** For a property whose cases are slow: only one of so many of those that other properties have. Say why beside it. */
export const oneCaseIn = (many: number): { readonly numRuns: number } => ({
  numRuns: Math.ceil((fc.readConfigureGlobal().numRuns ?? 100) / many),
});
