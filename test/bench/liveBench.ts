/**
 * The time that live conversations add to a request of an agent, in the process that asks (a gateway) and in the engine's thread (VS
 * Code's chat): when nothing is due, when a large result is new, when a mechanical
 * condensation is due, when a conversation comes back after a restart, and when it has more images than its vendor takes. Each request
 * brings new objects, as VS Code does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ENGINE_BUNDLE, EngineThread } from '../../src/engine/engineThread';
import { LiveClient } from '../../src/engine/live/client';
import { LiveConversations } from '../../src/live/liveConversations';
import type { ChatConversations } from '../../src/live/types';
import type { AgentRequest, UpstreamModel } from '../../src/live/request';
import { CondensationManager, losslessProvider, truncationProvider } from '../../src/core/condense';
import type { CondensationProvider } from '../../src/core/condense/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { listContents } from '../../src/core/messages/content';
import { assistant, call, cpuNow, exchange, result, user } from '../../src/core/testing';
import { generateConversation } from '../generators/conversation';
import { noisePng } from '../generators/noisePng';
import { monitorHeld } from './held';
import { collectGarbage, freshCounter } from './measure';
import { millis, table } from './table';

/** In the process that asks, or in a thread of the bundle that is built. */
export type Where = 'process' | 'thread';

export interface LivePoint {
  readonly where: Where;
  readonly tokens: number;
  readonly situation:
    | 'nothing due'
    | 'no work'
    | 'a new result of 50 KB'
    | 'condensing'
    | 'after a restart'
    | '42 images, 34 MB'
    | 'first request, 10 MB';
  readonly requests: number;
  /** Milliseconds on the clock. */
  readonly median: number;
  readonly p90: number;
  readonly p99: number;
  /** The same in processor time: other work on the machine doesn't count. */
  readonly cpuMedian: number;
  readonly cpuP99: number;
  /** Longest time that the thread was not given back, in milliseconds of processor time. */
  readonly stretch: number;
}

const SIZES = [50_000, 200_000, 400_000];
const SEED = 7;
/** Messages that a conversation grows by from request to request: an answer and its results. */
const STEP = 2;

/** The messages as VS Code hands them over: the same content in new objects. */
const copied = (messages: readonly ApiMessage[]): ApiMessage[] => JSON.parse(JSON.stringify(messages)) as ApiMessage[];

const withoutThinking = (messages: readonly ApiMessage[]): ApiMessage[] =>
  messages.flatMap((message) => {
    if (typeof message.content === 'string') return [message];
    const content = message.content.filter(({ type }) => type !== 'thinking');
    return content.length === 0 ? [] : [{ ...message, content }];
  });

const TOOLS = Array.from({ length: 41 }, (_, index) => ({
  name: `tool_${index}`,
  description: 'What this tool does, in a paragraph of some length. '.repeat(12),
  input_schema: { type: 'object', properties: { path: { type: 'string', description: 'A path. '.repeat(8) } } },
}));

const model = (contextWindow: number, percent: number): UpstreamModel => ({
  key: 'bench',
  contextWindow,
  maxOutputTokens: 8_192,
  threshold: { percent },
});

function requestOf(messages: readonly ApiMessage[], upstream: UpstreamModel): AgentRequest {
  return { conversationId: 'bench', system: 'You are an agent. '.repeat(800), messages, tools: TOOLS, model: upstream };
}

type Preparing = Pick<ChatConversations, 'prepare' | 'countPart'>;

/** Threads of the situation that is measured. */
const threads: EngineThread[] = [];

function liveIn(root: string, where: Where): Preparing {
  if (where === 'thread') return liveInThread(root);
  const counter = freshCounter();
  const providers = [losslessProvider, truncationProvider] as unknown as [CondensationProvider, CondensationProvider];
  const manager = new CondensationManager(counter, providers);
  return new LiveConversations({
    manager,
    counter,
    root,
    settings: () => ({ provider: 'lossless', mayUseNative: false }),
  });
}

