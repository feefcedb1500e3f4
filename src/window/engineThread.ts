import { join } from 'node:path';
import * as vscode from 'vscode';
import { ENGINE_BUNDLE, EngineThread } from '../engine/engineThread';
import { showWarningMessage } from './notifications';
import type { Services } from './services';

interface ThreadDeathMessages {
  readonly died?: string;
  /** Shown when the thread is no longer restarted. */
  readonly rests: string;
  readonly wake: string;
}

type ThreadByServices = WeakMap<Services, EngineThread>;

const readerThreadByServices: ThreadByServices = new WeakMap();
const chatThreadByServices: ThreadByServices = new WeakMap();

export const getReaderThread = (services: Services): EngineThread =>
  getOrCreateThread(services, readerThreadByServices, () => ({
    rests: vscode.l10n.t(
      'The part of Context Condenser that reads conversations has ended twice within a minute, and is not started again by itself.',
    ),
    wake: vscode.l10n.t('Restart'),
  }));

/** The chat has its own thread, so that requests don't wait for files being read. */
export const getChatThread = (services: Services): EngineThread =>
  getOrCreateThread(services, chatThreadByServices, () => ({
    died: vscode.l10n.t(
      'The part of Context Condenser that condenses the chat ended unexpectedly. The chat’s request was sent as it was; the next one is condensed again.',
    ),
    rests: vscode.l10n.t(
      'The part of Context Condenser that condenses the chat has ended twice within a minute. Conversations are no longer condensed automatically in this window.',
    ),
    wake: vscode.l10n.t('Condense Again'),
  }));

function getOrCreateThread(
  services: Services,
  threads: ThreadByServices,
  words: () => ThreadDeathMessages,
): EngineThread {
  const known = threads.get(services);
  if (known) return known;
  const { context, log } = services;
  const thread: EngineThread = new EngineThread({
    bundle: join(context.extensionPath, 'dist', ENGINE_BUNDLE),
    onDeath: ({ message }, rests) => {
      log.error(`The engine ended unexpectedly. ${message}`);
      void showThreadDeath(thread, words(), rests);
    },
  });
  threads.set(services, thread);
  context.subscriptions.push({
    dispose: () => {
      thread.endThread();
    },
  });
  return thread;
}

async function showThreadDeath(
  thread: EngineThread,
  { died, rests, wake }: ThreadDeathMessages,
  isResting: boolean,
): Promise<void> {
  if (!isResting) {
    if (died !== undefined) void showWarningMessage(died);
    return;
  }
  if ((await showWarningMessage(rests, wake)) === wake) thread.wakeThread();
}
