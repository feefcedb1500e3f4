/** Replays one session through the live engine: removed tokens, input cost, invariants. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Edit } from '../../src/core/condense/edits/edits';
import type { View } from '../../src/core/condense/edits/view';
import { CondensationManager, createProviders } from '../../src/core/condense';
import { isAnyThinking, type getBlocks } from '../../src/core/messages/blocks';
import { listContents } from '../../src/core/messages/content';
import { getValueAt } from '../../src/core/messages/path';
import type { ApiMessage } from '../../src/core/messages/types';
import type { MessageCounter } from '../../src/core/tokens/messageCounter';
import { countCommonPrefix } from '../../src/live/align';
import { LiveConversations } from '../../src/live/liveConversations';
import type { LiveSettings } from '../../src/live/types';
import type { PreparedRequest, UpstreamModel } from '../../src/live/request';
import { computeDueTokensOfModel } from '../../src/live/tokenLearning';
import { nodeFiles } from '../../src/storage/nodeFiles';
import { PromptCache, type Segment } from '../servers/promptCache';
import { lostLines } from '../support/lostLines';
import { freshCounter } from './measure';

/** Anthropic's cache prices relative to the base price ("Prompt caching"). */
export const WRITE = 1.25;
export const READ = 0.1;

/** Windows in tokens; Infinity: no condensations. */
export const WINDOWS = [Infinity, 200_000, 128_000, 64_000] as const;
const OUTPUT_TOKENS = 8_192;
/** Larger than any session. */
const NO_LIMIT = 1_000_000_000;

export interface ReplayedRun {
  readonly requests: number;
  /** Input of all requests in base-priced o200k tokens. */
  readonly cost: number;
  readonly condensations: number;
  /** Tokens of the largest request. */
  readonly largest: number;
  /** O200k tokens that were left out of new results, and those of all results. */
  readonly leftOut: number;
  readonly received: number;
  /** Wall time per request in milliseconds. */
  readonly times: readonly number[];
}

/** In agents' form: without thinking, and with consecutive results in one message. */
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

/** Messages per request: those before each answer. */
export const listRequests = (messages: readonly ApiMessage[]): number[] =>
  messages.flatMap(({ role }, at) =>
    at > 0 && role === 'assistant' && messages[at - 1]?.role !== 'assistant' ? [at] : [],
  );

const blocks = (message: ApiMessage): ReturnType<typeof getBlocks> =>
  typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;

/** Replays without writing; the ledger stays in memory. */
const NO_DISK = {
  files: { ...nodeFiles, open: () => Promise.reject(Object.assign(new Error('no disk'), { code: 'EROFS' })) },
};

const modelWith = (window: number): UpstreamModel => ({
  key: 'bench',
  contextWindow: window === Infinity ? NO_LIMIT : window,
  maxOutputTokens: OUTPUT_TOKENS,
  threshold: { percent: 75 },
});

/** If no request is larger, the session behaves as without a limit. */
export const isBelow = (window: number, { largest }: ReplayedRun): boolean =>
  largest < computeDueTokensOfModel(modelWith(window)).tokens;

export interface ReplayResult {
  readonly name: string;
  readonly messages: readonly ApiMessage[];
  readonly window: number;
  readonly settings: Partial<LiveSettings>;
  /** Knows the session's tokens; absent: the run is timed, counts itself and writes to disk. */
  readonly counter?: MessageCounter;
}

/**
 * @throws Error if the prefix changed without a condensation, or a removed line is not in the
 * request
 */
