import type { ApiError, ApiErrorDetails } from './apiError';

export interface RetryPolicy {
  /** Number of retries. Default 3. */
  readonly retries: number;
  /** First delay in milliseconds, doubled each time. Default 1000. */
  readonly firstWaitMs: number;
  /** Maximum delay of our own, in milliseconds. Default 30,000. */
  readonly longestWaitMs: number;
  /**
   * Maximum `retry-after` to wait for, in milliseconds; a longer one is reported as an error.
   * Default 60,000.
   */
  readonly longestRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  retries: 3,
  firstWaitMs: 1000,
  longestWaitMs: 30_000,
  longestRetryAfterMs: 60_000,
};

/** Connections lost, as opposed to never established. */
const BROKEN_CONNECTION_CODES = new Set<string | undefined>([
  undefined,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** True if an established connection was lost, so the request may have arrived. */
export const isBrokenOff = ({ code }: ApiErrorDetails): boolean => BROKEN_CONNECTION_CODES.has(code);

const isWorthRetrying = ({ kind, details }: ApiError): boolean =>
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
  if (tried >= policy.retries || !isWorthRetrying(error)) return undefined;
  const asked = error.details.retryAfterMs;
  if (asked !== undefined) {
    return asked > policy.longestRetryAfterMs ? undefined : Math.round(asked * (1 + random / 10));
  }
  const doubled = Math.min(policy.longestWaitMs, policy.firstWaitMs * 2 ** tried);
  return Math.round(doubled * (1 - random / 2));
}
