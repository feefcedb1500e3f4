/**
 * Measures how long a provider's estimate takes on 200K tokens that are already counted. The
 * preview's worker is asked as the panel asks it: for one choice alone, for all choices on the same
 * conversation, and again with another target.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PreviewQuestion, PreviewSetup } from '../../src/background/preview/messages';
import { PreviewSession } from '../../src/background/preview/session';
import { BUILT_IN_PRESETS } from '../../src/core/condense/providers/smart/presets';
import { BUILT_IN_STRATEGIES } from '../../src/core/condense/providers/strategy/builtIn';
import { makeTestModel } from '../../src/core/condense/summary/testing';
import type { ApiMessage } from '../../src/core/messages/types';
import { generateConversation } from '../generators/conversation';
import { joinSessions, type BenchConversation } from './corpus';
import { readCpuMsSince, freshCounter, median } from './measure';
import { millis, table } from './table';

export interface EstimateRow {
  readonly conversation: string;
  readonly choice: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly alone: MedianTimes;
  /** Time of the choice in a list of all choices, in the order of this table. */
  readonly listed: MedianTimes;
  /** Time of the same choice again, with another target. */
  readonly changed: MedianTimes;
}

/** Medians in milliseconds of wall time, and of CPU time including the engine's threads. */
interface MedianTimes {
  readonly clockMs: number;
  readonly cpuMs: number;
}

const CONVERSATION_TOKENS = 200_000;
const RUNS = 5;
const TARGET = 50;

interface ProviderChoice {
  readonly name: string;
  readonly provider: string;
  readonly config?: string;
}

const CHOICES: readonly ProviderChoice[] = [
  { name: 'lossless', provider: 'lossless' },
  { name: 'truncation', provider: 'truncation' },
  { name: 'native', provider: 'native' },
  ...BUILT_IN_PRESETS.map(({ id }) => ({ name: id, provider: 'smart', config: id })),
  ...BUILT_IN_STRATEGIES.map(({ id }) => ({ name: id, provider: 'strategy', config: id })),
];

const makePreviewSetup = ({ provider, config }: ProviderChoice, targetPercent: number): PreviewSetup => ({
  provider,
  config,
  presets: [],
  targetPercent,
  maxCost: 5,
  models: [{ model: makeTestModel(), chosen: 'condensing-profile', samples: [] }],
  summaries: join(tmpdir(), 'no-summaries'),
});

export async function benchEstimates(conversations: readonly BenchConversation[]): Promise<EstimateRow[]> {
  const generated = generateConversation({ seed: 42, targetTokens: CONVERSATION_TOKENS });
  for (const choice of CHOICES) await askPreview(createSession(generated), choice);
  const rows: EstimateRow[] = [];
  for (const [name, messages] of [
    ['generated', generated],
    ...joinSessions(conversations, CONVERSATION_TOKENS).slice(0, 1),
  ] as const)
    rows.push(...(await measure(name, messages)));
  return rows;
}

async function measure(conversation: string, messages: readonly ApiMessage[]): Promise<EstimateRow[]> {
  const aloneTimes = CHOICES.map((): MedianTimes[] => []);
  const listedTimes = CHOICES.map((): MedianTimes[] => []);
  const changedTimes = CHOICES.map((): MedianTimes[] => []);
  const sizes: Pick<EstimateRow, 'tokensBefore' | 'tokensAfter'>[] = [];
  // Earlier sessions are kept alive, as in a worker. Otherwise the collector would discard code
  // compiled for their objects, and recompiling it would be measured.
  const keptSessions: PreviewSession[] = [];
  for (let run = 0; run < RUNS; run++) {
    const listSession = createSession(messages);
    for (const [index, choice] of CHOICES.entries()) {
      const session = createSession(messages);
      globalThis.gc?.();
      const firstAnswer = await askPreview(session, choice);
      sizes[index] = firstAnswer;
      aloneTimes[index]?.push(firstAnswer.taken);
      changedTimes[index]?.push((await askPreview(session, choice, TARGET - 1)).taken);
      listedTimes[index]?.push((await askPreview(listSession, choice)).taken);
    }
    keptSessions[0] = listSession;
  }
  return CHOICES.map(({ name }, index) => ({
    conversation,
    choice: name,
    tokensBefore: sizes[index]?.tokensBefore ?? 0,
    tokensAfter: sizes[index]?.tokensAfter ?? 0,
    alone: computeMedianTimes(aloneTimes[index]),
    listed: computeMedianTimes(listedTimes[index]),
    changed: computeMedianTimes(changedTimes[index]),
  }));
}

const computeMedianTimes = (runs: readonly MedianTimes[] = []): MedianTimes => ({
  clockMs: median(runs.map(({ clockMs }) => clockMs)),
  cpuMs: median(runs.map(({ cpuMs }) => cpuMs)),
});

/** Creates a session that has only read and counted the conversation. */
function createSession(source: readonly ApiMessage[]): PreviewSession {
  const messages = JSON.parse(JSON.stringify(source)) as ApiMessage[];
  const counter = freshCounter();
  counter.countMessages(messages);
  const session = new PreviewSession(counter);
  session.updateLiveConversation('live', { messages: { kept: 0, added: messages }, edits: { kept: 0, added: [] } });
  return session;
}

async function askPreview(session: PreviewSession, choice: ProviderChoice, target = TARGET) {
  const question: PreviewQuestion = {
    conversation: { kind: 'live', id: 'live', title: 'Live', pinned: [] },
    setup: makePreviewSetup(choice, target),
    excluded: [],
  };
  const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
  const result = await session.answerPreviewRequest({ kind: 'preview', ...question }, new AbortController().signal);
  const { tokensBefore, tokensAfter } = result;
  return {
    tokensBefore,
    tokensAfter,
    taken: { clockMs: performance.now() - started, cpuMs: readCpuMsSince(cpuStarted) },
  };
}

const formatTimes = ({ clockMs, cpuMs }: MedianTimes): string => `${millis(clockMs)} (${millis(cpuMs)})`;

export const estimatesTable = (rows: readonly EstimateRow[]): string =>
  table(
    ['conversation', 'choice', 'tokens', 'after', 'alone: by the clock (processor)', 'listed', 'another target'],
    rows.map(({ conversation, choice, tokensBefore, tokensAfter, alone, listed, changed }) => [
      conversation,
      choice,
      tokensBefore,
      tokensAfter,
      formatTimes(alone),
      formatTimes(listed),
      formatTimes(changed),
    ]),
  );
