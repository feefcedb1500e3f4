import * as vscode from 'vscode';
import { getSamplePath } from './samplePath';
import type { LastCondensation, Services } from './services';

/**
 * Context key for `enablement` in package.json: Undo and Condense Further have something to work
 * on.
 */
export const HAS_CONDENSED_CONTEXT_KEY = 'contextCondenser.hasCondensed';

/**
 * Context key of the walkthrough: the user condensed a conversation of their own, not the sample.
 */
const HAS_CONDENSED_OWN_CONTEXT_KEY = 'contextCondenser.hasCondensedOwn';

export function rememberLastCondensation(services: Services, condensation: LastCondensation): void {
  services.last = condensation;
  void vscode.commands.executeCommand('setContext', HAS_CONDENSED_CONTEXT_KEY, true);
  if (condensation.path !== undefined && condensation.path !== getSamplePath(services.context.extensionPath))
    void vscode.commands.executeCommand('setContext', HAS_CONDENSED_OWN_CONTEXT_KEY, true);
}
