/**
 * Condensing results on arrival: every recorded session, request by request through the live engine, with it and without, and
 * what the input of its requests would have cost by the rules of Anthropic's prompt cache. The sessions have no system prompt,
 * no tools and no times: the first two are left out, and the cache is taken to be warm.
 *
 * Two things are asserted for every request: what was sent before is sent again byte for byte unless a condensation came in
 * between, and each line that was left out on arrival stands in the view.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { CondensationManager, providersWithoutModels } from '../../src/core/condense';
import { lostLines } from '../support/lostLines';
import { isAnyThinking, type blocksOf } from '../../src/core/messages/blocks';
import type { ApiMessage } from '../../src/core/messages/types';
import { LiveConversations } from '../../src/live/liveConversations';
import type { LiveSettings } from '../../src/live/types';
import type { PreparedRequest, UpstreamModel } from '../../src/live/request';
import { PromptCache, type Segment } from '../servers/promptCache';
import { loadAllSessions, type BenchConversation } from './corpus';
import { freshCounter } from './measure';
import { arrivalBound, charsOf } from './repeatBound';
import { percent, table } from './table';

/** Input prices of Anthropic's cache, as multiples of the base price ("Prompt caching"). */
const WRITE = 1.25;
const READ = 0.1;

/** Windows in tokens; Infinity: no condensation is ever due. */
export const WINDOWS = [Infinity, 200_000, 128_000, 64_000] as const;
const OUTPUT_TOKENS = 8_192;
/** Larger than any session. */
const NO_LIMIT = 1_000_000_000;

export interface DoorRun {
  readonly requests: number;
  /** Input of all requests, in base-priced o200k tokens. */
  readonly cost: number;
  readonly condensations: number;
  /** O200k tokens that were left out on arrival, and those of all that arrived. */
  readonly leftOut: number;
  readonly arrived: number;
  /** Milliseconds of each request, on the clock. */
  readonly times: readonly number[];
}

export interface DoorPoint {
  readonly name: string;
  readonly agent: string;
  readonly window: number;
  readonly without: DoorRun;
  readonly with: DoorRun;
  /** Without the caution about what the agent reads again, and with the noise of terminals left out; without a window's limit only. */
  readonly careless?: DoorRun;
  readonly quiet?: DoorRun;
  readonly bound: DoorBound;
}

/** What brute force could leave out on arrival, as shares of the characters and of what they cost where no condensation is due. */
export interface DoorBound {
  readonly chars: number;
  readonly cost: number;
  /** Characters and cost of what could go, where lines of a file stand above in a display of the file. */
  readonly sameFile: readonly [chars: number, cost: number];
  /** The same where they stand in any text above. */
  readonly anywhere: readonly [chars: number, cost: number];
}

export async function benchDoor(windows: readonly number[] = WINDOWS, only?: string): Promise<DoorPoint[]> {
  const sessions = loadAllSessions((text) => {
    console.error(`!! ${text}`);
  }).filter(({ agent, name }) => only === undefined || agent === only || name.includes(only));
  const points: DoorPoint[] = [];
  for (const session of sessions) {
    const messages = asSent(session.messages);
    if (messages.length < 4) continue;
    const bound = doorBound(messages);
    for (const window of windows) {
      const run = (settings: Partial<LiveSettings>): Promise<DoorRun> => replay(session, messages, window, settings);
      const without = await run({ onArrival: 'off' });
      const point = { name: session.name, agent: session.agent, window, without, with: await run({}), bound };
      points.push(
        window === Infinity
          ? { ...point, careless: await run({ isCautious: false }), quiet: await run({ noiseOnArrival: true }) }
          : point,
      );
    }
    console.error(`   ${session.name}`);
  }
  return points;
}

/** As an agent sends them: without thinking, which the edge keeps, and results in a row as one message. */
export function asSent(messages: readonly ApiMessage[]): ApiMessage[] {
  const sent: ApiMessage[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const content =
      typeof message.content === 'string' ? message.content : message.content.filter((block) => !isAnyThinking(block));
    if (content.length === 0) continue;
    const last = sent.at(-1);
    if (last?.role === message.role)
      sent[sent.length - 1] = { ...last, content: [...blocks(last), ...blocks({ ...message, content })] };
    else sent.push({ ...message, content });
  }
  return sent;
}

