import * as vscode from 'vscode';
import { pickSeveralItems } from '../window/notifications';
import { selectLastEditPerPlace, type Edit, type SummaryEdit } from '../core/condense/edits/edits';
import { formatTokens } from '../core/format';
import { createPlaceDescriber } from '../live/describePlace';
import type { LiveId } from '../live/request';
import type { LiveControls, LiveSummary } from '../live/types';

/** Lets the user exclude edits and restore excluded ones. */
export async function chooseEdits(live: LiveControls, id: LiveId): Promise<void> {
  const view = await live.view(id);
  if (!view) return;
  const excludedIds = new Set(view.excluded.map(({ id: edit }) => edit));
  const describePlace = createPlaceDescriber(view.original);
  const edits = [...selectLastEditPerPlace(view.edits), ...view.excluded].toSorted(compareEditsByPlace);
  const items = edits.map((edit) => ({
    edit,
    // The number first, because a long path would hide what follows.
    label: `${formatTokenDifference(edit.tokensBefore - edit.tokensAfter)} · ${edit.kind === 'summary' ? formatMessageRange(edit) : describePlace(edit.place)}`,
    detail: edit.reason,
    picked: !excludedIds.has(edit.id),
  }));
  const pickedItems = await pickSeveralItems(items, {
    title: vscode.l10n.t('Choose What Stays Condensed'),
  });
  if (!pickedItems) return;
  const keptIds = new Set(pickedItems.map(({ edit }) => edit.id));
  for (const { edit } of items) {
    if (keptIds.has(edit.id) === excludedIds.has(edit.id)) await live.toggleEdit(id, edit.id);
  }
}

/** @param removedTokens tokens removed; negative if a later edit restored some */
export const formatTokenDifference = (removedTokens: number): string =>
  removedTokens < 0
    ? vscode.l10n.t('{0} more tokens', formatTokens(-removedTokens))
    : vscode.l10n.t('{0} fewer tokens', formatTokens(removedTokens));

const compareEditsByPlace = (a: Edit, b: Edit): number =>
  getFirstMessageIndex(a) - getFirstMessageIndex(b) || getBlockIndex(a) - getBlockIndex(b);

const getFirstMessageIndex = (edit: Edit): number => (edit.kind === 'summary' ? edit.start : edit.place.message);

/** Index of the edited block in its message; 0 for summaries and messages without blocks. */
const getBlockIndex = (edit: Edit): number => (edit.kind === 'summary' ? 0 : Number(edit.place.path[1] ?? 0));

const formatMessageRange = ({ start, end }: SummaryEdit): string =>
  vscode.l10n.t('Messages {0} to {1}', start + 1, end);

export async function choosePins(live: LiveControls, { id, pinned }: LiveSummary): Promise<void> {
  const messages = (await live.outline(id)) ?? [];
  const items = messages.map(({ role, words }, index) => ({
    index,
    label: `${index + 1} · ${role}`,
    description: words,
    picked: pinned.includes(index),
  }));
  const pickedItems = await pickSeveralItems(items, {
    matchOnDescription: true,
    title: vscode.l10n.t('Messages that are never condensed'),
  });
  if (!pickedItems) return;
  const pickedIndexes = new Set(pickedItems.map(({ index }) => index));
  for (const { index } of items) {
    if (pickedIndexes.has(index) === pinned.includes(index)) continue;
    await (pickedIndexes.has(index) ? live.pin(id, index) : live.unpin(id, index));
  }
}
