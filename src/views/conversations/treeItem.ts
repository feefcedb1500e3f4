import { getLiveCommand } from '../../core/agents';
import { findGiveBackTarget } from '../../core/agents/giveBackTarget';
import * as vscode from 'vscode';
import { formatPercentChange, formatTokens } from '../../core/format';
import { getProviderName, formatProviderName } from '../../core/condense/types';
import { shortenText } from '../../core/shortened';
import { formatAge, formatShortAge } from '../age';
import { createFillUri } from './fillDecoration';
import { CONVERSATIONS_VIEW_ID, type ConversationAction } from './actions';
import { formatFillShare } from '../../core/account/fillLevel';
import { formatTokenChange } from '../../window/condensationWords';
import {
  CHAT_AGENT_NAME,
  getNodeId,
  hasLiveConversations,
  findShownCondensation,
  findUndoneCondensation,
  getConversationWorkspace,
  type AgentNode,
  type ConversationNode,
  type GatewayNode,
  type LiveNode,
  type ShowMoreNode,
  type TreeNode,
} from './nodes';
import {
  formatRowFill,
  formatRowFillChange,
  formatPercentFull,
  formatRowName,
  formatShareOfWindow,
  formatRowSize,
  listRowSizes,
} from './rowWords';

const CollapsibleState = vscode.TreeItemCollapsibleState;

export interface TreeItemOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Window in tokens to assume if the agent's file doesn't name it. */
  readonly contextWindow: number;
  /** Name of the agent whose group is expanded at first. */
  readonly openAgent?: string | undefined;
  /** Path of the sample, which no agent can resume. */
  readonly sample?: string;
}

/**
 * Creates VS Code's row. Its `contextValue` is a list of words to which the menus in package.json
 * refer.
 */
export function createTreeItem(node: TreeNode, facts: TreeItemOptions): vscode.TreeItem {
  const item = createItemForNode(node, facts);
  item.id = getNodeId(node);
  return item;
}

function createItemForNode(node: TreeNode, facts: TreeItemOptions): vscode.TreeItem {
  switch (node.kind) {
    case 'agent':
      return createAgentItem(node, facts);
    case 'live':
      return createLiveItem(node, facts);
    case 'conversation':
      return createConversationItem(node, facts);
    case 'more':
      return createMoreItem(node);
    case 'gateway':
      return createGatewayItem(node);
  }
}

function createAgentItem(node: AgentNode, { openAgent }: TreeItemOptions): vscode.TreeItem {
  const { agent, children } = node;
  const isOpen = hasLiveConversations(node) || agent === openAgent;
  const item = new vscode.TreeItem(agent, isOpen ? CollapsibleState.Expanded : CollapsibleState.Collapsed);
  item.description = String(children.length);
  item.iconPath = new vscode.ThemeIcon(agent === CHAT_AGENT_NAME ? 'comment-discussion' : 'hubot');
  item.contextValue = 'agent';
  return item;
}

function createLiveItem({ live, children }: LiveNode, { now }: TreeItemOptions): vscode.TreeItem {
  const { title, tokens, contextWindow, condensations, lastUsed, canUndo, agent, folder } = live;
  const lastCondensation = condensations.findLast(({ isUndone }) => !isUndone);
  const sizeText = vscode.l10n.t('{0} tokens', formatTokens(tokens));
  const share = formatShareOfWindow(tokens, contextWindow);
  const fillText = formatPercentFull(share);
  const item = createRowItem(title, {
    share,
    full: fillText,
    percent: (100 * tokens) / contextWindow,
    size: sizeText,
    last: lastCondensation,
    ageMs: now - lastUsed,
  });
  item.collapsibleState = children.length > 0 ? CollapsibleState.Collapsed : CollapsibleState.None;
  item.iconPath = new vscode.ThemeIcon(lastCondensation ? 'archive' : agent === undefined ? 'comment' : 'terminal');
  item.tooltip = [
    title,
    vscode.l10n.t(
      'Context window: {0}: {1} of {2} tokens',
      fillText,
      formatTokens(tokens),
      formatTokens(contextWindow),
    ),
    ...(agent === undefined ? [] : [vscode.l10n.t('Running in {0}', folder ?? '')]),
  ].join('\n');
  item.contextValue = ['live', ...(lastCondensation ? ['condensed'] : []), ...(canUndo ? ['undoable'] : [])].join(' ');
  return item;
}

