/**
 * Measures the time that live conversations add to a request, in the same process (gateway) and in
 * the engine's thread (VS Code's chat). The cases are: nothing is due, a large new result, a
 * mechanical condensation, after a restart, and more images than the vendor accepts. Each request
 * has new objects, as in VS Code.
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
import { assistant, call, readCpuMs, makeToolExchange, result, user } from '../../src/core/testing';
import { generateConversation } from '../generators/conversation';
import { noisePng } from '../generators/noisePng';
import { startBlockMonitor } from './held';
import { collectGarbage, freshCounter } from './measure';
import { millis, table } from './table';

/** The engine runs in this process, or in a thread with the built bundle. */
export type EngineLocation = 'process' | 'thread';

export interface LivePoint {
  readonly where: EngineLocation;
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
  /** Wall time in milliseconds. */
  readonly median: number;
  readonly p90: number;
  readonly p99: number;
  /** CPU time in milliseconds. */
  readonly cpuMedian: number;
  readonly cpuP99: number;
  /** Longest time that the thread was blocked, in milliseconds of CPU time. */
  readonly stretch: number;
}

const SIZES = [50_000, 200_000, 400_000];
const SEED = 7;
/** Number of messages added per request: an answer and its results. */
const MESSAGES_PER_REQUEST = 2;

/** Copies messages to new objects with the same content, as VS Code passes them. */
const copyMessages = (messages: readonly ApiMessage[]): ApiMessage[] =>
  JSON.parse(JSON.stringify(messages)) as ApiMessage[];

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

const makeUpstreamModel = (contextWindow: number, percent: number): UpstreamModel => ({
  key: 'bench',
  contextWindow,
  maxOutputTokens: 8_192,
  threshold: { percent },
});

function makeRequest(messages: readonly ApiMessage[], upstream: UpstreamModel): AgentRequest {
  return { conversationId: 'bench', system: 'You are an agent. '.repeat(800), messages, tools: TOOLS, model: upstream };
}

type PreparedConversations = Pick<ChatConversations, 'prepare' | 'countPart'>;

const threads: EngineThread[] = [];

function createLive(root: string, where: EngineLocation): PreparedConversations {
  if (where === 'thread') return createLiveInThread(root);
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

function createLiveInThread(root: string): PreparedConversations {
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
      points.push(
        ...(await measureNothingDue(messages, tokens, where)),
        await measureLargeResults(messages, tokens, where),
      );
      points.push(...(await measureCondensing(messages, tokens, where)));
    }
  }
  for (const where of ['process', 'thread'] as const)
    points.push(await measureImages(where), await measureFirstRequest(where));
  return points;
}

/** Measures an unknown chat of 10 MB, as after a restart of VS Code. */
async function measureFirstRequest(where: EngineLocation, runs = 6): Promise<LivePoint> {
  const logLines = Array.from({ length: 1_000 }, (_, at) => `${at}: if (request.retry > limit) return undefined;`).join(
    '\n',
  );
  const messages = [
    user('Look into the log.'),
    ...Array.from({ length: Math.ceil(1e7 / logLines.length) }, (_, at) =>
      makeToolExchange(`read-${at}`, 'Read', { file_path: `/src/${at}.ts` }, `${at}\n${logLines}`),
    ).flat(),
  ];
  const timings: Timing[] = [];
  for (let run = 0; run < runs; run++)
    await inFolder(async (root) => {
      const live = createLive(root, where);
      await live.prepare(makeRequest([user('Hello')], makeUpstreamModel(200_000, 75)));
      const request = makeRequest(copyMessages(messages), makeUpstreamModel(10_000_000, 100));
      timings.push(await measureTiming(() => live.prepare(request)));
    });
  return makePoint(2_500_000, where, 'first request, 10 MB', timings);
}

const REQUESTS = 120;

/**
 * Measures a conversation's last requests with a large model. An empty call after each of them is
 * the baseline, since on a busy machine most of the time is spent waiting for the two threads.
 */
async function measureNothingDue(
  messages: readonly ApiMessage[],
  tokens: number,
  where: EngineLocation,
): Promise<LivePoint[]> {
  return inFolder(async (root) => {
    const live = createLive(root, where);
    const upstream = makeUpstreamModel(tokens * 10, 100);
    const firstCount = Math.max(2, messages.length - REQUESTS * MESSAGES_PER_REQUEST);
    await live.prepare(makeRequest(copyMessages(messages.slice(0, firstCount)), upstream));
    const timings: Timing[] = [];
    const idleTimings: Timing[] = [];
    for (
      let messageCount = firstCount + MESSAGES_PER_REQUEST;
      messageCount <= messages.length;
      messageCount += MESSAGES_PER_REQUEST
    ) {
      // The request is created only now, so that garbage collections don't traverse 120 requests.
      const request = makeRequest(copyMessages(messages.slice(0, messageCount)), upstream);
      timings.push(await measureTiming(() => live.prepare(request)));
      idleTimings.push(await measureTiming(() => live.countPart('')));
    }
    return [makePoint(tokens, where, 'nothing due', timings), makePoint(tokens, where, 'no work', idleTimings)];
  });
}

/**
 * Measures exchanges with new results of 50 KB. The first one is the slowest, because it indexes
 * everything before it.
 */
