import * as vscode from 'vscode';
import type { LiveSummary } from '../../live/types';
import type { ConversationIndex, IndexedConversation } from '../../background/conversationIndex';
import type { LedgersResult } from '../../background/taskResults';
import { errorMessage } from '../../core/errors';
import { VIEW_ID } from './actions';
import { KnownLedgers } from './ledgers';
import {
  agentNodes,
  idOf,
  isFiltering,
  NO_FILTER,
  pageOf,
  type AgentNode,
  type Filter,
  type GatewayNode,
  type Node,
} from './nodes';
import { treeItem } from './treeItem';

/** Milliseconds between two redrawings: counts come in by the dozen. */
const REDRAW_MS = 250;

/** The view as VS Code has it, made before anything of this is loaded. */
export interface TreeParts {
  readonly view: vscode.TreeView<Node>;
  /** The rows whose words have changed, as they were given; undefined: all, for there are others or in another order. */
  readonly changed: vscode.EventEmitter<Node[] | undefined>;
}

export interface ConversationsParts {
  readonly index: ConversationIndex;
  /** Asks the background for ledgers that were used since a time, in milliseconds since the epoch. */
  readonly ledgersSince: (since: number) => Promise<LedgersResult>;
  readonly live: () => readonly LiveSummary[];
  /** The file of the sample: once it was condensed it is listed, so that there is a way to its result. */
  readonly sample: string;
  /** The folders of this window. */
  readonly folders: () => readonly string[];
  /** The gateway for agent extensions, where it runs. */
  readonly gateway: () => Omit<GatewayNode, 'kind'> | undefined;
  /** Tokens that shares of the window are of, where the agent's file doesn't say. */
  readonly contextWindow: () => number;
  /** Begins to watch for changes. */
  readonly watch: () => Promise<void>;
  readonly warn: (message: string) => void;
}

/** The tree's content. Nothing is looked for before somebody looks at it. */
export class ConversationsView implements vscode.Disposable {
  private readonly ledgers = new KnownLedgers();
  private readonly pages = new Map<string, number>();
  private readonly subscriptions: { dispose(): void }[];
  private filter = NO_FILTER;
  private roots: readonly Node[] | undefined;
  /** Which rows show, and in which order. */
  private shape: string | undefined;
  /** The rows that show as they now are, by their ids. */
  private current = new Map<string, Node>();
  /** The rows that VS Code has, by their ids, and what each shows, once VS Code has asked. */
  private readonly given = new Map<string, { readonly node: Node; words?: string }>();
  private redraw: NodeJS.Timeout | undefined;
  private isStarted = false;
  private shownState: string | undefined;
  /** The agent that stood first when there was something to show: it is unfolded, and no other is behind a person's back. */
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

  /** All agents and folders that there are, whatever the filter shows. */
  choices(): { readonly agents: readonly AgentNode[] } {
    return { agents: this.nodes(NO_FILTER) };
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = this.itemOf(node);
    const given = this.given.get(idOf(node));
    if (given) given.words = wordsOf(item);
    return item;
  }

  getChildren(node?: Node): readonly Node[] {
    const children = node ? this.childrenOf(this.newest(node)) : this.shownRoots();
    for (const child of children) this.given.set(idOf(child), { node: child });
    return children;
  }

  /** A row as it now is: VS Code gives back the one that it was given. */
  newest<T extends Node>(node: T): T {
    // A row of the same id is of the same kind.
    return (this.current.get(idOf(node)) as T | undefined) ?? node;
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

  /** Looks again for conversations and at their ledgers. */
  async refresh(): Promise<void> {
    await Promise.all([this.parts.index.refresh(), this.reloadLedgers()]);
  }

  /** To be called where a ledger changed. */
  async reloadLedgers(): Promise<void> {
    try {
      this.ledgers.take(await this.parts.ledgersSince(this.ledgers.since));
      this.changed();
    } catch (error) {
      this.parts.warn(`The ledgers could not be listed. ${errorMessage(error)}`);
    }
  }

  /** To be called where much changes at a time. */
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
   * While VS Code takes all rows anew, what is chosen in the menu of one of them comes without its row: so only those are drawn anew
   * whose words have changed, as long as there are no others.
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
      ({ node, words }) => words !== undefined && words !== wordsOf(this.itemOf(node)),
    );
    if (changed.length > 0) this.tree.changed.fire(changed.map(({ node }) => node));
  }

  private itemOf(node: Node): vscode.TreeItem {
    return treeItem(this.newest(node), {
      now: Date.now(),
      contextWindow: this.parts.contextWindow(),
      openAgent: this.openAgent,
    });
  }

  private childrenOf(node: Node): readonly Node[] {
    switch (node.kind) {
      case 'agent':
        return pageOf(node, this.pages.get(node.agent) ?? 1);
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

  /** Looks at what there is now. */
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
      const id = idOf(node);
      this.current.set(id, node);
      return [id, this.shapeOf(this.childrenOf(node))];
    });
  }

  private nodes(filter: Filter): AgentNode[] {
    return agentNodes(
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

  /** An empty tree says why (viewsWelcome in package.json); one that is filtered says by what. */
  private sendState(): void {
    const { view } = this.tree;
    const hasNodes = this.roots?.some(({ kind }) => kind === 'agent') === true;
    const isSearching = this.parts.index.isBusy && this.parts.index.conversations.length === 0;
    view.description = this.parts.index.isBusy ? vscode.l10n.t('counting…') : '';
    const words = [this.filter.text, ...this.filter.agents, ...this.filter.workspaces].filter((word) => word !== '');
    const lookingFor = isSearching && !hasNodes ? vscode.l10n.t('Looking for conversations…') : '';
    // A message hides the welcome text, which says the same of a tree that the filter leaves empty.
    view.message = hasNodes && isFiltering(this.filter) ? vscode.l10n.t('Showing: {0}', words.join(', ')) : lookingFor;
    const state = hasNodes ? 'some' : isSearching ? 'searching' : isFiltering(this.filter) ? 'filtered' : 'none';
    if (state === this.shownState) return;
    this.shownState = state;
    void vscode.commands.executeCommand('setContext', `${VIEW_ID}.state`, state);
  }
}

/** What a row shows. */
const wordsOf = (item: vscode.TreeItem): string =>
  JSON.stringify(item, (key, value: unknown) => (key === 'command' ? undefined : value));
