import { homedir } from 'node:os';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { liveItem } from '../agent/liveDetails';
import type { LiveSummary } from '../agent/live/types';
import { liveConversations } from '../agent/runtime';
import type { CountedConversation } from '../background/tasks';
import { findConversations } from '../conversations/stores/find';
import type { FoundConversation } from '../conversations/stores/types';
import { formatTokens } from '../core/condense/report';
import { inBackground } from './background';
import type { Services } from './services';
import { manualSettings } from './settings';

/** More than this nobody scrolls through; the list is searched, and "Open file…" reaches the rest. */
const SHOWN = 200;

interface PickItem extends vscode.QuickPickItem {
  readonly found?: FoundConversation;
  readonly conversation?: LiveSummary;
}

/** What was picked: a conversation of the chat, or the file of a stored one. */
export type Picked = { readonly live: LiveSummary } | { readonly path: string };

/** Lets the user pick a stored conversation. @returns its file, undefined where nothing was picked. */
export async function pickFile(services: Services): Promise<string | undefined> {
  const picked = await pickConversation(services, []);
  return picked && 'path' in picked ? picked.path : undefined;
}

/** Lets the user pick a conversation: those of the chat first, then the stored ones. @returns undefined where nothing was picked. */
export async function pickConversation(
  services: Services,
  live = liveConversations(services),
): Promise<Picked | undefined> {
  const picker = vscode.window.createQuickPick<PickItem>();
  picker.title = vscode.l10n.t('Condense Context Now');
  picker.placeholder = vscode.l10n.t('Which conversation? The newest come first.');
  picker.matchOnDetail = true;
  picker.busy = true;
  const ahead: PickItem[] = live.map(liveItem);
  picker.items = [...ahead, openFileItem()];
  const abort = new AbortController();
  const picked = new Promise<PickItem | undefined>((resolve) => {
    picker.onDidAccept(() => {
      resolve(picker.selectedItems[0]);
    });
    picker.onDidHide(() => {
      resolve(undefined);
    });
  });
  picker.show();
  void fill(services, picker, ahead, abort.signal);
  const item = await picked;
  abort.abort();
  picker.dispose();
  if (!item) return undefined;
  if (item.conversation) return { live: item.conversation };
  const path = item.found?.path ?? (await openFile());
  return path === undefined ? undefined : { path };
}

const openFileItem = (): PickItem => ({ label: vscode.l10n.t('$(folder-opened) Open file…'), alwaysShow: true });

/** Shows the conversations at once and what the background finds out about them as it comes. */
async function fill(
  services: Services,
  picker: vscode.QuickPick<PickItem>,
  ahead: readonly PickItem[],
  signal: AbortSignal,
): Promise<void> {
  const { history } = manualSettings();
  const { globalStorageUri } = services.context;
  try {
    const { conversations: all } = await findConversations({
      platform: process.platform,
      env: process.env,
      homedir: homedir(),
      globalStorage: dirname(globalStorageUri.fsPath),
    });
    if (signal.aborted) return;
    const found = all.slice(0, SHOWN);
    const known = new Map<string, CountedConversation>();
    if (found.length + ahead.length === 0) {
      picker.placeholder = vscode.l10n.t('No agent has conversations on this machine; open a file.');
    }
    let refresh: NodeJS.Timeout | undefined;
    const show = (): void => {
      refresh = undefined;
      if (signal.aborted) return;
      const [active] = picker.activeItems;
      const items: PickItem[] = [
        ...ahead,
        ...found.map((conversation) => itemOf(conversation, known.get(conversation.path))),
        openFileItem(),
      ];
      picker.items = items;
      const again = items.find(
        (item) =>
          (item.found && item.found.path === active?.found?.path) ||
          (item.conversation && item.conversation.id === active?.conversation?.id),
      );
      if (again) picker.activeItems = [again];
    };
    show();
    const task = { kind: 'count', paths: found.map(({ path }) => path), history } as const;
    if (found.length > 0) {
      await inBackground(services, task, signal, ({ counted }) => {
        if (counted) known.set(counted.path, counted);
        // Several counts a second come in: the list is redrawn at most ten times.
        refresh ??= setTimeout(show, 100);
      });
    }
    clearTimeout(refresh);
    show();
  } catch (error) {
    if (!signal.aborted) services.log.warn(`Listing conversations: ${String(error)}`);
  } finally {
    if (!signal.aborted) picker.busy = false;
  }
}

function itemOf(found: FoundConversation, counted: CountedConversation | undefined): PickItem {
  // Claude Code writes a project's path with dashes.
  const folder = basename(dirname(found.path)).replace(/^-/, '');
  const age = ageOf(Date.now() - found.modified);
  const size = !counted
    ? vscode.l10n.t('counting…')
    : counted.content
      ? vscode.l10n.t('{0} tokens', formatTokens(counted.content.tokens))
      : vscode.l10n.t('can’t be read');
  return {
    label: counted?.content?.title ?? basename(found.path),
    // On a line of its own: a long title would push it out of sight.
    detail: [found.agent, age, size, folder].join(' · '),
    found,
  };
}

/** A span of time in the largest unit that it fills. */
export function ageOf(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return vscode.l10n.t('just now');
  if (minutes < 60) return vscode.l10n.t('{0} min ago', minutes);
  if (minutes < 48 * 60) return vscode.l10n.t('{0} h ago', Math.floor(minutes / 60));
  return vscode.l10n.t('{0} days ago', Math.floor(minutes / (24 * 60)));
}

async function openFile(): Promise<string | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Open a conversation'),
      openLabel: vscode.l10n.t('Condense'),
      filters: { [vscode.l10n.t('Conversations')]: ['jsonl', 'json'], [vscode.l10n.t('All files')]: ['*'] },
    })) ?? [];
  return file?.fsPath;
}
