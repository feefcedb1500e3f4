import * as vscode from 'vscode';
import type { LiveSummary } from '../../live/types';
import type { ConversationIndex } from '../../background/conversationIndex';
import type { LedgersResult } from '../../background/taskResults';
import { errorMessage } from '../../core/errors';
import { VIEW_ID } from './actions';
import { KnownLedgers } from './ledgers';
import {
  agentNodes,
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
  readonly changed: vscode.EventEmitter<undefined>;
}

export interface ConversationsParts {
  readonly index: ConversationIndex;
  /** Asks the background for ledgers that were used since a time, in milliseconds since the epoch. */
  readonly ledgersSince: (since: number) => Promise<LedgersResult>;
  readonly live: () => readonly LiveSummary[];
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
  private agents: readonly AgentNode[] | undefined;
  private redraw: NodeJS.Timeout | undefined;
  private isStarted = false;
  private shownState: string | undefined;

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
    return treeItem(node, { now: Date.now(), contextWindow: this.parts.contextWindow() });
  }

  getChildren(node?: Node): readonly Node[] {
    switch (node?.kind) {
      case undefined:
        return this.roots();
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

  private changed(): void {
    clearTimeout(this.redraw);
    this.redraw = undefined;
    this.agents = undefined;
    this.tree.changed.fire(undefined);
  }

  private roots(): readonly Node[] {
    if (!this.isStarted) {
      this.isStarted = true;
      void this.refresh();
      this.parts.watch().catch((error: unknown) => {
        this.parts.warn(`Conversations are not watched for changes. ${String(error)}`);
      });
    }
    this.agents ??= this.nodes(this.filter);
    const gateway = this.parts.gateway();
    this.sendState(this.agents.length > 0);
    return gateway ? [{ kind: 'gateway', ...gateway }, ...this.agents] : this.agents;
  }

  private nodes(filter: Filter): AgentNode[] {
    return agentNodes(
      { live: this.parts.live(), stored: this.parts.index.conversations, ledgers: this.ledgers },
      filter,
    );
  }

  /** An empty tree says why (viewsWelcome in package.json); one that is filtered says by what. */
  private sendState(hasNodes: boolean): void {
    const { view } = this.tree;
    const isSearching = this.parts.index.isBusy && this.parts.index.conversations.length === 0;
    view.description = this.parts.index.isBusy ? vscode.l10n.t('counting…') : '';
    const words = [this.filter.text, ...this.filter.agents, ...this.filter.workspaces].filter((word) => word !== '');
    const lookingFor = isSearching && !hasNodes ? vscode.l10n.t('Looking for conversations…') : '';
    // A message hides the welcome text, which says the same of a tree that the filter leaves empty.
    view.message = hasNodes && isFiltering(this.filter) ? vscode.l10n.t('Only: {0}', words.join(', ')) : lookingFor;
    const state = hasNodes ? 'some' : isSearching ? 'searching' : isFiltering(this.filter) ? 'filtered' : 'none';
    if (state === this.shownState) return;
    this.shownState = state;
    void vscode.commands.executeCommand('setContext', `${VIEW_ID}.state`, state);
  }
}
