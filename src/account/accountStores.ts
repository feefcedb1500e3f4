/**
 * Computes the account of all sessions on this machine. This blocks the thread: run it in a worker
 * or on the command line.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { loadPriceTable, type PriceTable } from '../api/prices';
import { OpenDatabases } from '../conversations/databases';
import { ConversationReadError } from '../conversations/readError';
import { readUiRequests } from '../conversations/formats/rooRequests';
import { readConversationFile } from '../conversations/readFile';
import type { Conversation } from '../conversations/types';
import { readDetailsFromBeginning, MAX_COUNTED_BYTES } from '../conversations/stores/details';
import { findConversations } from '../conversations/stores/find';
import { streamRequests } from '../conversations/requests';
import type { FindConversationsOptions, FoundConversation } from '../conversations/stores/types';
import type { SessionAccount } from '../core/account/account';
import { countCopiedRequestsOnce, listOriginIds, type ReadSession } from '../core/account/once';
import { getErrorMessage } from '../core/errors';
import { MessageCounter } from '../core/tokens/messageCounter';
import type { TokenCounter } from '../core/tokens/types';
import { AccountCache, type CachedAccount } from './accountCache';
import { computeRecordedAccount, computeSessionAccount, type AccountedSessionFile } from './sessionAccount';

export interface AccountOptions {
  readonly find: FindConversationsOptions;
  readonly cache: string;
  /** Skips sessions last changed before this time (milliseconds since the epoch). */
  readonly since?: number | undefined;
}

export interface AccountProblem {
  readonly path: string;
  readonly reason: string;
}

export interface StoresAccount {
  readonly sessions: readonly SessionAccount[];
  readonly problems: readonly AccountProblem[];
}

const PROGRESS_INTERVAL_MS = 100;
const CACHE_SAVE_INTERVAL_MS = 10_000;

export async function computeAccountOfStores(
  { find, cache: file, since = 0 }: AccountOptions,
  tokens: () => Promise<TokenCounter>,
  report: (done: number, all: number) => void = () => undefined,
): Promise<StoresAccount> {
  const databases = new OpenDatabases();
  try {
    const { conversations, problems } = await findConversations(find, databases);
    const cache = await AccountCache.open(file);
    const conversationPaths = new Set(conversations.map(({ path }) => path));
    const loadCounterAndPrices = memoize(async () => ({ counter: await tokens(), prices: await loadPriceTable() }));
    const recentFiles = conversations.filter(({ modified }) => modified >= since);
    const recentAccounts: CachedAccount[] = [];
    let reportedAt = performance.now();
    let savedAt = reportedAt;
    for (const foundFile of recentFiles) {
      const upToDateAccount = cache.findUpToDateAccount(foundFile);
      const cachedAccount = upToDateAccount ?? (await readAndAccountFile(foundFile, loadCounterAndPrices, databases));
      if (!upToDateAccount) cache.storeAccount(cachedAccount);
      recentAccounts.push(cachedAccount);
      if (performance.now() - reportedAt > PROGRESS_INTERVAL_MS) {
        report(recentAccounts.length, recentFiles.length);
        await new Promise((resolve) => setImmediate(resolve));
        reportedAt = performance.now();
      }
      if (performance.now() - savedAt > CACHE_SAVE_INTERVAL_MS) {
        await cache.saveAccounts(conversationPaths);
        savedAt = performance.now();
      }
    }
    // Requests that an older session paid for belong to that session, even if this account leaves
    // it out.
    const olderSessions = conversations
      .filter(({ modified }) => modified < since)
      .flatMap((foundFile) => cache.findUpToDateAccount(foundFile)?.account ?? []);
    for (const foundFile of findUnreadOriginSessions(recentAccounts, olderSessions, conversations)) {
      const cachedAccount = await readAndAccountFile(foundFile, loadCounterAndPrices, databases);
      cache.storeAccount(cachedAccount);
      if (cachedAccount.account) olderSessions.push(cachedAccount.account);
    }
    await cache.saveAccounts(conversationPaths);
    report(recentAccounts.length, recentFiles.length);
    const recentPaths = new Set(recentAccounts.map(({ path }) => path));
    const sessionsWithoutCopies = countCopiedRequestsOnce([
      ...recentAccounts.flatMap(({ account }) => account ?? []),
      ...olderSessions,
    ]);
    return {
      sessions: sessionsWithoutCopies.filter(({ path }) => recentPaths.has(path)),
      problems: [
        ...problems,
        ...recentAccounts.flatMap(({ path, problem }) => (problem === undefined ? [] : [{ path, reason: problem }])),
      ],
    };
  } finally {
    databases.closeAll();
  }
}

