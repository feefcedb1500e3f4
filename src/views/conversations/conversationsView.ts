import * as vscode from 'vscode';
import type { LiveSummary } from '../../live/types';
import type { ConversationIndex, IndexedConversation } from '../../background/conversationIndex';
import type { LedgersResult } from '../../background/taskResults';
import { errorMessage } from '../../core/errors';
import { getOpenedFolder } from '../../window/comparisons';
import { VIEW_ID } from './actions';
import { KnownLedgers } from './ledgers';
import {
  createAgentNodes,
  findShownCondensation,
  getId,
  isFiltering,
  NO_FILTER,
  getPage,
  type AgentNode,
  type Filter,
  type GatewayNode,
  type Node,
} from './nodes';
import { createTreeItem } from './treeItem';

/** Milliseconds between redraws, because counts arrive by the dozen. */
const REDRAW_MS = 250;

/** VS Code's tree view, created before the rest is loaded. */
export interface TreeParts {
  readonly view: vscode.TreeView<Node>;
  /**
   * Rows whose text has changed, as passed to VS Code; undefined: all, because rows were added or
   * moved.
   */
  readonly changed: vscode.EventEmitter<Node[] | undefined>;
}

export interface ConversationsParts {
  readonly index: ConversationIndex;
  /** Requests ledgers used since a time, in milliseconds since the epoch. */
  readonly ledgersSince: (since: number) => Promise<LedgersResult>;
  readonly live: () => readonly LiveSummary[];
  /** The sample's file; listed after it was condensed, so that its result can be reached. */
  readonly sample: string;
  /** This window's folders. */
  readonly folders: () => readonly string[];
  /** The gateway for agent extensions, if it runs. */
  readonly gateway: () => Omit<GatewayNode, 'kind'> | undefined;
  /** Window in tokens, if the agent's file doesn't name it. */
  readonly contextWindow: () => number;
  /** Starts watching for changes. */
  readonly watch: () => Promise<void>;
  readonly warn: (message: string) => void;
}

/** The tree's data. Nothing is searched for until the view is visible. */
export class ConversationsView implements vscode.Disposable {
  private readonly ledgers = new KnownLedgers();
  private readonly pages = new Map<string, number>();
  private readonly subscriptions: { dispose(): void }[];
  private filter = NO_FILTER;
  private roots: readonly Node[] | undefined;
  /** Which rows are shown, in which order. */
  private shape: string | undefined;
  /** The rows that show as they now are, by their ids. */
  private current = new Map<string, Node>();
  /** Rows passed to VS Code by ID, and the text of those it has requested. */
  private readonly given = new Map<string, { readonly node: Node; words?: string }>();
  private redraw: NodeJS.Timeout | undefined;
  private isStarted = false;
  private shownState: string | undefined;
  /**
   * The agent that was first when there was something to show; only it is expanded, so that no
   * other one expands unexpectedly.
   */
  private openAgent: string | undefined;

  constructor(
    private readonly tree: TreeParts,
    private readonly parts: ConversationsParts,
  ) {
    this.subscriptions = [
      parts.index.onDidChange(() => {
        this.changedSoon();
      }),
    ];
  }

  get currentFilter(): Filter {
    return this.filter;
  }

  /** All agents, regardless of the filter. */
  choices(): { readonly agents: readonly AgentNode[] } {
    return { agents: this.nodes(NO_FILTER) };
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = this.itemOf(node);
    const given = this.given.get(getId(node));
    if (given) given.words = getItemText(item);
    return item;
  }

  getChildren(node?: Node): readonly Node[] {
    const children = node ? this.childrenOf(this.newest(node)) : this.shownRoots();
    for (const child of children) this.given.set(getId(child), { node: child });
    return children;
  }

  /** The current version of a row: VS Code passes back the one it got. */
  newest<T extends Node>(node: T): T {
    // Rows with the same id have the same kind.
    return (this.current.get(getId(node)) as T | undefined) ?? node;
  }

  setFilter(filter: Filter): void {
    this.filter = filter;
    void vscode.commands.executeCommand('setContext', `${VIEW_ID}.isFiltered`, isFiltering(filter));
    this.pages.clear();
    this.changed();
  }

  showMore(agent: string): void {
    this.pages.set(agent, (this.pages.get(agent) ?? 1) + 1);
    this.changed();
  }

  /** Searches for conversations and their ledgers again. */
  async refresh(): Promise<void> {
    await Promise.all([this.parts.index.refresh(), this.reloadLedgers()]);
  }

  /** Call after a ledger changed. */
  async reloadLedgers(): Promise<void> {
    try {
      this.ledgers.take(await this.parts.ledgersSince(this.ledgers.since));
      this.sendCondensed();
      this.changed();
    } catch (error) {
      this.parts.warn(`The ledgers could not be listed. ${errorMessage(error)}`);
    }
  }

