import { homedir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import * as vscode from 'vscode';
import { ConversationIndex, type IndexedConversation } from '../background/conversationIndex';
import type { IndexTask } from '../background/tasks';
import { listStoreFolders } from '../conversations/stores/find';
import type { FindConversationsOptions } from '../conversations/stores/types';
import type { FillLevel } from '../core/account/fillLevel';
import { getConversationTitle, getConversationWorkspace, isInFolders } from '../views/conversations/nodes';
import { runInBackground } from '../window/background';
import { getReplacementsFolder } from './conversations/background';
import { shortenTitle } from '../window/markdownText';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';

export const createFindOptions = ({ context }: Services): FindConversationsOptions => ({
  platform: process.platform,
  env: { ...process.env },
  homedir: homedir(),
  globalStorage: dirname(context.globalStorageUri.fsPath),
});

const indexByServices = new WeakMap<Services, ConversationIndex>();

/** Returns the window's index of conversations, which is empty until its first refresh. */
export function getConversationIndex(services: Services): ConversationIndex {
  const existingIndex = indexByServices.get(services);
  if (existingIndex) return existingIndex;
  const index = createConversationIndex(services);
  indexByServices.set(services, index);
  services.context.subscriptions.push(index);
  return index;
}

export function getFileTitle(services: Services, path: string): string | undefined {
  const foundConversation = getConversationIndex(services).conversations.find((each) => each.path === path);
  const { last } = services;
  return (
    (foundConversation && getConversationTitle(foundConversation)) ?? (last?.path === path ? last.title : undefined)
  );
}

export const getFileName = (services: Services, path: string): string =>
  shortenTitle(getFileTitle(services, path) ?? basename(path));

/**
 * Returns how full the window of a condensed copy is, estimated from the last request of its
 * original. Undefined for other conversations.
 */
export function findFillOfCondensedCopy(services: Services, path: string): FillLevel | undefined {
  const foundConversation = getConversationIndex(services).conversations.find((each) => each.path === path);
  const fill = foundConversation?.details?.fill;
  return fill?.fromOriginal && fill;
}

/**
 * If a conversation of certain folders is preferred, only this many of the newest ones are
 * searched.
 */
const MAX_SEARCHED_CONVERSATIONS = 50;

/** A copy that was given back has nothing of its own before its agent has continued with it. */
const isUnusedCopy = (details: IndexedConversation['details']): boolean => details?.fill?.fromOriginal !== undefined;

/**
 * Returns the newest readable conversation that a user began, without waiting for others to be
 * read.
 * @param folders their newest conversation has precedence
 */
export function findNewestConversation(
  services: Services,
  folders: readonly string[] = [],
): Promise<IndexedConversation | undefined> {
  const index = getConversationIndex(services);
  /**
   * Returns undefined as long as an unread conversation might be the one to choose.
   * @param isAllRead true if all conversations have been read
   */
  const chooseNewest = (isAllRead: boolean): IndexedConversation | undefined => {
    const candidates = index.conversations
      .filter(({ parent, details }) => parent === undefined && details?.problem === undefined && !isUnusedCopy(details))
      .slice(0, folders.length === 0 ? 1 : MAX_SEARCHED_CONVERSATIONS);
    const firstUnread = isAllRead ? -1 : candidates.findIndex(({ details }) => details === undefined);
    const readCandidates = firstUnread < 0 ? candidates : candidates.slice(0, firstUnread);
    const conversationInFolder = readCandidates.find((conversation) =>
      isInFolders(folders, getConversationWorkspace(conversation)),
    );
    return conversationInFolder ?? (firstUnread < 0 ? candidates[0] : undefined);
  };
  return new Promise((resolve) => {
    const refreshPromise = index.refresh();
    // Subscribe after the refresh began: entries from before it may be outdated.
    const subscription = index.onDidChange(() => {
      const conversation = chooseNewest(false);
      if (conversation) finish(conversation);
    });
    const finish = (conversation: IndexedConversation | undefined): void => {
      subscription.dispose();
      resolve(conversation);
    };
    void refreshPromise.then(() => {
      finish(chooseNewest(true));
    });
  });
}

const watchingByServices = new WeakMap<Services, Promise<void>>();

export function watchConversations(services: Services): Promise<void> {
  const existingWatch = watchingByServices.get(services);
  if (existingWatch) return existingWatch;
  const index = getConversationIndex(services);
  const watchPromise = listStoreFolders(createFindOptions(services)).then((folders) => {
    index.watchFolders(folders, (folder, changed) => watchFolder(services, folder, changed));
  });
  watchingByServices.set(services, watchPromise);
  return watchPromise;
}

function createConversationIndex(services: Services): ConversationIndex {
  const { context, log } = services;
  return new ConversationIndex({
    run: (signal, report) => {
      const task: IndexTask = {
        kind: 'index',
        find: createFindOptions(services),
        history: readManualSettings().history,
        cache: join(context.globalStorageUri.fsPath, 'conversations.json'),
        replacements: getReplacementsFolder(services),
      };
      return runInBackground(services, task, signal, ({ index }) => {
        if (index) report(index);
      });
    },
    report: ({ path, reason }) => {
      log.info(`${path}: ${reason}`);
    },
    fail: (error) => {
      log.warn(`Listing conversations: ${String(error)}`);
    },
  });
}

/** Files whose changes matter; other files in the same folders change all the time. */
const CONVERSATION_FILE_NAME = /\.(?:jsonl?|db|db-wal)$/;

/** Watches a folder, even before it exists. Ignores the extension's own folder inside it. */
function watchFolder({ context }: Services, folder: string, onChange: () => void): vscode.Disposable {
  const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), '**/*');
  const watcher = vscode.workspace.createFileSystemWatcher(pattern);
  const ownFolder = `${context.globalStorageUri.fsPath}${sep}`;
  const onFileWritten = ({ fsPath }: vscode.Uri): void => {
    if (CONVERSATION_FILE_NAME.test(fsPath) && !fsPath.startsWith(ownFolder)) onChange();
  };
  watcher.onDidCreate(onFileWritten);
  watcher.onDidChange(onFileWritten);
  // If a folder is deleted, VS Code reports the folder and not its files.
  watcher.onDidDelete(({ fsPath }) => {
    if (!fsPath.startsWith(ownFolder)) onChange();
  });
  return watcher;
}
