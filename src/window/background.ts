import { join } from 'node:path';
import * as vscode from 'vscode';
import { ENGINE_BUNDLE } from '../engine/engineThread';
import type { ProviderCallHandlers } from '../extensionApi/remoteProvider';
import { runTask } from '../engine/runTask';
import type { HostModels } from '../background/hostModels';
import type { Task, TaskProgress, TaskResult } from '../background/tasks';
import { StoredSummaries } from '../storage/summaries';
import type { Services } from './services';

export const getEngineBundle = ({ context }: Services): string => join(context.extensionPath, 'dist', ENGINE_BUNDLE);

export function runInBackground<T extends Task>(
  services: Services,
  task: T,
  signal: AbortSignal,
  onProgress?: (progress: TaskProgress) => void,
  models?: HostModels,
  providers?: ProviderCallHandlers,
): Promise<TaskResult<T>> {
  return runTask(task, {
    bundle: getEngineBundle(services),
    signal,
    models,
    providers,
    ...(onProgress ? { onProgress } : {}),
  });
}

export const getLedgerFolder = ({ context }: Services): string => join(context.globalStorageUri.fsPath, 'ledgers');

/**
 * Folder for ledgers of chat conversations, one per workspace; without a workspace, a common one.
 */
export const getLiveLedgerFolder = ({ context }: Services): string =>
  join((context.storageUri ?? context.globalStorageUri).fsPath, 'live');

/**
 * Folder in which running gateways announce themselves to all windows. It is absent while none
 * runs.
 */
export const getRunningFolder = ({ context }: Services): string => join(context.globalStorageUri.fsPath, 'running');

/** Stored summaries that the user has paid for, in any window. */
export const getSummaries = ({ context, log }: Services): StoredSummaries =>
  new StoredSummaries(join(context.globalStorageUri.fsPath, 'summaries'), {
    onError: (words) => {
      log.warn(words);
    },
  });

export async function withCancellation<T>(
  token: vscode.CancellationToken,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abortController = new AbortController();
  const subscription = token.onCancellationRequested(() => {
    abortController.abort(new vscode.CancellationError());
  });
  if (token.isCancellationRequested) abortController.abort(new vscode.CancellationError());
  try {
    return await run(abortController.signal);
  } finally {
    subscription.dispose();
  }
}
