import * as vscode from 'vscode';
import { getAgentRuntime, listLiveConversations } from '../../agent/runtime';
import type { LedgersResult } from '../../background/taskResults';
import type { CondensationId } from '../../core/condense/ledger/ledger';
import type { RunMetrics } from '../../core/condense/metrics/metrics';
import { listLedgers, removeLedger } from '../../storage/ledgerStore';
import { KnownLedgers } from '../../views/conversations/ledgers';
import { runInBackground, getLiveLedgerFolder, getLedgerFolder, getSummaries } from '../../window/background';
import { getReplacementsFolder, toStored, runToEnd, withProgress } from '../conversations/background';
import { createComparison } from '../conversations/show';
import { getMetrics } from '../../window/metrics';
import type { Services } from '../../window/services';
import { createEntries, type HistoryEntry, type HistoryPlace } from './entries';
import { formatHistory, type HistoryFormat } from './historyFile';
import { showWarningMessage } from '../../window/notifications';

export type { HistoryEntry } from './entries';

export interface HistoryTarget {
  readonly place: HistoryPlace;
  readonly conversation: string;
  readonly condensation: string;
}

export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly runs: readonly RunMetrics[];
}

type LedgersByPlace = Record<HistoryPlace, KnownLedgers>;

/** Only ledgers that were used since the last read are read again. */
const knownLedgers = new WeakMap<Services, LedgersByPlace>();

export async function readHistory(services: Services, signal: AbortSignal): Promise<History> {
  const stores = knownLedgers.get(services) ?? { stored: new KnownLedgers(), live: new KnownLedgers() };
  knownLedgers.set(services, stores);
  const read = (store: string, { since }: KnownLedgers): Promise<LedgersResult> =>
    runInBackground(services, { kind: 'ledgers', store, replacements: getReplacementsFolder(services), since }, signal);
  const [files, chats, runs] = await Promise.all([
    read(getLedgerFolder(services), stores.stored),
    read(getLiveLedgerFolder(services), stores.live),
    getMetrics(services).readRuns(),
  ]);
  stores.stored.takeResult(files);
  stores.live.takeResult(chats);
  const measured = new Map(runs.flatMap((run) => (run.condensation === undefined ? [] : [[run.condensation, run]])));
  // Chat conversations in memory are undone in memory, not in their ledgers.
  const inMemory = new Set<string>(listLiveConversations(services).map(({ id }) => id));
  const entries = [
    ...createEntries(
      stores.stored.listAll(),
      'stored',
      measured,
      () => true,
      (conversation) => stores.stored.isInUse(conversation),
    ),
    ...createEntries(
      stores.live.listAll(),
      'live',
      measured,
      (conversation) => inMemory.has(conversation),
      () => true,
    ),
  ].sort((a, b) => b.at.localeCompare(a.at));
  return { entries, runs };
}

/** @throws Error if the change is impossible; then nothing has changed */
export async function changeCondensation(
  services: Services,
  { place, conversation, condensation }: HistoryTarget,
  isUndone: boolean,
): Promise<void> {
  if (place === 'stored') {
    const store = getLedgerFolder(services);
    // The ledger ignores unknown IDs.
    const id = condensation as CondensationId;
    await runToEnd(services, { kind: 'set-undone', conversation, condensation: id, isUndone, store });
    return;
  }
  const live = getAgentRuntime(services).desk();
  const found = live.list().find(({ id }) => id === conversation);
  if (!found)
    throw new Error(vscode.l10n.t('This conversation is no longer in memory. Continue it in the chat first.'));
  const { kind, detail } = await (isUndone ? live.undo(found.id) : live.redo(found.id));
  if (kind === 'nothing') throw new Error(detail);
}

/** @throws Error if the conversation can no longer be read */
export async function showCondensation(services: Services, subject: HistoryTarget): Promise<void> {
  const { place, conversation, condensation } = subject;
  if (place === 'live') {
    const found = listLiveConversations(services).find(({ id }) => id === conversation);
    if (!found)
      throw new Error(vscode.l10n.t('This conversation is no longer in memory. Continue it in the chat first.'));
    await getAgentRuntime(services).showDiff(found.id);
    return;
  }
  const path = knownLedgers
    .get(services)
    ?.stored.listAll()
    .find((ledger) => ledger.conversation === conversation)?.path;
  if (path === undefined) throw new Error(vscode.l10n.t('The location of this conversation is not known.'));
  const task = { kind: 'show', ...toStored(services, path), condensation: condensation as CondensationId } as const;
  const shown = await withProgress(services, vscode.l10n.t('Opening {0}', path), task);
  await services.comparisons.showComparison(services.comparisons.add(createComparison(services, shown)));
}

/**
 * @returns whether the user chose a file
 * @throws Error if writing fails
 */
export async function exportHistory(services: Services, format: HistoryFormat, signal: AbortSignal): Promise<boolean> {
  const { entries } = await readHistory(services, signal);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const target = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Export the history'),
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `condensations.${format}`) }),
    filters: { [format.toUpperCase()]: [format] },
  });
  if (!target) return false;
  await vscode.workspace.fs.writeFile(target, Buffer.from(formatHistory(entries, format)));
  return true;
}

export type HistoryPart = 'metrics' | 'ledgers';

/**
 * Deletes after confirmation.
 * @returns whether the data was deleted
 * @throws StorageError if a ledger can't be removed; earlier ones are gone then
 */
export async function clearHistory(services: Services, part: HistoryPart): Promise<boolean> {
  const yes = vscode.l10n.t('Remove');
  const [question, detail] =
    part === 'metrics'
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
  if ((await showWarningMessage(question, { modal: true, detail }, yes)) !== yes) return false;
  if (part === 'metrics') await getMetrics(services).clear();
  else await removeLedgers(services);
  return true;
}

async function removeLedgers(services: Services): Promise<void> {
  const inUse = new Set<string>(listLiveConversations(services).map(({ id }) => id));
  try {
    await getSummaries(services).clear();
    for (const store of [getLedgerFolder(services), getLiveLedgerFolder(services)]) {
      for (const { about } of await listLedgers(store)) {
        if (!inUse.has(about.id)) await removeLedger(store, about.id);
      }
    }
  } finally {
    knownLedgers.delete(services);
    services.ledgersChanged.fire();
  }
}
