/**
 * A state says what to do with an agent's request, an event what came of it, and {@link nextState}
 * what follows. The I/O is in `deliver.ts`.
 */
import type { IncomingMessage } from 'node:http';
import { classifyRefusal } from '../api/refusalKind';
import type { OverflowTokens } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import { chooseNextAttempt, type Attempt, type RequestChange, type RejectionProblem } from '../live/attempts';
import type { PreparedCall } from './condenser';

export interface Refusal {
  readonly answer: IncomingMessage;
  readonly bytes: Buffer;
  /** Undefined if the text can't be decompressed or is too long. */
  readonly words: string | undefined;
  readonly problem: RejectionProblem;
  /** Undefined if size was not the reason. */
  readonly overflow: OverflowTokens | undefined;
}

export interface LogLine {
  readonly kind: 'passed' | 'condensed' | 'problem';
  readonly detail: string;
}

interface Course<Tried = readonly Attempt<Refusal>[]> {
  readonly change: RequestChange | undefined;
  readonly rejected: Tried;
  readonly impossible: ReadonlySet<RequestChange>;
}

export type State =
  /** Without a call, only the original can be sent and its answer is not read. */
  | {
      readonly kind: 'sending';
      readonly call: PreparedCall | undefined;
      readonly course: Course;
      readonly log?: LogLine;
    }
  | { readonly kind: 'reading'; readonly call: PreparedCall; readonly course: Course; readonly answer: IncomingMessage }
  | {
      readonly kind: 'changing';
      readonly call: PreparedCall;
      readonly course: Course<Rejected>;
      readonly refusal: Refusal;
      readonly change: RequestChange;
    }
  | { readonly kind: 'refusing'; readonly refusal: Refusal; readonly log?: LogLine }
  /** The answer goes to the agent, and nothing more goes to the vendor. */
  | {
      readonly kind: 'passing';
      readonly call: PreparedCall | undefined;
      readonly answer: IncomingMessage;
      readonly isPaid: boolean;
    }
  | {
      readonly kind: 'booking';
      readonly call: PreparedCall;
      readonly answer: IncomingMessage;
      readonly isPaid: boolean;
      readonly usage: Usage | undefined;
      /** Set if the answer itself says that the request was too long. */
      readonly overflow: OverflowTokens | undefined;
      readonly log?: LogLine;
    }
  | { readonly kind: 'ended'; readonly isPaid: boolean; readonly log?: LogLine }
  | { readonly kind: 'failed'; readonly isPaid: boolean; readonly error: unknown };

type Rejected = readonly [...Attempt<Refusal>[], Attempt<Refusal>];

export type Event =
  | { readonly kind: 'answered'; readonly answer: IncomingMessage }
  | { readonly kind: 'read'; readonly refusal: Refusal }
  /** `call` is undefined if the change can't be made or would have no effect. */
  | { readonly kind: 'changed'; readonly call: PreparedCall | undefined }
  | { readonly kind: 'passed'; readonly usage?: Usage | undefined; readonly overflow?: OverflowTokens | undefined }
  | { readonly kind: 'booked' }
  | { readonly kind: 'refused' }
  /** `isPaid`: the vendor may be answering nevertheless. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly isPaid: boolean };

export const beginDelivery = (call: PreparedCall | undefined): State => ({
  kind: 'sending',
  call,
  // Only VS Code's chat can correct calls.
  course: { change: undefined, rejected: [], impossible: new Set(['correct-calls']) },
});

/** True if the vendor accepted the request, or may have. */
export const isPaid = (state: State): boolean => 'isPaid' in state && state.isPaid;

/** @throws RangeError if the event can't occur in the state */
export function nextState(state: State, event: Event): State {
  if (event.kind === 'failed') return { ...event, isPaid: event.isPaid || isPaid(state) };
  if (state.kind === 'sending' && event.kind === 'answered') {
    const { call, course } = state;
    const { answer } = event;
    const { statusCode: status = 0 } = answer;
    if (call && isRefusal(status)) return { kind: 'reading', call, course, answer };
    return { kind: 'passing', call, answer, isPaid: status < 300 };
  }
  if (state.kind === 'reading' && event.kind === 'read') {
    const { call, course } = state;
    const { refusal } = event;
    const { problem } = refusal;
    const attempt = { change: course.change, isCondensed: isCondensed(call), problem, reason: refusal };
    return changeOrRefuse(call, { ...course, rejected: [...course.rejected, attempt] }, refusal);
  }
  if (state.kind === 'changing' && event.kind === 'changed') {
    const { call, course, refusal, change } = state;
    return event.call
      ? { kind: 'sending', call: event.call, course: { ...course, change }, log: describeChange(change, refusal) }
      : changeOrRefuse(call, { ...course, impossible: new Set([...course.impossible, change]) }, refusal);
  }
  if (state.kind === 'passing' && event.kind === 'passed') {
    const { call, answer } = state;
    if (!call || !state.isPaid) return endAnswer(state);
    const { usage, overflow } = event;
    const booking = { kind: 'booking', call, answer, usage, overflow } as const;
    if (!overflow) return { ...booking, isPaid: true };
    // Vendors don't bill a prompt that they did not process.
    const log = toProblem('The vendor refused a request as too large in its answer.');
    return { ...booking, isPaid: usage !== undefined, log };
  }
  if (state.kind === 'booking' && event.kind === 'booked') return endAnswer(state);
  if (state.kind === 'refusing' && event.kind === 'refused') return { kind: 'ended', isPaid: false };
  throw new RangeError(`"${event.kind}" can't happen while "${state.kind}".`);
}

/** 400: invalid or too long; 413: too large; 422: invalid, on some servers. */
const isRefusal = (status: number): boolean => status === 400 || status === 413 || status === 422;

const isCondensed = (call: PreparedCall | undefined): boolean => call?.bytes !== undefined;

function changeOrRefuse(call: PreparedCall, course: Course<Rejected>, refusal: Refusal): State {
  const next = chooseNextAttempt(course.rejected, course.impossible);
  if (next.kind === 'change') return { kind: 'changing', call, course, refusal, change: next.change };
  const isOriginalTooLong = next.reason !== refusal && refusal.problem !== 'too-long';
  return {
    kind: 'refusing',
    refusal: next.reason,
    ...(isOriginalTooLong && {
      log: toProblem(`${describe(refusal)}; what came is too long to go out in its place.`),
    }),
  };
}

const toProblem = (detail: string): LogLine => ({ kind: 'problem', detail });

const describe = ({ words = '', answer }: Refusal): string =>
  `The vendor refused a condensed request (${classifyRefusal(words, answer.statusCode)})`;

function describeChange(change: RequestChange, refusal: Refusal): LogLine {
  if (change === 'shorten') return toProblem('The vendor refused a request as too large.');
  const form = change === 'send-as-it-came' ? 'as it came' : 'without its earlier thinking';
  return toProblem(`${describe(refusal)}; it went out ${form}.`);
}

const endAnswer = ({ call, answer, isPaid }: Extract<State, { kind: 'passing' | 'booking' }>): State => ({
  kind: 'ended',
  isPaid,
  log: { kind: isCondensed(call) ? 'condensed' : 'passed', detail: `status ${answer.statusCode ?? 0}` },
});
