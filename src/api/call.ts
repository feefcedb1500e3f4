import { ApiError } from './apiError';
import { toApiError, type ErrorContext } from './classifyError';
import { LargeTextPlaceholders } from './jsonFrames';
import { systemClock, type TimeSource } from './clock';
import { createFetchWithoutRedirects } from './guardedFetch';
import { DEFAULT_RETRY, computeRetryDelayMs, type RetryPolicy } from './retry';
import type { ApiEvent, Usage } from './types';
import { iterateUntilAborted } from './untilAborted';

export interface CallTimeouts {
  /** Limit until the first byte of each attempt's response, in milliseconds (default 60,000). */
  readonly firstByteMs: number;
  /** Limit between two bytes, in milliseconds (default: `wholeMs`). */
  readonly silenceMs?: number;
  /** Limit of the call with its retries, in milliseconds (default 300,000). */
  readonly wholeMs: number;
}

const DEFAULT_TIMEOUTS: CallTimeouts = { firstByteMs: 60_000, wholeMs: 300_000 };

export interface CallOptions {
  readonly timeouts?: Partial<CallTimeouts>;
  readonly retry?: Partial<RetryPolicy>;
  readonly clock?: TimeSource;
  readonly random?: () => number;
  readonly fetch?: typeof fetch;
}

export interface CallAttempt {
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
  /**
   * Replaces large texts by placeholders, which {@link CallAttempt.fetch} fills in again. An SDK
   * would serialize the texts at once and block the thread. Not for SDKs that sign bodies.
   */
  readonly insertPlaceholders: <T>(body: T) => T;
  /** Handlers that don't use {@link CallAttempt.fetch} must call this when data arrives. */
  readonly onBytes: () => void;
  /** Longer than our limits, so that ours apply first. */
  readonly sdkTimeoutMs: number;
}

export interface ApiCall extends CallOptions {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export interface StreamingApiCall extends ApiCall {
  readonly attempt: (attempt: CallAttempt) => AsyncIterable<ApiEvent>;
  /** Estimates the usage of an answer for which the vendor reported none. */
  readonly countUsage: (output: string) => Usage;
}

/**
 * Does not retry after content was emitted, since the caller would receive it twice.
 * @throws {ApiError} also if the stream ends without `end`
 */
export const streamWithRetries = (call: StreamingApiCall): AsyncGenerator<ApiEvent, void> =>
  withRetries(
    call,
    (attempt) => addMissingUsage(call, attempt),
    (event) => event.type !== 'usage',
  );

/** @throws {ApiError} */
export async function callWithRetries<T>(call: ApiCall, ask: (attempt: CallAttempt) => Promise<T>): Promise<T> {
  const answerStream = withRetries(
    call,
    (attempt) =>
      iterateUntilAborted(
        yieldResult(() => ask(attempt)),
        attempt.signal,
      ),
    () => true,
  );
  for await (const answer of answerStream) return answer;
  throw new ApiError('protocol', { name: call.name });
}

async function* yieldResult<T>(get: () => Promise<T>): AsyncGenerator<T, void> {
  yield await get();
}

async function* withRetries<T>(
  call: ApiCall,
  source: (attempt: CallAttempt) => AsyncIterable<T>,
  isContent: (item: T) => boolean,
): AsyncGenerator<T, void> {
  const { clock = systemClock, random = Math.random, name } = call;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...call.timeouts };
  const policy = { ...DEFAULT_RETRY, ...call.retry };
  const wholeCall = new AbortController();
  const onAbort = (): void => {
    wholeCall.abort(new ApiError('aborted', { name }));
  };
  const stopTimer = clock.after(timeouts.wholeMs, () => {
    const sentence = `The answer was not complete after ${timeouts.wholeMs / 1000} s.`;
    wholeCall.abort(new ApiError('timeout', { name, sentence }));
  });
  if (call.signal?.aborted === true) onAbort();
  call.signal?.addEventListener('abort', onAbort);
  try {
    for (let retryCount = 0; ; retryCount++) {
      let hasContent = false;
      try {
        for await (const item of attemptCall(call, timeouts, clock, wholeCall.signal, source)) {
          hasContent ||= isContent(item);
          yield item;
        }
        return;
      } catch (raw) {
        const error = toApiError(raw, makeErrorContext(call, clock));
        const waitMs = hasContent ? undefined : computeRetryDelayMs(error, retryCount, policy, random());
        if (waitMs === undefined) throw error;
        await clock.sleep(waitMs, wholeCall.signal);
      }
    }
  } finally {
    stopTimer();
    call.signal?.removeEventListener('abort', onAbort);
  }
}

const makeErrorContext = ({ name, secrets }: ApiCall, clock: TimeSource): ErrorContext => ({
  name,
  secrets,
  now: clock.now(),
});

async function* attemptCall<T>(
  { name, fetch: send }: ApiCall,
  { firstByteMs, silenceMs, wholeMs }: CallTimeouts,
  clock: TimeSource,
  wholeCall: AbortSignal,
  source: (attempt: CallAttempt) => AsyncIterable<T>,
): AsyncGenerator<T, void> {
  const controller = new AbortController();
  const onAbort = (): void => {
    controller.abort(wholeCall.reason);
  };
  if (wholeCall.aborted) onAbort();
  wholeCall.addEventListener('abort', onAbort);
  const { signal } = controller;
  const startTimeout = (milliseconds: number): (() => void) =>
    clock.after(milliseconds, () => {
      controller.abort(
        new ApiError('timeout', { name, sentence: `Nothing was received for ${milliseconds / 1000} s.` }),
      );
    });
  let stopTimer = startTimeout(firstByteMs);
  const onBytes = (): void => {
    stopTimer();
    stopTimer = silenceMs === undefined || signal.aborted ? () => undefined : startTimeout(silenceMs);
  };
  const placeholders = new LargeTextPlaceholders();
  const attempt = {
    signal,
    fetch: createFetchWithoutRedirects(name, onBytes, placeholders, send),
    insertPlaceholders: <T>(body: T): T => placeholders.insertPlaceholders(body),
    onBytes,
    sdkTimeoutMs: wholeMs + 60_000,
  };
  try {
    yield* source(attempt);
  } finally {
    stopTimer();
    wholeCall.removeEventListener('abort', onAbort);
    // Closes the connection if the caller leaves early; has no effect after the end.
    controller.abort(new ApiError('aborted', { name }));
  }
}

async function* addMissingUsage(
  { attempt: startAttempt, countUsage, name }: StreamingApiCall,
  attempt: CallAttempt,
): AsyncGenerator<ApiEvent, void> {
  let output = '';
  let usage: Usage | undefined;
  const estimateUsage = (): Usage => {
    const estimatedUsage = countUsage(output);
    return usage
      ? { ...usage, source: 'counted', outputTokens: Math.max(usage.outputTokens, estimatedUsage.outputTokens) }
      : estimatedUsage;
  };
  try {
    for await (const event of iterateUntilAborted(startAttempt(attempt), attempt.signal)) {
      if (event.type === 'text' || event.type === 'thinking') output += event.text;
      if (event.type === 'tool_call') output += event.name + event.rawArguments;
      if (event.type === 'usage') usage = event.usage;
      if (event.type === 'end') {
        if (!usage) yield { type: 'usage', usage: estimateUsage() };
        yield event;
        return;
      }
      yield event;
    }
    throw new ApiError('protocol', { name, sentence: 'The answer broke off before its end.' });
  } catch (error) {
    if (output !== '') yield { type: 'usage', usage: estimateUsage() };
    throw error;
  }
}
