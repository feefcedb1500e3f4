import type * as vscode from 'vscode';
import type { RegisteredProviders } from './registered';
import type { ComparisonDocuments } from './comparisons';

/** An applied condensation. */
export interface CondensationEvent {
  readonly source: 'api' | 'command' | 'agent';
  readonly conversation: string;
  readonly provider: string;
  /** The messages' tokens (o200k). */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
}

/** Shared by the parts of a window. */
export interface Services {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly comparisons: ComparisonDocuments;
  /** Announces every condensation to other extensions. */
  readonly condensed: vscode.EventEmitter<CondensationEvent>;
  /**
   * Fires when stored condensations changed in other ways: undone, restored, pinned, given back or
   * removed.
   */
  readonly ledgersChanged: vscode.EventEmitter<void>;
  /** Other extensions' providers. */
  readonly registered: RegisteredProviders;
  /**
   * Fires when effective settings changed without a change of files, because the user answered a
   * question about a workspace.
   */
  readonly settingsChanged: vscode.EventEmitter<void>;
  /** Fires when the models offered to the chat have changed. */
  readonly modelsChanged: vscode.EventEmitter<void>;
  /** This window's last condensation, for Undo without a notification. */
  last: LastCondensation | undefined;
}

export interface LastCondensation {
  readonly conversation: string;
  /** The conversation is running in the chat or in a gateway. */
  readonly isLive?: true;
  /** The conversation's file, if it has one. */
  readonly path?: string;
  /** How the conversation was condensed. */
  readonly choice: { readonly provider: string; readonly config: unknown };
  readonly title: string;
  readonly tokensAfter: number;
  /** Notes for a person, otherwise only in the log. */
  readonly notes?: readonly string[];
}
