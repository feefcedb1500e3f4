/**
 * A rejection costs nothing and precedes any output, so another form of the request can be sent.
 */
import type { ApiError } from '../api/apiError';
import { isThinkingRejection } from '../api/refusedThinking';

/**
 * Maximum number of forms that are sent of one request of an agent, not counting retries of the
 * same content (`api/retry.ts`, `api/quirks.ts`).
 */
export const MAX_ATTEMPTS = 4;

export type RejectionProblem =
  /** Too many tokens or bytes. */
  | 'too-long'
  | 'thinking'
  | 'invalid'
  | 'unreadable'
  /**
   * The model made invalid calls. The user has already seen its text, so the answer can only be
   * continued.
   */
  | 'wrong-calls';

export type RequestChange = 'shorten' | 'leave-out-thinking' | 'send-as-it-came' | 'correct-calls';

export interface RequestAttempt<Reason> {
  readonly change: RequestChange | undefined;
  /** True if some of the agent's content was left out. */
  readonly isCondensed: boolean;
  readonly problem: RejectionProblem;
  readonly reason: Reason;
}

export type NextAttemptStep<Reason> =
  | { readonly kind: 'change'; readonly change: RequestChange }
  /** `reason` comes from the attempt that explains the failure best. */
  | { readonly kind: 'stop'; readonly reason: Reason };

export function chooseNextAttempt<Reason>(
  attempts: readonly [...RequestAttempt<Reason>[], RequestAttempt<Reason>],
  impossibleChanges: ReadonlySet<RequestChange>,
): NextAttemptStep<Reason> {
  const lastAttempt = attempts[attempts.length - 1] as RequestAttempt<Reason>;
  const { problem, isCondensed } = lastAttempt;
  const hasWrongCalls = attempts.some((attempt) => attempt.problem === 'wrong-calls');
  const stopWith = ({ reason }: RequestAttempt<Reason>): NextAttemptStep<Reason> => ({ kind: 'stop', reason });
  const changeOrStop = (change: RequestChange): NextAttemptStep<Reason> =>
    attempts.length < MAX_ATTEMPTS && !impossibleChanges.has(change)
      ? { kind: 'change', change }
      : stopWith(lastAttempt);

  if (problem === 'wrong-calls') return changeOrStop('correct-calls');
  if (problem === 'thinking' && !impossibleChanges.has('leave-out-thinking')) {
    if (attempts.every(({ change }) => change !== 'leave-out-thinking')) return changeOrStop('leave-out-thinking');
  }
  if (problem === 'unreadable' || hasWrongCalls) return stopWith(lastAttempt);
  if (problem === 'too-long') {
    // The original was only sent after another form was rejected for another reason: report that
    // reason.
    return lastAttempt.change === 'send-as-it-came'
      ? stopWith(attempts.at(-2) ?? lastAttempt)
      : changeOrStop('shorten');
  }
  if (!isCondensed) return stopWith(lastAttempt);
  // The original is no shorter than the form that was too long, so sending it would not help.
  const tooLongAttempt = attempts.find((attempt) => attempt.problem === 'too-long');
  return tooLongAttempt ? stopWith(tooLongAttempt) : changeOrStop('send-as-it-came');
}

export class RequestAttempts<Reason> {
  private readonly attempts: RequestAttempt<Reason>[] = [];
  private readonly impossible = new Set<RequestChange>();

  recordFailure(problem: RejectionProblem, isCondensed: boolean, reason: Reason): void {
    const next = this.attempts.length === 0 ? undefined : this.next;
    this.attempts.push({ change: next?.kind === 'change' ? next.change : undefined, isCondensed, problem, reason });
  }

  recordImpossible(change: RequestChange): void {
    this.impossible.add(change);
  }

  hasFailedFor(reason: unknown): boolean {
    return this.attempts.length > 0 && this.attempts.at(-1)?.reason === reason;
  }

  hasTried(change: RequestChange): boolean {
    const next = this.attempts.length === 0 ? undefined : this.next;
    const isNextChange = next?.kind === 'change' && next.change === change;
    return isNextChange || this.attempts.some((attempt) => attempt.change === change);
  }

  /** @throws RangeError before the first failure */
  get next(): NextAttemptStep<Reason> {
    const { attempts, impossible } = this;
    const lastAttempt = attempts.at(-1);
    if (!lastAttempt) throw new RangeError('No attempt has failed yet.');
    return chooseNextAttempt([...attempts.slice(0, -1), lastAttempt], impossible);
  }
}

/** Undefined if no other form of the request would help. */
export function classifyRejection({ kind, details }: ApiError): RejectionProblem | undefined {
  if (kind === 'context-too-long' || kind === 'too-many-bytes') return 'too-long';
  if (kind !== 'invalid-request') return undefined;
  return isThinkingRejection(details.vendorMessage ?? '') ? 'thinking' : 'invalid';
}

/**
 * If the same request comes again within this many milliseconds after a failure, it counts as a
 * repetition.
 */
const MAX_MS_UNTIL_REPETITION = 30_000;
/** VS Code repeats a failed request this often within seconds (seen in 1.139). */
const MAX_REPETITIONS_BY_VSCODE = 3;

interface RecentFailure {
  readonly error: ApiError;
  readonly at: number;
  repetitions: number;
}

export type RetryPolicy =
  | { readonly kind: 'none' }
  /** The request just failed after waiting for retries, so try it only once. */
  | { readonly kind: 'once' }
  /** Another try can't succeed or would wait as long again, so return the same error. */
  | { readonly kind: 'stop'; readonly reason: ApiError };

/** Recognizes the agent's own retries, so that they are not multiplied by ours. */
export class RecentFailures {
  private readonly failures = new Map<string, RecentFailure>();

  constructor(private readonly now: () => number = Date.now) {}

  getRetryPolicy(request: string): RetryPolicy {
    this.forgetOldFailures();
    const failure = this.failures.get(request);
    if (!failure || failure.repetitions >= MAX_REPETITIONS_BY_VSCODE) {
      this.failures.delete(request);
      return { kind: 'none' };
    }
    failure.repetitions++;
    const { error } = failure;
    return error.canRetry && error.kind !== 'timeout' ? { kind: 'once' } : { kind: 'stop', reason: error };
  }

  recordFailure(request: string, error: ApiError): void {
    const repetitions = this.failures.get(request)?.repetitions ?? 0;
    this.failures.set(request, { error, at: this.now(), repetitions });
  }

  recordSuccess(request: string): void {
    this.failures.delete(request);
  }

  private forgetOldFailures(): void {
    for (const [request, { at }] of this.failures) {
      if (this.now() - at > MAX_MS_UNTIL_REPETITION) this.failures.delete(request);
    }
  }
}
