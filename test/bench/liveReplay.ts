/**
 * Replays a session through the live engine, counts removed tokens and the input's cost, and checks
 * invariants.
 */
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
import { findLostLine } from '../support/lostLines';
import { freshCounter } from './measure';

/** Anthropic's cache prices, relative to the base price ("Prompt caching"). */
export const WRITE_PRICE_FACTOR = 1.25;
export const READ_PRICE_FACTOR = 0.1;

/** Windows in tokens; with Infinity, nothing is condensed. */
export const WINDOW_SIZES = [Infinity, 200_000, 128_000, 64_000] as const;
const OUTPUT_TOKENS = 8_192;
/** A limit that is larger than any session. */
const UNLIMITED_WINDOW = 1_000_000_000;

export interface ReplayedRun {
  readonly requests: number;
  /** Cost of all requests' input, in o200k tokens at the base price. */
  readonly cost: number;
  readonly condensations: number;
  /** Tokens of the largest request. */
  readonly largest: number;
  /** Number of o200k tokens that were left out of new results, and number in all results. */
  readonly leftOut: number;
  readonly received: number;
  /** Wall time per request in milliseconds. */
  readonly times: readonly number[];
}

/**
 * Converts messages to the form that agents send: without thinking, and with consecutive results in
 * one message.
 */
export function convertToSentForm(messages: readonly ApiMessage[]): ApiMessage[] {
  const sentMessages: ApiMessage[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const content =
      typeof message.content === 'string' ? message.content : message.content.filter((block) => !isAnyThinking(block));
    if (content.length === 0) continue;
    const lastMessage = sentMessages.at(-1);
    if (lastMessage?.role === message.role)
      sentMessages[sentMessages.length - 1] = {
        ...lastMessage,
        content: [...getContentBlocks(lastMessage), ...getContentBlocks({ ...message, content })],
      };
    else sentMessages.push({ ...message, content });
  }
  return sentMessages;
}

/** Returns the number of messages in each request: those before each answer. */
export const listRequests = (messages: readonly ApiMessage[]): number[] =>
  messages.flatMap(({ role }, at) =>
    at > 0 && role === 'assistant' && messages[at - 1]?.role !== 'assistant' ? [at] : [],
  );

const getContentBlocks = (message: ApiMessage): ReturnType<typeof getBlocks> =>
  typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;

/** Writing files fails, so that the ledger stays in memory. */
const FAILING_DISK = {
  files: { ...nodeFiles, open: () => Promise.reject(Object.assign(new Error('no disk'), { code: 'EROFS' })) },
};

const makeUpstreamModel = (window: number): UpstreamModel => ({
  key: 'bench',
  contextWindow: window === Infinity ? UNLIMITED_WINDOW : window,
  maxOutputTokens: OUTPUT_TOKENS,
  threshold: { percent: 75 },
});

/**
 * True if no request is large enough for a condensation, so that the session behaves as without a
 * limit.
 */
export const isBelowThreshold = (window: number, { largest }: ReplayedRun): boolean =>
  largest < computeDueTokensOfModel(makeUpstreamModel(window)).tokens;

export interface ReplayResult {
  readonly name: string;
  readonly messages: readonly ApiMessage[];
  readonly window: number;
  readonly settings: Partial<LiveSettings>;
  /**
   * A counter that already knows the session's tokens. Without it, the run is timed, counts by
   * itself, and writes to disk.
   */
  readonly counter?: MessageCounter;
}

