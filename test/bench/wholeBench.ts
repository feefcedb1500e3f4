/**
 * Measures a condensation from end to end: read, count, condense, check, and write originals,
 * ledger and copy. It is compared with the provider alone on a counted conversation.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRanks } from '../../scripts/ranks.mjs';
import { performTask } from '../../src/background/perform';
import type { CondensedResult } from '../../src/background/taskResults';
import { readConversationFile } from '../../src/conversations/readFile';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import { MessageCounter } from '../../src/core/tokens/messageCounter';
import { createO200kCounter } from '../../src/core/tokens/o200k/counter';
import { generateConversation } from '../generators/conversation';
import { Random } from '../generators/random';
import { toTranscript } from '../generators/transcript';
import { makeCandidate, condense, readCpuMsSince, LOSSLESS, median, type Candidate } from './measure';
import { percent, table } from './table';

export interface WholeRow {
  readonly provider: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly whole: Taken;
  readonly alone: Taken;
}

/** Median wall time and CPU time, in seconds. */
interface Taken {
  readonly clock: number;
  readonly cpu: number;
}

const TOKENS = 200_000;
const CHOICES: readonly Candidate[] = [
  LOSSLESS,
  makeCandidate('truncation', truncationProvider, {}),
  ...['file-aware', 'multi-zone', 'speed', 'cost'].map((preset) =>
    makeCandidate(preset, createSmartProvider(), preset),
  ),
];
const SEED = 42;
const TRANSCRIPT_OPTIONS = {
  cwd: '/project',
  gitBranch: 'main',
  version: '2.0.0',
  model: 'claude-sonnet-5',
  start: new Date('2026-01-05T09:00:00Z'),
};
const RUNS = 7;
const TARGET_PERCENT = 1;

export async function benchWhole(): Promise<WholeRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'context-condenser-whole-'));
  try {
    const path = join(folder, 'session.jsonl');
    writeFileSync(
      path,
      toTranscript(generateConversation({ seed: SEED, targetTokens: TOKENS }), new Random(SEED), TRANSCRIPT_OPTIONS),
    );
    const rows: WholeRow[] = [];
    for (const choice of CHOICES) rows.push(await measure(folder, path, choice));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, path: string, choice: Candidate): Promise<WholeRow> {
  const tokenCounter = createO200kCounter(makeRanks());
  const wholeTimes: Taken[] = [];
  const providerTimes: Taken[] = [];
  let result: CondensedResult | undefined;
  for (let run = 0; run <= RUNS; run++) {
    const task = {
      kind: 'condense',
      path,
      history: 'active',
      provider: choice.provider.id,
      config: choice.config,
      targetPercent: TARGET_PERCENT,
      store: join(folder, `${choice.name}-${run}`),
    } as const;
    const parts = {
      tokens: () => Promise.resolve(tokenCounter),
      onProgress: () => undefined,
      signal: new AbortController().signal,
    };
    wholeTimes.push(await measureTimes(async () => (result = (await performTask(task, parts)) as CondensedResult)));
    const { messages } = readConversationFile(path, { history: 'active' });
    const counter = new MessageCounter(tokenCounter);
    counter.countMessages(messages);
    providerTimes.push(await measureTimes(() => condense(messages, choice, counter)));
  }
  if (!result) throw new Error('unreachable');
  const { tokensBefore, tokensAfter } = result;
  // The first run is left out, because it includes compilation.
  return {
    provider: choice.name,
    tokensBefore,
    tokensAfter,
    whole: computeMedianTimes(wholeTimes.slice(1)),
    alone: computeMedianTimes(providerTimes.slice(1)),
  };
}

async function measureTimes(work: () => Promise<unknown>): Promise<Taken> {
  const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
  await work();
  return { clock: (performance.now() - started) / 1_000, cpu: readCpuMsSince(cpuStarted) / 1_000 };
}

const computeMedianTimes = (all: readonly Taken[]): Taken => ({
  clock: median(all.map(({ clock }) => clock)),
  cpu: median(all.map(({ cpu }) => cpu)),
});

export const wholeTable = (rows: readonly WholeRow[]): string =>
  table(
    ['provider', 'tokens before', 'after', 'reduction', 'whole', 'processor', 'provider alone', 'processor'],
    rows.map(({ provider, tokensBefore, tokensAfter, whole, alone }) => [
      provider,
      tokensBefore,
      tokensAfter,
      percent(1 - tokensAfter / tokensBefore),
      ...[whole.clock, whole.cpu, alone.clock, alone.cpu].map((seconds) => `${seconds.toFixed(2)} s`),
    ]),
  );
