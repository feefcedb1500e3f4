import * as vscode from 'vscode';
import { knownOf } from '../background/knownFacts';
import { readConversation } from '../engine/readConversation';
import { engineThreadOf } from '../window/engineThread';
import { firstPrompt, planSummary } from '../core/condense/summary/plan';
import type { SummarizerModel } from '../core/condense/summary/summarizer';
import { promptOf } from '../settings/profiles';
import { counterOf } from '../window/counter';
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
  const conversation = await readConversation(engineThreadOf(services), path, { history: 'active' }, signal);
  const context = {
    messages: conversation.messages,
    edits: [],
    counter: await counterOf(services),
    ...knownOf(conversation),
  };
  const { condensing } = modelSettings();
  const model = { ...ANY_MODEL, prompt: promptOf(condensing, prompt) };
  const plan = await planSummary({ context, config: nativeConfig(), model, signal });
  if (plan.kind !== 'plan') return { text: vscode.l10n.t('There is not enough to condense in this conversation.') };
  const { system, prompt: asked } = firstPrompt(plan);
  const text = `${system}\n\n────────\n\n${asked}`;
  return { text, ...(condensing && model.prompt !== prompt && { profile: condensing.name }) };
}
