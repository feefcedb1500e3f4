/** Computes what stored sessions would have cost with another provider. Blocks the thread. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { PRICE_PACKAGE } from '../api/newerModels';
import { loadPriceTable } from '../api/prices';
import { OpenDatabases } from '../conversations/databases';
import { ConversationReadError } from '../conversations/readError';
import type { SessionAccount } from '../core/account/account';
import type { SessionSaving } from '../core/account/whatIf';
import { CondensationManager, createProviders } from '../core/condense';
import { computeDueTokens, type CondensationThreshold } from '../core/condense/trigger/thresholds';
import { hashText } from '../core/hash';
import { MessageCounter } from '../core/tokens/messageCounter';
import type { TokenCounter } from '../core/tokens/types';
import { nodeFiles } from '../storage/nodeFiles';
import { OWN_FILE_KINDS, replaceCacheQuietly } from '../storage/ownFiles';
import { memoize, readConversation } from './accountStores';
import { findModelPrices } from './models';
import { simulateSessionWithCondensation } from './sessionWhatIf';

/** The provider of this choice must not call a model. */
export interface WhatIfChoice {
  readonly provider: string;
  readonly config: unknown;
  readonly threshold: CondensationThreshold;
}

export interface StoresWhatIfOptions {
  readonly cache: string;
  /**
   * This product's version. Other versions may condense differently, so their results don't count.
   */
  readonly version: string;
  readonly signal: AbortSignal;
}

const CACHE_SAVE_INTERVAL_MS = 10_000;

/**
 * Replays every session that was long enough to be condensed.
 * @returns results by path
 * @throws the signal's reason if aborted
 */
export async function simulateSessionSavings(
  sessions: readonly SessionAccount[],
  choice: WhatIfChoice,
  { cache: file, version, signal }: StoresWhatIfOptions,
  tokens: () => Promise<TokenCounter>,
  report: (done: number, all: number) => void = () => undefined,
): Promise<ReadonlyMap<string, SessionSaving | 'unknown'>> {
  const prices = await loadPriceTable();
  const loadTokenCounter = memoize(tokens);
  const savings = new Map<string, SessionSaving | 'unknown'>();
  const longSessions = sessions.filter((session) => {
    const { path, window, usage, fill } = session;
    if (window === undefined) {
      savings.set(path, 'unknown');
      return false;
    }
    const model = usage.findLast((each) => each.model !== undefined)?.model;
    const maxOutputTokens = findModelPrices(prices, { model })?.maxOutputTokens;
    const duePoint = computeDueTokens({
      contextWindow: window,
      threshold: choice.threshold,
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    });
    return Math.max(...fill, 0) >= duePoint.tokens;
  });
  const savingsByKey = await readCachedSavings(file);
  const usedSavings = new Map<string, CachedSaving>();
  const databases = new OpenDatabases();
  let savedAt = performance.now();
  try {
    for (const [done, session] of longSessions.entries()) {
      report(done, longSessions.length);
      // Yield so that the progress message is sent and an abort is noticed.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      const { path, usage, fill } = session;
      const key = hashText(JSON.stringify([path, usage, fill, choice, version, PRICE_PACKAGE.published]));
      const saving =
        savingsByKey.get(key)?.saving ??
        (await simulateSessionSaving(session, choice, databases, loadTokenCounter, signal));
      usedSavings.set(key, { key, path, saving });
      savings.set(path, saving);
      if (performance.now() - savedAt > CACHE_SAVE_INTERVAL_MS) {
        await saveCachedSavings(file, savingsByKey, usedSavings);
        savedAt = performance.now();
      }
    }
    report(longSessions.length, longSessions.length);
  } finally {
    databases.closeAll();
    await saveCachedSavings(file, savingsByKey, usedSavings);
  }
  return savings;
}

async function simulateSessionSaving(
  { path, window, usage }: SessionAccount,
  { provider, config, threshold }: WhatIfChoice,
  databases: OpenDatabases,
  tokens: () => Promise<TokenCounter>,
  signal: AbortSignal,
): Promise<SessionSaving | 'unknown'> {
  let conversation;
  try {
    conversation = readConversation(path, databases);
  } catch (error) {
    // The file was removed or changed since the account was computed.
    if (error instanceof ConversationReadError) return 'unknown';
    throw error;
  }
  // Use a new counter, because cached counts of one conversation are useless for the next.
  const counter = new MessageCounter(await tokens());
  const manager = new CondensationManager(counter, createProviders());
  const result = await simulateSessionWithCondensation(
    conversation,
    { manager, provider, config, threshold, window, signal, day: usage.at(-1)?.day ?? '' },
    { counter, prices: await loadPriceTable() },
  );
  if (!result?.days || result.rereads === undefined) return 'unknown';
  const { days, condensations, needed, missing, recallable, rereads } = result;
  return { days, condensations, needed, missing, recallable, rereads };
}

const countSchema = z.number();
const cachedSavingSchema = z.object({
  key: z.string(),
  path: z.string(),
  saving: z.union([
    z.literal('unknown'),
    z.object({
      days: z.array(z.object({ day: z.string(), before: countSchema, after: countSchema })),
      ...{
        condensations: countSchema,
        needed: countSchema,
        missing: countSchema,
        recallable: countSchema,
        rereads: countSchema,
      },
    }),
  ]),
});
interface CachedSaving {
  readonly key: string;
  readonly path: string;
  readonly saving: SessionSaving | 'unknown';
}

/**
 * A missing or damaged file counts as an empty cache. Version 1.0 stored the list without the
 * object around it.
 */
async function readCachedSavings(file: string): Promise<ReadonlyMap<string, CachedSaving>> {
  try {
    return new Map(
      z
        .union([
          z.object({ kept: z.array(cachedSavingSchema) }).transform(({ kept }) => kept),
          z.array(cachedSavingSchema),
        ])
        .parse(JSON.parse(await readFile(file, 'utf8')))
        .map((each) => [each.key, each]),
    );
  } catch {
    return new Map();
  }
}

/** Maximum cached results of other providers and periods. */
const MAX_CACHED_REPLAYS = 5_000;

async function saveCachedSavings(
  file: string,
  savingsByKey: ReadonlyMap<string, CachedSaving>,
  usedSavings: ReadonlyMap<string, CachedSaving>,
): Promise<void> {
  if ([...usedSavings.keys()].every((key) => savingsByKey.has(key))) return;
  const unusedSavings = [...savingsByKey.values()].filter(({ key }) => !usedSavings.has(key));
  const text = JSON.stringify({
    contextCondenser: 'whatIf',
    kept: [...usedSavings.values(), ...unusedSavings].slice(0, MAX_CACHED_REPLAYS),
  });
  await replaceCacheQuietly(nodeFiles, file, text, OWN_FILE_KINDS.whatIf);
}
