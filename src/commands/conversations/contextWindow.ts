import * as vscode from 'vscode';

const DEFAULT_WINDOW = 200_000;

/** Tokens that shares of the window are of, where the agent's file doesn't say. */
export function contextWindow(): number {
  const tokens = vscode.workspace.getConfiguration('contextCondenser').get<unknown>('conversations.contextWindow');
  return typeof tokens === 'number' && tokens >= 1_000 ? tokens : DEFAULT_WINDOW;
}
