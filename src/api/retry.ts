import type { ApiError, ApiErrorDetails } from './apiError';

export interface RetryPolicy {
  /** How often a call is tried again; 0: never. Default 3. */
  readonly retries: number;
  /** First wait in milliseconds; each next one is twice as long. Default 1000. */
  readonly firstWaitMs: number;
  /** Longest wait of our own, in milliseconds. Default 30,000. */
  readonly longestWaitMs: number;
  /** Longest `retry-after` that is waited for, in milliseconds; a longer one is told instead. Default 60,000. */
  readonly longestRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  retries: 3,
  firstWaitMs: 1000,
  longestWaitMs: 30_000,
  longestRetryAfterMs: 60_000,
};

/** A connection that broke, as against one that can't be made. */
const BROKEN = new Set<string | undefined>([
  undefined,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether a connection that stood broke off: the request may have arrived. */
export const isBrokenOff = ({ code }: ApiErrorDetails): boolean => BROKEN.has(code);

const isWorthIt = ({ kind, details }: ApiError): boolean =>
  kind === 'rate-limit' || kind === 'overloaded' || kind === 'server' || (kind === 'network' && isBrokenOff(details));

/**
 * How long to wait before the next try, in milliseconds; undefined: there is none. Jitter takes up to half of our own
 * waits, and adds up to a tenth to the vendor's, so that clients don't come back all at once.
 * @param tried how often it was tried again already
 * @param random from 0 to 1
 */
export function waitBeforeRetry(
  error: ApiError,
  tried: number,
  policy: RetryPolicy,
  random: number,
): number | undefined {
  if (tried >= policy.retries || !isWorthIt(error)) return undefined;
  const asked = error.details.retryAfterMs;
  if (asked !== undefined) {
    return asked > policy.longestRetryAfterMs ? undefined : Math.round(asked * (1 + random / 10));
  }
  const doubled = Math.min(policy.longestWaitMs, policy.firstWaitMs * 2 ** tried);
  return Math.round(doubled * (1 - random / 2));
}
