import { getErrorKind } from '../core/errors';
import type { PreparedCall } from './condenser';
import { beginDelivery, isPaid, nextState, type Event, type LogLine, type State } from './deliveryState';
import type { Exchange } from './exchange';
import { parseOverflow, readRefusal } from './refusal';
import { UsageReader } from './usageReader';
import type { Wire } from './wires/wire';

export interface Delivery {
  readonly exchange: Pick<Exchange, 'send' | 'passAnswer' | 'passRead'>;
  readonly prepared: PreparedCall | undefined;
  readonly pack: (call: PreparedCall | undefined) => Promise<Buffer> | Buffer;
  readonly wire: Wire;
  readonly signal: AbortSignal;
  readonly log: (line: LogLine) => void;
  readonly readers: Set<UsageReader>;
}

/**
 * Sends one version of a call after another until an answer or a rejection can be forwarded.
 * @throws the connection's error, or the signal's reason if the agent disconnected
 */
export async function deliver(delivery: Delivery): Promise<void> {
  const { prepared, log } = delivery;
  let state = beginDelivery(prepared);
  try {
    while (state.kind !== 'ended' && state.kind !== 'failed') {
      state = nextState(state, await performStep(state, delivery));
      if ('log' in state) log(state.log);
    }
  } finally {
    prepared?.end(isPaid(state));
  }
  if (state.kind === 'failed') throw state.error;
}

type Active = Exclude<State, { kind: 'ended' | 'failed' }>;

async function performStep(state: Active, delivery: Delivery): Promise<Event> {
  const { exchange, pack, signal } = delivery;
  try {
    switch (state.kind) {
      case 'sending': {
        const body = await pack(state.call);
        signal.throwIfAborted();
        try {
          return { kind: 'answered', answer: await exchange.send(body) };
        } catch (error) {
          // The vendor may have been processing when the agent disconnected.
          return { kind: 'failed', error, isPaid: signal.aborted };
        }
      }
      case 'reading':
        return { kind: 'read', refusal: await readRefusal(state.answer) };
      case 'changing':
        return { kind: 'changed', call: await prepareChangedCall(state) };
      case 'refusing':
        exchange.passRead(state.refusal.answer, state.refusal.bytes);
        return { kind: 'refused' };
      case 'passing':
        return await passAnswer(state, delivery);
      case 'booking':
        await reportUsage(state, delivery);
        return { kind: 'booked' };
    }
  } catch (error) {
    return { kind: 'failed', error, isPaid: false };
  }
}

type DeliveryStateOfKind<K extends State['kind']> = Extract<State, { kind: K }>;

function prepareChangedCall({
  call,
  change,
  refusal: { words = '', overflow = {} },
}: DeliveryStateOfKind<'changing'>): Promise<PreparedCall | undefined> | PreparedCall | undefined {
  switch (change) {
    case 'shorten':
      return call.shortened(overflow);
    case 'leave-out-thinking':
      return call.withoutThinking();
    case 'send-as-it-came':
      return call.asItCame(words);
    case 'correct-calls':
      return undefined;
  }
}

async function passAnswer(
  { call, answer, isPaid }: DeliveryStateOfKind<'passing'>,
  { exchange, wire, readers }: Delivery,
): Promise<Event> {
  if (!call || !isPaid) {
    await exchange.passAnswer(answer);
    return { kind: 'passed' };
  }
  const reader = new UsageReader(wire, answer.headers);
  readers.add(reader);
  try {
    await exchange.passAnswer(answer, (chunk) => {
      reader.pushChunk(chunk);
    });
    const { usage, failure } = await reader.finishReading();
    return { kind: 'passed', usage, overflow: failure === undefined ? undefined : parseOverflow(failure, undefined) };
  } finally {
    reader.stopReading();
    readers.delete(reader);
  }
}

/**
 * Some vendors report only in their answer that a request was too long: it can't be repeated, but
 * the next one will be shorter.
 */
async function reportUsage(
  { call, usage, overflow }: DeliveryStateOfKind<'booking'>,
  { log }: Delivery,
): Promise<void> {
  if (usage || !overflow) call.answered(usage);
  if (!overflow) return;
  try {
    await call.shortened(overflow);
  } catch (error) {
    // The agent already has its answer, so this only logs the failure.
    log({ kind: 'problem', detail: `Nothing was condensed for it: ${getErrorKind(error)}` });
  }
}
