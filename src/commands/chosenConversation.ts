import * as vscode from 'vscode';
import { listLiveConversations, getAgentRuntime } from '../agent/runtime';
import type { LiveSummary } from '../live/types';
import type { ConversationSource } from '../background/preview/messages';
import { toStoredConversation, runUncancellableTask } from './conversations/background';
import { findNewestConversation } from './conversationIndex';
import { pickConversation } from './pickConversation';
import { changesAnyMessage } from '../core/condense/edits/edits';
import { getSamplePath } from '../window/samplePath';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { condenseFileAndReport } from './condenseNow';

export type ConversationKey =
  | { readonly kind: 'live'; readonly id: string }
  | { readonly kind: 'file'; readonly path: string };

/**
 * Returns the conversation in VS Code's chat; without one, the stored one; else the bundled sample.
 */
export function getDefaultConversation(services: Services, stored?: string): ConversationKey {
  const [live] = listLiveConversations(services);
  if (live) return { kind: 'live', id: live.id };
  return { kind: 'file', path: stored ?? getSamplePath(services.context.extensionPath) };
}

/** Returns the path of this workspace's newest conversation, or else of the newest of all. */
export const findOwnConversation = async (services: Services): Promise<string | undefined> =>
  (
    await findNewestConversation(
      services,
      vscode.workspace.workspaceFolders?.map(({ uri }) => uri.fsPath),
    )
  )?.path;

/** @returns undefined if the user picked nothing */
export async function chooseConversation(services: Services): Promise<ConversationKey | undefined> {
  const texts = { title: vscode.l10n.t('Preview a conversation'), open: vscode.l10n.t('Preview') };
  const pickedConversation = await pickConversation(services, listLiveConversations(services), texts);
  if (!pickedConversation) return undefined;
  return 'live' in pickedConversation
    ? { kind: 'live', id: pickedConversation.live.id }
    : { kind: 'file', path: pickedConversation.path };
}

/** @throws Error if a chat conversation is no longer in memory */
export function resolveConversation(services: Services, name: ConversationKey): ConversationSource {
  if (name.kind === 'file') return { kind: 'file', ...toStoredConversation(services, name.path) };
  const { id, title, pinned } = findLiveConversation(services, name.id);
  const view = getAgentRuntime(services).getCachedView(id);
  if (!view) throw createEndedConversationError();
  return { kind: 'live', id, title, pinned, content: { messages: view.original, edits: view.edits } };
}

/**
 * Call this before {@link resolveConversation}, because the conversation's engine may run in
 * another process.
 * @throws Error for the user if that process does not answer
 */
export async function loadLiveView(services: Services, name: ConversationKey): Promise<void> {
  if (name.kind === 'live') await getAgentRuntime(services).loadView(findLiveConversation(services, name.id).id);
}

export const subscribeToLiveChanges = (services: Services, listener: () => void): vscode.Disposable =>
  getAgentRuntime(services).liveEvents.event(listener);

/** @throws Error if the conversation is no longer in memory */
function findLiveConversation(services: Services, id: string): LiveSummary {
  const liveConversation = listLiveConversations(services).find((each) => each.id === id);
  if (!liveConversation) throw createEndedConversationError();
  return liveConversation;
}

const createEndedConversationError = (): Error =>
  new Error(
    vscode.l10n.t('This conversation is no longer in memory. Choose another one, or use it in the chat again.'),
  );

/** @throws Error if the ledger can't be written or the conversation is gone */
export async function saveConversationPins(
  services: Services,
  name: ConversationKey,
  pinnedIndexes: readonly number[],
): Promise<void> {
  if (name.kind === 'file') {
    await runUncancellableTask(services, {
      kind: 'pin',
      ...toStoredConversation(services, name.path),
      pinned: pinnedIndexes,
    });
    return;
  }
  const { id, pinned: pinnedBefore } = findLiveConversation(services, name.id);
  const liveControls = getAgentRuntime(services).createLiveControls();
  for (const message of pinnedBefore) if (!pinnedIndexes.includes(message)) await liveControls.unpin(id, message);
  for (const message of pinnedIndexes) if (!pinnedBefore.includes(message)) await liveControls.pin(id, message);
}

/** @param excludedIndexes indexes of messages that no edit may touch */
export async function condenseChosenConversation(
  services: Services,
  name: ConversationKey,
  pinnedIndexes: readonly number[],
  excludedIndexes: readonly number[],
): Promise<void> {
  await saveConversationPins(services, name, pinnedIndexes);
  if (name.kind === 'file') {
    await condenseFileAndReport(services, name.path, { ...readManualSettings(), excluded: excludedIndexes });
    return;
  }
  const agent = getAgentRuntime(services);
  const { id } = findLiveConversation(services, name.id);
  const liveControls = agent.createLiveControls();
  const knownEdits = new Set((await liveControls.view(id))?.edits.map((edit) => edit.id));
  await agent.condense(id);
  const excludedMessages = new Set(excludedIndexes);
  for (const edit of (await liveControls.view(id))?.edits ?? []) {
    if (!knownEdits.has(edit.id) && changesAnyMessage(edit, excludedMessages))
      await liveControls.toggleEdit(id, edit.id);
  }
}
