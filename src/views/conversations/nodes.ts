/** The tree of the conversations view as data: agents, their conversations, the conversations that those started. */
import type { AgentName } from '../../core/agents';
import type { LiveSummary } from '../../live/types';
import type { IndexedConversation } from '../../background/conversationIndex';
import type { CondensationOutline, LedgerOutline } from '../../background/taskResults';

/** VS Code's own chat among the agents: what runs in it and what it has stored are one group. */
export const CHAT: AgentName = 'VS Code';

/** Conversations of an agent that are listed at first, and that each "Show More" adds. */
export const PAGE = 200;

export interface AgentNode {
  readonly kind: 'agent';
  readonly agent: string;
  readonly children: readonly (LiveNode | ConversationNode)[];
}

/** A conversation that is condensed while it runs: of this window's chat, or of an agent behind a gateway. */
export interface LiveNode {
  readonly kind: 'live';
  readonly live: LiveSummary;
}

/** A conversation that an agent stored. */
export interface ConversationNode {
  readonly kind: 'conversation';
  readonly found: IndexedConversation;
  readonly ledger: LedgerOutline | undefined;
  /** Its agent goes on with what was condensed. */
  readonly isGivenBack: boolean;
  /** Conversations of subagents that it started. */
  readonly children: readonly ConversationNode[];
}

export interface MoreNode {
  readonly kind: 'more';
  readonly agent: string;
  /** How many are not shown. */
  readonly hidden: number;
}

/** The gateway that agent extensions may be given the address of: it runs. */
export interface GatewayNode {
  readonly kind: 'gateway';
  /** Host and port. */
  readonly host: string;
  /** Of the window that it runs in. */
  readonly folder: string;
}

export type Node = GatewayNode | AgentNode | LiveNode | ConversationNode | MoreNode;

