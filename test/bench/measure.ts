/** Measures time and memory of a condensation. */
import { makeRanks } from '../../scripts/ranks.mjs';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import type { CondensationOptions, CondensationProvider, ProviderResult } from '../../src/core/condense/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { MessageCounter } from '../../src/core/tokens/messageCounter';
import { createO200kCounter } from '../../src/core/tokens/o200k/counter';

/** A provider with its configuration and display name. */
export interface Candidate {
  readonly name: string;
  readonly provider: CondensationProvider;
  readonly config: unknown;
}

/** Gives all configurations one type; the providers validate them. */
export const makeCandidate = (name: string, provider: unknown, config: unknown): Candidate => ({
  name,
  provider: provider as CondensationProvider,
  config,
});

export const LOSSLESS = makeCandidate('lossless', losslessProvider, {});
export const LOSSLESS_STRICT = makeCandidate('lossless strict', losslessProvider, { strictOnly: true });

export const CANDIDATES: readonly Candidate[] = [
  LOSSLESS,
  LOSSLESS_STRICT,
  makeCandidate('truncation', truncationProvider, {}),
  makeCandidate('file-aware', createSmartProvider(), 'file-aware'),
];

const o200k = createO200kCounter(makeRanks());

export const freshCounter = (): MessageCounter => new MessageCounter(o200k);

export interface Measurement {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly edits: number;
  /** Median wall time in milliseconds, without counting tokens. */
  readonly timeMs: number;
  /** Median CPU time in milliseconds. */
  readonly cpuMs: number;
}

/** Condenses repeatedly, each time with a new counter that has only counted the conversation. */
export async function measureTime(
  messages: readonly ApiMessage[],
  candidate: Candidate,
  runs = 5,
): Promise<Measurement> {
  const times: number[] = [];
  const cpuTimes: number[] = [];
  let lastEdits: ProviderResult['edits'] = [];
  for (let run = 0; run < runs; run++) {
    const counter = freshCounter();
    counter.countMessages(messages);
    collectGarbage();
    const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
    lastEdits = (await condense(messages, candidate, counter)).edits;
    times.push(performance.now() - started);
    cpuTimes.push(readCpuMsSince(cpuStarted));
  }
  const counter = freshCounter();
  return {
    tokensBefore: counter.countMessages(messages),
    tokensAfter: counter.countMessages(applyEdits(messages, lastEdits).messages),
    edits: lastEdits.length,
    timeMs: median(times),
    cpuMs: median(cpuTimes),
  };
}

export function readCpuMsSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Runs each candidate, so that the compiler has optimized their code. */
export async function warmUp(messages: readonly ApiMessage[]): Promise<void> {
  for (const candidate of CANDIDATES) await measureTime(messages, candidate, 3);
}

export interface MemoryMeasurement {
  /** Number of bytes of the messages. */
  readonly messages: number;
  /** Peak of live bytes, beyond messages and runtime. */
  readonly peak: number;
  /** Number of live bytes afterwards, which are edits and caches. */
  readonly left: number;
}

/** Milliseconds between samples; garbage is collected before each. */
const SAMPLE_INTERVAL_MS = 25;

/**
 * Measures the memory of a condensation.
 * @param make creates the messages, so that their own size can be measured.
 * @param target share of the tokens that may stay. Default: no target.
 */
export async function measureMemory(
  make: () => readonly ApiMessage[],
  candidate: Candidate,
  target?: number,
): Promise<MemoryMeasurement> {
  const bytesWithoutMessages = await measureSettledBytes();
  const messages = make();
  const bytesWithMessages = await measureSettledBytes();
  let peakBytes = 0;
  let lastSampleMs = 0;
  const takeSample = (): void => {
    if (performance.now() - lastSampleMs < SAMPLE_INTERVAL_MS) return;
    peakBytes = Math.max(peakBytes, measureLiveBytes() - bytesWithMessages);
    lastSampleMs = performance.now();
  };
  const counter = new MessageCounter({
    count(text) {
      takeSample();
      return o200k.count(text);
    },
  });
  const tokens = counter.countMessages(messages);
  // Samples are also taken when a run yields.
  const timer = setInterval(takeSample, SAMPLE_INTERVAL_MS);
  const options = target === undefined ? {} : { targetTokens: Math.round(tokens * target) };
  const result = await condense(messages, candidate, counter, options);
  clearInterval(timer);
  lastSampleMs = 0;
  takeSample();
  const bytesLeft = (await measureSettledBytes()) - bytesWithMessages;
  // These uses keep everything alive until the last sample.
  if (result.edits.length < 0 || messages.length < 0 || counter.countMessages([]) < 0) throw new Error('unreachable');
  return { messages: bytesWithMessages - bytesWithoutMessages, peak: Math.max(peakBytes, bytesLeft), left: bytesLeft };
}

/**
 * Condenses once, by default without a target.
 * @throws Error for an invalid configuration
 */
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

/** The pauses let promises settle, because earlier measurements are freed only then. */
async function measureSettledBytes(): Promise<number> {
  for (let pauseCount = 0; pauseCount < 3; pauseCount++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  return measureLiveBytes();
}

function measureLiveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
