import * as vscode from 'vscode';
import type { SummarizerModel } from '../core/condense/summarizer';
import { choosePrompt } from '../settings/profiles';
import { inBackground } from '../window/background';
import type { Services } from '../window/services';
import { modelSettings } from '../window/settings/modelSettings';
import { nativeConfig } from '../window/settings/providerConfig';

/** Stands for any model: its own prompt aside, what a prompt says doesn't hang on who reads it, only where the conversation is parted. */
const ANY_MODEL: SummarizerModel = {
  profile: '',
  vendor: '',
  model: '',
  accounting: 'anthropic',
  tokenFactor: 1,
  billing: 'included',
  cacheLifetime: 'none',
};

export interface PromptText {
  readonly text: string;
  /** The name of the condensing profile, where it has a prompt of its own, which takes the place of the one that was asked about. */
  readonly profile?: string;
}

/**
 * The first request that Native would send for a file if this were the prompt of the settings. Nothing is sent, and no profile
 * is needed.
 * @throws the signal's reason where it was aborted.
 */
export async function promptFor(
  services: Services,
  path: string,
  prompt: string,
  signal: AbortSignal,
): Promise<PromptText> {
  const { condensing } = modelSettings();
  const model = { ...ANY_MODEL, prompt: choosePrompt(condensing, prompt) };
  const task = { kind: 'prompt', path, history: 'active', config: nativeConfig(), model } as const;
  const planned = await inBackground(services, task, signal);
  if (!planned) return { text: vscode.l10n.t('There is not enough to condense in this conversation.') };
  const text = `${planned.system}\n\n────────\n\n${planned.prompt}`;
  return { text, ...(condensing && model.prompt !== prompt && { profile: condensing.name }) };
}
