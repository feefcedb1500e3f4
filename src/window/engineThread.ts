import { join } from 'node:path';
import * as vscode from 'vscode';
import { ENGINE_BUNDLE, EngineThread } from '../engine/engineThread';
import { showWarningMessage } from './notifications';
import type { Services } from './services';

const threads = new WeakMap<Services, EngineThread>();

/** The window's one engine thread. */
export function engineThreadOf(services: Services): EngineThread {
  const known = threads.get(services);
  if (known) return known;
  const { context, log } = services;
  const thread: EngineThread = new EngineThread({
    bundle: join(context.extensionPath, 'dist', ENGINE_BUNDLE),
    onDeath: ({ message }, rests) => {
      log.error(`The engine ended unexpectedly. ${message}`);
      if (rests) void offerRestart(thread);
    },
  });
  threads.set(services, thread);
  context.subscriptions.push({
    dispose: () => {
      thread.end();
    },
  });
  return thread;
}

async function offerRestart(thread: EngineThread): Promise<void> {
  const restart = vscode.l10n.t('Restart');
  const words = vscode.l10n.t(
    'The part of Context Condenser that reads conversations has ended twice within a minute, and is not started again by itself.',
  );
  if ((await showWarningMessage(words, restart)) === restart) thread.wake();
}
