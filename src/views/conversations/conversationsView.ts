import * as vscode from 'vscode';
import type { LiveSummary } from '../../live/types';
import type { ConversationIndex, IndexedConversation } from '../../background/conversationIndex';
import type { LedgersResult } from '../../background/taskResults';
import { getErrorMessage } from '../../core/errors';
import { getFolderOfOpenedText } from '../../window/comparisons';
import { CONVERSATIONS_VIEW_ID } from './actions';
import { LoadedLedgers } from './ledgers';
import {
  createAgentNodes,
  findShownCondensation,
  getNodeId,
  isFiltering,
  NO_FILTER,
  getShownChildren,
  type AgentNode,
  type ConversationFilter,
  type GatewayNode,
  type TreeNode,
} from './nodes';
import { createTreeItem } from './treeItem';

/**
 * Milliseconds until changes are shown: token counts arrive by the dozen, and one redraw shows them
 * all.
 */
const REDRAW_DELAY_MS = 250;

/** VS Code's tree view, created before the rest is loaded. */
export interface ConversationsTree {
  readonly view: vscode.TreeView<TreeNode>;
  /** Rows whose text has changed; undefined means all, because rows were added or moved. */
  readonly changed: vscode.EventEmitter<TreeNode[] | undefined>;
}

export interface ConversationsViewDependencies {
  readonly index: ConversationIndex;
  /**
   * Reads the ledgers used since a time.
   * @param since milliseconds since the epoch
   */
  readonly ledgersSince: (since: number) => Promise<LedgersResult>;
  readonly live: () => readonly LiveSummary[];
  /** Path of the sample conversation, which is listed once it has been condensed. */
  readonly sample: string;
  readonly folders: () => readonly string[];
  readonly gateway: () => Omit<GatewayNode, 'kind'> | undefined;
  /** Returns the window in tokens to assume if the agent's file doesn't name it. */
  readonly contextWindow: () => number;
  readonly watch: () => Promise<void>;
  readonly warn: (message: string) => void;
}

/** The list of agents' conversations. It searches for them only once the view is shown. */
export class ConversationsView implements vscode.Disposable {
  private readonly ledgers = new LoadedLedgers();
  private readonly pages = new Map<string, number>();
  private readonly subscriptions: { dispose(): void }[];
  private filter = NO_FILTER;
  private roots: readonly TreeNode[] | undefined;
  private shape: string | undefined;
  /** By ID, the rows as they are now. */
  private current = new Map<string, TreeNode>();
  /** By ID, the rows that VS Code has, and the texts of those that it has requested. */
  private readonly shownItems = new Map<string, { readonly node: TreeNode; text?: string }>();
  private redraw: NodeJS.Timeout | undefined;
  private isStarted = false;
  private shownState: string | undefined;
  /**
   * Name of the agent whose group is expanded: the one that was first at the start. No other group
   * may expand unexpectedly.
   */
  private openAgent: string | undefined;

  constructor(
    private readonly tree: ConversationsTree,
    private readonly dependencies: ConversationsViewDependencies,
  ) {
    this.subscriptions = [
      dependencies.index.onDidChange(() => {
        this.scheduleDelayedRedraw();
      }),
    ];
  }

  get currentFilter(): ConversationFilter {
    return this.filter;
  }

  /** Returns all agents, including those that the filter hides. */
  listFilterChoices(): { readonly agents: readonly AgentNode[] } {
    return { agents: this.createFilteredNodes(NO_FILTER) };
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    const item = this.createNodeItem(node);
    const shownItem = this.shownItems.get(getNodeId(node));
    if (shownItem) shownItem.text = getItemText(item);
    return item;
  }

  getChildren(node?: TreeNode): readonly TreeNode[] {
    const children = node ? this.getChildNodes(this.getCurrentNode(node)) : this.getShownRoots();
    for (const child of children) this.shownItems.set(getNodeId(child), { node: child });
    return children;
  }

  /** Returns the row as it is now, because VS Code passes back an older one. */
  getCurrentNode<T extends TreeNode>(node: T): T {
    // Rows with the same ID have the same kind.
    return (this.current.get(getNodeId(node)) as T | undefined) ?? node;
  }

  setFilter(filter: ConversationFilter): void {
    this.filter = filter;
    void vscode.commands.executeCommand('setContext', `${CONVERSATIONS_VIEW_ID}.isFiltered`, isFiltering(filter));
    this.pages.clear();
    this.scheduleRedraw();
  }

  showMore(agent: string): void {
    this.pages.set(agent, (this.pages.get(agent) ?? 1) + 1);
    this.scheduleRedraw();
  }

  async refresh(): Promise<void> {
    await Promise.all([this.dependencies.index.refresh(), this.reloadLedgers()]);
  }

  /** Call this after a ledger changed. */
  async reloadLedgers(): Promise<void> {
    try {
      this.ledgers.applyLedgersResult(await this.dependencies.ledgersSince(this.ledgers.since));
      this.reportCondensedConversations();
      this.scheduleRedraw();
    } catch (error) {
      this.dependencies.warn(`The ledgers could not be listed. ${getErrorMessage(error)}`);
    }
  }

