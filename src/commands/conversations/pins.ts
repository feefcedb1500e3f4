import * as vscode from 'vscode';
import type { Services } from '../../window/services';
import { toStoredConversation, runUncancellableTask, runTaskWithProgress } from './background';
import { pickSeveralItems, showInformationMessage } from '../../window/notifications';

export async function choosePinnedMessages(services: Services, path: string): Promise<void> {
  const task = { kind: 'messages', ...toStoredConversation(services, path) } as const;
  const messages = await runTaskWithProgress(services, vscode.l10n.t('Listing messages'), task);
  const items = messages.map(({ role, words, isPinned }, index) => ({
    index,
    label: `${index + 1} · ${role}`,
    description: words,
    picked: isPinned,
  }));
  const pickedItems = await pickSeveralItems(items, {
    matchOnDescription: true,
    title: vscode.l10n.t('Messages that are never condensed'),
  });
  if (!pickedItems) return;
  const pinnedIndexes = pickedItems.map(({ index }) => index);
  await runUncancellableTask(services, { kind: 'pin', ...toStoredConversation(services, path), pinned: pinnedIndexes });
  void showInformationMessage(describePinned(pinnedIndexes.length));
}

function describePinned(count: number): string {
  if (count === 0) return vscode.l10n.t('No message is pinned.');
  return count === 1
    ? vscode.l10n.t('1 message will not be changed when the conversation is condensed.')
    : vscode.l10n.t('{0} messages will not be changed when the conversation is condensed.', count);
}