function createConversationItem(node: ConversationNode, facts: TreeItemOptions): vscode.TreeItem {
  const { found, ledger, children } = node;
  const lastCondensation = findShownCondensation(ledger);
  const problem = found.details?.problem;
  const size = formatRowSize(found);
  const fillText = formatFillWithCondensation(node, facts) ?? formatRowFill(found, facts.contextWindow);
  const fill = problem === undefined ? found.details?.fill : undefined;
  const percent = fill && (100 * fill.tokens) / (fill.window ?? facts.contextWindow);
  const item = createRowItem(formatRowName(found), {
    share: fill && formatFillShare(fill, facts.contextWindow),
    full: fillText,
    percent,
    size,
    last: lastCondensation,
    ageMs: facts.now - found.modified,
    problem: problem === undefined ? undefined : size,
    isGivenBack: node.givenBackAs !== undefined,
  });
  item.collapsibleState = children.length > 0 ? CollapsibleState.Collapsed : CollapsibleState.None;
  item.tooltip = renderRowTooltip(node, facts);
  // The record that marks a copy expires, so the title is checked too.
  const isCopy = node.isCopy || formatRowName(found).endsWith(CONDENSED_SUFFIX);
  item.iconPath = new vscode.ThemeIcon(
    problem !== undefined ? 'warning' : lastCondensation ? 'archive' : isCopy ? 'copy' : 'comment',
  );
  item.contextValue = [
    problem !== undefined ? 'broken' : 'conversation',
    ...(lastCondensation ? ['condensed'] : []),
    ...(findUndoneCondensation(ledger) ? ['redoable'] : []),
    ...(ledger && ledger.condensations.length > 0 ? ['history'] : []),
    ...(findGiveBackTarget(found.path, found.agent) === undefined ? [] : ['returnable']),
    ...(node.givenBackAs === undefined ? [] : ['given']),
    ...(node.isCopy ? ['copy'] : []),
    ...(problem === undefined && getLiveCommand(found.agent) !== undefined ? ['runnable'] : []),
    ...(problem === undefined &&
    found.agent === 'Claude Code' &&
    found.parent === undefined &&
    found.path !== facts.sample
      ? ['resumable']
      : []),
  ].join(' ');
  // An unreadable conversation can still be viewed as a file; for a condensed one, show what was
  // condensed.
  const action: ConversationAction = problem !== undefined ? 'openRaw' : lastCondensation ? 'details' : 'open';
  item.command = { command: `${CONVERSATIONS_VIEW_ID}.${action}`, title: vscode.l10n.t('Open'), arguments: [node] };
  return item;
}

interface RowFillFigures {
  /** How full the agent’s window is now, such as `≈ 61%`; undefined if unknown. */
  readonly share: string | undefined;
  /** The same in words, with what the condensation makes of it. */
  readonly full: string | undefined;
  readonly size: string;
  readonly last: { readonly tokensBefore: number; readonly tokensAfter: number } | undefined;
  readonly ageMs: number;
  /** Filled percentage of the context window; undefined if unknown. */
  readonly percent?: number | undefined;
  /** Why the conversation can't be read. */
  readonly problem?: string | undefined;
  readonly isGivenBack?: boolean;
}

/** Longer labels would leave no room for what follows them in a side bar of 300 px, VS Code’s default. */
const MAX_LABEL_CHARS = 18;
const MAX_CONDENSED_LABEL_CHARS = 14;

/** End of the title that giving back to Claude Code writes. */
const CONDENSED_SUFFIX = ' (condensed)';

/**
 * Moves the suffix of a given-back session to the beginning, since narrow side bars cut the label's
 * end.
 */
