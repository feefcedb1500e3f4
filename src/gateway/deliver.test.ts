import * as fc from 'fast-check';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { MAX_ATTEMPTS } from '../live/attempts';
import { UNCHANGED_HTTP_CALL, type PreparedHttpCall } from './condenser';
import { deliverRequest, type DeliveryDependencies } from './deliver';
import { beginDelivery, getNextState, type DeliveryEvent } from './deliveryState';
import { chatWire } from './wires/chat';

const REFUSALS = {
  'too long': 'prompt is too long: 214062 tokens > 200000 maximum',
  thinking: 'messages.1.content.0: Invalid `signature` in `thinking` block',
  invalid: 'messages.1: nonsense',
  unreadable: '',
};
type Refused = keyof typeof REFUSALS;
/** A successful answer may report the usage, that the request was too long, both, or nothing. */
type Success = 'used' | 'silent' | 'too long after all' | 'too long after all, used';
type Answer = Refused | Success | 'busy';

const SUCCESSES: Readonly<Record<Success, object>> = {
  used: { usage: { prompt_tokens: 5, completion_tokens: 1 } },
  silent: {},
  'too long after all': { error: { message: REFUSALS['too long'] } },
  'too long after all, used': { error: { message: REFUSALS['too long'] }, usage: { prompt_tokens: 5 } },
};
const isSuccess = (answer: Answer): answer is Success => answer in SUCCESSES;
const isRefused = (answer: Answer): answer is Refused => answer in REFUSALS;

/** Everything outside the gateway that determines what happens to one request. */
interface Course {
  /** The first form that is sent; with `none` the request is not condensed. */
  readonly form: 'none' | 'as it came' | 'condensed';
  /** The vendor's answers in turn. After these, the vendor answers that it is busy. */
  readonly answers: readonly Answer[];
  /** How often the request can be shortened, and whether it has thinking that can be left out. */
  readonly shorter: number;
  readonly hasThinking: boolean;
  /** Index of the step that fails, and whether it fails because the agent disconnected. */
  readonly failure?: { readonly at: number; readonly isAbort: boolean } | undefined;
}

interface Played {
  /** Every step in order: `send`, `shorten`, `pass` and so on. */
  readonly steps: readonly string[];
  /** One value per send, true if the condensed form was sent. */
  readonly sent: readonly boolean[];
  /** Indexes of the answers that the agent received. */
  readonly received: readonly number[];
  readonly booked: number;
  readonly ended: readonly boolean[];
  readonly error: unknown;
}

const VIEW = Buffer.from('view');

async function play({ form, answers, shorter, hasThinking, failure }: Course): Promise<Played> {
  const abort = new AbortController();
  const steps: string[] = [];
  const sent: boolean[] = [];
  const received: number[] = [];
  const ended: boolean[] = [];
  let booked = 0;
  const places = new Map<IncomingMessage, number>();
  const step = (name: string): void => {
    steps.push(name);
    if (steps.length - 1 !== failure?.at) return;
    const error = new Error(`${name} failed`);
    if (failure.isAbort) abort.abort(error);
    throw error;
  };
  const call = (isCondensed: boolean, left: number, canForget: boolean): PreparedHttpCall => ({
    bytes: isCondensed ? VIEW : undefined,
    shorten: async () => {
      await Promise.resolve();
      step('shorten');
      return left > 0 ? call(true, left - 1, canForget) : undefined;
    },
    dropThinking: () => {
      step('leave out thinking');
      return canForget ? call(isCondensed, left, false) : undefined;
    },
    revertToOriginal: () => {
      step('as it came');
      return { ...UNCHANGED_HTTP_CALL, recordAnswer: () => booked++ };
    },
    recordAnswer: () => booked++,
    end: (isPaid) => ended.push(isPaid),
  });
  const exchange: DeliveryDependencies['exchange'] = {
    sendUpstream: async (body) => {
      await Promise.resolve();
      step('send');
      const answer = answers[sent.length] ?? 'busy';
      const message = new IncomingMessage(new Socket());
      message.statusCode = isSuccess(answer) ? 200 : isRefused(answer) ? 400 : 529;
      if (answer === 'unreadable') message.headers['content-encoding'] = 'rot13';
      message.push(JSON.stringify({ error: { message: isRefused(answer) ? REFUSALS[answer] : 'busy' } }));
      message.push(null);
      places.set(message, sent.length);
      sent.push(body === VIEW);
      return message;
    },
    passAnswerToAgent: async (message, look) => {
      await Promise.resolve();
      const place = places.get(message) ?? -1;
      received.push(place);
      step('pass');
      const answer = answers[place] ?? 'busy';
      if (isSuccess(answer)) look?.(Buffer.from(JSON.stringify(SUCCESSES[answer])));
    },
    passReadAnswerToAgent: (message) => {
      received.push(places.get(message) ?? -1);
      step('pass a refusal');
    },
  };
  const delivery: DeliveryDependencies = {
    exchange,
    prepared: form === 'none' ? undefined : call(form === 'condensed', shorter, hasThinking),
    pack: ({ bytes = Buffer.from('what came') } = UNCHANGED_HTTP_CALL) => bytes,
    wire: chatWire,
    signal: abort.signal,
    log: () => undefined,
    readers: new Set(),
  };
  const error = await deliverRequest(delivery).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(delivery.readers.size).toBe(0);
  return { steps, sent, received, booked, ended, error };
}