/**
 * Finds the files of sessions that recent sessions were forked from and that are not read yet, by
 * the ID in their names.
 */
function findUnreadOriginSessions(
  recentAccounts: readonly CachedAccount[],
  olderSessions: readonly ReadSession[],
  conversations: readonly FoundConversation[],
): readonly FoundConversation[] {
  const knownPaths = new Set([...recentAccounts.map(({ path }) => path), ...olderSessions.map(({ path }) => path)]);
  const ids = new Set(recentAccounts.flatMap(({ account }) => listOriginIds(account?.identity)));
  return conversations.filter(({ path }) => !knownPaths.has(path) && [...ids].some((id) => path.includes(id)));
}

export function memoize<T>(load: () => Promise<T>): () => Promise<T> {
  let loadingPromise: Promise<T> | undefined;
  return () => (loadingPromise ??= load());
}

async function readAndAccountFile(
  foundFile: FoundConversation,
  loadCounterAndPrices: () => Promise<{ readonly counter: TokenCounter; readonly prices: PriceTable }>,
  databases: OpenDatabases,
): Promise<CachedAccount> {
  const { agent, path, modified, bytes, parent } = foundFile;
  const state = { path, modified, ...(bytes !== undefined && { bytes }) };
  const file = { agent, path, modified, ...(parent !== undefined && { parent }) };
  try {
    if (bytes !== undefined && bytes > MAX_COUNTED_BYTES) {
      const account = await computeAccountFromRecords(foundFile, file, loadCounterAndPrices);
      if (account) return { ...state, account };
    }
    const conversation = readConversation(path, databases);
    const { counter, prices } = await loadCounterAndPrices();
    // Use a new counter, because cached counts of one conversation are useless for the next.
    const account = computeSessionAccount(file, conversation, { counter: new MessageCounter(counter), prices });
    return { ...state, account };
  } catch (error) {
    if (error instanceof ConversationReadError && error.problem === 'nothing-said') return state;
    const account = await computeAccountFromRecords(foundFile, file, loadCounterAndPrices).catch(() => undefined);
    if (account) return { ...state, account };
    return { ...state, problem: error instanceof ConversationReadError ? error.reason : getErrorMessage(error) };
  }
}

/** Used for sessions that are too large or unreadable. */
async function computeAccountFromRecords(
  foundFile: FoundConversation,
  file: AccountedSessionFile,
  loadPrices: () => Promise<{ readonly prices: PriceTable }>,
): Promise<CachedAccount['account']> {
  if (foundFile.bytes === undefined) return undefined;
  const streamedRequests = streamRequests(foundFile.path);
  if (!streamedRequests) return undefined;
  const { details } = readDetailsFromBeginning(foundFile);
  const { prices } = await loadPrices();
  const { title = basename(foundFile.path), id = foundFile.path, workspace, parent } = details;
  return computeRecordedAccount(
    file,
    { id, title, workspace, parent },
    streamedRequests.recorded,
    streamedRequests.compactions,
    prices,
  );
}

/** @throws ConversationReadError */
export const readConversation = (path: string, databases: OpenDatabases): Conversation =>
  addRequestsFromUiMessages(readConversationFile(path, { history: 'all' }, { databases }), path);

/**
 * The Roo family of agents records requests in a separate file. Without it, requests are estimated.
 */
function addRequestsFromUiMessages(conversation: Conversation, path: string): Conversation {
  if (basename(path) !== 'api_conversation_history.json' || conversation.recorded) return conversation;
  const file = join(dirname(path), 'ui_messages.json');
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile() || stats.size > MAX_COUNTED_BYTES) return conversation;
  const recordedRequests = readUiRequests(readFileSync(file, 'utf8'), conversation.messages);
  return recordedRequests ? { ...conversation, recorded: recordedRequests } : conversation;
}
