/** What Lossless and the presets that call no model take on 200K tokens, with a target and without: time and memory, and how both grow. */
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { smartProvider } from '../../src/core/condense/providers/smart';
import type {
  CondensationOptions,
  CondensationProvider,
  ConversationContext,
  ProviderResult,
} from '../../src/core/condense/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { generateConversation } from '../generators/conversation';
import { joinedTo, type BenchConversation } from './corpus';
import { candidate, cpuSince, freshCounter, LOSSLESS, measureMemory, median, type MemoryMeasurement } from './measure';
import { megabytes, millis, percent, table } from './table';

export interface PresetTimeRow {
  readonly conversation: string;
  readonly preset: string;
  /** Share of the tokens that may stay; undefined for no target. */
  readonly target: number | undefined;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Milliseconds on the clock and of processor time, medians of the runs; tokens were counted before. */
  readonly timeMs: number;
  readonly cpuMs: number;
}

const TOKENS = 200_000;
const LARGER = [1_000_000, 2_000_000];
const SEED = 42;
const RUNS = 5;
const TARGETS = [undefined, 0.5] as const;
/** Cost asks a model only behind its mechanical pass, and none is set up here. */
const PRESETS = ['lossless', 'speed', 'cost', 'multi-zone', 'file-aware'] as const;
/** Those whose growth is measured. */
const GROWING = ['lossless', 'file-aware'] as const;

export async function benchPresetTimes(conversations: readonly BenchConversation[]): Promise<PresetTimeRow[]> {
  const generated = generateConversation({ seed: SEED, targetTokens: TOKENS });
  await measure('warm-up', generated, 'file-aware', 0.5);
  const rows: PresetTimeRow[] = [];
  for (const [name, messages] of [['generated', generated], ...joinedTo(conversations, TOKENS)] as const) {
    for (const preset of PRESETS)
      for (const target of TARGETS) rows.push(await measure(name, messages, preset, target));
  }
  for (const targetTokens of LARGER) {
    const messages = generateConversation({ seed: SEED, targetTokens });
    for (const preset of GROWING)
      for (const target of TARGETS) rows.push(await measure('generated', messages, preset, target));
  }
  return rows;
}

export interface PresetMemoryRow extends MemoryMeasurement {
  readonly preset: string;
  readonly target: number | undefined;
  /** Tokens that the conversation was made for. */
  readonly tokens: number;
}

export async function benchPresetMemory(): Promise<PresetMemoryRow[]> {
  const rows: PresetMemoryRow[] = [];
  for (const tokens of [TOKENS, ...LARGER]) {
    const text = JSON.stringify(generateConversation({ seed: SEED, targetTokens: tokens }));
    for (const preset of GROWING) {
      for (const target of TARGETS) {
        const way = preset === 'lossless' ? LOSSLESS : candidate(preset, smartProvider(), preset);
        rows.push({
          preset,
          target,
          tokens,
          ...(await measureMemory(() => JSON.parse(text) as ApiMessage[], way, target)),
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
  // The copy of the run before stays, as the conversation before stays in a worker: where no object of a kind is left, the
  // collector throws away the code that was compiled for it, and compiling anew would be measured.
  const kept: ApiMessage[][] = [];
  for (let run = 0; run < RUNS; run++) {
    // Nothing is remembered of a copy: neither by its messages nor by the provider.
    const messages = JSON.parse(JSON.stringify(source)) as ApiMessage[];
    const condense = condenserOf(preset);
    const counter = freshCounter();
    tokensBefore = counter.messages(messages);
    globalThis.gc?.();
    const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
    const options = target === undefined ? {} : { targetTokens: Math.round(tokensBefore * target) };
    const { steps } = await condense({ messages, edits: [], counter }, options);
    times.push(performance.now() - started);
    cpuTimes.push(cpuSince(cpuStarted));
    tokensAfter = steps.at(-1)?.tokensAfter ?? tokensBefore;
    kept[0] = messages;
  }
  return { conversation, preset, target, tokensBefore, tokensAfter, timeMs: median(times), cpuMs: median(cpuTimes) };
}

type Condense = (context: ConversationContext, options: CondensationOptions) => Promise<ProviderResult>;

/** A provider that was not used yet, with its configuration. */
function condenserOf(preset: (typeof PRESETS)[number]): Condense {
  const ready = <Config>(provider: CondensationProvider<Config>, config: unknown): Condense => {
    const checked = provider.validateConfig(config);
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    return (context, options) => provider.condense(context, checked.config, options);
  };
  return preset === 'lossless' ? ready(losslessProvider, {}) : ready(smartProvider(), preset);
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
