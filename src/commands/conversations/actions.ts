import * as vscode from 'vscode';
import { agentOf } from '../../agent/runtime';
import type { ConversationAction } from '../../views/conversations/actions';
import type { ConversationsView } from '../../views/conversations/conversationsView';
import {
  NO_FILTER,
  shownCondensation,
  workspaceOf,
  type ConversationNode,
  type LiveNode,
  type Node,
} from '../../views/conversations/nodes';
import { liveCommandOf } from '../../core/agents';
import { condenseNow } from '../condenseNow';
import { openAgent } from '../openAgent';
import type { Services } from '../../window/services';
import { exportFile } from './exportFile';
import { chooseFilter, search } from './filter';
import { giveBackFile, undoGiveBack } from './giveBack';
import { redoShown, showHistory, undoShown } from './history';
import { originalsOf } from '../../window/originals';
import { saveReport } from './saveReport';
import { liveStoreOf, storeOf } from '../../window/background';
import { tellError } from '../../window/tellError';
import { chooseFilePins } from './pins';
import { openConversation, openRaw, previewCondensation, readConversation, showFileDiff } from './show';
import { showInformationMessage } from '../../window/notifications';

/**
 * Does an action of the Conversations view. Errors of a conversation's action are shown, and thrown no further.
 * @param subject the row that it was called on, or the group of a "show more"; none for actions of the whole view
 */
export async function runAction(
  services: Services,
  view: ConversationsView,
  action: ConversationAction,
  subject: Node | string | undefined,
): Promise<void> {
  switch (action) {
    case 'search':
      await search(view);
      return;
    case 'filter':
      await chooseFilter(view);
      return;
    case 'clearFilter':
      view.setFilter(NO_FILTER);
      return;
    case 'refresh':
      await view.refresh();
      return;
    case 'showMore':
      if (typeof subject === 'string') view.showMore(subject);
      return;
    default:
      await onRow(services, action, typeof subject === 'object' ? view.newest(subject) : undefined);
  }
}

type NodeAction = Exclude<ConversationAction, 'search' | 'filter' | 'clearFilter' | 'refresh' | 'showMore'>;

async function onRow(services: Services, action: NodeAction, row: Node | undefined): Promise<void> {
  if (row?.kind === 'live') await onLive(services, action, row);
  else if (row?.kind === 'conversation') await onConversation(services, action, row);
  // VS Code hands over none while it takes all rows anew, and none where a key was pressed.
  else
    void showInformationMessage(
      vscode.l10n.t('No conversation was chosen, or the list has just changed. Choose one in the view.'),
    );
}

/** The chat's own list has the rest: redo, pins, what stays condensed. */
async function onLive(services: Services, action: NodeAction, { live }: LiveNode): Promise<void> {
  const agent = agentOf(services);
  if (action === 'condense') await agent.condense(live.id);
  else if (action === 'diff') await agent.showDiff(live.id);
  else if (action === 'undo') await agent.undo(live.id);
  else if (action === 'originals') await originalsOf(services).choose(live.id, liveStoreOf(services));
  else await agent.showDetails();
}

async function onConversation(services: Services, action: NodeAction, node: ConversationNode): Promise<void> {
  const { path } = node.found;
  try {
    switch (action) {
      case 'open':
        await openConversation(services, path);
        break;
      case 'openRaw':
        await openRaw(path);
        break;
      case 'condense':
        await condenseNow(services, path);
        break;
      case 'preview':
        await previewCondensation(services, path);
        break;
      case 'diff':
        await showFileDiff(services, path);
        break;
      case 'read':
        await readConversation(services, path);
        break;
      case 'export':
        await exportFile(services, path, shownCondensation(node.ledger) !== undefined);
        break;
      case 'saveReport':
        await saveReport(services, path);
        break;
      case 'undo':
        await undoShown(services, node);
        break;
      case 'redo':
        await redoShown(services, node);
        break;
      case 'history':
        await showHistory(services, node);
        break;
      case 'pin':
        await chooseFilePins(services, path);
        break;
      case 'originals':
        await originalsOf(services).choose(
          shownCondensation(node.ledger) && node.ledger?.conversation,
          storeOf(services),
        );
        break;
      case 'giveBack':
        await giveBackFile(services, path, node.found.agent);
        break;
      case 'runCondensed':
        await openAgent(services, liveCommandOf(node.found.agent), workspaceOf(node.found));
        break;
      case 'undoGiveBack':
        await undoGiveBack(services, node.found.details?.id ?? node.ledger?.conversation);
        break;
    }
  } catch (error) {
    tellError(services, error);
  }
}
