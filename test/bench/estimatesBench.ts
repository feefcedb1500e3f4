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
import { cpuSince, freshCounter, median } from './measure';
import { millis, table } from './table';

export interface EstimateRow {
  readonly conversation: string;
  readonly choice: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly alone: Taken;
  /** Time of the choice in a list of all choices, in the order of this table. */
  readonly listed: Taken;
  /** Time of the same choice again, with another target. */
  readonly changed: Taken;
}

/** Medians in milliseconds of wall time, and of CPU time including the engine's threads. */
interface Taken {
  readonly clockMs: number;
  readonly cpuMs: number;
}

const TOKENS = 200_000;
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

const setup = ({ provider, config }: ProviderChoice, targetPercent: number): PreviewSetup => ({
  provider,
  config,
  presets: [],
  targetPercent,
  maxCost: 5,
  models: [{ model: makeTestModel(), chosen: 'condensing-profile', samples: [] }],
  summaries: join(tmpdir(), 'no-summaries'),
});

export async function benchEstimates(conversations: readonly BenchConversation[]): Promise<EstimateRow[]> {
  const generated = generateConversation({ seed: 42, targetTokens: TOKENS });
  for (const choice of CHOICES) await ask(sessionOn(generated), choice);
  const rows: EstimateRow[] = [];
  for (const [name, messages] of [
    ['generated', generated],
    ...joinSessions(conversations, TOKENS).slice(0, 1),
  ] as const)
    rows.push(...(await measure(name, messages)));
  return rows;
}

async function measure(conversation: string, messages: readonly ApiMessage[]): Promise<EstimateRow[]> {
  const alone = CHOICES.map((): Taken[] => []);
  const listed = CHOICES.map((): Taken[] => []);
  const changed = CHOICES.map((): Taken[] => []);
  const sizes: Pick<EstimateRow, 'tokensBefore' | 'tokensAfter'>[] = [];
  // Earlier sessions are kept alive, as in a worker. Otherwise the collector would discard code
  // compiled for their objects, and recompiling it would be measured.
  const kept: PreviewSession[] = [];
  for (let run = 0; run < RUNS; run++) {
    const list = sessionOn(messages);
    for (const [index, choice] of CHOICES.entries()) {
      const session = sessionOn(messages);
      globalThis.gc?.();
      const first = await ask(session, choice);
      sizes[index] = first;
      alone[index]?.push(first.taken);
      changed[index]?.push((await ask(session, choice, TARGET - 1)).taken);
      listed[index]?.push((await ask(list, choice)).taken);
    }
    kept[0] = list;
  }
  return CHOICES.map(({ name }, index) => ({
    conversation,
    choice: name,
    tokensBefore: sizes[index]?.tokensBefore ?? 0,
    tokensAfter: sizes[index]?.tokensAfter ?? 0,
    alone: middle(alone[index]),
    listed: middle(listed[index]),
    changed: middle(changed[index]),
  }));
}

const middle = (runs: readonly Taken[] = []): Taken => ({
  clockMs: median(runs.map(({ clockMs }) => clockMs)),
  cpuMs: median(runs.map(({ cpuMs }) => cpuMs)),
});

/** Creates a session that has only read and counted the conversation. */
function sessionOn(source: readonly ApiMessage[]): PreviewSession {
  const messages = JSON.parse(JSON.stringify(source)) as ApiMessage[];
  const counter = freshCounter();
  counter.countMessages(messages);
  const session = new PreviewSession(counter);
  session.updateLiveConversation('live', { messages: { kept: 0, added: messages }, edits: { kept: 0, added: [] } });
  return session;
}

async function ask(session: PreviewSession, choice: ProviderChoice, target = TARGET) {
  const question: PreviewQuestion = {
    conversation: { kind: 'live', id: 'live', title: 'Live', pinned: [] },
    setup: setup(choice, target),
    excluded: [],
  };
  const [started, cpuStarted] = [performance.now(), process.cpuUsage()];
  const result = await session.answerPreviewRequest({ kind: 'preview', ...question }, new AbortController().signal);
  const { tokensBefore, tokensAfter } = result;
  return { tokensBefore, tokensAfter, taken: { clockMs: performance.now() - started, cpuMs: cpuSince(cpuStarted) } };
}

const words = ({ clockMs, cpuMs }: Taken): string => `${millis(clockMs)} (${millis(cpuMs)})`;

export const estimatesTable = (rows: readonly EstimateRow[]): string =>
  table(
    ['conversation', 'choice', 'tokens', 'after', 'alone: by the clock (processor)', 'listed', 'another target'],
    rows.map(({ conversation, choice, tokensBefore, tokensAfter, alone, listed, changed }) => [
      conversation,
      choice,
      tokensBefore,
      tokensAfter,
      words(alone),
      words(listed),
      words(changed),
    ]),
  );
