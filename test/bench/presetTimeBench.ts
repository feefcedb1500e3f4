/**
 * Measures time and memory of Lossless and of the presets without a model on 200K tokens, with and
 * without a target, and how they grow.
 */
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import type {
  CondensationOptions,
  CondensationProvider,
  ConversationContext,
  ProviderResult,
} from '../../src/core/condense/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { generateConversation } from '../generators/conversation';
import { joinSessions, type BenchConversation } from './corpus';
import {
  makeCandidate,
  readCpuMsSince,
  freshCounter,
  LOSSLESS,
  measureMemory,
  median,
  type MemoryMeasurement,
} from './measure';
import { megabytes, millis, percent, table } from './table';

export interface PresetTimeRow {
  readonly conversation: string;
  readonly preset: string;
  /** Target share of tokens; undefined for no target. */
  readonly target: number | undefined;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Medians of wall time and CPU time in milliseconds, without counting tokens. */
  readonly timeMs: number;
  readonly cpuMs: number;
}

const TOKENS = 200_000;
const LARGER_SIZES = [1_000_000, 2_000_000];
const SEED = 42;
const RUNS = 5;
const TARGET_SHARES = [undefined, 0.5] as const;
/**
 * The preset Cost calls a model only after its mechanical pass, and no model is configured here.
 */
const PRESETS = ['lossless', 'speed', 'cost', 'multi-zone', 'file-aware'] as const;
/** Presets whose growth is measured. */
const GROWTH_PRESETS = ['lossless', 'file-aware'] as const;

export async function benchPresetTimes(conversations: readonly BenchConversation[]): Promise<PresetTimeRow[]> {
  const generated = generateConversation({ seed: SEED, targetTokens: TOKENS });
  await measure('warm-up', generated, 'file-aware', 0.5);
  const rows: PresetTimeRow[] = [];
  for (const [name, messages] of [['generated', generated], ...joinSessions(conversations, TOKENS)] as const) {
    for (const preset of PRESETS)
      for (const target of TARGET_SHARES) rows.push(await measure(name, messages, preset, target));
  }
  for (const targetTokens of LARGER_SIZES) {
    const messages = generateConversation({ seed: SEED, targetTokens });
    for (const preset of GROWTH_PRESETS)
      for (const target of TARGET_SHARES) rows.push(await measure('generated', messages, preset, target));
  }
  return rows;
}

export interface PresetMemoryRow extends MemoryMeasurement {
  readonly preset: string;
  readonly target: number | undefined;
  /** Number of tokens for which the conversation was generated. */
  readonly tokens: number;
}

export async function benchPresetMemory(): Promise<PresetMemoryRow[]> {
  const rows: PresetMemoryRow[] = [];
  for (const tokens of [TOKENS, ...LARGER_SIZES]) {
    const text = JSON.stringify(generateConversation({ seed: SEED, targetTokens: tokens }));
    for (const preset of GROWTH_PRESETS) {
      for (const target of TARGET_SHARES) {
        const presetCandidate = preset === 'lossless' ? LOSSLESS : makeCandidate(preset, createSmartProvider(), preset);
        rows.push({
          preset,
          target,
          tokens,
          ...(await measureMemory(() => JSON.parse(text) as ApiMessage[], presetCandidate, target)),
        });
      }
    }
  }
  return rows;
}

export const presetMemoryTable = (rows: readonly PresetMemoryRow[]): string =>
  table(
    ['preset', 'target', 'tokens', 'messages', 'most beside them', 'left beside them'],
    rows.map(({ preset, target, tokens, messages, peak, left }) => [
      preset,
      target === undefined ? '–' : percent(target),
      tokens,
      megabytes(messages),
      megabytes(peak),
      megabytes(left),
    ]),
  );

async function measure(
  conversation: string,
  source: readonly ApiMessage[],
  preset: (typeof PRESETS)[number],
  target: number | undefined,
): Promise<PresetTimeRow> {
  const times: number[] = [];
  const cpuTimes: number[] = [];
  let tokensBefore = 0;
  let tokensAfter = 0;
  // Earlier copies are kept alive, as in a worker. Otherwise the collector would discard code
  // compiled for their objects, and recompiling it would be measured.
  const keptCopies: ApiMessage[][] = [];
  for (let run = 0; run < RUNS; run++) {
    // A fresh copy has no caches.
    const messages = JSON.parse(JSON.stringify(source)) as ApiMessage[];
    const condense = createCondenser(preset);
    const counter = freshCounter();
    tokensBefore = counter.countMessages(messages);
    globalThis.gc?.();
    const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
    const options = target === undefined ? {} : { targetTokens: Math.round(tokensBefore * target) };
    const { steps } = await condense({ messages, edits: [], counter }, options);
    times.push(performance.now() - started);
    cpuTimes.push(readCpuMsSince(cpuStarted));
    tokensAfter = steps.at(-1)?.tokensAfter ?? tokensBefore;
    keptCopies[0] = messages;
  }
  return { conversation, preset, target, tokensBefore, tokensAfter, timeMs: median(times), cpuMs: median(cpuTimes) };
}

type Condense = (context: ConversationContext, options: CondensationOptions) => Promise<ProviderResult>;

/** Creates a new configured provider. */
function createCondenser(preset: (typeof PRESETS)[number]): Condense {
  const bindConfig = <Config>(provider: CondensationProvider<Config>, config: unknown): Condense => {
    const checked = provider.validateConfig(config);
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    return (context, options) => provider.condense(context, checked.config, options);
  };
  return preset === 'lossless' ? bindConfig(losslessProvider, {}) : bindConfig(createSmartProvider(), preset);
}

export const presetTimesTable = (rows: readonly PresetTimeRow[]): string =>
  table(
    ['conversation', 'preset', 'target', 'tokens', 'removed', 'time', 'processor'],
    rows.map(({ conversation, preset, target, tokensBefore, tokensAfter, timeMs, cpuMs }) => [
      conversation,
      preset,
      target === undefined ? '–' : percent(target),
      tokensBefore,
      percent(1 - tokensAfter / tokensBefore),
      millis(timeMs),
      millis(cpuMs),
    ]),
  );