const createLabel = (title: string, maxChars: number): string =>
  shortenText(
    title.endsWith(CONDENSED_SUFFIX) ? vscode.l10n.t('Copy: {0}', title.slice(0, -CONDENSED_SUFFIX.length)) : title,
    maxChars,
  );

/** Side bars cut off the end, so the least important figures come last. */
function createRowItem(
  title: string,
  { share, full, percent, size, last, ageMs, problem, isGivenBack = false }: RowFillFigures,
): vscode.TreeItem {
  const label = createLabel(title, last ? MAX_CONDENSED_LABEL_CHARS : MAX_LABEL_CHARS);
  const item = new vscode.TreeItem(label, CollapsibleState.None);
  const change = last ? [formatPercentChange(last.tokensBefore, last.tokensAfter)] : [];
  const givenBackText = isGivenBack ? [vscode.l10n.t('given back')] : [];
  const state = problem ?? share;
  item.description = [...(state === undefined ? [] : [state]), ...change, formatShortAge(ageMs), ...givenBackText].join(
    ' · ',
  );
  if (percent !== undefined) item.resourceUri = createFillUri(percent);
  item.accessibilityInformation = {
    label: [title, ...(full === undefined ? [] : [full]), ...change, size, ...givenBackText, formatAge(ageMs)].join(
      ', ',
    ),
  };
  return item;
}

/**
 * Returns how full the window is. For a given-back conversation, the figure already includes the
 * condensation.
 */
function formatFillWithCondensation(
  { found, ledger, givenBackAs }: ConversationNode,
  facts: TreeItemOptions,
): string | undefined {
  const lastCondensation = findShownCondensation(ledger);
  return lastCondensation && givenBackAs === undefined
    ? formatRowFillChange(found, lastCondensation, facts.contextWindow)
    : undefined;
}

/** Renders plain text and never Markdown, because everything here is untrusted. */
function renderRowTooltip(node: ConversationNode, facts: TreeItemOptions): string {
  const { found, ledger } = node;
  const { now, contextWindow } = facts;
  const { details, path } = found;
  const lastCondensation = findShownCondensation(ledger);
  const workspace = getConversationWorkspace(found);
  return [
    formatRowName(found),
    [found.agent, ...(details?.fill?.model === undefined ? [] : [details.fill.model])].join(' · '),
    ...listRowSizes(found, contextWindow),
    ...(details?.problem === undefined ? [] : [details.problem]),
    ...(details?.damage === undefined ? [] : [details.damage]),
    ...(workspace === undefined ? [] : [vscode.l10n.t('Folder: {0}', workspace)]),
    vscode.l10n.t('File: {0}', path),
    vscode.l10n.t('Changed: {0}', new Date(found.modified).toLocaleString(vscode.env.language)),
    ...(lastCondensation
      ? [
          vscode.l10n.t(
            'Condensed {0} with {1}: {2}',
            formatAge(now - Date.parse(lastCondensation.at)),
            formatProviderName(getProviderName(lastCondensation.provider), lastCondensation.configName),
            [
              formatTokenChange(lastCondensation.tokensBefore, lastCondensation.tokensAfter),
              ...[formatFillWithCondensation(node, facts) ?? []].flat(),
            ].join('; '),
          ),
        ]
      : []),
  ].join('\n');
}

function createGatewayItem({ host, folder }: GatewayNode): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.l10n.t('Gateway for extensions'), CollapsibleState.None);
  item.description = host;
  item.tooltip = vscode.l10n.t('Listening on {0} while the window of {1} is open', host, folder);
  item.iconPath = new vscode.ThemeIcon('radio-tower');
  item.contextValue = 'gateway';
  const title = vscode.l10n.t('Show Its Addresses');
  item.command = { command: 'contextCondenser.openGateway', title };
  return item;
}

function createMoreItem({ agent, hidden }: ShowMoreNode): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.l10n.t('Show More ({0})', hidden), CollapsibleState.None);
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = {
    command: 'contextCondenser.conversations.showMore',
    title: vscode.l10n.t('Show More'),
    arguments: [agent],
  };
  return item;
}
