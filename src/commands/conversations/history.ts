import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { CondensationOutline } from '../../background/taskResults';
import { getProviderName, formatProviderName } from '../../core/condense/types';
import { formatTokenChange } from '../../window/condensationWords';
import { findShownCondensation, findUndoneCondensation, type ConversationNode } from '../../views/conversations/nodes';
import { getLedgerFolder } from '../../window/background';
import type { Services } from '../../window/services';
import { pickItem } from '../pickItem';
import { toStoredConversation, runUncancellableTask, runTaskWithProgress } from './background';
import { findFillOfConversation, formatRedoneMessage, formatUndoneMessage } from './fillAfter';
import { createDiffDocuments } from './show';
import { createPicker, showInformationMessage } from '../../window/notifications';
import { showErrorAndLog } from '../../window/tellError';

interface LedgerSubject {
  readonly ledger?: ConversationNode['ledger'] | undefined;
}

export const undoShownCondensation = (services: Services, { ledger }: LedgerSubject): Promise<void> =>
  setCondensationUndone(services, ledger?.conversation, findShownCondensation(ledger), true);

export const redoCondensation = (services: Services, { ledger }: LedgerSubject): Promise<void> =>
  setCondensationUndone(services, ledger?.conversation, findUndoneCondensation(ledger), false);

interface HistoryItem extends vscode.QuickPickItem {
  readonly condensation: CondensationOutline;
}

/**
 * Lists condensations, newest first. Selecting one shows its changes; its button undoes or restores
 * it.
 */
export async function showCondensationHistory(
  services: Services,
  { path, ledger }: LedgerSubject & { readonly path: string },
): Promise<void> {
  const picker = createPicker<HistoryItem>();
  picker.title = vscode.l10n.t('Condensation History');
  picker.placeholder = vscode.l10n.t('Select a condensation to see what it changed.');
  picker.items = (ledger?.condensations ?? []).toReversed().map((condensation): HistoryItem => ({
    label: formatTokenChange(condensation.tokensBefore, condensation.tokensAfter),
    description: [
      formatProviderName(
        getProviderName(condensation.provider, services.registered.listProviders()),
        condensation.configName,
      ),
      new Date(condensation.at).toLocaleString(vscode.env.language),
      ...(condensation.isUndone ? [vscode.l10n.t('undone')] : []),
    ].join(' · '),
    ...(condensation.isReplaced && { detail: vscode.l10n.t('Replaced by a later condensation of the original.') }),
    ...(!condensation.isReplaced && { buttons: [createUndoOrRedoButton(condensation)] }),
    condensation,
  }));
  picker.onDidTriggerItemButton(({ item: { condensation } }) => {
    picker.hide();
    setCondensationUndone(services, ledger?.conversation, condensation, !condensation.isUndone).catch(
      (error: unknown) => {
        showErrorAndLog(services, error);
      },
    );
  });
  const pickedItem = await pickItem(picker, new AbortController());
  if (!pickedItem) return;
  const condensation = pickedItem.condensation.id;
  const conversation = await runTaskWithProgress(
    services,
    vscode.l10n.t('Opening “{0}”', ledger?.title ?? basename(path)),
    {
      kind: 'show',
      ...toStoredConversation(services, path),
      condensation,
    },
  );
  await services.comparisons.showComparison(
    services.comparisons.addComparison(createDiffDocuments(services, conversation)),
  );
}

const createUndoOrRedoButton = ({ isUndone }: CondensationOutline): vscode.QuickInputButton => ({
  iconPath: new vscode.ThemeIcon(isUndone ? 'redo' : 'discard'),
  tooltip: isUndone ? vscode.l10n.t('Redo') : vscode.l10n.t('Undo'),
});

async function setCondensationUndone(
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
  const store = getLedgerFolder(services);
  await runUncancellableTask(services, {
    kind: 'set-undone',
    conversation,
    condensation: condensation.id,
    isUndone,
    store,
  });
  const fill = await findFillOfConversation(services, conversation);
  void showInformationMessage(isUndone ? formatUndoneMessage(fill) : formatRedoneMessage(fill));
}
