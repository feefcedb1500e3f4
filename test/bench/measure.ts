/** Time and memory of one condensation. */
import { makeRanks } from '../../scripts/ranks.mjs';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import { applyEdits } from '../../src/core/condense/edits';
import type { CondensationProvider, ProviderResult } from '../../src/core/condense/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { MessageCounter } from '../../src/core/tokens/messageCounter';
import { createO200kCounter } from '../../src/core/tokens/o200k/counter';

/** A provider with its configuration, under the name that the tables show. */
export interface Candidate {
  readonly name: string;
  readonly provider: CondensationProvider;
  readonly config: unknown;
}

/** Providers of unlike configurations under one type: each checks its own. */
const candidate = (name: string, provider: unknown, config: unknown): Candidate => ({
  name,
  provider: provider as CondensationProvider,
  config,
});

export const CANDIDATES: readonly Candidate[] = [
  candidate('lossless', losslessProvider, {}),
  candidate('lossless strict', losslessProvider, { strictOnly: true }),
  candidate('truncation', truncationProvider, {}),
];

const o200k = createO200kCounter(makeRanks());

export const freshCounter = (): MessageCounter => new MessageCounter(o200k);

export interface Measurement {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly edits: number;
  /** Milliseconds, median of the runs; the conversation's tokens were counted before. */
  readonly timeMs: number;
}

/** Condenses several times, each time with a counter that knows the conversation and nothing else. */
export async function measureTime(
  messages: readonly ApiMessage[],
  candidate: Candidate,
  runs = 5,
): Promise<Measurement> {
  const times: number[] = [];
  let edits: ProviderResult['edits'] = [];
  for (let run = 0; run < runs; run++) {
    const counter = freshCounter();
    counter.messages(messages);
    collectGarbage();
    const started = performance.now();
    edits = (await condense(messages, candidate, counter)).edits;
    times.push(performance.now() - started);
  }
  const counter = freshCounter();
  return {
    tokensBefore: counter.messages(messages),
    tokensAfter: counter.messages(applyEdits(messages, edits).messages),
    edits: edits.length,
    timeMs: times.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? Number.NaN,
  };
}

export interface MemoryMeasurement {
  /** Bytes that the messages take. */
  readonly messages: number;
  /** Most bytes alive at any time of the condensation, beyond the messages and the runtime. */
  readonly peak: number;
}

/** How often memory is looked at; each look collects garbage first, so that only what is alive counts. */
const LOOK_EVERY_MS = 25;

/** @param make gives the messages anew, so that their own size can be measured. */
export async function measureMemory(
  make: () => readonly ApiMessage[],
  candidate: Candidate,
): Promise<MemoryMeasurement> {
  const empty = aliveBytes();
  const messages = make();
  const loaded = aliveBytes();
  let peak = 0;
  let looked = 0;
  const look = (): void => {
    if (performance.now() - looked < LOOK_EVERY_MS) return;
    peak = Math.max(peak, aliveBytes() - loaded);
    looked = performance.now();
  };
  const counter = new MessageCounter({
    count(text) {
      look();
      return o200k.count(text);
    },
  });
  counter.messages(messages);
  const result = await condense(messages, candidate, counter);
  looked = 0;
  look();
  // Both must still be there when the last look is taken.
  if (result.edits.length < 0 || messages.length < 0) throw new Error('unreachable');
  return { messages: loaded - empty, peak };
}

async function condense(
  messages: readonly ApiMessage[],
  { provider, config }: Candidate,
  counter: MessageCounter,
): Promise<ProviderResult> {
  const checked = provider.validateConfig(config);
  if (!checked.valid) throw new Error(`wrong configuration: ${JSON.stringify(checked.problems)}`);
  return provider.condense({ messages, edits: [], counter }, checked.config, {});
}

const collectGarbage = (): void => {
  if (!globalThis.gc) throw new Error('run node with --expose-gc');
  globalThis.gc();
};

function aliveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
