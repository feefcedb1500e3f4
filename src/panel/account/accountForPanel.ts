import * as vscode from 'vscode';
import type { PanelParts } from '../parts';
import type { ShownAccount } from './methods';

/** Adds up, with progress and cancel in VS Code's own notification. */
export async function accountForPanel(
  parts: PanelParts,
  days: number | undefined,
): Promise<{ account?: ShownAccount }> {
  try {
    const { overview, leftOut } = await parts.commands().accountStored(parts.services, { days });
    return { account: { ...overview, leftOut } };
  } catch (error) {
    if (error instanceof vscode.CancellationError) return {};
    throw error;
  }
}