function liveInThread(root: string): Preparing {
  const thread = new EngineThread({ bundle: resolve('dist', ENGINE_BUNDLE) });
  threads.push(thread);
  return new LiveClient({
    engine: () => thread.engine,
    root,
    summaries: join(root, 'summaries'),
    headline: ({ kind }) => kind,
    setup: () => ({ settings: { provider: 'lossless', mayUseNative: false }, presets: [], registered: [] }),
    models: () => ({
      select: () => Promise.resolve({ problem: 'No model is called here.' }),
      summarize: () => Promise.reject(new Error('No model is called here.')),
      warn: () => undefined,
    }),
    providers: { condense: () => Promise.resolve(), estimate: () => Promise.resolve() },
  });
}

export async function benchLive(sizes: readonly number[] = SIZES): Promise<LivePoint[]> {
  const points: LivePoint[] = [];
  for (const tokens of sizes) {
    const messages = withoutThinking(generateConversation({ seed: SEED, targetTokens: tokens }));
    for (const where of ['process', 'thread'] as const) {
      points.push(...(await nothingDue(messages, tokens, where)), await largeResults(messages, tokens, where));
      points.push(...(await condensing(messages, tokens, where)));
    }
  }
  for (const where of ['process', 'thread'] as const) points.push(await images(where), await firstRequest(where));
  return points;
}

/** A chat of 10 MB that nobody has seen, such as after VS Code was started anew. */
async function firstRequest(where: Where, runs = 6): Promise<LivePoint> {
  const lines = Array.from({ length: 1_000 }, (_, at) => `${at}: if (request.retry > limit) return undefined;`).join(
    '\n',
  );
  const messages = [
    user('Look into the log.'),
    ...Array.from({ length: Math.ceil(1e7 / lines.length) }, (_, at) =>
      exchange(`read-${at}`, 'Read', { file_path: `/src/${at}.ts` }, `${at}\n${lines}`),
    ).flat(),
  ];
  const timings: Timing[] = [];
  for (let run = 0; run < runs; run++)
    await inFolder(async (root) => {
      const live = liveIn(root, where);
      // The engine runs already.
      await live.prepare(requestOf([user('Hello')], model(200_000, 75)));
      const request = requestOf(copied(messages), model(10_000_000, 100));
      timings.push(await timed(() => live.prepare(request)));
    });
  return pointOf(2_500_000, where, 'first request, 10 MB', timings);
}

const REQUESTS = 120;

/**
 * The conversation's last requests, with an upstream large enough; and after each, from a rest, a question without any work: on a busy
 * machine most of a request's time is the waiting for the two threads' turns.
 */
async function nothingDue(messages: readonly ApiMessage[], tokens: number, where: Where): Promise<LivePoint[]> {
  return inFolder(async (root) => {
    const live = liveIn(root, where);
    const upstream = model(tokens * 10, 100);
    const from = Math.max(2, messages.length - REQUESTS * STEP);
    await live.prepare(requestOf(copied(messages.slice(0, from)), upstream));
    const timings: Timing[] = [];
    const idle: Timing[] = [];
    for (let end = from + STEP; end <= messages.length; end += STEP) {
      // Made when its turn comes: the weight of 120 of them would else be gone through by each collection of garbage.
      const request = requestOf(copied(messages.slice(0, end)), upstream);
      timings.push(await timed(() => live.prepare(request)));
      idle.push(await timed(() => live.countPart('')));
    }
    return [pointOf(tokens, where, 'nothing due', timings), pointOf(tokens, where, 'no work', idle)];
  });
}

/** An exchange with a result of 50 KB that nobody has seen, again and again. The first one indexes what stands above, and is the longest. */
async function largeResults(
  messages: readonly ApiMessage[],
  tokens: number,
  where: Where,
  runs = 40,
): Promise<LivePoint> {
  const other = generateConversation({ seed: SEED + 1, targetTokens: runs * 20_000 });
  const text = other.flatMap((message) => listContents(message).map((content) => content.text)).join('\n');
  return inFolder(async (root) => {
    const live = liveIn(root, where);
    const upstream = model((tokens + runs * 20_000) * 10, 100);
    const all = [...messages];
    await live.prepare(requestOf(copied(all), upstream));
    const timings: Timing[] = [];
    for (let run = 0; run < runs; run++) {
      const result = text.slice(run * 50_000, (run + 1) * 50_000);
      all.push(...exchange(`large-${run}`, 'Read', { file_path: `/src/large-${run}.ts` }, result));
      const request = requestOf(copied(all), upstream);
      timings.push(await timed(() => live.prepare(request)));
    }
    return pointOf(tokens, where, 'a new result of 50 KB', timings);
  });
}

