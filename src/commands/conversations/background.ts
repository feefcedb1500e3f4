import { join } from 'node:path';
import * as vscode from 'vscode';
import { showProgress } from '../../window/notifications';
import type { StoredConversation, Task, TaskResult } from '../../background/tasks';
import type { LedgersResult } from '../../background/taskResults';
import { runInBackground, getLedgerFolder, withCancellation } from '../../window/background';
import type { Services } from '../../window/services';
import { readManualSettings } from '../../window/settings/manualSettings';

/** A conversation's file with its ledger, for background tasks. */
export const toStored = (services: Services, path: string): StoredConversation => ({
  path,
  history: readManualSettings().history,
  store: getLedgerFolder(services),
});

/** Folder of replacements, with the previous bytes. */
export const getReplacementsFolder = ({ context }: Services): string =>
  join(context.globalStorageUri.fsPath, 'replacements');

/**
 * Runs a background task with progress and cancel. @throws vscode.CancellationError if it was
 * canceled
 */
export const withProgress = <T extends Task>(services: Services, title: string, task: T): Promise<TaskResult<T>> =>
  Promise.resolve(
    showProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (_report, token) =>
      withCancellation(token, (signal) => runInBackground(services, task, signal)),
    ),
  );

/**
 * Runs a task that changes stored condensations and can't be canceled: it is either instant or must
 * complete.
 */
export async function runToEnd<T extends Task>(services: Services, task: T): Promise<TaskResult<T>> {
  try {
    return await runInBackground(services, task, new AbortController().signal);
  } finally {
    services.ledgersChanged.fire();
    // Its diff is outdated.
    if (task.kind === 'undo' || task.kind === 'set-undone')
      void services.comparisons.closeComparisons(task.conversation);
  }
}

/** What was given back, without the ledgers. */
export const listGivenBack = async (services: Services): Promise<LedgersResult['givenBack']> =>
  (await listLedgersSince(services, Infinity)).givenBack;

/**
 * Requests ledgers and replacements used since a time.
 * @param since milliseconds since the epoch
 */
export const listLedgersSince = (
  services: Services,
  since: number,
  signal = new AbortController().signal,
): Promise<LedgersResult> =>
  runInBackground(
    services,
    { kind: 'ledgers', store: getLedgerFolder(services), replacements: getReplacementsFolder(services), since },
    signal,
  );
