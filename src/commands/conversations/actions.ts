import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { LedgerOutline } from '../../background/taskResults';
import { KnownLedgers } from '../../views/conversations/ledgers';
import { getAgentRuntime } from '../../agent/runtime';
import type { ConversationAction } from '../../views/conversations/actions';
import type { ConversationsView } from '../../views/conversations/conversationsView';
import {
  NO_FILTER,
  findShownCondensation,
  getTitle,
  getWorkspace,
  type ConversationNode,
  type LiveNode,
  type TreeNode,
} from '../../views/conversations/nodes';
import { getLiveCommand, type AgentName } from '../../core/agents';
import { condenseNow } from '../condenseNow';
import { condenseNamedWith, condenseWith } from '../condenseWith';
import { getConversationIndex } from '../conversationIndex';
import { listLedgersSince } from './background';
import { getOpenedPath } from '../../window/comparisons';
import { showDetails } from './details';
import { openAgent } from '../openAgent';
import type { Services } from '../../window/services';
import { exportFile } from './exportFile';
import { chooseFilter, askSearch } from './filter';
import { giveBackFile, undoGiveBack } from './giveBack';
import { resumeInTerminal } from './resume';
import { redoCondensation, showHistory, undoShown } from './history';
import { getOriginals } from '../../window/originals';
import { saveReport } from './saveReport';
import { getLiveLedgerFolder, getLedgerFolder } from '../../window/background';
import { showErrorAndLog } from '../../window/tellError';
import { chooseFilePins } from './pins';
import { openConversation, openRaw, previewCondensation, readConversation, showFileDiff } from './show';
import { showInformationMessage } from '../../window/notifications';

/**
 * Shows errors of a conversation's action.
 * @param subject the row it was invoked on, the conversation's path, its opened document, or the
 * group of a "Show More"; absent for actions of the whole view
 */
export async function runAction(
  services: Services,
  view: ConversationsView,
  action: ConversationAction,
  subject: TreeNode | vscode.Uri | string | undefined,
): Promise<void> {
  switch (action) {
    case 'search':
      await askSearch(view);
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
      if (subject instanceof vscode.Uri) await runOnPath(services, action, getOpenedPath(subject));
      else if (typeof subject === 'string') await runOnPath(services, action, subject);
      else await runOnRow(services, action, subject && view.getNewest(subject));
  }
}

type NodeAction = Exclude<ConversationAction, 'search' | 'filter' | 'clearFilter' | 'refresh' | 'showMore'>;

const runOnPath = async (services: Services, action: NodeAction, path: string): Promise<void> =>
  runOnConversation(services, action, await findByPath(services, path));

async function runOnRow(services: Services, action: NodeAction, row: TreeNode | undefined): Promise<void> {
  if (row?.kind === 'live') await runOnLive(services, action, row);
  else if (row?.kind === 'conversation') await runOnConversation(services, action, toSubject(row));
  // VS Code passes no row while it reloads all rows, or if a key was pressed.
  else
    void showInformationMessage(
      vscode.l10n.t('No conversation was chosen, or the list has just changed. Choose one in the view.'),
    );
}

/** The chat's own list has the other actions: redo, pins, exclusions. */
async function runOnLive(services: Services, action: NodeAction, { live }: LiveNode): Promise<void> {
  const agent = getAgentRuntime(services);
  if (action === 'condense') await agent.condense(live.id);
  else if (action === 'diff') await agent.showDiff(live.id);
  else if (action === 'undo') await agent.undo(live.id);
  else if (action === 'originals') await getOriginals(services).chooseOriginal(live.id, getLiveLedgerFolder(services));
  else if (action === 'condenseWith') await condenseNamedWith(services, { live: live.id });
  else await agent.showDetails(live.id);
}

interface ConversationSubject {
  readonly path: string;
  readonly title?: string | undefined;
  /** Absent if no agent stored the file. */
  readonly agent?: AgentName | undefined;
  /** The agent's own ID and working folder, if known. */
  readonly id?: string | undefined;
  readonly workspace?: string | undefined;
  readonly ledger?: LedgerOutline | undefined;
  /** The file with which the agent continues, if the conversation was given back. */
  readonly givenBackAs?: string | undefined;
}

const toSubject = ({
  found,
  ledger,
  givenBackAs,
}: Omit<ConversationNode, 'kind' | 'children'>): ConversationSubject => ({
  path: found.path,
  title: getTitle(found),
  agent: found.agent,
  id: found.details?.id,
  workspace: getWorkspace(found),
  ledger,
  givenBackAs,
});

async function findByPath(services: Services, path: string): Promise<ConversationSubject> {
  const found = getConversationIndex(services).conversations.find((each) => each.path === path);
  const ledgers = new KnownLedgers();
  ledgers.takeResult(await listLedgersSince(services, ledgers.since));
  const ledger = ledgers.findByPath(path);
  return found ? toSubject({ found, ledger, givenBackAs: ledgers.givenBackAs(found) }) : { path, ledger };
}

async function runOnConversation(services: Services, action: NodeAction, subject: ConversationSubject): Promise<void> {
  const { path, agent, ledger } = subject;
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
      case 'condenseWith':
        await condenseStoredWith(services, subject);
        break;
      case 'details':
        await showDetails(services, path);
        break;
      case 'resume':
        resumeInTerminal(subject.givenBackAs ?? path, subject.workspace);
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
        await exportFile(services, path, findShownCondensation(ledger) !== undefined);
        break;
      case 'saveReport':
        await saveReport(services, path);
        break;
      case 'undo':
        await undoShown(services, subject);
        break;
      case 'redo':
        await redoCondensation(services, subject);
        break;
      case 'history':
        await showHistory(services, subject);
        break;
      case 'pin':
        await chooseFilePins(services, path);
        break;
      case 'originals':
        await getOriginals(services).chooseOriginal(
          findShownCondensation(ledger) && ledger?.conversation,
          getLedgerFolder(services),
        );
        break;
      case 'giveBack':
        await giveBackFile(services, path, agent);
        break;
      case 'runCondensed':
        await openAgent(services, agent && getLiveCommand(agent), subject.workspace);
        break;
      case 'undoGiveBack':
        await undoGiveBack(services, subject.id ?? ledger?.conversation);
        break;
    }
  } catch (error) {
    showErrorAndLog(services, error);
  }
}

/**
 * The choices depend on earlier condensations, and the list marks the provider that was used last.
 */
async function condenseStoredWith(services: Services, { path, title, ledger }: ConversationSubject): Promise<void> {
  const { last } = services;
  const tokensAfter = findShownCondensation(ledger)?.tokensAfter;
  const name = title ?? ledger?.title ?? basename(path);
  await condenseWith(
    services,
    last?.path === path
      ? last
      : {
          conversation: ledger?.conversation ?? '',
          title: name,
          path,
          ...(tokensAfter !== undefined && { tokensAfter }),
        },
  );
}
