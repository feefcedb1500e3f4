import * as vscode from 'vscode';
import type { Services } from '../../src/commands/services';
import { RegisteredProviders } from '../../src/extensionApi/registered';
import { Comparisons } from '../../src/views/comparisons';
import { secretStorage, Uri, window } from './vscode';

/**
 * What the commands share, over the double of VS Code.
 * @param extensionPath folder that holds the bundles as `dist`.
 * @param storage folder of the extension's global storage.
 */
export function testServices(
  extensionPath: string,
  storage: string,
): { services: Services; log: ReturnType<typeof window.createOutputChannel> } {
  const log = window.createOutputChannel();
  const context = { extensionPath, globalStorageUri: Uri.file(storage), secrets: secretStorage, subscriptions: [] };
  const services: Services = {
    // The doubles have the few members that are used.
    context: context as unknown as vscode.ExtensionContext,
    log: log as unknown as vscode.LogOutputChannel,
    comparisons: new Comparisons(),
    condensed: new vscode.EventEmitter(),
    registered: new RegisteredProviders(),
    modelsChanged: new vscode.EventEmitter(),
    last: undefined,
  };
  return { services, log };
}
