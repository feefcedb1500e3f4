import * as vscode from 'vscode';
import { listLiveConversations, getAgentRuntime } from '../agent/runtime';
import type { LiveSummary } from '../live/types';
import type { ConversationSource } from '../background/preview/messages';
import { toStored, runToEnd } from './conversations/background';
import { findNewestConversation } from './conversationIndex';
import { pickConversation } from './pickConversation';
import { changesAny } from '../core/condense/edits/edits';
import { getSamplePath } from '../window/samplePath';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { condenseAndReport } from './condenseNow';

export type ConversationName =
  | { readonly kind: 'live'; readonly id: string }
  | { readonly kind: 'file'; readonly path: string };

/** Prefers the chat's conversation, then the stored one, then the bundled sample. */
export function getDefaultConversation(services: Services, stored?: string): ConversationName {
  const [live] = listLiveConversations(services);
  if (live) return { kind: 'live', id: live.id };
  return { kind: 'file', path: stored ?? getSamplePath(services.context.extensionPath) };
}

/** Prefers this workspace's newest conversation to the newest of all. */
export const findOwnConversation = async (services: Services): Promise<string | undefined> =>
  (
    await findNewestConversation(
      services,
      vscode.workspace.workspaceFolders?.map(({ uri }) => uri.fsPath),
    )
  )?.path;

/** @returns undefined if nothing was picked */
export async function chooseConversation(services: Services): Promise<ConversationName | undefined> {
  const words = { title: vscode.l10n.t('Preview a conversation'), open: vscode.l10n.t('Preview') };
  const picked = await pickConversation(services, listLiveConversations(services), words);
  if (!picked) return undefined;
  return 'live' in picked ? { kind: 'live', id: picked.live.id } : { kind: 'file', path: picked.path };
}

/** @throws Error if a chat conversation is no longer in memory */
export function resolveConversation(services: Services, name: ConversationName): ConversationSource {
  if (name.kind === 'file') return { kind: 'file', ...toStored(services, name.path) };
  const { id, title, pinned } = findLive(services, name.id);
  const view = getAgentRuntime(services).getCachedView(id);
  if (!view) throw createGoneError();
  return { kind: 'live', id, title, pinned, content: { messages: view.original, edits: view.edits } };
}

/**
 * The conversation's engine may run in another process.
 * @throws Error with text for the user if that process does not answer
 */
export async function loadConversation(services: Services, name: ConversationName): Promise<void> {
  if (name.kind === 'live') await getAgentRuntime(services).lookAt(findLive(services, name.id).id);
}

export const onLiveChange = (services: Services, listener: () => void): vscode.Disposable =>
  getAgentRuntime(services).liveEvents.event(listener);

/** @throws Error if the conversation is no longer in memory */
function findLive(services: Services, id: string): LiveSummary {
  const live = listLiveConversations(services).find((each) => each.id === id);
  if (!live) throw createGoneError();
  return live;
}

const createGoneError = (): Error =>
  new Error(
    vscode.l10n.t('This conversation is no longer in memory. Choose another one, or use it in the chat again.'),
  );

/** @throws Error if the ledger can't be written or the conversation is gone */
export async function savePins(services: Services, name: ConversationName, pinned: readonly number[]): Promise<void> {
  if (name.kind === 'file') {
    await runToEnd(services, { kind: 'pin', ...toStored(services, name.path), pinned });
    return;
  }
  const { id, pinned: known } = findLive(services, name.id);
  const live = getAgentRuntime(services).desk();
  for (const message of known) if (!pinned.includes(message)) await live.unpin(id, message);
  for (const message of pinned) if (!known.includes(message)) await live.pin(id, message);
}

/** @param excluded indexes of messages that no edit may touch */
export async function condenseChosen(
  services: Services,
  name: ConversationName,
  pinned: readonly number[],
  excluded: readonly number[],
): Promise<void> {
  await savePins(services, name, pinned);
  if (name.kind === 'file') {
    await condenseAndReport(services, name.path, { ...readManualSettings(), excluded });
    return;
  }
  const agent = getAgentRuntime(services);
  const { id } = findLive(services, name.id);
  const live = agent.desk();
  const known = new Set((await live.view(id))?.edits.map((edit) => edit.id));
  await agent.condense(id);
  const messages = new Set(excluded);
  for (const edit of (await live.view(id))?.edits ?? []) {
    if (!known.has(edit.id) && changesAny(edit, messages)) await live.toggleEdit(id, edit.id);
  }
}