  /**
   * Tells VS Code which conversations are condensed, because this decides which buttons an opened
   * one has (`editor/title` in package.json).
   */
  private reportCondensedConversations(): void {
    const condensedPaths = this.ledgers
      .listLedgers()
      .flatMap((ledger) => (ledger.path !== undefined && findShownCondensation(ledger) ? [ledger.path] : []));
    void vscode.commands.executeCommand(
      'setContext',
      `${CONVERSATIONS_VIEW_ID}.condensed`,
      condensedPaths.map(getFolderOfOpenedText),
    );
  }

  scheduleDelayedRedraw(): void {
    this.redraw ??= setTimeout(() => {
      this.scheduleRedraw();
    }, REDRAW_DELAY_MS);
  }

  dispose(): void {
    clearTimeout(this.redraw);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /**
   * Redraws only rows with changed text if possible: while VS Code reloads all rows, menu actions
   * arrive without their row.
   */
  private scheduleRedraw(): void {
    clearTimeout(this.redraw);
    this.redraw = undefined;
    const shapeBefore = this.shape;
    this.createRootNodes();
    if (shapeBefore !== this.shape) {
      this.shownItems.clear();
      this.tree.changed.fire(undefined);
      return;
    }
    this.updateViewState();
    const changedItems = [...this.shownItems.values()].filter(
      ({ node, text }) => text !== undefined && text !== getItemText(this.createNodeItem(node)),
    );
    if (changedItems.length > 0) this.tree.changed.fire(changedItems.map(({ node }) => node));
  }

  private createNodeItem(node: TreeNode): vscode.TreeItem {
    return createTreeItem(this.getCurrentNode(node), {
      sample: this.dependencies.sample,
      now: Date.now(),
      contextWindow: this.dependencies.contextWindow(),
      openAgent: this.openAgent,
    });
  }

  private getChildNodes(node: TreeNode): readonly TreeNode[] {
    switch (node.kind) {
      case 'agent':
        return getShownChildren(node, this.pages.get(node.agent) ?? 1);
      case 'conversation':
      case 'live':
        return node.children;
      case 'more':
      case 'gateway':
        return [];
    }
  }

  private getShownRoots(): readonly TreeNode[] {
    if (!this.isStarted) {
      this.isStarted = true;
      void this.refresh();
      this.dependencies.watch().catch((error: unknown) => {
        this.dependencies.warn(`Could not watch conversations for changes. ${String(error)}`);
      });
    }
    const roots = this.createRootNodes();
    this.updateViewState();
    return roots;
  }

  private createRootNodes(): readonly TreeNode[] {
    const gateway = this.dependencies.gateway();
    const agents = this.createFilteredNodes(this.filter);
    const roots = gateway ? [{ kind: 'gateway' as const, ...gateway }, ...agents] : agents;
    this.openAgent ??= agents[0]?.agent;
    this.current = new Map();
    this.shape = JSON.stringify(this.describeTreeShape(roots));
    return (this.roots = roots);
  }

  /** Records each row in {@link current}. */
  private describeTreeShape(nodes: readonly TreeNode[]): readonly unknown[] {
    return nodes.map((node) => {
      const id = getNodeId(node);
      this.current.set(id, node);
      return [id, this.describeTreeShape(this.getChildNodes(node))];
    });
  }

  private createFilteredNodes(filter: ConversationFilter): AgentNode[] {
    return createAgentNodes(
      {
        live: this.dependencies.live(),
        stored: this.listStored(),
        ledgers: this.ledgers,
        here: this.dependencies.folders(),
      },
      filter,
    );
  }

  private listStored(): readonly IndexedConversation[] {
    const { index, sample: path } = this.dependencies;
    const ledger = this.ledgers.findByPath(path);
    const tokens = ledger?.condensations.at(-1)?.tokensBefore;
    if (!ledger || tokens === undefined || index.conversations.some((each) => each.path === path))
      return index.conversations;
    const modified = Date.parse(ledger.condensations.at(-1)?.at ?? '');
    const title = vscode.l10n.t('Sample: {0}', ledger.title ?? '');
    const details = { path, modified, isComplete: true, id: ledger.conversation, title, tokens };
    return [...index.conversations, { agent: 'Claude Code', path, modified, bytes: undefined, details }];
  }

  /** Says why the tree is empty, if it is (viewsWelcome in package.json). */
  private updateViewState(): void {
    const { view } = this.tree;
    const hasNodes = this.roots?.some(({ kind }) => kind === 'agent') === true;
    const isSearching = this.dependencies.index.isBusy && this.dependencies.index.conversations.length === 0;
    view.description = this.dependencies.index.isBusy ? vscode.l10n.t('counting…') : '';
    const filterTexts = [this.filter.text, ...this.filter.agents, ...this.filter.workspaces].filter(
      (word) => word !== '',
    );
    const lookingFor = isSearching && !hasNodes ? vscode.l10n.t('Looking for conversations…') : '';
    // A message hides the welcome text, which already explains an empty filtered tree.
    view.message =
      hasNodes && isFiltering(this.filter) ? vscode.l10n.t('Showing: {0}', filterTexts.join(', ')) : lookingFor;
    const state = hasNodes ? 'some' : isSearching ? 'searching' : isFiltering(this.filter) ? 'filtered' : 'none';
    if (state === this.shownState) return;
    this.shownState = state;
    void vscode.commands.executeCommand('setContext', `${CONVERSATIONS_VIEW_ID}.state`, state);
  }
}

const getItemText = (item: vscode.TreeItem): string =>
  JSON.stringify(item, (key, value: unknown) => (key === 'command' ? undefined : value));
