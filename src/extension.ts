import { join } from 'node:path';
import * as vscode from 'vscode';
import type * as commands from './commands';
import type { Services } from './commands/services';
import type { CondensedEvent, ContextCondenserExports } from './extensionApi/api';
import { RegisteredProviders } from './extensionApi/registered';
import type * as panel from './panel';
import { Comparisons } from './views/comparisons';

/** Builds the parts and wires them, nothing else. What a command needs is loaded when it runs. */
export function activate(context: vscode.ExtensionContext): ContextCondenserExports {
  const log = vscode.window.createOutputChannel('Context Condenser', { log: true });
  const comparisons = new Comparisons();
  const condensed = new vscode.EventEmitter<CondensedEvent>();
  const registered = new RegisteredProviders();
  const services: Services = { context, log, comparisons, condensed, registered, last: undefined };
  const load = (): typeof commands =>
    // A bundle of its own beside this one, loaded at the first use; its exports are those of src/commands/index.ts.
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- VS Code gives `vscode` to what is required only
    require(join(__dirname, 'commands.cjs')) as typeof commands;
  const loadPanel = (): typeof panel =>
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- as above
    require(join(__dirname, 'panel.cjs')) as typeof panel;
  const panelParts = { services, extension: context.extension, commands: load };
  const sample = join(context.extensionPath, 'sample', 'conversation.jsonl');

  context.subscriptions.push(
    log,
    comparisons,
    condensed,
    vscode.commands.registerCommand('contextCondenser.condenseNow', (path?: unknown) =>
      load().condenseNow(services, typeof path === 'string' ? path : undefined),
    ),
    vscode.commands.registerCommand('contextCondenser.condenseSample', () => load().condenseNow(services, sample)),
    vscode.commands.registerCommand('contextCondenser.openSettings', (section?: unknown) => {
      loadPanel().openSettings(panelParts, typeof section === 'string' ? section : undefined);
    }),
    vscode.window.registerWebviewPanelSerializer('contextCondenser.settings', {
      deserializeWebviewPanel: (kept) => {
        loadPanel().restoreSettings(panelParts, kept);
        return Promise.resolve();
      },
    }),
    vscode.commands.registerCommand('contextCondenser.undo', () => load().undoCondensation(services)),
    vscode.commands.registerCommand('contextCondenser.manageProfiles', () => load().manageProfiles(services)),
    vscode.commands.registerCommand('contextCondenser.chooseProvider', () => load().chooseProvider()),
    vscode.commands.registerCommand('contextCondenser.chooseCondensingProfile', () => load().chooseCondensingProfile()),
    vscode.commands.registerCommand('contextCondenser.previewPrompt', (path?: unknown) =>
      load().previewPrompt(services, typeof path === 'string' ? path : undefined),
    ),
    vscode.commands.registerCommand('contextCondenser.showMeasures', () => load().showMeasures(services)),
    vscode.commands.registerCommand('contextCondenser.setThreshold', () => load().setThreshold()),
    vscode.commands.registerCommand('contextCondenser.showLog', () => {
      log.show();
    }),
  );
  return { getApi: (version) => load().getApi(version, services) };
}
