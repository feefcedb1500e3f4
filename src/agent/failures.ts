/**
 * VS Code sends a request that failed three times more, within seconds (seen in 1.139). So that retries don't multiply:
 * the request itself is tried again with growing waits; its repetitions are tried once, or, where they can't succeed or
 * would be waited for as long again, answered with the same error.
 */
import type { ApiError } from '../api/apiError';
import { errorMessage } from '../core/errors';

/** How long after a failure the same request counts as its repetition, in milliseconds. */
const REPETITION_MS = 30_000;
const MAX_REPETITIONS = 3;

interface Failure {
  readonly error: ApiError;
  readonly at: number;
  repetitions: number;
}

export type Attempt =
  | { readonly kind: 'first' }
  /** The same request failed just now. */
  | { readonly kind: 'repetition' }
  | { readonly kind: 'hopeless'; readonly error: ApiError };

/** Which requests failed a short time ago, by what makes them the same; in memory alone. */
export class Failures {
  private readonly failures = new Map<string, Failure>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Starts an attempt of a request, named by its identity. */
  attempt(request: string): Attempt {
    this.forgetOld();
    const failure = this.failures.get(request);
    if (!failure || failure.repetitions >= MAX_REPETITIONS) {
      this.failures.delete(request);
      return { kind: 'first' };
    }
    failure.repetitions++;
    const { error } = failure;
    return error.canRetry && error.kind !== 'timeout' ? { kind: 'repetition' } : { kind: 'hopeless', error };
  }

  failed(request: string, error: ApiError): void {
    const repetitions = this.failures.get(request)?.repetitions ?? 0;
    this.failures.set(request, { error, at: this.now(), repetitions });
  }

  succeeded(request: string): void {
    this.failures.delete(request);
  }

  private forgetOld(): void {
    for (const [request, { at }] of this.failures) {
      if (this.now() - at > REPETITION_MS) this.failures.delete(request);
    }
  }
}

/** An error as the chat shows it: VS Code 1.139 shows the message, and behind it the stack where there is one. */
export function chatError(error: unknown): Error {
  const shown = new Error(errorMessage(error));
  shown.stack = '';
  return shown;
}
