import type { AgentName } from '../../core/agents';
import { removeMarkdown } from '../../conversations/title';
import type { LiveSummary } from '../../live/types';
import type { IndexedConversation } from '../../background/conversationIndex';
import type { CondensationOutline, LedgerOutline } from '../../background/taskResults';

/**
 * The group of conversations in VS Code's chat. It is shown like an agent, so that running and
 * stored ones are together.
 */
export const CHAT_AGENT_NAME: AgentName = 'VS Code';

/** Number of conversations that each agent lists at first, and that each "Show More" adds. */
export const CONVERSATIONS_PER_PAGE = 200;

export interface AgentNode {
  readonly kind: 'agent';
  readonly agent: string;
  readonly children: readonly (LiveNode | ConversationNode)[];
}

/** A conversation in this window's chat or behind a gateway. */
export interface LiveNode {
  readonly kind: 'live';
  readonly live: LiveSummary;
  /** What VS Code has stored of this chat; empty until it is found. */
  readonly children: readonly ConversationNode[];
}

export interface ConversationNode {
  readonly kind: 'conversation';
  readonly found: IndexedConversation;
  readonly ledger: LedgerOutline | undefined;
  /**
   * The file with which the agent continues after giving back; undefined if it was not given back.
   */
  readonly givenBackAs: string | undefined;
  /** True if this conversation was written by giving another one back. */
  readonly isCopy: boolean;
  /** Conversations of subagents. */
  readonly children: readonly ConversationNode[];
}

export interface ShowMoreNode {
  readonly kind: 'more';
  readonly agent: string;
  /** Number of conversations that are not listed yet. */
  readonly hidden: number;
}

export interface GatewayNode {
  readonly kind: 'gateway';
  /** Host and port of the gateway. */
  readonly host: string;
  /** Folder of the window that started the gateway. */
  readonly folder: string;
}

export type TreeNode = GatewayNode | AgentNode | LiveNode | ConversationNode | ShowMoreNode;

export function getNodeId(node: TreeNode): string {
  switch (node.kind) {
    case 'agent':
      // VS Code remembers by ID which rows are expanded. A running agent has another ID, so that
      // its row expands when it starts.
      return hasLiveConversations(node) ? `${node.agent}/live` : node.agent;
    case 'live':
      return `live/${node.live.id}`;
    case 'conversation':
      return `${node.found.agent}/${node.found.path}`;
    case 'more':
      return `${node.agent}/more`;
    case 'gateway':
      return 'gateway';
  }
}

export const hasLiveConversations = ({ children }: AgentNode): boolean => children.some(({ kind }) => kind === 'live');

/** An empty filter shows all. */
export interface ConversationFilter {
  /** Words to find in title, folder or path. */
  readonly text: string;
  readonly agents: ReadonlySet<string>;
  /** Agents' working folders. */
  readonly workspaces: ReadonlySet<string>;
}

export const NO_FILTER: ConversationFilter = { text: '', agents: new Set(), workspaces: new Set() };

export const isFiltering = ({ text, agents, workspaces }: ConversationFilter): boolean =>
  text !== '' || agents.size > 0 || workspaces.size > 0;

export interface ListedConversations {
  readonly live: readonly LiveSummary[];
  /** Stored conversations, newest first. */
  readonly stored: readonly IndexedConversation[];
  readonly ledgers: LedgerLookup;
  /** Folders of this window; default: none. */
  readonly here?: readonly string[];
}

/** Finds a conversation's ledger by its ID or path: before a file is read, its ID is unknown. */
export interface LedgerLookup {
  findLedger(found: IndexedConversation): LedgerOutline | undefined;
  givenBackAs(found: IndexedConversation): string | undefined;
  isCopy(found: IndexedConversation): boolean;
}

/**
 * Finds the root conversation, because subagents may start subagents. If the root is missing, finds
 * the nearest listed ancestor.
 */
function createRootPathFinder(stored: readonly IndexedConversation[]): (found: IndexedConversation) => string {
  const conversationByPath = new Map(stored.map((conversation) => [conversation.path, conversation]));
  return (conversation) => {
    // IDs in files are untrusted: two that name each other are both roots.
    const visitedPaths = new Set<string>();
    for (let current = conversation; ;) {
      visitedPaths.add(current.path);
      const parent = current.parent === undefined ? undefined : conversationByPath.get(current.parent);
      if (!parent) return current.path;
      if (visitedPaths.has(parent.path)) return conversation.path;
      current = parent;
    }
  };
}

/** True if the folder is one of these folders or inside one. */
export function isInFolders(folders: readonly string[], folder: string | undefined): boolean {
  if (folder === undefined) return false;
  return folders.some((each) => folder === each || folder.startsWith(`${each}${each.includes('\\') ? '\\' : '/'}`));
}

const getNodeFolder = (node: LiveNode | ConversationNode): string | undefined =>
  node.kind === 'live' ? node.live.folder : getConversationWorkspace(node.found);

/**
 * Sorts by last use, with conversations in this window's folders first. This window's chat counts
 * as being in these folders.
 */
