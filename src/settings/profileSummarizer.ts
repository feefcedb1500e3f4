import { loadPriceTable } from '../api/prices';
import { createSummarizer, type SummarizerOptions } from '../api/summarizer';
import type { LanguageModels } from '../api/vscodeLm';
import type { Summarizer, UnavailableProfile } from '../core/condense/summarizer';
import { getErrorMessage } from '../core/errors';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { readApiKey, type SecretStore } from './keys';
import { createProfileHandler } from './profileHandler';
import { getModelOfProfile } from './profileModel';
import type { ApiProfile } from './profiles';

export interface ProfileSummarizerDependencies {
  readonly counter: MessageCounter;
  readonly secrets: SecretStore;
  readonly models?: LanguageModels;
  /**
   * Returns the model's tokens per o200k token, measured in earlier runs; undefined if there are
   * none.
   */
  readonly tokenFactor?: (model: string) => number | undefined;
  readonly preferences?: (profile: ApiProfile) => SummarizerOptions['preferences'];
  /** How calls are billed; default: per token. */
  readonly billing?: SummarizerOptions['billing'];
}

/** Returns the profile's model, or why it can't be called. */
export async function createProfileSummarizer(
  profile: ApiProfile,
  dependencies: ProfileSummarizerDependencies,
): Promise<Summarizer | UnavailableProfile> {
  const { vendor, model: id, baseUrl, name } = profile;
  const keyState = await readApiKey(dependencies.secrets, profile);
  if (keyState.kind === 'other-endpoint') {
    const reason = `its key was given for ${keyState.givenFor}, but the model now has another endpoint. Set the key again.`;
    return { profile: name, reason };
  }
  const { contextWindow, prices, tokenFactor } = getModelOfProfile(profile, await loadPriceTable());
  try {
    const handler = createProfileHandler(profile, keyState.kind === 'set' ? keyState.key : undefined, {
      counter: dependencies.counter,
      ...(dependencies.models && { models: dependencies.models }),
      ...(contextWindow !== undefined && { contextWindow }),
    });
    return createSummarizer({
      profile: name,
      handler,
      vendor: baseUrl === undefined ? vendor : new URL(baseUrl).host,
      ...(prices && { prices }),
      ...(dependencies.billing && { billing: dependencies.billing }),
      cacheLifetime: profile.cacheLifetime ?? 'none',
      tokenFactor: dependencies.tokenFactor?.(id) ?? tokenFactor,
      ...(dependencies.preferences && { preferences: dependencies.preferences(profile) ?? {} }),
    });
  } catch (error) {
    // Remove the profile's name, with which vendors' errors start.
    const message = getErrorMessage(error);
    return { profile: name, reason: message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message };
  }
}
