import type * as vscode from 'vscode';
import type * as commands from '../commands';
import type { Services } from '../window/services';

/** The panel's parts. Whatever calls models, reads conversations or counts tokens is loaded when it is first needed. */
export interface PanelParts {
  readonly services: Services;
  readonly extension: vscode.Extension<unknown>;
  commands(): typeof commands;
}
