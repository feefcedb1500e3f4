import * as vscode from 'vscode';
import { errorMessage } from '../core/errors';
import type { Services } from './services';
import { showErrorMessage } from './notifications';

/** Says what went wrong, in a notification and in the log. What the user cancelled needs no words. */
export function tellError({ log }: Pick<Services, 'log'>, error: unknown): void {
  if (error instanceof vscode.CancellationError) return;
  const message = errorMessage(error);
  log.error(message);
  void showErrorMessage(message);
}
