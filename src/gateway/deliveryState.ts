/**
 * A state says what to do with an agent's request, an event what came of it, and {@link
 * getNextState} what follows.
 */
import type { IncomingMessage } from 'node:http';
import { describeRefusalForLog } from '../api/refusalKind';
import type { OverflowReport } from '../api/tooLong';
import type { Usage } from '../core/cost/usage';
import { chooseNextAttempt, type RequestAttempt, type RequestChange, type RejectionProblem } from '../live/attempts';
import type { PreparedHttpCall } from './condenser';

export interface VendorRefusal {
  readonly answer: IncomingMessage;
  readonly bytes: Buffer;
  /** Text of the rejection; undefined if it can't be decompressed or is too long. */
  readonly text: string | undefined;
  readonly problem: RejectionProblem;
  /** What the rejection says about the size; undefined if size was not the reason. */
  readonly overflow: OverflowReport | undefined;
}

export interface DeliveryLogLine {
  readonly kind: 'passed' | 'condensed' | 'problem';
  readonly detail: string;
}

interface DeliveryCourse<Tried = readonly RequestAttempt<VendorRefusal>[]> {
  readonly change: RequestChange | undefined;
  readonly rejected: Tried;
  readonly impossible: ReadonlySet<RequestChange>;
}

export type DeliveryState =
  /** If `call` is undefined, only the original can be sent and its answer is not read. */
  | {
      readonly kind: 'sending';
      readonly call: PreparedHttpCall | undefined;
      readonly course: DeliveryCourse;
      readonly log?: DeliveryLogLine;
    }
  | {
      readonly kind: 'reading';
      readonly call: PreparedHttpCall;
      readonly course: DeliveryCourse;
      readonly answer: IncomingMessage;
    }
  | {
      readonly kind: 'changing';
      readonly call: PreparedHttpCall;
      readonly course: DeliveryCourse<RejectedAttempts>;
      readonly refusal: VendorRefusal;
      readonly change: RequestChange;
    }
  | { readonly kind: 'refusing'; readonly refusal: VendorRefusal; readonly log?: DeliveryLogLine }
  /** The answer goes to the agent, and nothing more goes to the vendor. */
  | {
      readonly kind: 'passing';
      readonly call: PreparedHttpCall | undefined;
      readonly answer: IncomingMessage;
      readonly isPaid: boolean;
    }
  | {
      readonly kind: 'booking';
      readonly call: PreparedHttpCall;
      readonly answer: IncomingMessage;
      readonly isPaid: boolean;
      readonly usage: Usage | undefined;
      /** Set if a successful answer says that the request was too long. */
      readonly overflow: OverflowReport | undefined;
      readonly log?: DeliveryLogLine;
    }
  | { readonly kind: 'ended'; readonly isPaid: boolean; readonly log?: DeliveryLogLine }
  | { readonly kind: 'failed'; readonly isPaid: boolean; readonly error: unknown };

type RejectedAttempts = readonly [...RequestAttempt<VendorRefusal>[], RequestAttempt<VendorRefusal>];

export type DeliveryEvent =
  | { readonly kind: 'answered'; readonly answer: IncomingMessage }
  | { readonly kind: 'read'; readonly refusal: VendorRefusal }
  /** `call` is undefined if the change can't be made or would have no effect. */
  | { readonly kind: 'changed'; readonly call: PreparedHttpCall | undefined }
  | { readonly kind: 'passed'; readonly usage?: Usage | undefined; readonly overflow?: OverflowReport | undefined }
  | { readonly kind: 'booked' }
  | { readonly kind: 'refused' }
  /** `isPaid` is true if the vendor may be answering despite the error. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly isPaid: boolean };

export const beginDelivery = (call: PreparedHttpCall | undefined): DeliveryState => ({
  kind: 'sending',
  call,
  // The change `correct-calls` is only possible in VS Code's chat.
  course: { change: undefined, rejected: [], impossible: new Set(['correct-calls']) },
});

/** True if the vendor accepted the request, or may have. */
export const hasBeenPaid = (state: DeliveryState): boolean => 'isPaid' in state && state.isPaid;

/** @throws RangeError if the event can't occur in the state */
export function getNextState(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  if (event.kind === 'failed') return { ...event, isPaid: event.isPaid || hasBeenPaid(state) };
  if (state.kind === 'sending' && event.kind === 'answered') {
    const { call, course } = state;
    const { answer } = event;
    const { statusCode: status = 0 } = answer;
    if (call && isRefusalStatus(status)) return { kind: 'reading', call, course, answer };
    return { kind: 'passing', call, answer, isPaid: status < 300 };
  }
  if (state.kind === 'reading' && event.kind === 'read') {
    const { call, course } = state;
    const { refusal } = event;
    const { problem } = refusal;
    const attempt = { change: course.change, isCondensed: isCondensedCall(call), problem, reason: refusal };
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
    if (!call || !state.isPaid) return makeEndState(state);
    const { usage, overflow } = event;
    const bookingState = { kind: 'booking', call, answer, usage, overflow } as const;
    if (!overflow) return { ...bookingState, isPaid: true };
    // Vendors don't bill a prompt that they did not process.
    const log = makeProblemLine('The vendor refused a request as too large in its answer.');
    return { ...bookingState, isPaid: usage !== undefined, log };
  }
  if (state.kind === 'booking' && event.kind === 'booked') return makeEndState(state);
  if (state.kind === 'refusing' && event.kind === 'refused') return { kind: 'ended', isPaid: false };
  throw new RangeError(`"${event.kind}" can't happen while "${state.kind}".`);
}

/** 400: invalid or too long; 413: too large; 422: invalid, on some servers. */
const isRefusalStatus = (status: number): boolean => status === 400 || status === 413 || status === 422;

const isCondensedCall = (call: PreparedHttpCall | undefined): boolean => call?.bytes !== undefined;

function changeOrRefuse(
  call: PreparedHttpCall,
  deliveryCourse: DeliveryCourse<RejectedAttempts>,
  refusal: VendorRefusal,
): DeliveryState {
  const nextStep = chooseNextAttempt(deliveryCourse.rejected, deliveryCourse.impossible);
  if (nextStep.kind === 'change')
    return { kind: 'changing', call, course: deliveryCourse, refusal, change: nextStep.change };
  const isOriginalTooLong = nextStep.reason !== refusal && refusal.problem !== 'too-long';
  return {
    kind: 'refusing',
    refusal: nextStep.reason,
    ...(isOriginalTooLong && {
      log: makeProblemLine(`${describeRefusal(refusal)}; what came is too long to go out in its place.`),
    }),
  };
}

const makeProblemLine = (detail: string): DeliveryLogLine => ({ kind: 'problem', detail });

const describeRefusal = ({ text = '', answer }: VendorRefusal): string =>
  `The vendor refused a condensed request (${describeRefusalForLog(text, answer.statusCode)})`;

function describeChange(change: RequestChange, refusal: VendorRefusal): DeliveryLogLine {
  if (change === 'shorten') return makeProblemLine('The vendor refused a request as too large.');
  const formText = change === 'send-as-it-came' ? 'as it came' : 'without its earlier thinking';
  return makeProblemLine(`${describeRefusal(refusal)}; it went out ${formText}.`);
}

const makeEndState = ({
  call,
  answer,
  isPaid,
}: Extract<DeliveryState, { kind: 'passing' | 'booking' }>): DeliveryState => ({
  kind: 'ended',
  isPaid,
  log: { kind: isCondensedCall(call) ? 'condensed' : 'passed', detail: `status ${answer.statusCode ?? 0}` },
});
