/** Measures the time of a Lossless run after messages were added, compared with the first run. */
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import type { Edit } from '../../src/core/condense/edits/edits';
import type { ApiMessage } from '../../src/core/messages/types';
import type { MessageCounter } from '../../src/core/tokens/messageCounter';
import { generateConversation } from '../generators/conversation';
import { freshCounter } from './measure';
import { millis, percent, table } from './table';

export interface IncrementalPoint {
  readonly tokens: number;
  readonly messages: number;
  /** Number of messages that are added each time. */
  readonly added: number;
  /** Minimum CPU time of the runs, in milliseconds. */
  readonly firstMs: number;
  readonly againMs: number;
  /**
   * Median of the runs. It can be higher, because sometimes a new text replaces an early one, and
   * everything after that is indexed again.
   */
  readonly againMedianMs: number;
}

const SIZES = [100_000, 200_000, 500_000, 1_000_000, 2_000_000];
const ADDED_MESSAGE_COUNTS = [10, 40, 160];
const SEED = 42;
const REPEATS = 8;
const ROUNDS = 3;

export async function benchIncremental(sizes: readonly number[] = SIZES): Promise<IncrementalPoint[]> {
  const points: IncrementalPoint[] = [];
  await measure(generateConversation({ seed: SEED, targetTokens: 100_000 }), 5);
  for (const targetTokens of sizes) {
    const messages = generateConversation({ seed: SEED, targetTokens });
    for (const added of ADDED_MESSAGE_COUNTS)
      if (added * REPEATS < messages.length / 2) points.push(await measure(messages, added));
  }
  return points;
}

async function measure(original: readonly ApiMessage[], added: number): Promise<IncrementalPoint> {
  const firstTimes: number[] = [];
  const repeatTimes: number[] = [];
  const counter = freshCounter();
  const tokens = counter.countMessages(original);
  for (let round = 0; round < ROUNDS; round++) {
    // A fresh copy has no caches.
    const messages = structuredClone(original);
    counter.countMessages(messages);
    let messageCount = messages.length - REPEATS * added;
    let edits: readonly Edit[] = [];
    for (let repeat = 0; repeat <= REPEATS; repeat++) {
      const { made, ms } = await condenseTimed(messages.slice(0, messageCount), edits, counter);
      (repeat === 0 ? firstTimes : repeatTimes).push(ms);
      edits = [...edits, ...made];
      messageCount += added;
    }
  }
  const sortedRepeatTimes = repeatTimes.toSorted((a, b) => a - b);
  return {
    tokens,
    messages: original.length,
    added,
    firstMs: Math.min(...firstTimes),
    againMs: sortedRepeatTimes[0] ?? 0,
    againMedianMs: sortedRepeatTimes[sortedRepeatTimes.length >> 1] ?? 0,
  };
}

async function condenseTimed(
  messages: readonly ApiMessage[],
  edits: readonly Edit[],
  counter: MessageCounter,
): Promise<{ made: readonly Edit[]; ms: number }> {
  const checked = losslessProvider.validateConfig({});
  if (!checked.valid) throw new Error('wrong configuration');
  const started = process.cpuUsage();
  const result = await losslessProvider.condense({ messages, edits, counter }, checked.config, {});
  const { user, system } = process.cpuUsage(started);
  return { made: result.edits, ms: (user + system) / 1_000 };
}

export const incrementalTable = (points: readonly IncrementalPoint[]): string =>
  table(
    ['tokens', 'messages', 'added', 'first run', 'again', 'median', 'share'],
    points.map(({ tokens, messages, added, firstMs, againMs, againMedianMs }) => [
      tokens,
      messages,
      added,
      millis(firstMs),
      millis(againMs),
      millis(againMedianMs),
      percent(againMs / firstMs),
    ]),
  );
