import * as vscode from 'vscode';
import type { Services } from '../../src/window/services';
import { RegisteredProviders } from '../../src/window/registeredProviders';
import { ComparisonDocuments } from '../../src/window/comparisons';
import { secretStorage, Uri, window } from './vscode';

/**
 * Creates the services that the commands share, with the fake VS Code.
 * @param extensionPath folder that contains the bundles in `dist`.
 * @param storage folder of the extension's global storage.
 */
export function testServices(
  extensionPath: string,
  storage: string,
): { services: Services; log: ReturnType<typeof window.createOutputChannel> } {
  const log = window.createOutputChannel();
  const [globalState, workspaceState] = [memento(), memento()];
  const globalStorageUri = Uri.file(storage);
  const context = {
    extensionPath,
    globalStorageUri,
    globalState,
    workspaceState,
    secrets: secretStorage,
    subscriptions: [],
  };
  const services: Services = {
    // The test doubles have only the members that are used.
    context: context as unknown as vscode.ExtensionContext,
    log: log as unknown as vscode.LogOutputChannel,
    comparisons: new ComparisonDocuments(),
    condensed: new vscode.EventEmitter(),
    ledgersChanged: new vscode.EventEmitter(),
    registered: new RegisteredProviders(),
    settingsChanged: new vscode.EventEmitter(),
    modelsChanged: new vscode.EventEmitter(),
    last: undefined,
  };
  return { services, log };
}

export function memento() {
  const storedValues = new Map<string, unknown>();
  return {
    get: (key: string, standard?: unknown) => storedValues.get(key) ?? standard,
    update: (key: string, value: unknown) => Promise.resolve(void storedValues.set(key, value)),
  };
}
