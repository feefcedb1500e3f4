import { getErrorKind } from '../core/errors';
import type { PreparedHttpCall } from './condenser';
import {
  beginDelivery,
  hasBeenPaid,
  getNextState,
  type DeliveryEvent,
  type DeliveryLogLine,
  type DeliveryState,
} from './deliveryState';
import type { HttpExchange } from './exchange';
import { parseOverflowFromRefusal, readVendorRefusal } from './refusal';
import { UsageStreamReader } from './usageReader';
import type { WireFormat } from './wires/wire';

export interface DeliveryDependencies {
  readonly exchange: Pick<HttpExchange, 'sendUpstream' | 'passAnswerToAgent' | 'passReadAnswerToAgent'>;
  readonly prepared: PreparedHttpCall | undefined;
  readonly pack: (call: PreparedHttpCall | undefined) => Promise<Buffer> | Buffer;
  readonly wire: WireFormat;
  readonly signal: AbortSignal;
  readonly log: (line: DeliveryLogLine) => void;
  readonly readers: Set<UsageStreamReader>;
}

/** @throws the connection's error, or the signal's reason if the agent disconnected */
export async function deliverRequest(delivery: DeliveryDependencies): Promise<void> {
  const { prepared, log } = delivery;
  let state = beginDelivery(prepared);
  try {
    while (state.kind !== 'ended' && state.kind !== 'failed') {
      state = getNextState(state, await performDeliveryStep(state, delivery));
      if ('log' in state) log(state.log);
    }
  } finally {
    prepared?.end(hasBeenPaid(state));
  }
  if (state.kind === 'failed') throw state.error;
}

type ActiveDeliveryState = Exclude<DeliveryState, { kind: 'ended' | 'failed' }>;

async function performDeliveryStep(state: ActiveDeliveryState, delivery: DeliveryDependencies): Promise<DeliveryEvent> {
  const { exchange, pack, signal } = delivery;
  try {
    switch (state.kind) {
      case 'sending': {
        const body = await pack(state.call);
        signal.throwIfAborted();
        try {
          return { kind: 'answered', answer: await exchange.sendUpstream(body) };
        } catch (error) {
          // If the agent disconnected, the vendor may already have processed the request.
          return { kind: 'failed', error, isPaid: signal.aborted };
        }
      }
      case 'reading':
        return { kind: 'read', refusal: await readVendorRefusal(state.answer) };
      case 'changing':
        return { kind: 'changed', call: await prepareChangedCall(state) };
      case 'refusing':
        exchange.passReadAnswerToAgent(state.refusal.answer, state.refusal.bytes);
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

type DeliveryStateOfKind<K extends DeliveryState['kind']> = Extract<DeliveryState, { kind: K }>;

function prepareChangedCall({
  call,
  change,
  refusal: { text = '', overflow = {} },
}: DeliveryStateOfKind<'changing'>): Promise<PreparedHttpCall | undefined> | PreparedHttpCall | undefined {
  switch (change) {
    case 'shorten':
      return call.shorten(overflow);
    case 'leave-out-thinking':
      return call.dropThinking();
    case 'send-as-it-came':
      return call.revertToOriginal(text);
    case 'correct-calls':
      return undefined;
  }
}

async function passAnswer(
  { call, answer, isPaid }: DeliveryStateOfKind<'passing'>,
  { exchange, wire, readers }: DeliveryDependencies,
): Promise<DeliveryEvent> {
  if (!call || !isPaid) {
    await exchange.passAnswerToAgent(answer);
    return { kind: 'passed' };
  }
  const reader = new UsageStreamReader(wire, answer.headers);
  readers.add(reader);
  try {
    await exchange.passAnswerToAgent(answer, (chunk) => {
      reader.pushChunk(chunk);
    });
    const { usage, failure } = await reader.finishReading();
    return {
      kind: 'passed',
      usage,
      overflow: failure === undefined ? undefined : parseOverflowFromRefusal(failure, undefined),
    };
  } finally {
    reader.stopReading();
    readers.delete(reader);
  }
}

/**
 * Some vendors report only in their answer that a request was too long. It can't be repeated; the
 * next one will be shorter.
 */
async function reportUsage(
  { call, usage, overflow }: DeliveryStateOfKind<'booking'>,
  { log }: DeliveryDependencies,
): Promise<void> {
  if (usage || !overflow) call.recordAnswer(usage);
  if (!overflow) return;
  try {
    await call.shorten(overflow);
  } catch (error) {
    // The agent already has its answer, so this only logs the failure.
    log({ kind: 'problem', detail: `Nothing was condensed for it: ${getErrorKind(error)}` });
  }
}
