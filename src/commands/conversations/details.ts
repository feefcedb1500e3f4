import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { version } from '../../../package.json';
import { getLiveCommand } from '../../core/agents';
import { findGiveBackTarget } from '../../core/agents/giveBackTarget';
import { getCondensationNotes } from '../../window/lastCondensation';
import type { Services } from '../../window/services';
import { getFileName } from '../conversationIndex';
import { toStoredConversation, runTaskWithProgress } from './background';
import { keepPageUpdated } from './pageUpdates';
import { readReportFacts } from './reportFacts';

/** For each window's services, the open pages by conversation file. */
const openPanelsByServices = new WeakMap<Services, Map<string, vscode.WebviewPanel>>();

/** Opens the conversation's page, or shows the one already open. */
export async function showDetails(services: Services, path: string): Promise<void> {
  const panelByPath = openPanelsByServices.get(services) ?? new Map<string, vscode.WebviewPanel>();
  openPanelsByServices.set(services, panelByPath);
  const openPanel = panelByPath.get(path);
  if (openPanel) {
    openPanel.reveal();
    return;
  }
  const title = vscode.l10n.t('Opening “{0}”', getFileName(services, path));
  const { conversation, page } = await runTaskWithProgress(services, title, await createShowTask(services, path));
  if (page === undefined) throw new Error(vscode.l10n.t('The conversation is not condensed. Condense it first.'));
  const panel = vscode.window.createWebviewPanel(
    'contextCondenser.details',
    vscode.l10n.t('Condensed: {0}', conversation.title),
    vscode.ViewColumn.Active,
    {
      enableScripts: false,
      enableCommandUris: DETAILS_ACTIONS.map(({ command }) => command),
      enableFindWidget: true,
      localResourceRoots: [],
    },
  );
  panel.webview.html = page;
  panelByPath.set(path, panel);
  keepPageUpdated(services, panel, conversation.id, () => createShowTask(services, path));
  panel.onDidDispose(() => {
    panelByPath.delete(path);
  });
}

interface GivenBackState {
  readonly isGivenBack: boolean;
  readonly isCopy: boolean;
  readonly agent: string | undefined;
}

interface DetailsAction {
  readonly command: string;
  readonly label: () => string;
  readonly isPossible?: (path: string, state: GivenBackState) => boolean;
}

const DETAILS_ACTIONS: readonly DetailsAction[] = [
  { command: 'contextCondenser.conversations.diff', label: () => vscode.l10n.t('Show Diff') },
  { command: 'contextCondenser.conversations.undo', label: () => vscode.l10n.t('Undo the Condensation') },
  { command: 'contextCondenser.conversations.condenseWith', label: () => vscode.l10n.t('Condense With…') },
  {
    command: 'contextCondenser.conversations.giveBack',
    label: () => vscode.l10n.t('Give Back to the Agent…'),
    isPossible: (path, { agent }) => findGiveBackTarget(path, agent) !== undefined,
  },
  {
    command: 'contextCondenser.conversations.runCondensed',
    label: () => vscode.l10n.t('New Session, Condensed'),
    isPossible: (path, { agent }) =>
      findGiveBackTarget(path, agent) === undefined && agent !== undefined && getLiveCommand(agent) !== undefined,
  },
  {
    command: 'contextCondenser.conversations.undoGiveBack',
    label: () => vscode.l10n.t('Undo Giving Back'),
    isPossible: (_, { isGivenBack, isCopy }) => isGivenBack || isCopy,
  },
  {
    command: 'contextCondenser.conversations.resume',
    label: () => vscode.l10n.t('Resume in Terminal'),
    isPossible: (path, { isGivenBack }) => isGivenBack && findGiveBackTarget(path) === 'claude-code-session',
  },
  { command: 'contextCondenser.conversations.open', label: () => vscode.l10n.t('Open Conversation') },
  { command: 'contextCondenser.conversations.read', label: () => vscode.l10n.t('Read What Was Condensed') },
  { command: 'contextCondenser.conversations.export', label: () => vscode.l10n.t('Export…') },
  { command: 'contextCondenser.conversations.saveReport', label: () => vscode.l10n.t('Save Report…') },
];

async function createShowTask(services: Services, path: string) {
  const { isCopy, ...facts } = await readReportFacts(services, path);
  const givenBackState = { ...facts, isCopy };
  const possibleActions = DETAILS_ACTIONS.filter(({ isPossible = () => true }) => isPossible(path, givenBackState));
  const actions = possibleActions.map(({ command, label }) => ({
    label: label(),
    href: `command:${command}?${encodeURIComponent(JSON.stringify([path]))}`,
  }));
  const webview = { nonce: randomBytes(16).toString('base64'), actions };
  const notes = getCondensationNotes(services, path);
  const reportOptions = { withoutContent: false, version, webview, notes, ...facts };
  return { kind: 'report', ...toStoredConversation(services, path), ...reportOptions } as const;
}
