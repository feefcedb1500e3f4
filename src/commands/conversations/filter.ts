import { basename } from 'node:path';
import * as vscode from 'vscode';
import { askInput, pickSeveralItems } from '../../window/notifications';
import type { ConversationsView } from '../../views/conversations/conversationsView';
import { getConversationWorkspace } from '../../views/conversations/nodes';

/** Asks for text to search in titles, folders and paths. */
export async function askSearchText(view: ConversationsView): Promise<void> {
  const text = await askInput({
    title: vscode.l10n.t('Search Conversations'),
    prompt: vscode.l10n.t('Searches titles and folders, not what was said. Leave empty to show all.'),
    value: view.currentFilter.text,
  });
  if (text !== undefined) view.setFilter({ ...view.currentFilter, text: text.trim() });
}

interface FilterItem extends vscode.QuickPickItem {
  readonly agent?: string;
  readonly workspace?: string;
}

/** Asks which agents and folders to show. If the user selects nothing, all are shown. */
export async function chooseConversationFilter(view: ConversationsView): Promise<void> {
  const { agents } = view.listFilterChoices();
  const currentFilter = view.currentFilter;
  const workspaces = new Set(
    agents.flatMap(({ children }) =>
      children.flatMap((node) => (node.kind === 'conversation' ? (getConversationWorkspace(node.found) ?? []) : [])),
    ),
  );
  const openFolders = new Set(vscode.workspace.workspaceFolders?.map(({ uri }) => uri.fsPath));
  const makeSeparator = (label: string): FilterItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items: FilterItem[] = [
    makeSeparator(vscode.l10n.t('Agents')),
    ...agents.map(({ agent, children }) => ({
      label: agent,
      description: String(children.length),
      agent,
      picked: currentFilter.agents.has(agent),
    })),
    makeSeparator(vscode.l10n.t('Folders')),
    ...[...workspaces]
      .toSorted((a, b) => Number(openFolders.has(b)) - Number(openFolders.has(a)) || a.localeCompare(b))
      .map((workspace) => ({
        label: basename(workspace),
        description: openFolders.has(workspace) ? vscode.l10n.t('{0} (open here)', workspace) : workspace,
        workspace,
        picked: currentFilter.workspaces.has(workspace),
      })),
  ];
  const title = vscode.l10n.t('Filter by Agent or Folder');
  const pickedItems = await pickSeveralItems(items, { title, matchOnDescription: true });
  if (!pickedItems) return;
  view.setFilter({
    ...currentFilter,
    agents: new Set(pickedItems.flatMap(({ agent }) => agent ?? [])),
    workspaces: new Set(pickedItems.flatMap(({ workspace }) => workspace ?? [])),
  });
}
