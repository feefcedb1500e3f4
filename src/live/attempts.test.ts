import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorKind } from '../api/apiError';
import {
  RequestAttempts,
  MAX_ATTEMPTS,
  classifyRejection,
  RecentFailures,
  type RequestChange,
  type RejectionProblem,
} from './attempts';

const CHANGES: readonly RequestChange[] = ['shorten', 'leave-out-thinking', 'send-as-it-came', 'correct-calls'];
const PROBLEMS: readonly RejectionProblem[] = ['too-long', 'thinking', 'invalid', 'unreadable', 'wrong-calls'];

/** The vendor's answers to an agent's request in turn, and the changes that the sender can make. */
interface Course {
  readonly isCondensed: boolean;
  readonly answers: readonly RejectionProblem[];
  readonly possible: ReadonlySet<RequestChange>;
}

interface Sent {
  readonly change: RequestChange | undefined;
  readonly isCondensed: boolean;
  readonly problem: RejectionProblem | undefined;
}

/**
 * Plays the part of the sender.
 * @returns what was sent, and the index of the rejection that the agent gets; undefined if the
 *   vendor accepted a form
 */
function play({ isCondensed, answers, possible }: Course): { readonly sent: readonly Sent[]; readonly told?: number } {
  const attempts = new RequestAttempts<number>();
  const sent: Sent[] = [];
  let form: Omit<Sent, 'problem'> = { change: undefined, isCondensed };
  for (;;) {
    const problem = answers[sent.length];
    sent.push({ ...form, problem });
    if (!problem) return { sent };
    attempts.recordFailure(problem, form.isCondensed, sent.length - 1);
    let { next } = attempts;
    while (next.kind === 'change' && !possible.has(next.change)) {
      attempts.recordImpossible(next.change);
      ({ next } = attempts);
    }
    if (next.kind === 'stop') return { sent, told: next.reason };
    const { change } = next;
    const isStillCondensed = change === 'shorten' || (change !== 'send-as-it-came' && form.isCondensed);
    form = { change, isCondensed: isStillCondensed };
  }
}

const ALL = new Set(CHANGES);
const view = (...answers: RejectionProblem[]): Course => ({ isCondensed: true, answers, possible: ALL });
const whole = (...answers: RejectionProblem[]): Course => ({ isCondensed: false, answers, possible: ALL });
const without = (course: Course, ...changes: RequestChange[]): Course => ({
  ...course,
  possible: new Set(CHANGES.filter((change) => !changes.includes(change))),
});

