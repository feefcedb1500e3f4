/**
 * Measures how long the preview's worker takes for a change (pin, target, added messages), and for
 * the report of kept facts.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PreviewQuestion, PreviewSetup } from '../../src/background/preview/messages';
import { PreviewSession } from '../../src/background/preview/session';
import type { ApiMessage } from '../../src/core/messages/types';
import { generateConversation } from '../generators/conversation';
import { readCpuMsSince, freshCounter } from './measure';
import { millis, table } from './table';

export interface PreviewPoint {
  readonly provider: string;
  readonly change: string;
  readonly tokens: number;
  readonly messages: number;
  /** Median and maximum wall time over all changes, in milliseconds. */
  readonly medianMs: number;
  readonly mostMs: number;
  /** Median CPU time in milliseconds. */
  readonly cpuMs: number;
  /** Median CPU time in milliseconds of the coherence report that follows each change. */
  readonly reportCpuMs: number;
}

const SEED = 3;
const TOKENS = 200_000;
const CHANGES_PER_RUN = 20;
/** Number of messages added per step: call and result. */
const STEP = 2;
const PROVIDERS = ['smart', 'lossless', 'truncation'] as const;

interface MeasuredChange {
  readonly name: string;
  readonly first: (messages: number) => number;
  /** Returns the question after this many changes. */
  readonly question: (provider: string, step: number) => Partial<PreviewQuestion>;
  readonly added: number;
}

const MEASURED_CHANGES: readonly MeasuredChange[] = [
  {
    name: 'pin',
    first: (messages) => messages,
    question: (_, step) => ({ pinned: Array.from({ length: step }, (_pin, at) => 40 + 3 * at) }),
    added: 0,
  },
  {
    name: 'target',
    first: (messages) => messages,
    question: (provider, step) => ({ setup: makePreviewSetup(provider, 30 + step) }),
    added: 0,
  },
  { name: 'a step more', first: (messages) => messages - CHANGES_PER_RUN * STEP, question: () => ({}), added: STEP },
];

const makePreviewSetup = (provider: string, targetPercent = 50): PreviewSetup => ({
  provider,
  config: undefined,
  presets: [],
  targetPercent,
  maxCost: 0.5,
  models: [],
  summaries: join(tmpdir(), 'no-summaries'),
});

export async function benchPreview(): Promise<PreviewPoint[]> {
  const messages = generateConversation({ seed: SEED, targetTokens: TOKENS });
  const points: PreviewPoint[] = [];
  for (const provider of PROVIDERS) {
    for (const change of MEASURED_CHANGES) points.push(await measureChange(messages, provider, change));
  }
  return points;
}

/** Asks once so that everything is read and counted, and then once after each change. */
async function measureChange(
  messages: readonly ApiMessage[],
  provider: string,
  change: MeasuredChange,
): Promise<PreviewPoint> {
  const session = new PreviewSession(freshCounter());
  const { signal } = new AbortController();
  let length = 0;
  const addMessages = (added: number): void => {
    const update = { kept: length, added: messages.slice(length, length + added) };
    session.updateLiveConversation('live', { messages: update, edits: { kept: 0, added: [] } });
    length += added;
  };
  const makeQuestion = (step: number): PreviewQuestion => ({
    conversation: { kind: 'live', id: 'live', title: 'Live', pinned: [] },
    setup: makePreviewSetup(provider),
    excluded: [],
    ...change.question(provider, step),
  });
  const askPreview = (step: number) => session.answerPreviewRequest({ kind: 'preview', ...makeQuestion(step) }, signal);
  addMessages(change.first(messages.length));
  let lastAnswer = await askPreview(0);
  const times: number[] = [];
  const cpuTimes: number[] = [];
  const reportTimes: number[] = [];
  for (let step = 1; step <= CHANGES_PER_RUN; step++) {
    const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
    addMessages(change.added);
    lastAnswer = await askPreview(step);
    times.push(performance.now() - started);
    cpuTimes.push(readCpuMsSince(cpuStarted));
    const reportStarted = process.cpuUsage();
    await session.answerPreviewRequest({ kind: 'coherence', ...makeQuestion(step) }, signal);
    reportTimes.push(readCpuMsSince(reportStarted));
  }
  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[CHANGES_PER_RUN / 2] ?? Number.NaN;
  return {
    provider,
    change: change.name,
    tokens: lastAnswer.tokensBefore,
    messages: lastAnswer.cells.length,
    medianMs: median(times),
    mostMs: Math.max(...times),
    cpuMs: median(cpuTimes),
    reportCpuMs: median(reportTimes),
  };
}

export const previewTable = (points: readonly PreviewPoint[]): string =>
  table(
    ['provider', 'change', 'tokens', 'messages', 'median', 'most', 'processor', 'report'],
    points.map(({ provider, change, tokens, messages, medianMs, mostMs, cpuMs, reportCpuMs }) => [
      provider,
      change,
      tokens,
      messages,
      millis(medianMs),
      millis(mostMs),
      millis(cpuMs),
      millis(reportCpuMs),
    ]),
  );
