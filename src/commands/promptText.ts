import { join } from 'node:path';
import * as vscode from 'vscode';
import { knownOf } from '../background/condenseConversation';
import { parseInWorker } from '../conversations/parseInWorker';
import { nativeConfigSchema } from '../core/condense/summary/nativeConfig';
import { firstPrompt, planSummary } from '../core/condense/summary/plan';
import type { SummarizerModel } from '../core/condense/summary/summarizer';
import { counterOf } from '../window/counter';
import type { Services } from '../window/services';

/** Stands for any model: what a prompt says doesn't hang on who reads it, only where the conversation is parted. */
const ANY_MODEL: SummarizerModel = {
  profile: '',
  vendor: '',
  model: '',
  accounting: 'anthropic',
  tokenFactor: 1,
  billing: 'included',
  cacheLifetime: 'none',
};

/**
 * The first request that Native would send for a file with this prompt. Nothing is sent, and no profile is needed.
 * @throws the signal's reason where it was aborted.
 */
export async function promptFor(
  services: Services,
  path: string,
  prompt: string,
  signal: AbortSignal,
): Promise<string> {
  const workerPath = join(services.context.extensionPath, 'dist', 'readerWorker.cjs');
  const conversation = await parseInWorker(path, { workerPath, signal, history: 'active' });
  const context = {
    messages: conversation.messages,
    edits: [],
    counter: await counterOf(services),
    ...knownOf(conversation),
  };
  const plan = await planSummary({ context, config: nativeConfigSchema.parse({ prompt }), model: ANY_MODEL, signal });
  if (plan.kind !== 'plan') return vscode.l10n.t('There is not enough to condense in this conversation.');
  const { system, prompt: asked } = firstPrompt(plan);
  return `${system}\n\n────────\n\n${asked}`;
}
