/** One call to a model: its timeouts, its retries, its typed errors. What is sent and read is the handler's. */
import { ApiError } from './apiError';
import { toApiError, type ErrorContext } from './classifyError';
import { JsonFrames } from './jsonFrames';
import { systemClock, type Clock } from './clock';
import { guardedFetch } from './guardedFetch';
import { DEFAULT_RETRY, waitBeforeRetry, type RetryPolicy } from './retry';
import type { ApiEvent, Usage } from './types';
import { untilAborted } from './untilAborted';

export interface Timeouts {
  /** Until the first byte of the answer's body, in milliseconds, at each try. Default 60,000. */
  readonly firstByteMs: number;
  /** Between two bytes of the answer, in milliseconds; undefined: as long as the whole call may take. */
  readonly silenceMs?: number;
  /** The whole call with its retries and waits, in milliseconds. Default 300,000. */
  readonly wholeMs: number;
}

const DEFAULT_TIMEOUTS: Timeouts = { firstByteMs: 60_000, wholeMs: 300_000 };

export interface CallOptions {
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Tests give their own clock and chance. */
  readonly clock?: Clock;
  /** From 0 to 1. */
  readonly random?: () => number;
  /** Sends what the SDKs ask for. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** The parts that a handler gets for one try. */
export interface Attempt {
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
  /** What an SDK that uses {@link Attempt.fetch} is given as a body. Not for one that signs what it writes. */
  readonly frame: <T>(body: T) => T;
  /** To be called whenever something of the answer comes, by a handler that doesn't use {@link Attempt.fetch}. */
  readonly onBytes: () => void;
  /** For the SDKs' own timeouts, in milliseconds: beyond ours, which come first. */
  readonly sdkTimeoutMs: number;
}

export interface Call extends CallOptions {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export interface StreamCall extends Call {
  readonly attempt: (attempt: Attempt) => AsyncIterable<ApiEvent>;
  /** Counts what the vendor did not report: the request's tokens, and those of the answer as far as it came. */
  readonly countUsage: (output: string) => Usage;
}

/**
 * @throws {ApiError} also when the stream ends without `end`. Once content was told, nothing is tried again: the caller
 * would get it twice.
 */
export const streamCall = (call: StreamCall): AsyncGenerator<ApiEvent, void> =>
  withRetries(
    call,
    (attempt) => measured(call, attempt),
    (event) => event.type !== 'usage',
  );

/** A call with one answer, such as a token count. @throws {ApiError} */
export async function singleCall<T>(call: Call, ask: (attempt: Attempt) => Promise<T>): Promise<T> {
  const answers = withRetries(
    call,
    (attempt) =>
      untilAborted(
        onlyItem(() => ask(attempt)),
        attempt.signal,
      ),
    () => true,
  );
  for await (const answer of answers) return answer;
  throw new ApiError('protocol', { name: call.name });
}

async function* onlyItem<T>(get: () => Promise<T>): AsyncGenerator<T, void> {
  yield await get();
}

async function* withRetries<T>(
  call: Call,
  source: (attempt: Attempt) => AsyncIterable<T>,
  isContent: (item: T) => boolean,
): AsyncGenerator<T, void> {
  const { clock = systemClock, random = Math.random, name } = call;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...call.timeouts };
  const policy = { ...DEFAULT_RETRY, ...call.retry };
  const whole = new AbortController();
  const onAbort = (): void => {
    whole.abort(new ApiError('aborted', { name }));
  };
  const stopTimer = clock.after(timeouts.wholeMs, () => {
    const what = `The answer was not complete after ${timeouts.wholeMs / 1000} s.`;
    whole.abort(new ApiError('timeout', { name, what }));
  });
  if (call.signal?.aborted === true) onAbort();
  call.signal?.addEventListener('abort', onAbort);
  try {
    for (let tried = 0; ; tried++) {
      let hasContent = false;
      try {
        for await (const item of oneTry(call, timeouts, clock, whole.signal, source)) {
          hasContent ||= isContent(item);
          yield item;
        }
        return;
      } catch (raw) {
        const error = toApiError(raw, errorContext(call, clock));
        const wait = hasContent ? undefined : waitBeforeRetry(error, tried, policy, random());
        if (wait === undefined) throw error;
        await clock.sleep(wait, whole.signal);
      }
    }
  } finally {
    stopTimer();
    call.signal?.removeEventListener('abort', onAbort);
  }
}

const errorContext = ({ name, secrets }: Call, clock: Clock): ErrorContext => ({ name, secrets, now: clock.now() });

async function* oneTry<T>(
  { name, fetch: send }: Call,
  { firstByteMs, silenceMs, wholeMs }: Timeouts,
  clock: Clock,
  whole: AbortSignal,
  source: (attempt: Attempt) => AsyncIterable<T>,
): AsyncGenerator<T, void> {
  const controller = new AbortController();
  const onAbort = (): void => {
    controller.abort(whole.reason);
  };
  if (whole.aborted) onAbort();
  whole.addEventListener('abort', onAbort);
  const { signal } = controller;
  const waitFor = (milliseconds: number): (() => void) =>
    clock.after(milliseconds, () => {
      controller.abort(new ApiError('timeout', { name, what: `Nothing was received for ${milliseconds / 1000} s.` }));
    });
  let stopTimer = waitFor(firstByteMs);
  const onBytes = (): void => {
    stopTimer();
    stopTimer = silenceMs === undefined || signal.aborted ? () => undefined : waitFor(silenceMs);
  };
  const frames = new JsonFrames();
  const attempt = {
    signal,
    fetch: guardedFetch(name, onBytes, frames, send),
    frame: <T>(body: T): T => frames.of(body),
    onBytes,
    sdkTimeoutMs: wholeMs + 60_000,
  };
  try {
    yield* source(attempt);
  } finally {
    stopTimer();
    whole.removeEventListener('abort', onAbort);
    // Whoever leaves early closes the connection; after the end this does nothing.
    controller.abort(new ApiError('aborted', { name }));
  }
}

/** The events up to `end`, with a usage in any case: reported, or counted where the vendor's is missing or was cut off. */
async function* measured(
  { attempt: open, countUsage, name }: StreamCall,
  attempt: Attempt,
): AsyncGenerator<ApiEvent, void> {
  let output = '';
  let usage: Usage | undefined;
  const counted = (): Usage => {
    const own = countUsage(output);
    return usage ? { ...usage, source: 'counted', outputTokens: Math.max(usage.outputTokens, own.outputTokens) } : own;
  };
  try {
    for await (const event of untilAborted(open(attempt), attempt.signal)) {
      if (event.type === 'text' || event.type === 'thinking') output += event.text;
      if (event.type === 'tool_call') output += event.name + event.rawArguments;
      if (event.type === 'usage') usage = event.usage;
      if (event.type === 'end') {
        if (!usage) yield { type: 'usage', usage: counted() };
        yield event;
        return;
      }
      yield event;
    }
    throw new ApiError('protocol', { name, what: 'The answer broke off before its end.' });
  } catch (error) {
    if (output !== '') yield { type: 'usage', usage: counted() };
    throw error;
  }
}
