import type { ApiError, ApiErrorDetails } from './apiError';

export interface RetryPolicy {
  readonly retries: number;
  /** Milliseconds before the first retry; doubles with each further one (default 1000). */
  readonly firstWaitMs: number;
  /** Maximum milliseconds of our own delays, not of the vendor's (default 30,000). */
  readonly longestWaitMs: number;
  /** If the vendor's `retry-after` exceeds these milliseconds, the call fails (default 60,000). */
  readonly longestRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  retries: 3,
  firstWaitMs: 1000,
  longestWaitMs: 30_000,
  longestRetryAfterMs: 60_000,
};

const BROKEN_CONNECTION_CODES = new Set<string | undefined>([
  undefined,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** True if an established connection broke, so the request may have arrived. */
export const isBrokenConnection = ({ code }: ApiErrorDetails): boolean => BROKEN_CONNECTION_CODES.has(code);

const isWorthRetrying = ({ kind, details }: ApiError): boolean =>
  kind === 'rate-limit' ||
  kind === 'overloaded' ||
  kind === 'server' ||
  (kind === 'network' && isBrokenConnection(details));

/**
 * Jitter shortens our own waits by up to half, and lengthens the vendor's by up to a tenth.
 * @param retryCount number of retries so far
 * @param random from 0 to 1
 * @returns undefined if there is no further try
 */
export function computeRetryDelayMs(
  error: ApiError,
  retryCount: number,
  policy: RetryPolicy,
  random: number,
): number | undefined {
  if (retryCount >= policy.retries || !isWorthRetrying(error)) return undefined;
  const requestedMs = error.details.retryAfterMs;
  if (requestedMs !== undefined) {
    return requestedMs > policy.longestRetryAfterMs ? undefined : Math.round(requestedMs * (1 + random / 10));
  }
  const doubledWaitMs = Math.min(policy.longestWaitMs, policy.firstWaitMs * 2 ** retryCount);
  return Math.round(doubledWaitMs * (1 - random / 2));
}
