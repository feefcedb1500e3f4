import { isPlausibleUsage, MAX_CALL_USD, type Usage } from '../core/cost/usage';

/** A token count from JSON: 0 if absent (some servers write -1), NaN if invalid. */
export const parseTokens = (value: unknown): number => {
  if (value === undefined || value === null) return 0;
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, Math.round(value)) : Number.NaN;
};

/** US dollars; undefined if absent or invalid. */
export const parseCharge = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MAX_CALL_USD ? value : undefined;

/** Undefined if a number is impossible; the call then counts as unreported. */
export const validateUsage = (usage: Omit<Usage, 'source'>): Usage | undefined => {
  const reportedUsage: Usage = { ...usage, source: 'reported' };
  return isPlausibleUsage(reportedUsage) ? reportedUsage : undefined;
};
