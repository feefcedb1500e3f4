/** Lists in which a person ticks what of a conversation stays as it is. */
import * as vscode from 'vscode';
import type { Edit } from '../core/condense/edits';
import { lastByPlace } from '../core/condense/edits';
import { formatTokens } from '../core/condense/report';
import { renderConversation } from '../core/messages/render';
import type { ApiMessage } from '../core/messages/types';
import type { LiveConversationsApi, LiveId, LiveSummary } from './live/types';

/** Which edits the view shows: those that are ticked. */
export async function chooseEdits(live: LiveConversationsApi, id: LiveId): Promise<void> {
  const shown = live.view(id);
  if (!shown) return;
  const excluded = new Set(shown.excluded);
  const items = lastByPlace(shown.edits).map((edit) => ({
    edit,
    label: placeOf(edit),
    description: vscode.l10n.t('{0} tokens less', formatTokens(edit.tokensBefore - edit.tokensAfter)),
    detail: edit.reason,
    picked: !excluded.has(edit.id),
  }));
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: vscode.l10n.t('What stays condensed'),
  });
  if (!picked) return;
  const kept = new Set(picked.map(({ edit }) => edit.id));
  for (const { edit } of items) {
    if (kept.has(edit.id) === excluded.has(edit.id)) await live.toggleEdit(id, edit.id);
  }
}

const placeOf = (edit: Edit): string =>
  edit.kind === 'summary'
    ? vscode.l10n.t('Messages {0} to {1}', edit.start + 1, edit.end)
    : vscode.l10n.t('Message {0}', edit.place.message + 1);

/** Which messages are left as they are: those that are ticked. */
export async function choosePins(live: LiveConversationsApi, { id, pinned }: LiveSummary): Promise<void> {
  const original = live.view(id)?.original ?? [];
  const items = original.map((message, index) => ({
    index,
    label: `${index + 1} · ${message.role}`,
    description: firstWords(message),
    picked: pinned.includes(index),
  }));
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    matchOnDescription: true,
    title: vscode.l10n.t('Messages that are never condensed'),
  });
  if (!picked) return;
  const wanted = new Set(picked.map(({ index }) => index));
  for (const { index } of items) {
    if (wanted.has(index) === pinned.includes(index)) continue;
    await (wanted.has(index) ? live.pin(id, index) : live.unpin(id, index));
  }
}

/** The beginning of a message on one line. */
const firstWords = (message: ApiMessage): string =>
  renderConversation([message]).split('\n').slice(1).join(' ').replace(/\s+/g, ' ').slice(0, 120);
