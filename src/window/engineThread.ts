import { join } from 'node:path';
import * as vscode from 'vscode';
import { ENGINE_BUNDLE, EngineThread } from '../engine/engineThread';
import { showWarningMessage } from './notifications';
import type { Services } from './services';

interface ThreadDeathMessages {
  readonly deathMessage?: string;
  /** Message when the thread is not restarted any more. */
  readonly stoppedMessage: string;
  readonly restartLabel: string;
}

type ThreadByServices = WeakMap<Services, EngineThread>;

const readerThreadByServices: ThreadByServices = new WeakMap();
const chatThreadByServices: ThreadByServices = new WeakMap();

export const getReaderThread = (services: Services): EngineThread =>
  getOrCreateThread(services, readerThreadByServices, () => ({
    stoppedMessage: vscode.l10n.t(
      'The part of Context Condenser that reads conversations has ended twice within a minute, and is not started again by itself.',
    ),
    restartLabel: vscode.l10n.t('Restart'),
  }));

/** Returns the chat's own thread, so that its requests don't wait for files that are being read. */
export const getChatThread = (services: Services): EngineThread =>
  getOrCreateThread(services, chatThreadByServices, () => ({
    deathMessage: vscode.l10n.t(
      'The part of Context Condenser that condenses the chat ended unexpectedly. The chat’s request was sent as it was; the next one is condensed again.',
    ),
    stoppedMessage: vscode.l10n.t(
      'The part of Context Condenser that condenses the chat has ended twice within a minute. Conversations are no longer condensed automatically in this window.',
    ),
    restartLabel: vscode.l10n.t('Condense Again'),
  }));

function getOrCreateThread(
  services: Services,
  threads: ThreadByServices,
  getMessages: () => ThreadDeathMessages,
): EngineThread {
  const existing = threads.get(services);
  if (existing) return existing;
  const { context, log } = services;
  const thread: EngineThread = new EngineThread({
    bundle: join(context.extensionPath, 'dist', ENGINE_BUNDLE),
    onDeath: ({ message }, isResting) => {
      log.error(`The engine ended unexpectedly. ${message}`);
      void showThreadDeath(thread, getMessages(), isResting);
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
  { deathMessage, stoppedMessage, restartLabel }: ThreadDeathMessages,
  isResting: boolean,
): Promise<void> {
  if (!isResting) {
    if (deathMessage !== undefined) void showWarningMessage(deathMessage);
    return;
  }
  if ((await showWarningMessage(stoppedMessage, restartLabel)) === restartLabel) thread.wakeThread();
}
