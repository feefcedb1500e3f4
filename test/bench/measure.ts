/** Time and memory of one condensation. */
import { makeRanks } from '../../scripts/ranks.mjs';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { smartProvider } from '../../src/core/condense/providers/smart';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import type { CondensationOptions, CondensationProvider, ProviderResult } from '../../src/core/condense/types';
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
export const candidate = (name: string, provider: unknown, config: unknown): Candidate => ({
  name,
  provider: provider as CondensationProvider,
  config,
});

export const LOSSLESS = candidate('lossless', losslessProvider, {});
export const LOSSLESS_STRICT = candidate('lossless strict', losslessProvider, { strictOnly: true });

export const CANDIDATES: readonly Candidate[] = [
  LOSSLESS,
  LOSSLESS_STRICT,
  candidate('truncation', truncationProvider, {}),
  candidate('file-aware', smartProvider(), 'file-aware'),
];

const o200k = createO200kCounter(makeRanks());

export const freshCounter = (): MessageCounter => new MessageCounter(o200k);

export interface Measurement {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly edits: number;
  /** Milliseconds on the clock, median of the runs; the conversation's tokens were counted before. */
  readonly timeMs: number;
  /** Milliseconds of processor time, median of the runs: other work on the machine doesn't count. */
  readonly cpuMs: number;
}

/** Condenses several times, each time with a counter that knows the conversation and nothing else. */
export async function measureTime(
  messages: readonly ApiMessage[],
  candidate: Candidate,
  runs = 5,
): Promise<Measurement> {
  const times: number[] = [];
  const cpuTimes: number[] = [];
  let edits: ProviderResult['edits'] = [];
  for (let run = 0; run < runs; run++) {
    const counter = freshCounter();
    counter.messages(messages);
    collectGarbage();
    const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
    edits = (await condense(messages, candidate, counter)).edits;
    times.push(performance.now() - started);
    cpuTimes.push(cpuSince(cpuStarted));
  }
  const counter = freshCounter();
  return {
    tokensBefore: counter.messages(messages),
    tokensAfter: counter.messages(applyEdits(messages, edits).messages),
    edits: edits.length,
    timeMs: median(times),
    cpuMs: median(cpuTimes),
  };
}

/** Milliseconds of processor time. */
export function cpuSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Lets the engine compile what the measurements run, so that the first one is like the others. */
export async function warmUp(messages: readonly ApiMessage[]): Promise<void> {
  for (const each of CANDIDATES) await measureTime(messages, each, 3);
}

export interface MemoryMeasurement {
  /** Bytes that the messages take. */
  readonly messages: number;
  /** Most bytes alive at any time of the condensation, beyond the messages and the runtime. */
  readonly peak: number;
  /** Bytes alive afterwards beyond them: the edits, and what is remembered for the next run. */
  readonly left: number;
}

/** How often memory is looked at; each look collects garbage first, so that only what is alive counts. */
const LOOK_EVERY_MS = 25;

/**
 * @param make gives the messages anew, so that their own size can be measured.
 * @param target share of the tokens that may stay; default: none is set.
 */
export async function measureMemory(
  make: () => readonly ApiMessage[],
  candidate: Candidate,
  target?: number,
): Promise<MemoryMeasurement> {
  const empty = await settledBytes();
  const messages = make();
  const loaded = await settledBytes();
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
  const tokens = counter.messages(messages);
  // Between its stretches a run gives the thread back: what is alive there while nothing is counted is seen, too.
  const timer = setInterval(look, LOOK_EVERY_MS);
  const options = target === undefined ? {} : { targetTokens: Math.round(tokens * target) };
  const result = await condense(messages, candidate, counter, options);
  clearInterval(timer);
  looked = 0;
  look();
  const left = (await settledBytes()) - loaded;
  // All of them must still be there when the last look is taken.
  if (result.edits.length < 0 || messages.length < 0 || counter.messages([]) < 0) throw new Error('unreachable');
  return { messages: loaded - empty, peak: Math.max(peak, left), left };
}

/** One condensation, without a target where none is given. @throws Error for a wrong configuration */
export async function condense(
  messages: readonly ApiMessage[],
  { provider, config }: Candidate,
  counter: MessageCounter,
  options: CondensationOptions = {},
): Promise<ProviderResult> {
  const checked = provider.validateConfig(config);
  if (!checked.valid) throw new Error(`wrong configuration: ${JSON.stringify(checked.problems)}`);
  return provider.condense({ messages, edits: [], counter }, checked.config, options);
}

export const collectGarbage = (): void => {
  if (!globalThis.gc) throw new Error('run node with --expose-gc');
  globalThis.gc();
};

/** The remains of earlier measurements are only freed once their promises are done with. */
async function settledBytes(): Promise<number> {
  for (let pause = 0; pause < 3; pause++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  return aliveBytes();
}

function aliveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
