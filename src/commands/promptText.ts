import * as vscode from 'vscode';
import type { SummarizerModel } from '../core/condense/summarizer';
import { chooseSummaryPrompt } from '../settings/profiles';
import { runInBackground } from '../window/background';
import type { Services } from '../window/services';
import { readModelSettings } from '../window/settings/modelSettings';
import { readNativeConfig } from '../window/settings/providerConfig';

/**
 * Stands for the condensing model. A model affects only where the conversation is split, unless its
 * profile has a prompt of its own.
 */
const PLACEHOLDER_MODEL: SummarizerModel = {
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
  /**
   * Name of the condensing profile if it has a prompt of its own, which is used instead of the one
   * previewed.
   */
  readonly profile?: string;
}

/**
 * Returns the prompt for a conversation. Sends nothing and needs no profile.
 * @throws the signal's reason if aborted
 */
export async function createPrompt(
  services: Services,
  path: string,
  prompt: string,
  signal: AbortSignal,
): Promise<PromptText> {
  const { condensing } = readModelSettings();
  const model = { ...PLACEHOLDER_MODEL, prompt: chooseSummaryPrompt(condensing, prompt) };
  const task = { kind: 'prompt', path, history: 'active', config: readNativeConfig(), model } as const;
  const plannedPrompt = await runInBackground(services, task, signal);
  if (!plannedPrompt) return { text: vscode.l10n.t('There is not enough to condense in this conversation.') };
  const text = `${plannedPrompt.system}\n\n────────\n\n${plannedPrompt.prompt}`;
  return { text, ...(condensing && model.prompt !== prompt && { profile: condensing.name }) };
}
