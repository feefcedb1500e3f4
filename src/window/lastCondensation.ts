import * as vscode from 'vscode';
import type { LastCondensation, Services } from './services';

/** Context key in package.json: enables Undo and Condense Further, and ends the first step. */
export const HAS_CONDENSED_CONTEXT_KEY = 'contextCondenser.hasCondensed';

const notesByServices = new WeakMap<Services, Map<string, readonly string[]>>();

export function rememberLastCondensation(services: Services, condensation: LastCondensation): void {
  const { path, notes = [] } = condensation;
  services.last = condensation;
  const notesByPath = notesByServices.get(services) ?? new Map<string, readonly string[]>();
  notesByServices.set(services, notesByPath);
  if (path !== undefined) notesByPath.set(path, notes);
  void vscode.commands.executeCommand('setContext', HAS_CONDENSED_CONTEXT_KEY, true);
}

/** Returns the notes on a file's last condensation in this window. The ledger does not keep them. */
export const getCondensationNotes = (services: Services, path: string): readonly string[] =>
  notesByServices.get(services)?.get(path) ?? [];