/** By which VS Code knows a row again. */
export function idOf(node: Node): string {
  switch (node.kind) {
    case 'agent':
      // VS Code keeps what is open by the id: an agent that begins to run opens.
      return isLive(node) ? `${node.agent}/live` : node.agent;
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

/** Whether an agent has something running. */
export const isLive = ({ children }: AgentNode): boolean => children.some(({ kind }) => kind === 'live');

/** The part of the list that is shown; an empty one shows all. */
export interface Filter {
  /** Words that stand in title, folder or path. */
  readonly text: string;
  readonly agents: ReadonlySet<string>;
  /** Folders that agents worked in. */
  readonly workspaces: ReadonlySet<string>;
}

export const NO_FILTER: Filter = { text: '', agents: new Set(), workspaces: new Set() };

/** Whether a filter hides anything. */
export const isFiltering = ({ text, agents, workspaces }: Filter): boolean =>
  text !== '' || agents.size > 0 || workspaces.size > 0;

export interface Listed {
  readonly live: readonly LiveSummary[];
  /** The newest first. */
  readonly stored: readonly IndexedConversation[];
  readonly ledgers: Ledgers;
  /** The folders of this window; default none. */
  readonly here?: readonly string[];
}

/** The known condensations, by conversation id and by path: a file that was not read yet has no id. */
export interface Ledgers {
  of(found: IndexedConversation): LedgerOutline | undefined;
  isGivenBack(found: IndexedConversation): boolean;
}

/** The path of the conversation that began it all: a subagent may start subagents of its own. Where it is not listed, the nearest to it. */
function taskOf(stored: readonly IndexedConversation[]): (found: IndexedConversation) => string {
  const byPath = new Map(stored.map((found) => [found.path, found]));
  return (found) => {
    // Ids of files are others' words: two that name each other are each their own.
    const passed = new Set<string>();
    for (let at = found; ;) {
      passed.add(at.path);
      const above = at.parent === undefined ? undefined : byPath.get(at.parent);
      if (!above) return at.path;
      if (passed.has(above.path)) return found.path;
      at = above;
    }
  };
}

/** Whether an agent worked in one of these folders, or below it. */
function isIn(folders: readonly string[], folder: string | undefined): boolean {
  if (folder === undefined) return false;
  return folders.some((each) => folder === each || folder.startsWith(`${each}${each.includes('\\') ? '\\' : '/'}`));
}

const folderOf = (node: LiveNode | ConversationNode): string | undefined =>
  node.kind === 'live' ? node.live.folder : workspaceOf(node.found);

/**
 * The agents that have something to show, the one that was used last first; before it those that worked in this window's folders, and of
 * each agent's conversations those of these folders first. What runs in this window's chat is of this window.
 */
export function agentNodes({ live, stored, ledgers, here = [] }: Listed, filter: Filter): AgentNode[] {
  const byAgent = new Map<string, (LiveNode | ConversationNode)[]>();
  for (const summary of live) {
    const { title, agent = CHAT, folder } = summary;
    if (!isShown(filter, agent, folder, [title, folder])) continue;
    byAgent.set(agent, [...(byAgent.get(agent) ?? []), { kind: 'live', live: summary }]);
  }
  const nodeOf = (found: IndexedConversation, children: readonly ConversationNode[]): ConversationNode => ({
    kind: 'conversation',
    found,
    ledger: ledgers.of(found),
    isGivenBack: ledgers.isGivenBack(found),
    children,
  });
  const task = taskOf(stored);
  const ofTasks = Map.groupBy(stored, task);
  for (const found of stored.filter((each) => task(each) === each.path)) {
    const children = (ofTasks.get(found.path) ?? []).filter((each) => each !== found).map((each) => nodeOf(each, []));
    const own = isShown(filter, found.agent, workspaceOf(found), searchedTexts(found));
    const kept = own
      ? children
      : children.filter((each) => isShown(filter, found.agent, workspaceOf(found), searchedTexts(each.found)));
    if (!own && kept.length === 0) continue;
    const group = byAgent.get(found.agent) ?? [];
    group.push(nodeOf(found, kept));
    byAgent.set(found.agent, group);
  }
  const isHere = (node: LiveNode | ConversationNode): boolean =>
    (node.kind === 'live' && node.live.agent === undefined) || isIn(here, folderOf(node));
  const rank = (node: LiveNode | ConversationNode): number => (node.kind === 'live' ? 0 : isHere(node) ? 1 : 2);
  return [...byAgent]
    .map(([agent, children]): AgentNode => ({
      kind: 'agent',
      agent,
      children: children.toSorted((a, b) => rank(a) - rank(b)),
    }))
    .toSorted((a, b) => Number(b.children.some(isHere)) - Number(a.children.some(isHere)));
}

/** The first conversations of an agent, and how many more there are. */
export function pageOf({ agent, children }: AgentNode, pages: number): readonly Node[] {
  const shown = children.slice(0, pages * PAGE);
  const hidden = children.length - shown.length;
  return hidden === 0 ? shown : [...shown, { kind: 'more', agent, hidden }];
}

/** The folder that the agent worked in, as far as it is known. */
export const workspaceOf = ({ details, workspace }: IndexedConversation): string | undefined =>
  details?.workspace ?? workspace;

/** The title that reading gave, else the store's; undefined where neither is known yet. */
export const titleOf = ({ details, title }: IndexedConversation): string | undefined => details?.title ?? title;

const searchedTexts = (found: IndexedConversation): readonly (string | undefined)[] => [
  titleOf(found),
  workspaceOf(found),
  found.path,
];

function isShown(
  { text, agents, workspaces }: Filter,
  agent: string,
  workspace: string | undefined,
  words: readonly (string | undefined)[],
): boolean {
  if (agents.size > 0 && !agents.has(agent)) return false;
  if (workspaces.size > 0 && (workspace === undefined || !workspaces.has(workspace))) return false;
  const all = words.join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** The condensation that the view shows; undefined where it shows the original. */
export const shownCondensation = (ledger: LedgerOutline | undefined): CondensationOutline | undefined =>
  ledger?.condensations.findLast(({ isUndone, isReplaced }) => !isUndone && !isReplaced);

/** The condensation that can be brought back: the first that was undone behind the one that is shown. */
export function undoneCondensation(ledger: LedgerOutline | undefined): CondensationOutline | undefined {
  const candidates = ledger?.condensations.filter(({ isReplaced }) => !isReplaced) ?? [];
  return candidates[candidates.findLastIndex(({ isUndone }) => !isUndone) + 1];
}
