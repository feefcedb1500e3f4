import type * as vscode from 'vscode';
import type * as commands from '../commands';
import type { Services } from '../window/services';

/** Code that calls models, reads conversations or counts tokens is loaded on first use. */
export interface PanelDependencies {
  readonly services: Services;
  readonly extension: vscode.Extension<unknown>;
  commands(): typeof commands;
}
