import type * as vscode from 'vscode';
import type { CondensedEvent } from '../extensionApi/api';
import type { RegisteredProviders } from './registered';
import type { Comparisons } from './comparisons';

/** What the commands share. */
export interface Services {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly comparisons: Comparisons;
  /** Tells other extensions of every condensation. */
  readonly condensed: vscode.EventEmitter<CondensedEvent>;
  /** The providers of other extensions. */
  readonly registered: RegisteredProviders;
  /** Says that the models which the extension contributes to the chat have changed. */
  readonly modelsChanged: vscode.EventEmitter<void>;
  /** The last condensation of this window, for Undo without a notification. */
  last: LastCondensation | undefined;
}

export interface LastCondensation {
  readonly conversation: string;
  /** It is one of the chat's. */
  readonly isLive?: true;
  readonly title: string;
}
