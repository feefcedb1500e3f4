import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { IndexedConversation } from '../../background/conversationIndex';
import { formatChange, formatTokens } from '../../core/condense/report';
import { ageOf } from '../age';
import { changeWords } from '../condensationWords';
import {
  CHAT,
  shownCondensation,
  titleOf,
  undoneCondensation,
  workspaceOf,
  type AgentNode,
  type ConversationNode,
  type LiveNode,
  type MoreNode,
  type Node,
} from './nodes';

const State = vscode.TreeItemCollapsibleState;

export interface ItemFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Tokens that shares of the window are of, where the agent's file doesn't say. */
  readonly contextWindow: number;
}

/** How VS Code shows a node. `contextValue` is a list of words that the menus of package.json look for. */
export function treeItem(node: Node, facts: ItemFacts): vscode.TreeItem {
  switch (node.kind) {
    case 'agent':
      return agentItem(node);
    case 'live':
      return liveItem(node, facts);
    case 'conversation':
      return conversationItem(node, facts);
    case 'more':
      return moreItem(node);
  }
}

function agentItem({ agent, children }: AgentNode): vscode.TreeItem {
  const item = new vscode.TreeItem(agent, agent === CHAT ? State.Expanded : State.Collapsed);
  item.id = agent;
  item.description = String(children.length);
  item.iconPath = new vscode.ThemeIcon(agent === CHAT ? 'comment-discussion' : 'hubot');
  item.contextValue = 'agent';
  return item;
}

function liveItem({ live }: LiveNode, { now }: ItemFacts): vscode.TreeItem {
  const { id, title, tokens, contextWindow, condensations, lastUsed, canUndo } = live;
  const last = condensations.findLast(({ isUndone }) => !isUndone);
  const item = new vscode.TreeItem(title, State.None);
  item.id = `live/${id}`;
  item.description = [
    ageOf(now - lastUsed),
    vscode.l10n.t('{0} tokens', formatTokens(tokens)),
    share(tokens, contextWindow),
    ...(last ? [formatChange(last.tokensBefore, last.tokensAfter)] : []),
  ].join(' · ');
  item.iconPath = new vscode.ThemeIcon(last ? 'fold' : 'comment');
  item.contextValue = ['live', ...(last ? ['condensed'] : []), ...(canUndo ? ['undoable'] : [])].join(' ');
  return item;
}

function conversationItem(node: ConversationNode, facts: ItemFacts): vscode.TreeItem {
  const { found, ledger, children } = node;
  const { details, path } = found;
  const last = shownCondensation(ledger);
  const problem = details?.problem;
  const item = new vscode.TreeItem(
    titleOf(found) ?? basename(path),
    children.length > 0 ? State.Collapsed : State.None,
  );
  item.id = `${found.agent}/${path}`;
  item.description = [
    ageOf(facts.now - found.modified),
    ...sizeOf(found, facts.contextWindow),
    ...(last ? [formatChange(last.tokensBefore, last.tokensAfter)] : []),
    ...(node.isGivenBack ? [vscode.l10n.t('given back')] : []),
  ].join(' · ');
  item.tooltip = tooltipOf(node, facts.now);
  item.iconPath = new vscode.ThemeIcon(problem !== undefined ? 'warning' : last ? 'fold' : 'comment');
  item.contextValue = [
    problem !== undefined ? 'broken' : 'conversation',
    ...(last ? ['condensed'] : []),
    ...(undoneCondensation(ledger) ? ['redoable'] : []),
    ...(ledger && ledger.condensations.length > 0 ? ['history'] : []),
    ...(node.isGivenBack ? ['given'] : []),
  ].join(' ');
  if (problem === undefined) {
    const title = vscode.l10n.t('Open');
    item.command = { command: 'contextCondenser.conversations.open', title, arguments: [node] };
  }
  return item;
}

/** Tokens and their share of the window, or why they are not known. */
function sizeOf({ details }: IndexedConversation, contextWindow: number): string[] {
  if (details?.problem !== undefined) return [vscode.l10n.t('can’t be read')];
  if (details?.tokens !== undefined) {
    return [vscode.l10n.t('{0} tokens', formatTokens(details.tokens)), share(details.tokens, contextWindow)];
  }
  return [details?.isComplete === true ? vscode.l10n.t('too large to count') : vscode.l10n.t('counting…')];
}

const share = (tokens: number, window: number): string => `${Math.round((tokens / window) * 100)} %`;

/** Everything here comes from files of others: it is text, never Markdown. */
function tooltipOf({ found, ledger }: ConversationNode, now: number): string {
  const { details, path } = found;
  const last = shownCondensation(ledger);
  const workspace = workspaceOf(found);
  return [
    titleOf(found) ?? basename(path),
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

function moreItem({ agent, hidden }: MoreNode): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.l10n.t('Show More ({0})', hidden), State.None);
  item.id = `${agent}/more`;
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = {
    command: 'contextCondenser.conversations.showMore',
    title: vscode.l10n.t('Show More'),
    arguments: [agent],
  };
  return item;
}