const course: fc.Arbitrary<Course> = fc.record({
  form: fc.constantFrom('none', 'as it came', 'condensed'),
  answers: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom<Answer>('too long', 'thinking', 'invalid', 'unreadable') },
      fc.constantFrom<Answer>('used', 'silent', 'too long after all', 'too long after all, used', 'busy'),
    ),
    { maxLength: MAX_ATTEMPTS + 2 },
  ),
  shorter: fc.nat(MAX_ATTEMPTS + 2),
  hasThinking: fc.boolean(),
});
const failure = fc.record({ at: fc.nat(10), isAbort: fc.boolean() });

const count = ({ steps }: Played, name: string): number => steps.filter((step) => step === name).length;

describe('delivering one request of an agent to its vendor', () => {
  it('sends it a limited number of times and answers it exactly once', () =>
    fc.assert(
      fc.asyncProperty(course, async (given) => {
        const played = await play(given);
        expect(played.error).toBeUndefined();
        expect(played.sent.length).toBeLessThanOrEqual(given.form === 'none' ? 1 : MAX_ATTEMPTS);
        expect(played.received).toHaveLength(1);
        expect(played.received[0]).toBeLessThan(played.sent.length);
      }),
    ));

  it('never sends it again or changes it once an answer is forwarded', () =>
    fc.assert(
      fc.asyncProperty(course, fc.option(failure, { nil: undefined }), async (given, failure) => {
        const { steps } = await play({ ...given, failure });
        const at = steps.findIndex((step) => step.startsWith('pass'));
        // What an answer says about the length matters only for the next request.
        if (at >= 0) expect(steps.slice(at + 1).filter((step) => step !== 'shorten')).toEqual([]);
        if (at >= 0) expect(steps.slice(at + 1).length).toBeLessThanOrEqual(1);
      }),
    ));

  it('condenses it at most once for each answer that says too long', () =>
    fc.assert(
      fc.asyncProperty(course, async (given) => {
        const played = await play(given);
        const tooLong = given.answers.slice(0, played.sent.length).filter((answer) => answer.startsWith('too long'));
        expect(count(played, 'shorten')).toBeLessThanOrEqual(tooLong.length);
        expect(count(played, 'leave out thinking')).toBeLessThanOrEqual(1);
        expect(count(played, 'as it came')).toBeLessThanOrEqual(1);
      }),
    ));

  it('sends the original before it forwards a rejection that was not for the size', () =>
    fc.assert(
      fc.asyncProperty(course, async (given) => {
        const { sent, steps } = await play(given);
        const answers = given.answers.slice(0, sent.length);
        const isForSize = answers.some((answer) => answer === 'too long' || answer === 'unreadable');
        if (steps.includes('pass a refusal') && !isForSize) expect(sent.at(-1)).toBe(false);
      }),
    ));

  it('ends with the first failure or disconnection', () =>
    fc.assert(
      fc.asyncProperty(course, failure, async (given, failure) => {
        const { steps, error, ended, sent, received } = await play({ ...given, failure });
        const isReached = steps.length > failure.at;
        // If a step that only serves the next request fails, the agent already has its answer.
        const isAfterAnswer = received.length > 0 && steps[failure.at] === 'shorten';
        expect(error === undefined).toBe(!isReached || isAfterAnswer);
        if (isReached) expect(steps).toHaveLength(failure.at + 1);
        if (given.form !== 'none') expect(ended).toHaveLength(1);
        if (isReached && !isAfterAnswer && given.form !== 'none') {
          const answer = steps.at(-1) === 'pass' ? given.answers[sent.length - 1] : undefined;
          const mayAnswer = steps.at(-1) === 'send' && failure.isAbort;
          expect(ended).toEqual([mayAnswer || (answer !== undefined && isSuccess(answer))]);
        }
      }),
    ));

  it('counts its cost once if the vendor processed it, and otherwise not at all', () =>
    fc.assert(
      fc.asyncProperty(course, async (given) => {
        const { received, booked, ended } = await play(given);
        const answer = given.answers[received[0] ?? 0] ?? 'busy';
        const isCall = given.form !== 'none';
        const isPaid = isSuccess(answer) && answer !== 'too long after all';
        expect(ended).toEqual(isCall ? [isPaid] : []);
        expect(booked).toBe(isCall && isPaid ? 1 : 0);
      }),
    ));
});

it('the delivery of a request does not accept an event that is out of order', () => {
  const events: readonly DeliveryEvent[] = [
    { kind: 'changed', call: undefined },
    { kind: 'passed' },
    { kind: 'booked' },
    { kind: 'refused' },
  ];
  for (const event of events) expect(() => getNextState(beginDelivery(UNCHANGED_HTTP_CALL), event)).toThrow(RangeError);
});
