import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { LedgerOutline } from '../../background/taskResults';
import { LoadedLedgers } from '../../views/conversations/ledgers';
import { getAgentRuntime } from '../../agent/runtime';
import type { ConversationAction } from '../../views/conversations/actions';
import type { ConversationsView } from '../../views/conversations/conversationsView';
import {
  NO_FILTER,
  findShownCondensation,
  getConversationTitle,
  getConversationWorkspace,
  type ConversationNode,
  type LiveNode,
  type TreeNode,
} from '../../views/conversations/nodes';
import { getLiveCommand, type AgentName } from '../../core/agents';
import { condenseNow } from '../condenseNow';
import { condenseNamedConversationWith, condenseWith } from '../condenseWith';
import { getConversationIndex } from '../conversationIndex';
import { listLedgersSince } from './background';
import { getPathOfOpenedText } from '../../window/comparisons';
import { showDetails } from './details';
import { openAgent } from '../openAgent';
import type { Services } from '../../window/services';
import type { GivenBackName } from '../../giveBack/replacements';
import { exportConversationFile } from './exportFile';
import { chooseConversationFilter, askSearchText } from './filter';
import { giveBackConversationFile, undoGiveBack } from './giveBack';
import { resumeInTerminal } from './resume';
import { redoCondensation, showCondensationHistory, undoShownCondensation } from './history';
import { getOriginalDocuments } from '../../window/originals';
import { saveReport } from './saveReport';
import { getLiveLedgerFolder, getLedgerFolder } from '../../window/background';
import { showErrorAndLog } from '../../window/tellError';
import { choosePinnedMessages } from './pins';
import { showConversationText, openRawFile, previewCondensation, showReadingPage, showFileDiff } from './show';
import { showInformationMessage } from '../../window/notifications';

/**
 * Runs an action and shows its errors.
 * @param subject the row, the conversation's path, its opened document, or the group of a "Show
 *   More"; absent for actions of the whole view
 */
export async function runConversationsViewAction(
  services: Services,
  view: ConversationsView,
  action: ConversationAction,
  subject: TreeNode | vscode.Uri | string | undefined,
): Promise<void> {
  switch (action) {
    case 'search':
      await askSearchText(view);
      return;
    case 'filter':
      await chooseConversationFilter(view);
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
      if (subject instanceof vscode.Uri) await runActionOnPath(services, action, getPathOfOpenedText(subject));
      else if (typeof subject === 'string') await runActionOnPath(services, action, subject);
      else await runActionOnRow(services, action, subject && view.getCurrentNode(subject));
  }
}

type NodeAction = Exclude<ConversationAction, 'search' | 'filter' | 'clearFilter' | 'refresh' | 'showMore'>;

const runActionOnPath = async (services: Services, action: NodeAction, path: string): Promise<void> =>
  runActionOnStored(services, action, await findConversationByPath(services, path));

async function runActionOnRow(services: Services, action: NodeAction, row: TreeNode | undefined): Promise<void> {
  if (row?.kind === 'live') await runActionOnLive(services, action, row);
  else if (row?.kind === 'conversation') await runActionOnStored(services, action, toConversationSubject(row));
  // VS Code passes no row if a key was pressed, or while it reloads all rows.
  else
    void showInformationMessage(
      vscode.l10n.t('No conversation was chosen, or the list has just changed. Choose one in the view.'),
    );
}

/**
 * Runs an action on a running conversation. Redo, pins and exclusions are in the chat's own list.
 */
async function runActionOnLive(services: Services, action: NodeAction, { live }: LiveNode): Promise<void> {
  const agent = getAgentRuntime(services);
  if (action === 'condense') await agent.condense(live.id);
  else if (action === 'diff') await agent.showDiff(live.id);
  else if (action === 'undo') await agent.undo(live.id);
  else if (action === 'originals')
    await getOriginalDocuments(services).chooseOriginal(live.id, getLiveLedgerFolder(services));
  else if (action === 'condenseWith') await condenseNamedConversationWith(services, { live: live.id });
  else await agent.showDetails(live.id);
}

interface ConversationSubject {
  readonly path: string;
  readonly title?: string | undefined;
  /** The agent that stored the file; absent if none did. */
  readonly agent?: AgentName | undefined;
  /** The agent's own ID and working folder, if known. */
  readonly id?: string | undefined;
  readonly workspace?: string | undefined;
  readonly ledger?: LedgerOutline | undefined;
  /** The file with which the agent continues, if the conversation was given back. */
  readonly givenBackAs?: string | undefined;
  readonly isCopy?: boolean;
}

const toConversationSubject = ({
  found,
  ledger,
  givenBackAs,
  isCopy,
}: Omit<ConversationNode, 'kind' | 'children'>): ConversationSubject => ({
  path: found.path,
  title: getConversationTitle(found),
  agent: found.agent,
  id: found.details?.id,
  workspace: getConversationWorkspace(found),
  ledger,
  givenBackAs,
  isCopy,
});

async function findConversationByPath(services: Services, path: string): Promise<ConversationSubject> {
  const conversation = getConversationIndex(services).conversations.find((each) => each.path === path);
  const ledgers = new LoadedLedgers();
  ledgers.applyLedgersResult(await listLedgersSince(services, ledgers.since));
  const ledger = ledgers.findByPath(path);
  return conversation
    ? toConversationSubject({
        found: conversation,
        ledger,
        givenBackAs: ledgers.givenBackAs(conversation),
        isCopy: ledgers.isCopy(conversation),
      })
    : { path, ledger };
}

async function runActionOnStored(services: Services, action: NodeAction, subject: ConversationSubject): Promise<void> {
  const { path, agent, ledger } = subject;
  try {
    switch (action) {
      case 'open':
        await showConversationText(services, path);
        break;
      case 'openRaw':
        await openRawFile(path);
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
        await showReadingPage(services, path);
        break;
      case 'export':
        await exportConversationFile(services, path, findShownCondensation(ledger) !== undefined);
        break;
      case 'saveReport':
        await saveReport(services, path);
        break;
      case 'undo':
        await undoShownCondensation(services, subject);
        break;
      case 'redo':
        await redoCondensation(services, subject);
        break;
      case 'history':
        await showCondensationHistory(services, subject);
        break;
      case 'pin':
        await choosePinnedMessages(services, path);
        break;
      case 'originals':
        await getOriginalDocuments(services).chooseOriginal(
          findShownCondensation(ledger) && ledger?.conversation,
          getLedgerFolder(services),
        );
        break;
      case 'giveBack':
        await giveBackConversationFile(services, path, agent);
        break;
      case 'runCondensed':
        await openAgent(services, agent && getLiveCommand(agent), subject.workspace);
        break;
      case 'undoGiveBack':
        await undoGiveBack(services, identifyGivenBackConversation(subject));
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

/** Names what was given back last: this conversation, or else the original of this copy. */
function identifyGivenBackConversation({
  path,
  id,
  ledger,
  givenBackAs,
  isCopy,
}: ConversationSubject): GivenBackName | undefined {
  if (isCopy === true && givenBackAs === undefined) return { path };
  const conversation = id ?? ledger?.conversation;
  return conversation === undefined ? undefined : { conversation };
}
