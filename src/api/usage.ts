/** A count of a vendor's JSON: whole, not negative; 0 for anything else. */
export const tokensIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