/**
 * Replays a session.
 * @throws Error if the prefix changed without a condensation, or a removed line is not in the
 *   request
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
      ...(known && { storage: FAILING_DISK }),
    });
    const model = makeUpstreamModel(window);
    const toSegments = createSegmenter(counter);
    const cache = new PromptCache({ minTokens: 1_024 });
    const check = new RemovedLineCheck(name);
    let [cost, condensations, requests, largest] = [0, 0, 0, 0];
    let lastPrepared: PreparedRequest | undefined;
    const times: number[] = [];
    const notes = new Set<string>();
    for (const requestLength of listRequests(messages)) {
      const startedMs = performance.now();
      const prepared = await live.prepare({
        conversationId: name,
        messages: messages.slice(0, requestLength),
        tools: [],
        model,
      });
      times.push(performance.now() - startedMs);
      for (const note of prepared.notes) notes.add(note.replace(/\d+/g, 'N'));
      live.recordAnswer(prepared, undefined);
      const isCondensed = prepared.outcome?.kind === 'condensed';
      if (lastPrepared && !isCondensed) assertPrefix(name, lastPrepared.messages, prepared.messages);
      if (settings.newResults !== 'off') check.assert(prepared, isCondensed);
      const segments = prepared.messages.flatMap((message, at) =>
        toSegments(message, prepared.cacheMarks.includes(at)),
      );
      const { read, written, total } = cache.useMarked(segments);
      cost += read * READ_PRICE_FACTOR + written * WRITE_PRICE_FACTOR + (total - read - written);
      condensations += Number(isCondensed);
      requests++;
      largest = Math.max(largest, prepared.tokens);
      lastPrepared = prepared;
    }
    for (const note of notes) console.error(`   ${name}: ${note}`);
    const leftOut = live.active()?.newResults?.tokens ?? 0;
    await live.waitUntilSettled();
    return { requests, cost, condensations, largest, leftOut, received: counter.countMessages(messages), times };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type SplitIntoSegments = (message: ApiMessage, isMarked: boolean) => readonly Segment[];

/** Splits messages into blocks as a cache sees them, and remembers their hashes. */
function createSegmenter(counter: MessageCounter): SplitIntoSegments {
  const segmentsByMessage = new WeakMap<ApiMessage, readonly Segment[]>();
  return (message, isMarked) => {
    const messageSegments =
      segmentsByMessage.get(message) ??
      getContentBlocks(message).map((block) => ({
        identity: createHash('sha256').update(message.role).update(JSON.stringify(block)).digest('base64'),
        tokens: counter.countBlock(block),
        marked: false,
      }));
    segmentsByMessage.set(message, messageSegments);
    return isMarked
      ? messageSegments.map((segment, at) => ({ ...segment, marked: at === messageSegments.length - 1 }))
      : messageSegments;
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
  /**
   * Verified edits, which need no further check: later requests don't remove the lines that prove
   * them.
   */
  private readonly provenEdits = new WeakSet<Edit>();
  private readonly lines = new Set<string>();
  private sent: readonly ApiMessage[] = [];

  constructor(private readonly name: string) {}

  /**
   * @param isCondensed true if a condensation may have removed the proving lines; then all edits
   *   are checked again.
   */
  assert({ original, messages, origins, edits }: View, isCondensed: boolean): void {
    this.follow(messages);
    const cuts = edits.filter((edit) => edit.kind === 'cut');
    const unprovenCuts = isCondensed ? cuts : cuts.filter((edit) => !this.provenEdits.has(edit));
    for (const edit of unprovenCuts) this.provenEdits.add(edit);
    const shownMessages = new Set(origins);
    const doubtfulCuts = unprovenCuts.filter(
      ({ place, cuts: own }) =>
        shownMessages.has(place.message) &&
        !own.every(
          (cut) => cut.recoverable || this.hasTouchedLines(getValueAt(original[place.message], place.path), cut),
        ),
    );
    if (doubtfulCuts.length === 0) return;
    // The line may be there in another form: after a path, or in JSON.
    const brokenCut = findLostLine(original, messages, doubtfulCuts);
    if (brokenCut)
      throw new Error(
        `${this.name}: message ${brokenCut.place.message} lost the line ${JSON.stringify(brokenCut.line)}`,
      );
  }

  private follow(messages: readonly ApiMessage[]): void {
    let knownCount = countCommonPrefix(this.sent, messages);
    if (knownCount < this.sent.length) {
      this.lines.clear();
      knownCount = 0;
    }
    for (const message of messages.slice(knownCount))
      for (const { text } of listContents(message))
        for (const line of text.split('\n')) this.lines.add(line).add(removeLineNumber(line));
    this.sent = messages;
  }

  /** True if the request contains every line that a cut touches, each as a whole. */
  private hasTouchedLines(text: unknown, { start, end }: { readonly start: number; readonly end: number }): boolean {
    if (typeof text !== 'string') return false;
    const lineStart = text.lastIndexOf('\n', start - 1) + 1;
    const lineEnd = text.indexOf('\n', Math.max(start, end - 1));
    const touchedLines = text.slice(start === 0 ? 0 : lineStart, lineEnd < 0 ? text.length : lineEnd).split('\n');
    return touchedLines.every(
      (line) => line.trim() === '' || this.lines.has(line) || this.lines.has(removeLineNumber(line)),
    );
  }
}

/** Removes the line number. */
const removeLineNumber = (line: string): string => line.replace(/^ *\d+(?:→|\t|: )/, '');
