/** The settings panel has a separate bundle, loaded on first use. */
import * as vscode from 'vscode';
import type { PanelDependencies } from './parts';
import { SettingsPanel } from './settingsPanel';

const PANEL_VIEW_TYPE = 'contextCondenser.settings';

let currentPanel: SettingsPanel | undefined;

export function openSettings(dependencies: PanelDependencies, section?: string): void {
  const settingsPanel = currentPanel ?? adoptPanel(dependencies, createPanel());
  settingsPanel.revealPanel(section);
}

export function restoreSettings(dependencies: PanelDependencies, panel: vscode.WebviewPanel): void {
  if (currentPanel) panel.dispose();
  else adoptPanel(dependencies, panel);
}

const createPanel = (): vscode.WebviewPanel =>
  vscode.window.createWebviewPanel(PANEL_VIEW_TYPE, vscode.l10n.t('Context Condenser'), vscode.ViewColumn.Active, {
    enableScripts: true,
    // Without this, VS Code discards a hidden page with its state and with answers that take
    // minutes.
    retainContextWhenHidden: true,
  });

function adoptPanel(dependencies: PanelDependencies, panel: vscode.WebviewPanel): SettingsPanel {
  const settingsPanel = new SettingsPanel(panel, dependencies);
  currentPanel = settingsPanel;
  panel.onDidDispose(() => {
    settingsPanel.dispose();
    currentPanel = undefined;
  });
  return settingsPanel;
}
