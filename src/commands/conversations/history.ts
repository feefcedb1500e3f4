import * as vscode from 'vscode';
import type { CondensationOutline } from '../../background/taskResults';
import { providerNameOf, withConfigName } from '../../core/condense/types';
import { changeWords } from '../../window/condensationWords';
import { shownCondensation, undoneCondensation, type ConversationNode } from '../../views/conversations/nodes';
import { storeOf } from '../../window/background';
import type { Services } from '../../window/services';
import { toItsEnd } from './background';
import { pickOne, showInformationMessage } from '../../window/notifications';

type Subject = Pick<ConversationNode, 'ledger'>;

/** Takes the condensation that is shown back. */
export const undoShown = (services: Services, { ledger }: Subject): Promise<void> =>
  setUndone(services, ledger?.conversation, shownCondensation(ledger), true);

/** Brings the last one back that was taken back. */
export const redoShown = (services: Services, { ledger }: Subject): Promise<void> =>
  setUndone(services, ledger?.conversation, undoneCondensation(ledger), false);

interface HistoryItem extends vscode.QuickPickItem {
  readonly condensation: CondensationOutline;
}

/** The condensations of a conversation, the newest first; choosing one takes it back, or brings it back. */
export async function showHistory(services: Services, { ledger }: Subject): Promise<void> {
  const items = (ledger?.condensations ?? []).toReversed().map((condensation): HistoryItem => ({
    label: changeWords(condensation.tokensBefore, condensation.tokensAfter),
    description: [
      withConfigName(providerNameOf(condensation.provider, services.registered.list()), condensation.configName),
      new Date(condensation.at).toLocaleString(vscode.env.language),
      ...(condensation.isUndone ? [vscode.l10n.t('undone')] : []),
    ].join(' · '),
    detail: whatChoosingDoes(condensation),
    condensation,
  }));
  const title = vscode.l10n.t('Condensations');
  const picked = await pickOne(items, { title });
  if (!picked || picked.condensation.isReplaced) return;
  await setUndone(services, ledger?.conversation, picked.condensation, !picked.condensation.isUndone);
}

function whatChoosingDoes({ isReplaced, isUndone }: CondensationOutline): string {
  if (isReplaced) return vscode.l10n.t('Replaced by a later condensation of the original.');
  return isUndone ? vscode.l10n.t('Select to redo it.') : vscode.l10n.t('Select to undo it.');
}

async function setUndone(
  services: Services,
  conversation: string | undefined,
  condensation: CondensationOutline | undefined,
  isUndone: boolean,
): Promise<void> {
  if (conversation === undefined || !condensation) {
    void showInformationMessage(
      isUndone ? vscode.l10n.t('There is nothing left to undo.') : vscode.l10n.t('There is nothing to redo.'),
    );
    return;
  }
  const store = storeOf(services);
  await toItsEnd(services, { kind: 'set-undone', conversation, condensation: condensation.id, isUndone, store });
  void showInformationMessage(
    isUndone
      ? vscode.l10n.t('Undone. The conversation is shown as it was before.')
      : vscode.l10n.t('Brought back. The conversation is shown condensed.'),
  );
}
