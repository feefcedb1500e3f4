import * as vscode from 'vscode';
import { getErrorMessage } from '../core/errors';
import type { Services } from './services';
import { showErrorMessage } from './notifications';

export function showErrorAndLog({ log }: Pick<Services, 'log'>, error: unknown): void {
  if (error instanceof vscode.CancellationError) return;
  const message = getErrorMessage(error);
  log.error(message);
  void showErrorMessage(message);
}
