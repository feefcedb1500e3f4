import type * as vscode from 'vscode';
import type { RegisteredProviders } from './registered';
import type { Comparisons } from './comparisons';

/** A condensation that was applied. */
export interface Condensed {
  /** Who asked for it. */
  readonly source: 'api' | 'command' | 'agent';
  /** Id of the conversation. */
  readonly conversation: string;
  /** Id of the provider. */
  readonly provider: string;
  /** Of the messages, in o200k tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
}

/** Shared by the parts of an open window. */
export interface Services {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly comparisons: Comparisons;
  /** Tells other extensions of every condensation. */
  readonly condensed: vscode.EventEmitter<Condensed>;
  /** Says that what is kept of condensations has changed otherwise: undone, brought back, pinned, given back or removed. */
  readonly ledgersChanged: vscode.EventEmitter<void>;
  /** The providers of other extensions. */
  readonly registered: RegisteredProviders;
  /** Says that other settings count now, though no settings file changed: the user answered what a workspace asks. */
  readonly settingsChanged: vscode.EventEmitter<void>;
  /** Says that the models which the extension contributes to the chat have changed. */
  readonly modelsChanged: vscode.EventEmitter<void>;
  /** The last condensation of this window, for Undo without a notification. */
  last: LastCondensation | undefined;
}

export interface LastCondensation {
  readonly conversation: string;
  /** It runs: in the chat, or behind a gateway. */
  readonly isLive?: true;
  /** Of the conversation's file, where it has one. */
  readonly path?: string;
  /** How it was condensed. */
  readonly choice: { readonly provider: string; readonly config: unknown };
  readonly title: string;
  readonly tokensAfter: number;
  /** What it noted for a person; kept nowhere else but in the log. */
  readonly notes?: readonly string[];
}
