import { basename } from 'node:path';
import * as vscode from 'vscode';
import { askInput, pickSeveral } from '../../window/notifications';
import type { ConversationsView } from '../../views/conversations/conversationsView';
import { getWorkspace } from '../../views/conversations/nodes';

/** Searches title, folder and path. */
export async function askSearch(view: ConversationsView): Promise<void> {
  const text = await askInput({
    title: vscode.l10n.t('Search Conversations'),
    prompt: vscode.l10n.t('Searches titles and folders, not what was said. Leave empty to show all.'),
    value: view.currentFilter.text,
  });
  if (text !== undefined) view.setFilter({ ...view.currentFilter, text: text.trim() });
}

interface ChoiceItem extends vscode.QuickPickItem {
  readonly agent?: string;
  readonly workspace?: string;
}

/** If the user selects nothing, all are shown. */
export async function chooseFilter(view: ConversationsView): Promise<void> {
  const { agents } = view.listChoices();
  const current = view.currentFilter;
  const workspaces = new Set(
    agents.flatMap(({ children }) =>
      children.flatMap((node) => (node.kind === 'conversation' ? (getWorkspace(node.found) ?? []) : [])),
    ),
  );
  const here = new Set(vscode.workspace.workspaceFolders?.map(({ uri }) => uri.fsPath));
  const separator = (label: string): ChoiceItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items: ChoiceItem[] = [
    separator(vscode.l10n.t('Agents')),
    ...agents.map(({ agent, children }) => ({
      label: agent,
      description: String(children.length),
      agent,
      picked: current.agents.has(agent),
    })),
    separator(vscode.l10n.t('Folders')),
    ...[...workspaces]
      .toSorted((a, b) => Number(here.has(b)) - Number(here.has(a)) || a.localeCompare(b))
      .map((workspace) => ({
        label: basename(workspace),
        description: here.has(workspace) ? vscode.l10n.t('{0} (open here)', workspace) : workspace,
        workspace,
        picked: current.workspaces.has(workspace),
      })),
  ];
  const title = vscode.l10n.t('Filter by Agent or Folder');
  const picked = await pickSeveral(items, { title, matchOnDescription: true });
  if (!picked) return;
  view.setFilter({
    ...current,
    agents: new Set(picked.flatMap(({ agent }) => agent ?? [])),
    workspaces: new Set(picked.flatMap(({ workspace }) => workspace ?? [])),
  });
}
