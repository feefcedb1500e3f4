import type * as vscode from 'vscode';
import type { RegisteredProviders } from './registeredProviders';
import type { ComparisonDocuments } from './comparisons';

export interface CondensationEvent {
  readonly source: 'api' | 'command' | 'agent';
  readonly conversation: string;
  readonly provider: string;
  /** o200k tokens of the messages. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Cost in US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
}

export interface Services {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly comparisons: ComparisonDocuments;
  /** Fires for every condensation, to tell other extensions. */
  readonly condensed: vscode.EventEmitter<CondensationEvent>;
  /** Fires when stored condensations were undone, restored, pinned, given back or removed. */
  readonly ledgersChanged: vscode.EventEmitter<void>;
  readonly registered: RegisteredProviders;
  /**
   * Fires when effective settings changed because the user answered a question about a workspace.
   */
  readonly settingsChanged: vscode.EventEmitter<void>;
  readonly modelsChanged: vscode.EventEmitter<void>;
  /** This window's last condensation, which Undo reverts even if no notification is open. */
  last: LastCondensation | undefined;
}

export interface LastCondensation {
  readonly conversation: string;
  /** Set if the conversation runs in the chat or in a gateway. */
  readonly isLive?: true;
  readonly path?: string;
  readonly choice: { readonly provider: string; readonly config: unknown };
  readonly title: string;
  readonly tokensAfter: number;
  readonly notes?: readonly string[];
}
