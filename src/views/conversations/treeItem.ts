import { liveCommandOf } from '../../core/agents';
import * as vscode from 'vscode';
import { formatChange, formatTokens } from '../../core/format';
import { ageOf } from '../age';
import { changeWords } from '../../window/condensationWords';
import {
  CHAT,
  idOf,
  isLive,
  shownCondensation,
  undoneCondensation,
  workspaceOf,
  type AgentNode,
  type ConversationNode,
  type GatewayNode,
  type LiveNode,
  type MoreNode,
  type Node,
} from './nodes';
import { fillLines, fillWords, nameWords, shareWords, sizeWords } from './rowWords';

const State = vscode.TreeItemCollapsibleState;

export interface ItemFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Tokens that shares of the window are of, where the agent's file doesn't say. */
  readonly contextWindow: number;
}

/** How VS Code shows a node. `contextValue` is a list of words that the menus of package.json look for. */
export function treeItem(node: Node, facts: ItemFacts): vscode.TreeItem {
  const item = itemOf(node, facts);
  item.id = idOf(node);
  return item;
}

function itemOf(node: Node, facts: ItemFacts): vscode.TreeItem {
  switch (node.kind) {
    case 'agent':
      return agentItem(node);
    case 'live':
      return liveItem(node, facts);
    case 'conversation':
      return conversationItem(node, facts);
    case 'more':
      return moreItem(node);
    case 'gateway':
      return gatewayItem(node);
  }
}

function agentItem(node: AgentNode): vscode.TreeItem {
  const { agent, children } = node;
  const item = new vscode.TreeItem(agent, isLive(node) ? State.Expanded : State.Collapsed);
  item.description = String(children.length);
  item.iconPath = new vscode.ThemeIcon(agent === CHAT ? 'comment-discussion' : 'hubot');
  item.contextValue = 'agent';
  return item;
}

function liveItem({ live }: LiveNode, { now }: ItemFacts): vscode.TreeItem {
  const { title, tokens, contextWindow, condensations, lastUsed, canUndo, agent, folder } = live;
  const last = condensations.findLast(({ isUndone }) => !isUndone);
  const words = vscode.l10n.t('{0} tokens', formatTokens(tokens));
  const item = rowOf(title, {
    share: shareWords(tokens, contextWindow),
    size: words,
    last,
    age: ageOf(now - lastUsed),
  });
  item.iconPath = new vscode.ThemeIcon(last ? 'archive' : agent === undefined ? 'comment' : 'terminal');
  if (agent !== undefined) item.tooltip = [title, vscode.l10n.t('Running in {0}', folder ?? '')].join('\n');
  item.contextValue = ['live', ...(last ? ['condensed'] : []), ...(canUndo ? ['undoable'] : [])].join(' ');
  return item;
}

function conversationItem(node: ConversationNode, facts: ItemFacts): vscode.TreeItem {
  const { found, ledger, children } = node;
  const last = shownCondensation(ledger);
  const problem = found.details?.problem;
  const size = sizeWords(found);
  const share = fillWords(found, facts.contextWindow);
  const age = ageOf(facts.now - found.modified);
  const item = rowOf(nameWords(found), { share, size, last, age, isGivenBack: node.isGivenBack });
  item.collapsibleState = children.length > 0 ? State.Collapsed : State.None;
  item.tooltip = tooltipOf(node, facts);
  item.iconPath = new vscode.ThemeIcon(problem !== undefined ? 'warning' : last ? 'archive' : 'comment');
  item.contextValue = [
    problem !== undefined ? 'broken' : 'conversation',
    ...(last ? ['condensed'] : []),
    ...(undoneCondensation(ledger) ? ['redoable'] : []),
    ...(ledger && ledger.condensations.length > 0 ? ['history'] : []),
    ...(node.isGivenBack ? ['given'] : []),
    ...(problem === undefined && liveCommandOf(found.agent) !== undefined ? ['runnable'] : []),
  ].join(' ');
  // What can't be read can still be looked at.
  const command = `contextCondenser.conversations.${problem === undefined ? 'open' : 'openRaw'}`;
  item.command = { command, title: vscode.l10n.t('Open'), arguments: [node] };
  return item;
}

interface Figures {
  /** Of the context window; undefined where it is not known. */
  readonly share: string | undefined;
  readonly size: string;
  /** The last condensation that is shown. */
  readonly last: { readonly tokensBefore: number; readonly tokensAfter: number } | undefined;
  readonly age: string;
  readonly isGivenBack?: boolean;
}

/** A side bar is narrow and titles are long: what stands behind the title is cut off first, so the share comes before it. */
function rowOf(title: string, { share, size, last, age, isGivenBack = false }: Figures): vscode.TreeItem {
  const item = new vscode.TreeItem(share === undefined ? title : `${share} · ${title}`, State.None);
  const figures = [
    size,
    ...(last ? [formatChange(last.tokensBefore, last.tokensAfter)] : []),
    age,
    ...(isGivenBack ? [vscode.l10n.t('given back')] : []),
  ];
  item.description = figures.join(' · ');
  item.accessibilityInformation = { label: [title, ...(share === undefined ? [] : [share]), ...figures].join(', ') };
  return item;
}

/** Everything here comes from files of others: it is text, never Markdown. */
function tooltipOf({ found, ledger }: ConversationNode, { now, contextWindow }: ItemFacts): string {
  const { details, path } = found;
  const last = shownCondensation(ledger);
  const workspace = workspaceOf(found);
  return [
    nameWords(found),
    ...fillLines(found, contextWindow),
    ...(details?.problem === undefined ? [] : [details.problem]),
    ...(workspace === undefined ? [] : [vscode.l10n.t('Folder: {0}', workspace)]),
    vscode.l10n.t('File: {0}', path),
    vscode.l10n.t('Changed: {0}', new Date(found.modified).toLocaleString(vscode.env.language)),
    ...(last
      ? [
          vscode.l10n.t(
            'Condensed {0}: {1}',
            ageOf(now - Date.parse(last.at)),
            changeWords(last.tokensBefore, last.tokensAfter),
          ),
        ]
      : []),
  ].join('\n');
}

function gatewayItem({ host, folder }: GatewayNode): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.l10n.t('Gateway for extensions'), State.None);
  item.description = host;
  item.tooltip = vscode.l10n.t('Listening on {0} while the window of {1} is open', host, folder);
  item.iconPath = new vscode.ThemeIcon('radio-tower');
  item.contextValue = 'gateway';
  const title = vscode.l10n.t('Show Its Addresses');
  item.command = { command: 'contextCondenser.openGateway', title };
  return item;
}

function moreItem({ agent, hidden }: MoreNode): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.l10n.t('Show More ({0})', hidden), State.None);
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = {
    command: 'contextCondenser.conversations.showMore',
    title: vscode.l10n.t('Show More'),
    arguments: [agent],
  };
  return item;
}