/** How many messages each request of a session had: those before each of the agent's answers. */
const requestsOf = (messages: readonly ApiMessage[]): number[] =>
  messages.flatMap(({ role }, at) =>
    at > 0 && role === 'assistant' && messages[at - 1]?.role !== 'assistant' ? [at] : [],
  );

export function doorBound(messages: readonly ApiMessage[]): DoorBound {
  const requests = requestsOf(messages);
  /** What a message costs for each of its tokens: written with the first request that has it, read with each after it. */
  const price = (at: number): number => {
    const after = requests.filter((end) => end > at).length;
    return after === 0 ? 0 : WRITE + READ * (after - 1);
  };
  const bound = arrivalBound(messages);
  const both = (chars: ReadonlyMap<number, number>): readonly [number, number] => [
    sum([...chars], ([, own]) => own),
    sum([...chars], ([at, own]) => own * price(at)),
  ];
  const [chars, cost] = both(new Map(messages.map((message, at) => [at, charsOf(message)])));
  return { chars, cost, sameFile: both(bound.sameFile), anywhere: both(bound.anywhere) };
}

const blocks = (message: ApiMessage): ReturnType<typeof blocksOf> =>
  typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;

export async function replay(
  { name }: BenchConversation,
  messages: readonly ApiMessage[],
  window: number,
  settings: Partial<LiveSettings>,
): Promise<DoorRun> {
  const root = mkdtempSync(join(tmpdir(), 'condenser-door-'));
  try {
    const counter = freshCounter();
    const live = new LiveConversations({
      manager: new CondensationManager(counter, providersWithoutModels()),
      counter,
      root,
      settings: () => ({ provider: 'lossless', mayUseNative: false, ...settings }),
    });
    const model: UpstreamModel = {
      key: 'bench',
      contextWindow: window === Infinity ? NO_LIMIT : window,
      maxOutputTokens: OUTPUT_TOKENS,
      threshold: { percent: 75 },
    };
    const segmentsOf = segmenter(counter);
    const cache = new PromptCache({ minTokens: 1_024 });
    let [cost, condensations, requests] = [0, 0, 0];
    let last: PreparedRequest | undefined;
    const times: number[] = [];
    for (const end of requestsOf(messages)) {
      const began = performance.now();
      const prepared = await live.prepare({ conversationId: name, messages: messages.slice(0, end), tools: [], model });
      times.push(performance.now() - began);
      for (const note of prepared.notes) console.error(`   ${name}: ${note}`);
      live.answered(prepared, undefined);
      const isCondensed = prepared.outcome?.kind === 'condensed';
      if (last && !isCondensed) assertPrefix(name, last.messages, prepared.messages);
      const view = live.view(prepared.conversation);
      if (settings.onArrival !== 'off' && view) await assertStanding(name, view, isCondensed);
      const segments = prepared.messages.flatMap((message, at) =>
        segmentsOf(message, prepared.cacheMarks.includes(at)),
      );
      const { read, written, total } = cache.useMarked(segments);
      cost += read * READ + written * WRITE + (total - read - written);
      condensations += Number(isCondensed);
      requests++;
      last = prepared;
    }
    const leftOut = live.active()?.onArrival?.tokens ?? 0;
    return { requests, cost, condensations, leftOut, arrived: counter.messages(messages), times };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type SegmentsOf = (message: ApiMessage, isMarked: boolean) => Segment[];

/** The blocks of messages as a cache sees them; hashed once, for the cache hashes all that stands before again and again. */
function segmenter(counter: ReturnType<typeof freshCounter>): SegmentsOf {
  const known = new WeakMap<ApiMessage, readonly Omit<Segment, 'marked'>[]>();
  return (message, isMarked) => {
    const own =
      known.get(message) ??
      blocks(message).map((block) => ({
        identity: createHash('sha256').update(message.role).update(JSON.stringify(block)).digest('base64'),
        tokens: counter.block(block),
      }));
    known.set(message, own);
    return own.map((segment, at) => ({ ...segment, marked: isMarked && at === own.length - 1 }));
  };
}

function assertPrefix(name: string, before: readonly ApiMessage[], now: readonly ApiMessage[]): void {
  before.forEach((message, at) => {
    if (message !== now[at] && JSON.stringify(message) !== JSON.stringify(now[at]))
      throw new Error(`${name}: message ${at} of the view changed without a condensation`);
  });
}

/** Edits that were proven, and whether all are to be proven again. */
const proven = new WeakSet();

async function assertStanding(
  name: string,
  { original, edits }: NonNullable<ReturnType<LiveConversations['view']>>,
  isCondensed: boolean,
): Promise<void> {
  const cuts = edits.filter((edit) => edit.kind === 'cut');
  const doubtful = isCondensed ? cuts : cuts.filter((edit) => !proven.has(edit));
  for (const edit of doubtful) proven.add(edit);
  if (doubtful.length === 0) return;
  // The check asks by the original's indexes.
  const { messages, origins } = applyEdits(original, edits);
  const covered = (message: number): boolean => !origins.includes(message);
  const broken = await lostLines(
    original,
    messages,
    doubtful.filter(({ place }) => !covered(place.message)),
  );
  if (broken) throw new Error(`${name}: message ${broken.place.message} lost the line ${JSON.stringify(broken.line)}`);
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((all, item) => all + of(item), 0);

export function doorTable(points: readonly DoorPoint[]): string {
  const agents = [...new Set(points.map(({ agent }) => agent))].sort();
  const windows = [...new Set(points.map(({ window }) => window))];
  const rows = windows.flatMap((window) =>
    [...agents, 'all'].map((agent) => {
      const own = points.filter((point) => point.window === window && (agent === 'all' || point.agent === agent));
      const [cost, costWithout] = [sum(own, (point) => point.with.cost), sum(own, (point) => point.without.cost)];
      const dearer = own.filter((point) => point.with.cost > 1.01 * point.without.cost);
      const worst = Math.max(...own.map((point) => point.with.cost / point.without.cost - 1));
      return [
        `${agent}, ${window === Infinity ? 'no limit' : `${window / 1_000}K`}`,
        own.length,
        sum(own, (point) => point.with.requests),
        percent(sum(own, (point) => point.with.leftOut) / sum(own, (point) => point.with.arrived)),
        percent(cost / costWithout - 1),
        `${sum(own, (point) => point.without.condensations)} → ${sum(own, (point) => point.with.condensations)}`,
        dearer.length,
        percent(worst),
      ];
    }),
  );
  const head = ['', 'sessions', 'requests', 'left out', 'input cost', 'condensations', 'dearer than 1 %', 'dearest'];
  return [table(head, rows), waysTable(points), boundTable(points), timesTable(points)].join('\n\n');
}

/** The rule as it ships beside other rules, where no condensation comes in between. */
function waysTable(points: readonly DoorPoint[]): string {
  const own = points.filter(({ window }) => window === Infinity);
  const agents = [...new Set(own.map(({ agent }) => agent))].sort();
  const rows = [...agents, 'all'].map((agent) => {
    const of = own.filter((point) => agent === 'all' || point.agent === agent);
    const without = sum(of, (point) => point.without.cost);
    const cost = (run: (point: DoorPoint) => DoorRun | undefined): string =>
      percent(sum(of, (point) => run(point)?.cost ?? 0) / without - 1);
    return [agent, cost((point) => point.with), cost((point) => point.careless), cost((point) => point.quiet)];
  });
  return table(['input cost, no limit', 'as it ships', 'without caution', 'and without noise'], rows);
}

function boundTable(points: readonly DoorPoint[]): string {
  const own = points.filter(({ window }) => window === Infinity);
  const agents = [...new Set(own.map(({ agent }) => agent))].sort();
  const rows = [...agents, 'all'].map((agent) => {
    const bounds = own.filter((point) => agent === 'all' || point.agent === agent).map(({ bound }) => bound);
    const [chars, cost] = [sum(bounds, (bound) => bound.chars), sum(bounds, (bound) => bound.cost)];
    const shares = (['sameFile', 'anywhere'] as const).flatMap((where) => [
      percent(sum(bounds, (bound) => bound[where][0]) / chars),
      percent(-sum(bounds, (bound) => bound[where][1]) / cost),
    ]);
    return [agent, ...shares];
  });
  return table(['bound in characters, no limit', 'left out', 'input cost', 'across files', 'input cost'], rows);
}

function timesTable(points: readonly DoorPoint[]): string {
  const at = (times: readonly number[], share: number): string => {
    const sorted = times.toSorted((a, b) => a - b);
    return `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2)} ms`;
  };
  const own = points.filter(({ window }) => window === Infinity);
  const rows = (['without', 'with'] as const).map((which) => {
    const times = own.flatMap((point) => point[which].times);
    return [`${which}, no limit`, times.length, at(times, 0.5), at(times, 0.9), at(times, 0.99)];
  });
  return table(['time of a request', 'requests', 'median', '90th', '99th'], rows);
}
