import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import { createPicker } from '../window/notifications';
import { toConversationItem } from '../agent/liveDetails';
import type { LiveSummary } from '../live/types';
import { listLiveConversations } from '../agent/runtime';
import type { IndexedConversation } from '../background/conversationIndex';
import type { FoundConversation } from '../conversations/stores/types';
import { formatAge } from '../views/age';
import { LoadedLedgers } from '../views/conversations/ledgers';
import { findShownCondensation, getConversationWorkspace } from '../views/conversations/nodes';
import { formatRowFill, formatRowFillChange, formatRowName, formatRowSize } from '../views/conversations/rowWords';
import { getConversationIndex } from './conversationIndex';
import { listLedgersSince } from './conversations/background';
import { UpdatingPickerRows, pickItem } from './pickItem';
import type { Services } from '../window/services';
import { readSetting } from '../window/settings/settings';

/** Users find other conversations by search or "Open file…". */
const MAX_SHOWN_CONVERSATIONS = 200;

interface ConversationItem extends vscode.QuickPickItem {
  readonly found?: FoundConversation;
  readonly conversation?: LiveSummary;
  /** True for the row that opens a file, if it follows conversations. */
  readonly isLast?: boolean;
}

export type PickedConversation = { readonly live: LiveSummary } | { readonly path: string; readonly title?: string };

interface PickerTexts {
  readonly title: string;
  /** Label of the button that opens a file. */
  readonly open: string;
  /** If true, the picker stays open when the focus moves elsewhere. */
  readonly staysOpen?: boolean;
}

/** @returns the file's path; undefined if the user picked nothing */
export async function pickFile(services: Services, texts: PickerTexts): Promise<string | undefined> {
  const pickedConversation = await pickConversation(services, [], texts);
  return pickedConversation && 'path' in pickedConversation ? pickedConversation.path : undefined;
}

/**
 * Lets the user pick a conversation; those of the chat come first.
 * @returns undefined if the user picked nothing
 */
export async function pickConversation(
  services: Services,
  live = listLiveConversations(services),
  pickerTexts: PickerTexts = { title: vscode.l10n.t('Condense Context Now'), open: vscode.l10n.t('Condense') },
): Promise<PickedConversation | undefined> {
  const picker = createPicker<ConversationItem>();
  picker.title = pickerTexts.title;
  picker.ignoreFocusOut = pickerTexts.staysOpen === true;
  picker.placeholder = vscode.l10n.t('Which conversation? The newest come first.');
  picker.matchOnDetail = true;
  picker.busy = true;
  const liveItems: ConversationItem[] = live.map(toConversationItem);
  const rows = new UpdatingPickerRows(picker, [...liveItems, createOpenFileItem(liveItems.length > 0)], getItemKey);
  const abortController = new AbortController();
  const pickedItemPromise = pickItem(picker, abortController, rows.meant);
  void fillConversationList(services, picker, { rows, ahead: liveItems, signal: abortController.signal });
  const item = await pickedItemPromise;
  if (!item) return undefined;
  if (item.conversation) return { live: item.conversation };
  if (item.found) return { path: item.found.path, title: item.label };
  const filePath = await askForConversationFile(pickerTexts.open);
  return filePath === undefined ? undefined : { path: filePath };
}

const getItemKey = ({ found, conversation, isLast }: ConversationItem): string | undefined =>
  found?.path ?? conversation?.id ?? (isLast === true ? 'open file' : undefined);

/**
 * @param isLast whether other rows precede it. As the only row it has no key, so the selection
 *   moves from it to the first conversation that appears.
 */
const createOpenFileItem = (isLast: boolean): ConversationItem => ({
  label: vscode.l10n.t('$(folder-opened) Open file…'),
  alwaysShow: true,
  isLast,
});

