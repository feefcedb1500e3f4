import fc from 'fast-check';

/** Runs one of this many cases, for properties with slow cases. Say why at the call. */
export const runOneCaseIn = (many: number): { readonly numRuns: number } => ({
  numRuns: Math.ceil((fc.readConfigureGlobal().numRuns ?? 100) / many),
});