export function createAgentNodes(
  { live, stored, ledgers, here = [] }: ListedConversations,
  filter: ConversationFilter,
): AgentNode[] {
  const createNode = (conversation: IndexedConversation, children: readonly ConversationNode[]): ConversationNode => ({
    kind: 'conversation',
    found: conversation,
    ledger: ledgers.findLedger(conversation),
    givenBackAs: ledgers.givenBackAs(conversation),
    isCopy: ledgers.isCopy(conversation),
    children,
  });
  const nodesByAgent = new Map<string, (LiveNode | ConversationNode)[]>();
  const storedChats = new Set<IndexedConversation>();
  for (const summary of live) {
    const { title, agent = CHAT_AGENT_NAME, folder, conversationId } = summary;
    if (!matchesFilter(filter, agent, folder, [title, folder])) continue;
    // A chat has one row: the live one, with the newer figures. Subagents share its ID.
    const storedChat =
      summary.agent === undefined && conversationId !== undefined
        ? stored.find((each) => each.details?.id === `vscode:${conversationId}` && !storedChats.has(each))
        : undefined;
    if (storedChat) storedChats.add(storedChat);
    const children = storedChat ? [createNode(storedChat, [])] : [];
    nodesByAgent.set(agent, [...(nodesByAgent.get(agent) ?? []), { kind: 'live', live: summary, children }]);
  }
  const shownStored = stored.filter((each) => !storedChats.has(each));
  const findRootPath = createRootPathFinder(shownStored);
  const conversationsByRoot = Map.groupBy(shownStored, findRootPath);
  for (const root of shownStored.filter((each) => findRootPath(each) === each.path)) {
    const children = (conversationsByRoot.get(root.path) ?? [])
      .filter((each) => each !== root)
      .map((each) => createNode(each, []));
    const isRootMatching = matchesFilter(filter, root.agent, getConversationWorkspace(root), getSearchTexts(root));
    const matchingChildren = isRootMatching
      ? children
      : children.filter((each) =>
          matchesFilter(filter, root.agent, getConversationWorkspace(root), getSearchTexts(each.found)),
        );
    if (!isRootMatching && matchingChildren.length === 0) continue;
    const group = nodesByAgent.get(root.agent) ?? [];
    group.push(createNode(root, matchingChildren));
    nodesByAgent.set(root.agent, group);
  }
  const isInWorkspace = (node: LiveNode | ConversationNode): boolean =>
    (node.kind === 'live' && node.live.agent === undefined) || isInFolders(here, getNodeFolder(node));
  const getRank = (node: LiveNode | ConversationNode): number =>
    node.kind === 'live' ? 0 : isInWorkspace(node) ? 1 : 2;
  return [...nodesByAgent]
    .map(([agent, children]): AgentNode => ({
      kind: 'agent',
      agent,
      children: children.toSorted((a, b) => getRank(a) - getRank(b)),
    }))
    .toSorted((a, b) => Number(b.children.some(isInWorkspace)) - Number(a.children.some(isInWorkspace)));
}

export function getShownChildren({ agent, children }: AgentNode, pages: number): readonly TreeNode[] {
  const shownChildren = children.slice(0, pages * CONVERSATIONS_PER_PAGE);
  const hiddenCount = children.length - shownChildren.length;
  return hiddenCount === 0 ? shownChildren : [...shownChildren, { kind: 'more', agent, hidden: hiddenCount }];
}

export const getConversationWorkspace = ({ details, workspace }: IndexedConversation): string | undefined =>
  details?.workspace ?? workspace;

/** Returns the title in the conversation's file, or else the one in the agent's store. */
export const getConversationTitle = ({ details, title }: IndexedConversation): string | undefined =>
  details?.title ?? title;

const getSearchTexts = (conversation: IndexedConversation): readonly (string | undefined)[] => [
  getConversationTitle(conversation),
  getConversationWorkspace(conversation),
  conversation.path,
];

function matchesFilter(
  { text, agents, workspaces }: ConversationFilter,
  agent: string,
  workspace: string | undefined,
  searchTexts: readonly (string | undefined)[],
): boolean {
  if (agents.size > 0 && !agents.has(agent)) return false;
  if (workspaces.size > 0 && (workspace === undefined || !workspaces.has(workspace))) return false;
  const searchedText = searchTexts.join('\n').toLowerCase();
  const isFound = (words: string): boolean =>
    words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => searchedText.includes(word));
  // A title is shown without the Markdown of the message from which it is taken, so search both
  // forms.
  return isFound(text) || isFound(removeMarkdown(text));
}

/** Returns the condensation that the view shows; undefined if the view is the original. */
export const findShownCondensation = (ledger: LedgerOutline | undefined): CondensationOutline | undefined =>
  ledger?.condensations.findLast(({ isUndone, isReplaced }) => !isUndone && !isReplaced);

/** Returns the condensation that redo restores: the first undone one after the shown one. */
export function findUndoneCondensation(ledger: LedgerOutline | undefined): CondensationOutline | undefined {
  const candidates = ledger?.condensations.filter(({ isReplaced }) => !isReplaced) ?? [];
  return candidates[candidates.findLastIndex(({ isUndone }) => !isUndone) + 1];
}
