import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConversationIndex } from '../background/conversationIndex';
import type { IndexTask } from '../background/tasks';
import type { FindOptions } from '../conversations/stores/types';
import { inBackground } from './background';
import type { Services } from './services';
import { manualSettings } from './settings';

/** This machine, as seen from this VS Code. */
export const thisMachine = ({ context }: Services): FindOptions => ({
  platform: process.platform,
  env: { ...process.env },
  homedir: homedir(),
  globalStorage: dirname(context.globalStorageUri.fsPath),
});

const indexes = new WeakMap<Services, ConversationIndex>();

/** The list of all conversations on this machine, empty until its first refresh: one for this window. */
export function conversationIndex(services: Services): ConversationIndex {
  const known = indexes.get(services);
  if (known) return known;
  const index = newIndex(services);
  indexes.set(services, index);
  services.context.subscriptions.push(index);
  return index;
}

function newIndex(services: Services): ConversationIndex {
  const { context, log } = services;
  return new ConversationIndex({
    run: (signal, tell) => {
      const task: IndexTask = {
        kind: 'index',
        find: thisMachine(services),
        history: manualSettings().history,
        cache: join(context.globalStorageUri.fsPath, 'conversations.json'),
      };
      return inBackground(services, task, signal, ({ index }) => {
        if (index) tell(index);
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
