import type * as vscode from 'vscode';
import type * as commands from '../commands';
import type { Services } from '../window/services';

/** What the panel is given. What calls models, reads conversations and counts tokens is loaded when it is first needed. */
export interface PanelParts {
  readonly services: Services;
  readonly extension: vscode.Extension<unknown>;
  commands(): typeof commands;
}
