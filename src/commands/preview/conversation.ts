/** The conversation that the panel's preview shows: one of the chat, one of an agent's files, or the sample. */
import { join } from 'node:path';
import * as vscode from 'vscode';
import { liveConversations, agentOf } from '../../agent/runtime';
import type { LiveSummary } from '../../live/types';
import type { PreviewedConversation } from '../../background/preview/messages';
import { stored } from '../conversations/background';
import { pickConversation } from '../pickConversation';
import type { Services } from '../../window/services';

/** Names a conversation to the panel. */
export type ConversationName =
  { readonly kind: 'live'; readonly id: string } | { readonly kind: 'file'; readonly path: string };

/** The chat's conversation where there is one, else the sample that comes with the extension. */
export function defaultConversation(services: Services): ConversationName {
  const [live] = liveConversations(services);
  return live ? { kind: 'live', id: live.id } : { kind: 'file', path: samplePath(services) };
}

const samplePath = ({ context }: Services): string => join(context.extensionPath, 'sample', 'conversation.jsonl');

/** Lets the user pick one. @returns undefined where nothing was picked */
export async function choosePreviewed(services: Services): Promise<ConversationName | undefined> {
  const words = { title: vscode.l10n.t('Preview a conversation'), open: vscode.l10n.t('Preview') };
  const picked = await pickConversation(services, liveConversations(services), words);
  if (!picked) return undefined;
  return 'live' in picked ? { kind: 'live', id: picked.live.id } : { kind: 'file', path: picked.path };
}

/** What the worker needs of it. @throws Error where a conversation of the chat is no longer in memory */
export function previewedConversation(services: Services, name: ConversationName): PreviewedConversation {
  if (name.kind === 'file') return { kind: 'file', ...stored(services, name.path) };
  const { id, title, pinned } = liveOf(services, name.id);
  const view = agentOf(services).known?.view(id);
  if (!view) throw gone();
  return { kind: 'live', id, title, pinned, content: { messages: view.original, edits: view.edits } };
}

/** @param listener is told when something may have happened to a conversation of the chat. */
export const onLiveChange = (services: Services, listener: () => void): vscode.Disposable =>
  agentOf(services).liveEvents.event(listener);

/** @throws Error where it is no longer in memory */
export function liveOf(services: Services, id: string): LiveSummary {
  const live = liveConversations(services).find((each) => each.id === id);
  if (!live) throw gone();
  return live;
}

const gone = (): Error =>
  new Error(
    vscode.l10n.t('This conversation is no longer in memory. Choose another one, or use it in the chat again.'),
  );
