import { isSoundUsage, MAX_CALL_USD, type Usage } from '../core/cost/usage';

/** A count in a vendor's JSON: 0 where there is none (some servers write -1), NaN where something else stands in its place. */
export const tokensIn = (value: unknown): number => {
  if (value === undefined || value === null) return 0;
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, Math.round(value)) : Number.NaN;
};

/** A vendor's charge in US dollars; undefined where there is none, or something else stands in its place. */
export const chargeIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MAX_CALL_USD ? value : undefined;

/**
 * A usage made of a vendor's report; undefined where one of its numbers is none that a call can have. Such a report says
 * nothing, so the call counts as one that was not reported.
 */
export const reportedUsage = (usage: Omit<Usage, 'source'>): Usage | undefined => {
  const reported: Usage = { ...usage, source: 'reported' };
  return isSoundUsage(reported) ? reported : undefined;
};
