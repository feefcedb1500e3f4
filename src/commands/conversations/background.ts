import { join } from 'node:path';
import * as vscode from 'vscode';
import { showProgress } from '../../window/notifications';
import type { StoredConversation, Task, TaskResult } from '../../background/tasks';
import type { LedgersResult } from '../../background/taskResults';
import { inBackground, storeOf, withCancellation } from '../../window/background';
import type { Services } from '../../window/services';
import { manualSettings } from '../../window/settings/manualSettings';

/** A conversation's file with its ledger, as the background is asked for it. */
export const stored = (services: Services, path: string): StoredConversation => ({
  path,
  history: manualSettings().history,
  store: storeOf(services),
});

/** Folder of what was given back, with the bytes of before. */
export const replacementsOf = ({ context }: Services): string => join(context.globalStorageUri.fsPath, 'replacements');

/** Runs a task in the background, with progress and cancel. @throws vscode.CancellationError where it was cancelled */
export const withProgress = <T extends Task>(services: Services, title: string, task: T): Promise<TaskResult<T>> =>
  Promise.resolve(
    showProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (_report, token) =>
      withCancellation(token, (signal) => inBackground(services, task, signal)),
    ),
  );

/** Changes what is kept of condensations: over before anybody could cancel it, or a change that must come to its end. */
export async function toItsEnd<T extends Task>(services: Services, task: T): Promise<TaskResult<T>> {
  try {
    return await inBackground(services, task, new AbortController().signal);
  } finally {
    services.ledgersChanged.fire();
    // What its diff shows is no longer so.
    if (task.kind === 'undo' || task.kind === 'set-undone') void services.comparisons.close(task.conversation);
  }
}

/**
 * Asks for the ledgers and replacements that were used since a time.
 * @param since milliseconds since the epoch.
 */
export const ledgersSince = (
  services: Services,
  since: number,
  signal = new AbortController().signal,
): Promise<LedgersResult> =>
  inBackground(
    services,
    { kind: 'ledgers', store: storeOf(services), replacements: replacementsOf(services), since },
    signal,
  );
