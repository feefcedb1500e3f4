import type * as vscode from 'vscode';
import type { Comparisons } from '../views/comparisons';

/** What the commands share. */
export interface Services {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly comparisons: Comparisons;
  /** The last condensation of this window, for Undo without a notification. */
  last: LastCondensation | undefined;
}

export interface LastCondensation {
  readonly conversation: string;
  readonly title: string;
}
