import fc from 'fast-check';

/** For properties with slow cases: runs one of this many. Say why at the call. */
export const oneCaseIn = (many: number): { readonly numRuns: number } => ({
  numRuns: Math.ceil((fc.readConfigureGlobal().numRuns ?? 100) / many),
});
