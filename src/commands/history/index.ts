import * as vscode from 'vscode';
import { getAgentRuntime, listLiveConversations } from '../../agent/runtime';
import type { LedgersResult } from '../../background/taskResults';
import { splitLocation } from '../../conversations/location';
import type { CondensationId } from '../../core/condense/ledger/ledger';
import type { RunMetrics } from '../../core/condense/metrics/metrics';
import { readStatusIfPresent } from '../../storage/fileTools';
import { listLedgers, removeLedger } from '../../storage/ledgerStore';
import { nodeFiles } from '../../storage/nodeFiles';
import { LoadedLedgers } from '../../views/conversations/ledgers';
import { runInBackground, getLiveLedgerFolder, getLedgerFolder, getSummaries } from '../../window/background';
import {
  getReplacementsFolder,
  toStoredConversation,
  runUncancellableTask,
  runTaskWithProgress,
} from '../conversations/background';
import { createDiffDocuments } from '../conversations/show';
import { openMetricsStore } from '../../window/metrics';
import type { Services } from '../../window/services';
import { createHistoryEntries, type HistoryEntry, type HistoryStoreKind } from './entries';
import { renderHistory, type HistoryFormat } from './historyFile';
import { showWarningMessage } from '../../window/notifications';

export type { HistoryEntry } from './entries';

export interface HistoryCondensationKey {
  readonly place: HistoryStoreKind;
  readonly conversation: string;
  readonly condensation: string;
}

export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly runs: readonly RunMetrics[];
}

type LedgersByStoreKind = Record<HistoryStoreKind, LoadedLedgers>;

/** Ledgers already read, so that only those used since then are read again. */
const knownLedgersByServices = new WeakMap<Services, LedgersByStoreKind>();

export async function readHistory(services: Services, signal: AbortSignal): Promise<History> {
  const knownLedgers = knownLedgersByServices.get(services) ?? {
    stored: new LoadedLedgers(),
    live: new LoadedLedgers(),
  };
  knownLedgersByServices.set(services, knownLedgers);
  const readLedgers = (store: string, { since }: LoadedLedgers): Promise<LedgersResult> =>
    runInBackground(services, { kind: 'ledgers', store, replacements: getReplacementsFolder(services), since }, signal);
  const [storedLedgers, liveLedgers, runs] = await Promise.all([
    readLedgers(getLedgerFolder(services), knownLedgers.stored),
    readLedgers(getLiveLedgerFolder(services), knownLedgers.live),
    openMetricsStore(services).readRuns(),
  ]);
  knownLedgers.stored.applyLedgersResult(storedLedgers);
  knownLedgers.live.applyLedgersResult(liveLedgers);
  const runsByCondensation = new Map(
    runs.flatMap((run) => (run.condensation === undefined ? [] : [[run.condensation, run]])),
  );
  // Condensations of chat conversations in memory are undone there and not in their ledgers.
  const liveIds = new Set<string>(listLiveConversations(services).map(({ id }) => id));
  const entries = [
    ...createHistoryEntries(
      knownLedgers.stored.listLedgers(),
      'stored',
      runsByCondensation,
      () => true,
      (conversation) => knownLedgers.stored.isInUse(conversation),
    ),
    ...createHistoryEntries(
      knownLedgers.live.listLedgers(),
      'live',
      runsByCondensation,
      (conversation) => liveIds.has(conversation),
      () => true,
    ),
  ].sort((a, b) => b.at.localeCompare(a.at));
  return { entries: await markGoneConversations(entries), runs };
}

async function markGoneConversations(entries: readonly HistoryEntry[]): Promise<readonly HistoryEntry[]> {
  const conversationPaths = new Set(entries.flatMap(({ path }) => path ?? []));
  const gonePaths = new Set<string>();
  await Promise.all(
    [...conversationPaths].map(async (path) => {
      const { file } = splitLocation(path, () => false);
      if (!(await isFilePresent(path)) && (file === path || !(await isFilePresent(file)))) gonePaths.add(path);
    }),
  );
  return entries.map((entry) => {
    const isGone = entry.path !== undefined && gonePaths.has(entry.path);
    return isGone ? { ...entry, isGone } : entry;
  });
}

/**
 * False only if the file certainly doesn't exist. One that can't be checked, such as on a failing
 * drive, counts as present.
 */
const isFilePresent = (file: string): Promise<boolean> =>
  readStatusIfPresent(nodeFiles, file).then(
    (status) => status !== undefined,
    () => true,
  );