  /** For the buttons of opened conversations (`editor/title` in package.json). */
  private sendCondensed(): void {
    const condensed = this.ledgers
      .all()
      .flatMap((ledger) => (ledger.path !== undefined && findShownCondensation(ledger) ? [ledger.path] : []));
    void vscode.commands.executeCommand('setContext', `${VIEW_ID}.condensed`, condensed.map(getOpenedFolder));
  }

  /** Call when much changes at once. */
  changedSoon(): void {
    this.redraw ??= setTimeout(() => {
      this.changed();
    }, REDRAW_MS);
  }

  dispose(): void {
    clearTimeout(this.redraw);
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /**
   * While VS Code reloads all rows, menu actions arrive without their row. Therefore only rows with
   * changed text are redrawn, unless rows were added or moved.
   */
  private changed(): void {
    clearTimeout(this.redraw);
    this.redraw = undefined;
    const before = this.shape;
    this.read();
    if (before !== this.shape) {
      this.given.clear();
      this.tree.changed.fire(undefined);
      return;
    }
    this.sendState();
    const changed = [...this.given.values()].filter(
      ({ node, words }) => words !== undefined && words !== getItemText(this.itemOf(node)),
    );
    if (changed.length > 0) this.tree.changed.fire(changed.map(({ node }) => node));
  }

  private itemOf(node: Node): vscode.TreeItem {
    return createTreeItem(this.newest(node), {
      now: Date.now(),
      contextWindow: this.parts.contextWindow(),
      openAgent: this.openAgent,
    });
  }

  private childrenOf(node: Node): readonly Node[] {
    switch (node.kind) {
      case 'agent':
        return getPage(node, this.pages.get(node.agent) ?? 1);
      case 'conversation':
        return node.children;
      case 'live':
      case 'more':
      case 'gateway':
        return [];
    }
  }

  private shownRoots(): readonly Node[] {
    if (!this.isStarted) {
      this.isStarted = true;
      void this.refresh();
      this.parts.watch().catch((error: unknown) => {
        this.parts.warn(`Could not watch conversations for changes. ${String(error)}`);
      });
    }
    const roots = this.read();
    this.sendState();
    return roots;
  }

  /** Computes the current rows. */
  private read(): readonly Node[] {
    const gateway = this.parts.gateway();
    const agents = this.nodes(this.filter);
    const roots = gateway ? [{ kind: 'gateway' as const, ...gateway }, ...agents] : agents;
    this.openAgent ??= agents[0]?.agent;
    this.current = new Map();
    this.shape = JSON.stringify(this.shapeOf(roots));
    return (this.roots = roots);
  }

  /** The IDs of rows and their children, recursively. Records each row in {@link current}. */
  private shapeOf(nodes: readonly Node[]): readonly unknown[] {
    return nodes.map((node) => {
      const id = getId(node);
      this.current.set(id, node);
      return [id, this.shapeOf(this.childrenOf(node))];
    });
  }

  private nodes(filter: Filter): AgentNode[] {
    return createAgentNodes(
      {
        live: this.parts.live(),
        stored: this.stored(),
        ledgers: this.ledgers,
        here: this.parts.folders(),
      },
      filter,
    );
  }

  private stored(): readonly IndexedConversation[] {
    const { index, sample: path } = this.parts;
    const ledger = this.ledgers.ofPath(path);
    const tokens = ledger?.condensations.at(-1)?.tokensBefore;
    if (!ledger || tokens === undefined || index.conversations.some((each) => each.path === path))
      return index.conversations;
    const modified = Date.parse(ledger.condensations.at(-1)?.at ?? '');
    const title = vscode.l10n.t('Sample: {0}', ledger.title ?? '');
    const details = { path, modified, isComplete: true, id: ledger.conversation, title, tokens };
    return [...index.conversations, { agent: 'Claude Code', path, modified, bytes: undefined, details }];
  }

  /** An empty tree shows why (viewsWelcome in package.json); a filtered one shows the filter. */
  private sendState(): void {
    const { view } = this.tree;
    const hasNodes = this.roots?.some(({ kind }) => kind === 'agent') === true;
    const isSearching = this.parts.index.isBusy && this.parts.index.conversations.length === 0;
    view.description = this.parts.index.isBusy ? vscode.l10n.t('counting…') : '';
    const words = [this.filter.text, ...this.filter.agents, ...this.filter.workspaces].filter((word) => word !== '');
    const lookingFor = isSearching && !hasNodes ? vscode.l10n.t('Looking for conversations…') : '';
    // A message hides the welcome text, which already explains an empty filtered tree.
    view.message = hasNodes && isFiltering(this.filter) ? vscode.l10n.t('Showing: {0}', words.join(', ')) : lookingFor;
    const state = hasNodes ? 'some' : isSearching ? 'searching' : isFiltering(this.filter) ? 'filtered' : 'none';
    if (state === this.shownState) return;
    this.shownState = state;
    void vscode.commands.executeCommand('setContext', `${VIEW_ID}.state`, state);
  }
}

const getItemText = (item: vscode.TreeItem): string =>
  JSON.stringify(item, (key, value: unknown) => (key === 'command' ? undefined : value));
