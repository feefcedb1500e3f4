/**
 * A condensation as a person meets it: the file is read, its tokens are counted, it is condensed and checked, and the original texts, the
 * ledger and the copy are written. What the provider alone takes of that is measured in the same runs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRanks } from '../../scripts/ranks.mjs';
import { perform } from '../../src/background/perform';
import type { CondensedResult } from '../../src/background/taskResults';
import { createO200kCounter } from '../../src/core/tokens/o200k/counter';
import { generateConversation } from '../generators/conversation';
import { Random } from '../generators/random';
import { toTranscript } from '../generators/transcript';
import { median } from './measure';
import { percent, table } from './table';

export interface WholeRow {
  readonly provider: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Seconds, medians. */
  readonly whole: number;
  readonly alone: number;
}

const TOKENS = 200_000;
const SEED = 42;
const TRANSCRIPT = {
  cwd: '/project',
  gitBranch: 'main',
  version: '2.0.0',
  model: 'claude-sonnet-5',
  start: new Date('2026-01-05T09:00:00Z'),
};
const RUNS = 7;
/** As far as the provider goes. */
const TARGET_PERCENT = 1;

export async function benchWhole(): Promise<WholeRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'context-condenser-whole-'));
  try {
    const path = join(folder, 'session.jsonl');
    writeFileSync(
      path,
      toTranscript(generateConversation({ seed: SEED, targetTokens: TOKENS }), new Random(SEED), TRANSCRIPT),
    );
    const rows: WholeRow[] = [];
    for (const provider of ['lossless', 'truncation']) rows.push(await measure(folder, path, provider));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, path: string, provider: string): Promise<WholeRow> {
  const tokens = createO200kCounter(makeRanks());
  const results: { readonly whole: number; readonly result: CondensedResult }[] = [];
  for (let run = 0; run <= RUNS; run++) {
    const store = join(folder, `${provider}-${run}`);
    const task = {
      kind: 'condense',
      path,
      history: 'active',
      provider,
      config: {},
      targetPercent: TARGET_PERCENT,
      store,
    } as const;
    const parts = {
      tokens: () => Promise.resolve(tokens),
      onProgress: () => undefined,
      signal: new AbortController().signal,
    };
    const started = performance.now();
    const result = (await perform(task, parts)) as CondensedResult;
    results.push({ whole: performance.now() - started, result });
  }
  // The first run compiles what the others use.
  const measured = results.slice(1);
  const [{ result } = results[0]!] = measured;
  return {
    provider,
    tokensBefore: result.tokensBefore,
    tokensAfter: result.tokensAfter,
    whole: median(measured.map(({ whole }) => whole)) / 1_000,
    alone: median(measured.map(({ result: { steps } }) => steps.reduce((sum, { timeMs }) => sum + timeMs, 0))) / 1_000,
  };
}

export const wholeTable = (rows: readonly WholeRow[]): string =>
  table(
    ['provider', 'tokens before', 'after', 'reduction', 'whole', 'provider alone'],
    rows.map(({ provider, tokensBefore, tokensAfter, whole, alone }) => [
      provider,
      tokensBefore,
      tokensAfter,
      percent(1 - tokensAfter / tokensBefore),
      `${whole.toFixed(2)} s`,
      `${alone.toFixed(3)} s`,
    ]),
  );