/** Three screenshots more with each request, to a vendor that takes 20 MB. */
async function images(where: Where): Promise<LivePoint> {
  return inFolder(async (root) => {
    const live = liveIn(root, where);
    const upstream = { ...model(200_000, 75), limits: { bytes: 20_971_520 } };
    const all: ApiMessage[] = [user('Look at the pages')];
    const timings: Timing[] = [];
    for (let image = 0; image < 42; image++) {
      const data = noisePng(1280, 720, 607_000, image).toString('base64');
      const shot = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
      const id = `shot-${image}`;
      all.push(assistant(call(id, 'browser_take_screenshot', {})), user(result(id, [shot])));
      if (image % 3 < 2) continue;
      const request = requestOf(copied(all), upstream);
      timings.push(await timed(() => live.prepare(request)));
    }
    return pointOf(59_000, where, '42 images, 34 MB', timings);
  });
}

/** The request that makes a condensation due, and the first one after a restart; a fresh folder each time. */
async function condensing(
  messages: readonly ApiMessage[],
  tokens: number,
  where: Where,
  runs = 12,
): Promise<LivePoint[]> {
  const upstream = model(tokens * 1.2, 60);
  const far = model(tokens * 10, 100);
  const before = messages.slice(0, -STEP);
  const times: Record<'condensing' | 'after a restart', Timing[]> = { condensing: [], 'after a restart': [] };
  for (let run = 0; run < runs; run++) {
    await inFolder(async (root) => {
      const live = liveIn(root, where);
      await live.prepare(requestOf(copied(before), far));
      const [due, again] = [requestOf(copied(messages), upstream), requestOf(copied(messages), upstream)];
      times.condensing.push(await timed(() => live.prepare(due)));
      const restarted = liveIn(root, where);
      times['after a restart'].push(await timed(() => restarted.prepare(again)));
    });
  }
  return [
    pointOf(tokens, where, 'condensing', times.condensing),
    pointOf(tokens, where, 'after a restart', times['after a restart']),
  ];
}

interface Timing {
  readonly ms: number;
  readonly cpuMs: number;
  readonly stretch: number;
}

/** How long it takes, and how long the thread was held. */
async function timed(action: () => Promise<unknown>): Promise<Timing> {
  // A large collection goes through the whole heap, which here is the bench's own.
  collectGarbage();
  await new Promise((resolve) => setImmediate(resolve));
  const held = monitorHeld();
  const [started, cpuStarted] = [performance.now(), cpuNow()];
  await action();
  const [ms, cpuMs] = [performance.now() - started, cpuNow() - cpuStarted];
  return { ms, cpuMs, stretch: await held() };
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;

function pointOf(
  tokens: number,
  where: Where,
  situation: LivePoint['situation'],
  timings: readonly Timing[],
): LivePoint {
  const sorted = timings.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const cpu = timings.map(({ cpuMs }) => cpuMs).toSorted((a, b) => a - b);
  return {
    where,
    tokens,
    situation,
    requests: timings.length,
    median: at(sorted, 0.5),
    p90: at(sorted, 0.9),
    p99: at(sorted, 0.99),
    cpuMedian: at(cpu, 0.5),
    cpuP99: at(cpu, 0.99),
    stretch: Math.max(...timings.map(({ stretch }) => stretch)),
  };
}

async function inFolder<T>(action: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'condenser-bench-'));
  try {
    return await action(root);
  } finally {
    for (const thread of threads.splice(0)) thread.end();
    rmSync(root, { recursive: true, force: true, maxRetries: 10 });
  }
}

export const liveTable = (points: readonly LivePoint[]): string =>
  table(
    [
      'situation',
      'where',
      'tokens',
      'requests',
      'median',
      '90th percentile',
      '99th percentile',
      'processor',
      '99th percentile',
      'longest stretch',
    ],
    points.map(({ situation, where, tokens, requests, median, p90, p99, cpuMedian, cpuP99, stretch }) => [
      situation,
      where,
      tokens,
      requests,
      ...[median, p90, p99, cpuMedian, cpuP99, stretch].map(millis),
    ]),
  );