describe('what the chat sends after a rejected request', () => {
  it.each<[string, Course, readonly (RequestChange | undefined)[], number | undefined]>([
    ['a good answer ends it', view(), [undefined], undefined],
    ['too long: shorter', view('too-long'), [undefined, 'shorten'], undefined],
    ['too long as it came: shorter', whole('too-long'), [undefined, 'shorten'], undefined],
    [
      'too long again and again: shorter up to the bound',
      view('too-long', 'too-long', 'too-long', 'too-long'),
      [undefined, 'shorten', 'shorten', 'shorten'],
      3,
    ],
    ['too long and nothing can go', without(view('too-long'), 'shorten'), [undefined], 0],
    ['invalid: as it came', view('invalid'), [undefined, 'send-as-it-came'], undefined],
    ['invalid as it came', whole('invalid'), [undefined], 0],
    ['both invalid: what came is told', view('invalid', 'invalid'), [undefined, 'send-as-it-came'], 1],
    ['invalid, and what came is too long', view('invalid', 'too-long'), [undefined, 'send-as-it-came'], 0],
    ['invalid, and what came is not read', view('invalid', 'unreadable'), [undefined, 'send-as-it-came'], 1],
    ['too long, then invalid: what came is known', view('too-long', 'invalid'), [undefined, 'shorten'], 0],
    ['thinking: without it', view('thinking'), [undefined, 'leave-out-thinking'], undefined],
    ['thinking as it came: without it', whole('thinking'), [undefined, 'leave-out-thinking'], undefined],
    [
      'thinking twice: without it, then as it came',
      view('thinking', 'thinking'),
      [undefined, 'leave-out-thinking', 'send-as-it-came'],
      undefined,
    ],
    [
      'thinking, invalid, and what came is too long',
      view('thinking', 'invalid', 'too-long'),
      [undefined, 'leave-out-thinking', 'send-as-it-came'],
      1,
    ],
    [
      'thinking, then too long: shorter',
      view('thinking', 'too-long'),
      [undefined, 'leave-out-thinking', 'shorten'],
      undefined,
    ],
    ['no thinking is kept', without(view('thinking'), 'leave-out-thinking'), [undefined, 'send-as-it-came'], undefined],
    ['no thinking is kept of what came', without(whole('thinking'), 'leave-out-thinking'), [undefined], 0],
    ['unreadable', view('unreadable'), [undefined], 0],
    ['wrong calls: the model corrects them', whole('wrong-calls'), [undefined, 'correct-calls'], undefined],
    [
      'wrong calls to the end',
      view('wrong-calls', 'wrong-calls', 'wrong-calls', 'wrong-calls'),
      [undefined, 'correct-calls', 'correct-calls', 'correct-calls'],
      3,
    ],
    // The answer's text was shown already, so starting again would show it twice.
    ['a correction is too long', view('wrong-calls', 'too-long'), [undefined, 'correct-calls'], 1],
    ['a correction is invalid', view('wrong-calls', 'invalid'), [undefined, 'correct-calls'], 1],
    [
      'a correction’s thinking is refused',
      view('wrong-calls', 'thinking'),
      [undefined, 'correct-calls', 'leave-out-thinking'],
      undefined,
    ],
  ])('follows the rules if %s', (_, course, changes, told) => {
    const played = play(course);
    expect(played.sent.map(({ change }) => change)).toEqual(changes);
    expect(played.told).toBe(told);
  });

  it('ends within the limit for every sequence of rejections, and never repeats a rejected request', () => {
    const course = fc.record({
      isCondensed: fc.boolean(),
      answers: fc.array(fc.constantFrom(...PROBLEMS), { maxLength: 2 * MAX_ATTEMPTS }),
      possible: fc.subarray([...CHANGES]).map((changes) => new Set(changes)),
    });
    fc.assert(
      fc.property(course, (given) => {
        const { sent, told } = play(given);
        expect(sent.length).toBeLessThanOrEqual(MAX_ATTEMPTS);
        expect(told === undefined).toBe(sent.at(-1)?.problem === undefined);
        expect(told ?? 0).toBeLessThan(sent.length);
        for (const [at, { change }] of sent.entries()) {
          const before = sent.slice(0, at);
          const isAfter = (problem: RejectionProblem): boolean => before.some((one) => one.problem === problem);
          if (change !== undefined) expect(given.possible.has(change)).toBe(true);
          if (change === 'leave-out-thinking') expect(before.map((one) => one.change)).not.toContain(change);
          // The original is not sent if it was already sent, if it is known to be too long, or if
          // the agent has seen text.
          if (change === 'send-as-it-came') {
            expect(before.every((one) => one.isCondensed)).toBe(true);
            expect(isAfter('too-long') || isAfter('wrong-calls')).toBe(false);
          }
          if (change === 'shorten') expect(isAfter('wrong-calls')).toBe(false);
          if (change === 'correct-calls') expect(before.at(-1)?.problem).toBe('wrong-calls');
        }
      }),
    );
  });
});

it.each<[ApiErrorKind, string, RejectionProblem | undefined]>([
  ['context-too-long', 'prompt is too long', 'too-long'],
  ['too-many-bytes', 'Request Entity Too Large', 'too-long'],
  ['invalid-request', 'messages.1: nonsense', 'invalid'],
  ['invalid-request', 'The block is bound to a different conversation.', 'thinking'],
  ['auth', 'bad key', undefined],
  ['quota', 'no credit', undefined],
  ['rate-limit', 'slow down', undefined],
  ['overloaded', 'busy', undefined],
  ['server', 'broken', undefined],
  ['network', 'reset', undefined],
  ['aborted', '', undefined],
  ['refusal', 'no', undefined],
])('an error of the kind %s (%s) is treated as %s', (kind, vendorMessage, problem) => {
  expect(classifyRejection(new ApiError(kind, { name: 'P', vendorMessage }))).toBe(problem);
});

describe('a failed request that the chat sends again', () => {
  const failure = (kind: 'overloaded' | 'auth' | 'timeout'): ApiError => new ApiError(kind, { name: 'P' });

  it('counts as a repetition if it comes within seconds, up to three times', () => {
    let now = 0;
    const failures = new RecentFailures(() => now);
    expect(failures.getRetryPolicy('r').kind).toBe('none');
    failures.recordFailure('r', failure('overloaded'));
    for (let time = 0; time < 3; time++) {
      expect(failures.getRetryPolicy('r').kind).toBe('once');
      failures.recordFailure('r', failure('overloaded'));
    }
    expect(failures.getRetryPolicy('r').kind).toBe('none');
    failures.recordFailure('r', failure('auth'));
    expect(failures.getRetryPolicy('r')).toMatchObject({ kind: 'stop', reason: { kind: 'auth' } });
    expect(failures.getRetryPolicy('other').kind).toBe('none');
    failures.recordFailure('slow', failure('timeout'));
    expect(failures.getRetryPolicy('slow')).toMatchObject({ kind: 'stop', reason: { kind: 'timeout' } });
    now = 31_000;
    expect(failures.getRetryPolicy('r').kind).toBe('none');
    failures.recordFailure('r', failure('overloaded'));
    failures.recordSuccess('r');
    expect(failures.getRetryPolicy('r').kind).toBe('none');
  });
});
