/** The settings panel, in a separate bundle loaded on first use. */
import * as vscode from 'vscode';
import type { PanelParts } from './parts';
import { SettingsPanel } from './settingsPanel';

/** VS Code's name for this kind of panel. */
const PANEL_TYPE = 'contextCondenser.settings';

let open: SettingsPanel | undefined;

/** Opens the panel or shows the open one, at a section if named. */
export function openSettings(parts: PanelParts, section?: string): void {
  const shown = open ?? adopt(parts, createPanel());
  shown.reveal(section);
}

/** Restores a panel that VS Code kept over a reload. */
export function restoreSettings(parts: PanelParts, panel: vscode.WebviewPanel): void {
  if (open) panel.dispose();
  else adopt(parts, panel);
}

const createPanel = (): vscode.WebviewPanel =>
  vscode.window.createWebviewPanel(PANEL_TYPE, vscode.l10n.t('Context Condenser'), vscode.ViewColumn.Active, {
    enableScripts: true,
    // Otherwise a hidden page would be discarded, with marks and answers that take minutes.
    retainContextWhenHidden: true,
  });

function adopt(parts: PanelParts, panel: vscode.WebviewPanel): SettingsPanel {
  const settings = new SettingsPanel(panel, parts);
  open = settings;
  panel.onDidDispose(() => {
    settings.dispose();
    open = undefined;
  });
  return settings;
}