async function measureLargeResults(
  messages: readonly ApiMessage[],
  tokens: number,
  where: EngineLocation,
  runs = 40,
): Promise<LivePoint> {
  const other = generateConversation({ seed: SEED + 1, targetTokens: runs * 20_000 });
  const text = other.flatMap((message) => listContents(message).map((content) => content.text)).join('\n');
  return inFolder(async (root) => {
    const live = createLive(root, where);
    const upstream = makeUpstreamModel((tokens + runs * 20_000) * 10, 100);
    const allMessages = [...messages];
    await live.prepare(makeRequest(copyMessages(allMessages), upstream));
    const timings: Timing[] = [];
    for (let run = 0; run < runs; run++) {
      const result = text.slice(run * 50_000, (run + 1) * 50_000);
      allMessages.push(...makeToolExchange(`large-${run}`, 'Read', { file_path: `/src/large-${run}.ts` }, result));
      const request = makeRequest(copyMessages(allMessages), upstream);
      timings.push(await measureTiming(() => live.prepare(request)));
    }
    return makePoint(tokens, where, 'a new result of 50 KB', timings);
  });
}

/** Measures requests that each add three screenshots, for a vendor that accepts 20 MB. */
async function measureImages(where: EngineLocation): Promise<LivePoint> {
  return inFolder(async (root) => {
    const live = createLive(root, where);
    const upstream = { ...makeUpstreamModel(200_000, 75), limits: { bytes: 20_971_520 } };
    const allMessages: ApiMessage[] = [user('Look at the pages')];
    const timings: Timing[] = [];
    for (let image = 0; image < 42; image++) {
      const data = noisePng(1280, 720, 607_000, image).toString('base64');
      const imageBlock = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
      const id = `shot-${image}`;
      allMessages.push(assistant(call(id, 'browser_take_screenshot', {})), user(result(id, [imageBlock])));
      if (image % 3 < 2) continue;
      const request = makeRequest(copyMessages(allMessages), upstream);
      timings.push(await measureTiming(() => live.prepare(request)));
    }
    return makePoint(59_000, where, '42 images, 34 MB', timings);
  });
}

/**
 * Measures the request that triggers a condensation, and the first one after a restart, in a new
 * folder each time.
 */
async function measureCondensing(
  messages: readonly ApiMessage[],
  tokens: number,
  where: EngineLocation,
  runs = 12,
): Promise<LivePoint[]> {
  const upstream = makeUpstreamModel(tokens * 1.2, 60);
  const largeUpstream = makeUpstreamModel(tokens * 10, 100);
  const earlierMessages = messages.slice(0, -MESSAGES_PER_REQUEST);
  const times: Record<'condensing' | 'after a restart', Timing[]> = { condensing: [], 'after a restart': [] };
  for (let run = 0; run < runs; run++) {
    await inFolder(async (root) => {
      const live = createLive(root, where);
      await live.prepare(makeRequest(copyMessages(earlierMessages), largeUpstream));
      const [due, again] = [
        makeRequest(copyMessages(messages), upstream),
        makeRequest(copyMessages(messages), upstream),
      ];
      times.condensing.push(await measureTiming(() => live.prepare(due)));
      const restartedLive = createLive(root, where);
      times['after a restart'].push(await measureTiming(() => restartedLive.prepare(again)));
    });
  }
  return [
    makePoint(tokens, where, 'condensing', times.condensing),
    makePoint(tokens, where, 'after a restart', times['after a restart']),
  ];
}

interface Timing {
  readonly ms: number;
  readonly cpuMs: number;
  readonly stretch: number;
}

/** Measures the total time of an action, and the longest block. */
async function measureTiming(action: () => Promise<unknown>): Promise<Timing> {
  // Garbage is collected before, because a major collection traverses the whole heap, which here is
  // mostly the benchmark's.
  collectGarbage();
  await new Promise((resolve) => setImmediate(resolve));
  const stopBlockMonitor = startBlockMonitor();
  const [started, cpuStarted] = [performance.now(), readCpuMs()];
  await action();
  const [ms, cpuMs] = [performance.now() - started, readCpuMs() - cpuStarted];
  return { ms, cpuMs, stretch: await stopBlockMonitor() };
}

const getQuantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;

function makePoint(
  tokens: number,
  where: EngineLocation,
  situation: LivePoint['situation'],
  timings: readonly Timing[],
): LivePoint {
  const sortedTimes = timings.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const sortedCpuTimes = timings.map(({ cpuMs }) => cpuMs).toSorted((a, b) => a - b);
  return {
    where,
    tokens,
    situation,
    requests: timings.length,
    median: getQuantile(sortedTimes, 0.5),
    p90: getQuantile(sortedTimes, 0.9),
    p99: getQuantile(sortedTimes, 0.99),
    cpuMedian: getQuantile(sortedCpuTimes, 0.5),
    cpuP99: getQuantile(sortedCpuTimes, 0.99),
    stretch: Math.max(...timings.map(({ stretch }) => stretch)),
  };
}

async function inFolder<T>(action: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'condenser-bench-'));
  try {
    return await action(root);
  } finally {
    for (const thread of threads.splice(0)) thread.endThread();
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