/** @throws Error if the change is impossible; then nothing has changed */
export async function undoOrRedoCondensation(
  services: Services,
  { place, conversation, condensation }: HistoryCondensationKey,
  isUndone: boolean,
): Promise<void> {
  if (place === 'stored') {
    const store = getLedgerFolder(services);
    // Safe cast: an ID that doesn't exist changes nothing in the ledger.
    const condensationId = condensation as CondensationId;
    await runUncancellableTask(services, {
      kind: 'set-undone',
      conversation,
      condensation: condensationId,
      isUndone,
      store,
    });
    return;
  }
  const liveControls = getAgentRuntime(services).createLiveControls();
  const liveConversation = liveControls.list().find(({ id }) => id === conversation);
  if (!liveConversation)
    throw new Error(vscode.l10n.t('This conversation is no longer in memory. Continue it in the chat first.'));
  const { kind, detail } = await (isUndone
    ? liveControls.undo(liveConversation.id)
    : liveControls.redo(liveConversation.id));
  if (kind === 'nothing') throw new Error(detail);
}

/** @throws Error if the conversation can no longer be read */
export async function showCondensation(services: Services, subject: HistoryCondensationKey): Promise<void> {
  const { place, conversation, condensation } = subject;
  if (place === 'live') {
    const liveConversation = listLiveConversations(services).find(({ id }) => id === conversation);
    if (!liveConversation)
      throw new Error(vscode.l10n.t('This conversation is no longer in memory. Continue it in the chat first.'));
    await getAgentRuntime(services).showDiff(liveConversation.id);
    return;
  }
  const conversationPath = knownLedgersByServices
    .get(services)
    ?.stored.listLedgers()
    .find((ledger) => ledger.conversation === conversation)?.path;
  if (conversationPath === undefined)
    throw new Error(
      vscode.l10n.t(
        'The file of this conversation is not known, so it can’t be opened. Find it in the Context Condenser view.',
      ),
    );
  const task = {
    kind: 'show',
    ...toStoredConversation(services, conversationPath),
    condensation: condensation as CondensationId,
  } as const;
  const shownConversation = await runTaskWithProgress(services, vscode.l10n.t('Opening {0}', conversationPath), task);
  await services.comparisons.showComparison(
    services.comparisons.addComparison(createDiffDocuments(services, shownConversation)),
  );
}

/**
 * @returns false if the user chose no file
 * @throws Error if writing fails
 */
export async function exportHistory(services: Services, format: HistoryFormat, signal: AbortSignal): Promise<boolean> {
  const { entries } = await readHistory(services, signal);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Export the history'),
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `condensations.${format}`) }),
    filters: { [format.toUpperCase()]: [format] },
  });
  if (!file) return false;
  await vscode.workspace.fs.writeFile(file, Buffer.from(renderHistory(entries, format)));
  return true;
}

export type HistoryPart = 'metrics' | 'ledgers';

/**
 * Asks the user first.
 * @returns whether it was deleted
 * @throws StorageError if a ledger can't be removed; those before it are deleted then
 */
export async function clearHistory(services: Services, historyPart: HistoryPart): Promise<boolean> {
  const removeLabel = vscode.l10n.t('Remove');
  const [question, detail] =
    historyPart === 'metrics'
      ? [
          vscode.l10n.t('Clear all metrics?'),
          vscode.l10n.t(
            'Rates, charts and recommendations start over. Condensations are kept and can still be undone.',
          ),
        ]
      : [
          vscode.l10n.t('Clear the history of all condensations?'),
          vscode.l10n.t(
            'Condensations can then no longer be undone, shown or recalled. Paid summaries are deleted, too. The agents’ own files are not changed. Chat conversations that are in use are kept.',
          ),
        ];
  if ((await showWarningMessage(question, { modal: true, detail }, removeLabel)) !== removeLabel) return false;
  if (historyPart === 'metrics') await openMetricsStore(services).removeAllRuns();
  else await removeLedgers(services);
  return true;
}

async function removeLedgers(services: Services): Promise<void> {
  const liveIds = new Set<string>(listLiveConversations(services).map(({ id }) => id));
  try {
    await getSummaries(services).clear();
    for (const store of [getLedgerFolder(services), getLiveLedgerFolder(services)]) {
      for (const { about } of await listLedgers(store)) {
        if (!liveIds.has(about.id)) await removeLedger(store, about.id);
      }
    }
  } finally {
    knownLedgersByServices.delete(services);
    services.ledgersChanged.fire();
  }
}