export async function replay({ name, messages, window, settings, counter: known }: ReplayResult): Promise<ReplayedRun> {
  const root = mkdtempSync(join(tmpdir(), 'condenser-replay-'));
  try {
    const counter = known ?? freshCounter();
    const live = new LiveConversations({
      manager: new CondensationManager(counter, createProviders()),
      counter,
      root,
      settings: () => ({ provider: 'lossless', mayUseNative: false, ...settings }),
      ...(known && { storage: NO_DISK }),
    });
    const model = modelWith(window);
    const toSegments = segmenter(counter);
    const cache = new PromptCache({ minTokens: 1_024 });
    const check = new RemovedLineCheck(name);
    let [cost, condensations, requests, largest] = [0, 0, 0, 0];
    let last: PreparedRequest | undefined;
    const times: number[] = [];
    const notes = new Set<string>();
    for (const end of listRequests(messages)) {
      const began = performance.now();
      const prepared = await live.prepare({ conversationId: name, messages: messages.slice(0, end), tools: [], model });
      times.push(performance.now() - began);
      for (const note of prepared.notes) notes.add(note.replace(/\d+/g, 'N'));
      live.recordAnswer(prepared, undefined);
      const isCondensed = prepared.outcome?.kind === 'condensed';
      if (last && !isCondensed) assertPrefix(name, last.messages, prepared.messages);
      if (settings.newResults !== 'off') check.assert(prepared, isCondensed);
      const segments = prepared.messages.flatMap((message, at) =>
        toSegments(message, prepared.cacheMarks.includes(at)),
      );
      const { read, written, total } = cache.useMarked(segments);
      cost += read * READ + written * WRITE + (total - read - written);
      condensations += Number(isCondensed);
      requests++;
      largest = Math.max(largest, prepared.tokens);
      last = prepared;
    }
    for (const note of notes) console.error(`   ${name}: ${note}`);
    const leftOut = live.active()?.newResults?.tokens ?? 0;
    await live.waitUntilSettled();
    return { requests, cost, condensations, largest, leftOut, received: counter.countMessages(messages), times };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type Segmenter = (message: ApiMessage, isMarked: boolean) => readonly Segment[];

/** Blocks as a cache sees them, with a cached hash. */
function segmenter(counter: MessageCounter): Segmenter {
  const known = new WeakMap<ApiMessage, readonly Segment[]>();
  return (message, isMarked) => {
    const own =
      known.get(message) ??
      blocks(message).map((block) => ({
        identity: createHash('sha256').update(message.role).update(JSON.stringify(block)).digest('base64'),
        tokens: counter.countBlock(block),
        marked: false,
      }));
    known.set(message, own);
    return isMarked ? own.map((segment, at) => ({ ...segment, marked: at === own.length - 1 })) : own;
  };
}

function assertPrefix(name: string, before: readonly ApiMessage[], now: readonly ApiMessage[]): void {
  before.forEach((message, at) => {
    if (message !== now[at] && JSON.stringify(message) !== JSON.stringify(now[at]))
      throw new Error(`${name}: message ${at} of the view changed without a condensation`);
  });
}

/** Verifies that each removed line is in the sent request. */
export class RemovedLineCheck {
  /** Verified edits; later requests don't remove their lines. */
  private readonly proven = new WeakSet<Edit>();
  private readonly lines = new Set<string>();
  private sent: readonly ApiMessage[] = [];

  constructor(private readonly name: string) {}

  /** @param isCondensed what stood may have gone: all are to be proven again. */
  assert({ original, messages, origins, edits }: View, isCondensed: boolean): void {
    this.follow(messages);
    const cuts = edits.filter((edit) => edit.kind === 'cut');
    const unproven = isCondensed ? cuts : cuts.filter((edit) => !this.proven.has(edit));
    for (const edit of unproven) this.proven.add(edit);
    const shown = new Set(origins);
    const doubtful = unproven.filter(
      ({ place, cuts: own }) =>
        shown.has(place.message) &&
        !own.every((cut) => cut.recoverable || this.holds(getValueAt(original[place.message], place.path), cut)),
    );
    if (doubtful.length === 0) return;
    // A line in another form: after a path, or in JSON.
    const broken = lostLines(original, messages, doubtful);
    if (broken)
      throw new Error(`${this.name}: message ${broken.place.message} lost the line ${JSON.stringify(broken.line)}`);
  }

  private follow(messages: readonly ApiMessage[]): void {
    let known = countCommonPrefix(this.sent, messages);
    if (known < this.sent.length) {
      this.lines.clear();
      known = 0;
    }
    for (const message of messages.slice(known))
      for (const { text } of listContents(message))
        for (const line of text.split('\n')) this.lines.add(line).add(withoutNumber(line));
    this.sent = messages;
  }

  /** True if every line touched by a cut is complete. */
  private holds(text: unknown, { start, end }: { readonly start: number; readonly end: number }): boolean {
    if (typeof text !== 'string') return false;
    const from = text.lastIndexOf('\n', start - 1) + 1;
    const to = text.indexOf('\n', Math.max(start, end - 1));
    const touched = text.slice(start === 0 ? 0 : from, to < 0 ? text.length : to).split('\n');
    return touched.every((line) => line.trim() === '' || this.lines.has(line) || this.lines.has(withoutNumber(line)));
  }
}

/** Removes the line number. */
const withoutNumber = (line: string): string => line.replace(/^ *\d+(?:→|\t|: )/, '');
