import * as vscode from 'vscode';
import type { LastCondensation, Services } from './services';

/** Context key in package.json: enables Undo and Condense Further, and ends the first step. */
export const HAS_CONDENSED_CONTEXT_KEY = 'contextCondenser.hasCondensed';

export function rememberLastCondensation(services: Services, condensation: LastCondensation): void {
  services.last = condensation;
  void vscode.commands.executeCommand('setContext', HAS_CONDENSED_CONTEXT_KEY, true);
}
