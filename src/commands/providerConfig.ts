import * as vscode from 'vscode';

/**
 * The configuration of a provider as the settings hold it; the provider checks it, and takes its defaults for what is
 * absent. A copy: what VS Code gives can't cross to a worker.
 */
export function providerConfig(id: string): unknown {
  const value = vscode.workspace.getConfiguration('contextCondenser').get<unknown>(id);
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}
