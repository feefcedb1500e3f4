/**
 * Repeats the headline figures of the specification (docs/requirements.md): three presets on
 * generated conversations of the same kinds and sizes, because the original conversations are
 * unavailable.
 */
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { BUILT_IN_PRESETS } from '../../src/core/condense/providers/smart/presets';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { selectSummarizer } from '../../src/core/condense/summarizer';
import { createTestSummarizer } from '../../src/core/condense/summary/testing';
import { generateConversation, type ConversationOptions } from '../generators/conversation';
import { prose } from '../generators/prose';
import { Random } from '../generators/random';
import { readCpuMsSince, freshCounter } from './measure';
import { roomForSummary } from './scriptedReplies';
import { millis, percent } from './table';

interface ConversationKind {
  readonly name: string;
  readonly options: Omit<ConversationOptions, 'seed'>;
  /** Percentage removed according to the specification, by preset. */
  readonly old: Readonly<Record<string, number>>;
}

const CONVERSATION_KINDS: readonly ConversationKind[] = [
  {
    name: 'heavy',
    options: { targetTokens: 155_500 },
    old: { conservative: 53.5, balanced: 68.7, aggressive: 84.9 },
  },
  {
    name: 'read-heavy',
    options: { targetTokens: 89_200, results: { Read: 0.9, Bash: 0.04, Grep: 0.03, Edit: 0.01, Task: 0 } },
    old: { conservative: 57.3, balanced: 71.6, aggressive: 84.1 },
  },
  {
    name: 'many reads twice',
    options: { targetTokens: 67_400, identicalReads: 0.4 },
    old: { conservative: 56.2, balanced: 71.9, aggressive: 85.5 },
  },
];

const SEEDS = [1, 2, 3, 4, 5];
const CHARS_PER_TOKEN = 4.5;

export interface HeadlineRow {
  readonly conversation: string;
  readonly preset: string;
  /** Mean number of o200k tokens over the seeds. */
  readonly before: number;
  readonly after: number;
  readonly calls: number;
  readonly cost: number;
  /** Processor time in milliseconds. */
  readonly timeMs: number;
  /** Share removed according to the specification. */
  readonly old: number;
}

type HeadlineRun = Omit<HeadlineRow, 'conversation' | 'preset' | 'old'>;

/**
 * Measures five conversations of each kind. The model's answers have half to all of the
 * requested length.
 */
export async function benchHeadline(): Promise<HeadlineRow[]> {
  const rows: HeadlineRow[] = [];
  for (const { name, options, old } of CONVERSATION_KINDS) {
    for (const [preset, oldPercent] of Object.entries(old)) {
      const runs: HeadlineRun[] = [];
      for (const seed of SEEDS) runs.push(await measureRun(preset, { ...options, seed }));
      const mean = (of: (row: HeadlineRun) => number): number =>
        runs.reduce((sum, row) => sum + of(row), 0) / runs.length;
      rows.push({
        conversation: name,
        preset,
        before: mean(({ before }) => before),
        after: mean(({ after }) => after),
        calls: mean(({ calls }) => calls),
        cost: mean(({ cost }) => cost),
        timeMs: mean(({ timeMs }) => timeMs),
        old: oldPercent / 100,
      });
    }
  }
  return rows;
}

async function measureRun(preset: string, options: ConversationOptions): Promise<HeadlineRun> {
  const messages = generateConversation(options);
  const counter = freshCounter();
  const before = counter.countMessages(messages);
  const random = new Random(options.seed);
  const summarizer = createTestSummarizer((request) => {
    // The limit is one and a half times the requested length, and the answer has half to all of the
    // requested length.
    const tokens = (roomForSummary(request) / 1.5) * (0.5 + random.next() / 2);
    return Promise.resolve(prose(random, tokens * CHARS_PER_TOKEN));
  });
  const provider = createSmartProvider({ select: () => selectSummarizer({ condensing: summarizer }) });
  const checked = provider.validateConfig(BUILT_IN_PRESETS.find(({ id }) => id === preset)?.config);
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  const started = process.cpuUsage();
  const { edits, cost = 0 } = await provider.condense({ messages, edits: [], counter }, checked.config, {});
  const timeMs = readCpuMsSince(started);
  const after = counter.countMessages(applyEdits(messages, edits).messages);
  return { before, after, calls: summarizer.requests.length, cost, timeMs };
}

export const HEADLINE_COLUMNS = [
  'conversation',
  'preset',
  'before',
  'after',
  'removed',
  'the old figure',
  'calls',
  'cost',
  'processor time',
] as const;

export const headlineCells = (rows: readonly HeadlineRow[]): string[][] =>
  rows.map(({ conversation, preset, before, after, old, calls, cost, timeMs }) => [
    conversation,
    preset,
    `${(before / 1000).toFixed(1)}K`,
    `${(after / 1000).toFixed(1)}K`,
    percent(1 - after / before),
    percent(old),
    calls.toFixed(1),
    `$${cost.toFixed(3)}`,
    millis(timeMs),
  ]);
