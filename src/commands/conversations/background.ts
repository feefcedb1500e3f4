import { join } from 'node:path';
import * as vscode from 'vscode';
import { showProgress } from '../../window/notifications';
import type { StoredConversation, Task, TaskResult } from '../../background/tasks';
import type { LedgersResult } from '../../background/taskResults';
import { runInBackground, getLedgerFolder, withCancellation } from '../../window/background';
import type { Services } from '../../window/services';
import { readManualSettings } from '../../window/settings/manualSettings';

export const toStoredConversation = (services: Services, path: string): StoredConversation => ({
  path,
  history: readManualSettings().history,
  store: getLedgerFolder(services),
});

/** Folder with the previous bytes of replaced files. */
export const getReplacementsFolder = ({ context }: Services): string =>
  join(context.globalStorageUri.fsPath, 'replacements');

/** @throws vscode.CancellationError if canceled */
export const runTaskWithProgress = <T extends Task>(
  services: Services,
  title: string,
  task: T,
): Promise<TaskResult<T>> =>
  Promise.resolve(
    showProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (_report, token) =>
      withCancellation(token, (signal) => runInBackground(services, task, signal)),
    ),
  );

/** Runs a task without a cancel button, because the task either takes no time or must complete. */
export async function runUncancellableTask<T extends Task>(services: Services, task: T): Promise<TaskResult<T>> {
  try {
    return await runInBackground(services, task, new AbortController().signal);
  } finally {
    services.ledgersChanged.fire();
    // The change has made the conversation's open diff outdated.
    if (task.kind === 'undo' || task.kind === 'set-undone')
      void services.comparisons.closeComparisons(task.conversation);
  }
}

export const listGivenBack = async (services: Services): Promise<LedgersResult['givenBack']> =>
  (await listLedgersSince(services, Infinity)).givenBack;

/** @param since milliseconds since the epoch */
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
