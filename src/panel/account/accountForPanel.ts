import * as vscode from 'vscode';
import type { PanelDependencies } from '../parts';
import type { MethodParams } from '../protocol';
import type { ShownAccount } from './methods';

export async function computeAccountForPanel(
  dependencies: PanelDependencies,
  { days, choice }: MethodParams<'account'>,
): Promise<{ account?: ShownAccount }> {
  try {
    const { overview, leftOut, whatIf } = await dependencies
      .commands()
      .computeStoredAccount(dependencies.services, { days, choice });
    return { account: { ...overview, leftOut, ...(whatIf && { whatIf }) } };
  } catch (error) {
    if (error instanceof vscode.CancellationError) return {};
    throw error;
  }
}

/** Does nothing if the user cancels the file dialog. */
export async function saveAccountForPanel(
  dependencies: PanelDependencies,
  preferences: MethodParams<'saveAccount'>,
): Promise<null> {
  await dependencies.commands().saveAccount(dependencies.services, preferences);
  return null;
}