/** Shows the known conversations immediately, and others as soon as they are found. */
async function fillConversationList(
  services: Services,
  picker: vscode.QuickPick<ConversationItem>,
  {
    rows,
    ahead: liveItems,
    signal,
  }: {
    readonly rows: UpdatingPickerRows<ConversationItem>;
    readonly ahead: readonly ConversationItem[];
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const index = getConversationIndex(services);
  const ledgers = new LoadedLedgers();
  let redrawTimer: NodeJS.Timeout | undefined;
  /**
   * The rows of the complete list. From then on rows keep their places, so that none moves away
   * under the pointer.
   */
  const shownItems: ConversationItem[] = [];
  const listItems = (): readonly ConversationItem[] => {
    // Leave out subagents' conversations, because only their parents are continued.
    const conversations = index.conversations
      .filter(({ parent }) => parent === undefined)
      .slice(0, MAX_SHOWN_CONVERSATIONS);
    const conversationItems: ConversationItem[] = [
      ...liveItems,
      ...conversations.map((each) => createConversationItem(each, ledgers)),
    ];
    const items = [...conversationItems, createOpenFileItem(conversationItems.length > 0)];
    const itemsByKey = new Map(items.map((item) => [getItemKey(item), item]));
    return shownItems.length === 0 ? items : shownItems.map((row) => itemsByKey.get(getItemKey(row)) ?? row);
  };
  const showItems = async (): Promise<void> => {
    redrawTimer = undefined;
    if (!signal.aborted) await rows.showItems(listItems());
  };
  // Counts arrive several times per second; redraw at most ten times.
  const subscription = index.onDidChange(() => {
    redrawTimer ??= setTimeout(() => void showItems(), 100);
  });
  signal.addEventListener('abort', () => {
    subscription.dispose();
  });
  // Show conversations that are already known from earlier lists.
  void showItems();
  // If the ledgers can't be read, the list does without them.
  listLedgersSince(services, ledgers.since, signal).then(
    (result) => {
      ledgers.applyLedgersResult(result);
      void showItems();
    },
    () => undefined,
  );
  await index.refresh();
  clearTimeout(redrawTimer);
  if (signal.aborted) return;
  if (index.conversations.length + liveItems.length === 0) {
    picker.placeholder = vscode.l10n.t('No agent conversations were found on this machine. Open a file.');
  }
  shownItems.push(...listItems());
  await showItems();
  picker.busy = false;
}

function createConversationItem(conversation: IndexedConversation, ledgers: LoadedLedgers): ConversationItem {
  const { agent, modified } = conversation;
  const age = formatAge(Date.now() - modified);
  const window = readSetting('conversations.contextWindow');
  const lastCondensation = findShownCondensation(ledgers.findLedger(conversation));
  const fillText =
    lastCondensation && ledgers.givenBackAs(conversation) === undefined
      ? formatRowFillChange(conversation, lastCondensation, window)
      : formatRowFill(conversation, window);
  return {
    label: formatRowName(conversation),
    // The detail is on its own line, where a long title can't hide it.
    detail: [
      agent,
      age,
      ...(fillText === undefined ? [] : [fillText]),
      formatRowSize(conversation),
      ...getWorkspaceLabel(conversation),
    ].join(' · '),
    found: conversation,
  };
}

/** Returns the agent's working folder; an empty list if unknown. */
function getWorkspaceLabel(conversation: IndexedConversation): string[] {
  const workspace = getConversationWorkspace(conversation);
  if (workspace !== undefined) return [basename(workspace)];
  // Claude Code names a project's folder after its path, with dashes.
  const folderName = basename(dirname(conversation.path));
  return folderName.startsWith('-') ? [folderName.slice(1)] : [];
}

async function askForConversationFile(openLabel: string): Promise<string | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Open a conversation'),
      openLabel,
      filters: { [vscode.l10n.t('Conversations')]: ['jsonl', 'json'], [vscode.l10n.t('All files')]: ['*'] },
    })) ?? [];
  return file?.fsPath;
}
