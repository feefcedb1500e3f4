/**
 * What to send next for one request of an agent after an answer that is of no use: one policy for the chat and the gateway. A refusal costs
 * nothing and comes before the agent has seen anything, so another form of the request can take its place.
 */
import type { ApiError } from '../api/apiError';
import { refusesThinking } from '../api/refusedThinking';

/**
 * How often anything is sent to a vendor for one request of an agent. Waiting for a busy vendor (`api/retry.ts`) and learning a server's
 * dialect (`api/quirks.ts`) happen below this: they repeat the same content.
 */
export const MAX_ATTEMPTS = 4;

/** What is wrong with an answer. */
export type Problem =
  /** The request has too many tokens or bytes. */
  | 'too-long'
  /** The vendor does not take back what the model thought earlier. */
  | 'thinking'
  /** The vendor calls the request's form invalid. */
  | 'invalid'
  /** A refusal that can't be read says nothing about its reason. */
  | 'unreadable'
  /** The model made calls that no tool may get. Its text has already been shown, so the answer can only be continued. */
  | 'wrong-calls';

/** A way to change a request. Not every one is possible for every request. */
export type Change = 'shorten' | 'leave-out-thinking' | 'send-as-it-came' | 'correct-calls';

/** A request that was answered with a problem. */
export interface Attempt<Reason> {
  /** What was changed in the request before it; undefined: it is the first. */
  readonly change: Change | undefined;
  /** Whether something of what the agent sent was left out. */
  readonly isCondensed: boolean;
  readonly problem: Problem;
  /** What the agent is told if nothing more is sent. */
  readonly reason: Reason;
}

export type Next<Reason> =
  | { readonly kind: 'change'; readonly change: Change }
  /** Nothing more is sent. The reason is that of the attempt which explains the failure best. */
  | { readonly kind: 'stop'; readonly reason: Reason };

/**
 * Decides what follows the attempts so far.
 * @param attempts in their order
 * @param impossible changes that can't be made, or would make no difference
 */
function nextAttempt<Reason>(
  attempts: readonly [...Attempt<Reason>[], Attempt<Reason>],
  impossible: ReadonlySet<Change>,
): Next<Reason> {
  const last = attempts[attempts.length - 1] as Attempt<Reason>;
  const { problem, isCondensed } = last;
  const isShown = attempts.some((attempt) => attempt.problem === 'wrong-calls');
  const stop = ({ reason }: Attempt<Reason>): Next<Reason> => ({ kind: 'stop', reason });
  const orStop = (change: Change): Next<Reason> =>
    attempts.length < MAX_ATTEMPTS && !impossible.has(change) ? { kind: 'change', change } : stop(last);

  if (problem === 'wrong-calls') return orStop('correct-calls');
  if (problem === 'thinking' && !impossible.has('leave-out-thinking')) {
    if (attempts.every(({ change }) => change !== 'leave-out-thinking')) return orStop('leave-out-thinking');
  }
  if (problem === 'unreadable' || isShown) return stop(last);
  if (problem === 'too-long') {
    // The agent's own form took the place of one that was refused for another reason, which is what a person has to know.
    return last.change === 'send-as-it-came' ? stop(attempts.at(-2) ?? last) : orStop('shorten');
  }
  if (!isCondensed) return stop(last);
  // What came is no shorter than what was too long, so the vendor's answer to it is known.
  const tooLong = attempts.find((attempt) => attempt.problem === 'too-long');
  return tooLong ? stop(tooLong) : orStop('send-as-it-came');
}

/** The attempts at one request of an agent. */
export class Attempts<Reason> {
  private readonly made: Attempt<Reason>[] = [];
  private readonly impossible = new Set<Change>();

  /** Notes what is wrong with the answer to what was sent last, which was made as {@link next} said. */
  failed(problem: Problem, isCondensed: boolean, reason: Reason): void {
    const next = this.made.length === 0 ? undefined : this.next;
    this.made.push({ change: next?.kind === 'change' ? next.change : undefined, isCondensed, problem, reason });
  }

  /** Notes that a change can't be made, or would make no difference. */
  cannot(change: Change): void {
    this.impossible.add(change);
  }

  /** Whether the last attempt failed for this reason. */
  failedFor(reason: unknown): boolean {
    return this.made.length > 0 && this.made.at(-1)?.reason === reason;
  }

  /** Whether a change was made. */
  hasMade(change: Change): boolean {
    const next = this.made.length === 0 ? undefined : this.next;
    const isLast = next?.kind === 'change' && next.change === change;
    return isLast || this.made.some((attempt) => attempt.change === change);
  }

  /** @throws RangeError before the first attempt has failed */
  get next(): Next<Reason> {
    const { made, impossible } = this;
    const last = made.at(-1);
    if (!last) throw new RangeError('No attempt has failed yet.');
    return nextAttempt([...made.slice(0, -1), last], impossible);
  }
}

/** What an error of a call says of its request; undefined if no other form of the request would help. */
export function problemIn({ kind, details }: ApiError): Problem | undefined {
  if (kind === 'context-too-long' || kind === 'too-many-bytes') return 'too-long';
  if (kind !== 'invalid-request') return undefined;
  return refusesThinking(details.vendorMessage ?? '') ? 'thinking' : 'invalid';
}

/** How long after a failure the same request counts as its repetition, in milliseconds. */
const REPETITION_MS = 30_000;
/** So often VS Code sends a request again that failed, within seconds (seen in 1.139). */
const MAX_REPETITIONS = 3;

interface Failure {
  readonly error: ApiError;
  readonly at: number;
  repetitions: number;
}

export type Repetition =
  /** The request may be tried again with growing waits. */
  | { readonly kind: 'none' }
  /** It failed just now, and was waited for then: it is tried once. */
  | { readonly kind: 'once' }
  /** It can't succeed, or would be waited for as long again: it gets the same error. */
  | { readonly kind: 'stop'; readonly reason: ApiError };

/** The requests that failed a short time ago, so that our retries and those of the agent don't multiply; in memory alone. */
export class RecentFailures {
  private readonly failures = new Map<string, Failure>();

  constructor(private readonly now: () => number = Date.now) {}

  /** Says whether a request, named by its identity, repeats one that failed. */
  repetition(request: string): Repetition {
    this.forgetOld();
    const failure = this.failures.get(request);
    if (!failure || failure.repetitions >= MAX_REPETITIONS) {
      this.failures.delete(request);
      return { kind: 'none' };
    }
    failure.repetitions++;
    const { error } = failure;
    return error.canRetry && error.kind !== 'timeout' ? { kind: 'once' } : { kind: 'stop', reason: error };
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
