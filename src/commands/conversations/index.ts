import * as vscode from 'vscode';
import { getAgentRuntime, listLiveConversations, getSharedGateway } from '../../agent/runtime';
import type { ConversationAction } from '../../views/conversations/actions';
import { ConversationsView, type ConversationsTree } from '../../views/conversations/conversationsView';
import type { TreeNode } from '../../views/conversations/nodes';
import { getConversationIndex, watchConversations } from '../conversationIndex';
import { getSamplePath } from '../../window/samplePath';
import type { Services } from '../../window/services';
import { runConversationsViewAction } from './actions';
import { listLedgersSince } from './background';
import { readSetting } from '../../window/settings/settings';

const viewByServices = new WeakMap<Services, ConversationsView>();

export function getConversationsView(services: Services, tree: ConversationsTree): ConversationsView {
  const existingView = viewByServices.get(services);
  if (existingView) return existingView;
  const index = getConversationIndex(services);
  const abortController = new AbortController();
  const view = new ConversationsView(tree, {
    index,
    live: () => listLiveConversations(services),
    sample: getSamplePath(services.context.extensionPath),
    folders: () => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
    gateway: () => {
      const gateway = getSharedGateway(services);
      return gateway && { host: new URL(gateway.address).host, folder: gateway.folder };
    },
    contextWindow: () => readSetting('conversations.contextWindow'),
    ledgersSince: (since) => listLedgersSince(services, since, abortController.signal),
    watch: () => watchConversations(services),
    warn: (message) => {
      services.log.warn(message);
    },
  });
  viewByServices.set(services, view);
  services.context.subscriptions.push(
    view,
    {
      dispose: () => {
        abortController.abort(new Error('disposed'));
      },
    },
    services.condensed.event(({ source }) => {
      if (source === 'agent') view.scheduleDelayedRedraw();
      else void view.reloadLedgers();
    }),
    services.ledgersChanged.event(() => void view.reloadLedgers()),
  );
  refreshOnLiveEvents(services, view);
  return view;
}

export async function runConversationAction(
  services: Services,
  tree: ConversationsTree,
  action: ConversationAction,
  subject: unknown,
): Promise<void> {
  // VS Code passes back one of our nodes or an editor's document; "Show More" passes the agent.
  const view = getConversationsView(services, tree);
  await runConversationsViewAction(services, view, action, subject as TreeNode | vscode.Uri | string | undefined);
}

/** Delays redraws, because running conversations change with every request. */
function refreshOnLiveEvents(services: Services, view: ConversationsView): void {
  const { liveEvents } = getAgentRuntime(services);
  services.context.subscriptions.push(
    liveEvents.event(() => {
      view.scheduleDelayedRedraw();
    }),
  );
}
