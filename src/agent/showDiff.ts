import * as vscode from 'vscode';
import { renderConversation } from '../core/messages/render';
import type { Comparisons } from '../window/comparisons';
import type { LiveConversationsApi } from '../live/types';
import type { LiveId } from '../live/request';

/** Opens what the chat holds beside what the model sees. */
export async function showLiveDiff(live: LiveConversationsApi, comparisons: Comparisons, id: LiveId): Promise<void> {
  const shown = live.view(id);
  const title = live.list().find((conversation) => conversation.id === id)?.title ?? '';
  if (!shown) {
    void vscode.window.showInformationMessage(vscode.l10n.t('This conversation is no longer in memory.'));
    return;
  }
  const comparison = comparisons.add({
    before: renderConversation(shown.original),
    after: renderConversation(shown.view, shown.origins),
  });
  await comparisons.show(comparison, vscode.l10n.t('{0}: before ↔ after condensing', title));
}
