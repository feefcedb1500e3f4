import { loadPriceTable } from '../api/prices';
import { createSummarizer, type SummarizerOptions } from '../api/summarizer';
import type { LanguageModels } from '../api/vscodeLm';
import type { Summarizer, Unavailable } from '../core/condense/summarizer';
import { errorMessage } from '../core/errors';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { readKey, type SecretStore } from './keys';
import { handlerFor } from './profileHandler';
import { getKnownModel } from './profileModel';
import type { ApiProfile } from './profiles';

export interface SummarizerParts {
  readonly counter: MessageCounter;
  readonly secrets: SecretStore;
  readonly models?: LanguageModels;
  /** The model's tokens for one o200k token, where calls have shown it. */
  readonly tokenFactor?: (model: string) => number | undefined;
  /** The user's settings for summaries by a profile's model. */
  readonly preferences?: (profile: ApiProfile) => SummarizerOptions['preferences'];
  /** Default: by the token. */
  readonly billing?: SummarizerOptions['billing'];
}

/** The model of a profile, ready to be called; or why it isn't. */
export async function summarizerFor(profile: ApiProfile, parts: SummarizerParts): Promise<Summarizer | Unavailable> {
  const { vendor, model: id, baseUrl, name } = profile;
  const state = await readKey(parts.secrets, profile);
  if (state.kind === 'other-endpoint') {
    const reason = `its key was given for ${state.givenFor}, and the profile now names another endpoint. Set the key again.`;
    return { profile: name, reason };
  }
  const { contextWindow, prices, tokenFactor } = getKnownModel(profile, await loadPriceTable());
  try {
    const handler = handlerFor(profile, state.kind === 'set' ? state.key : undefined, {
      counter: parts.counter,
      ...(parts.models && { models: parts.models }),
      ...(contextWindow !== undefined && { contextWindow }),
    });
    return createSummarizer({
      profile: name,
      handler,
      vendor: baseUrl === undefined ? vendor : new URL(baseUrl).host,
      ...(prices && { prices }),
      ...(parts.billing && { billing: parts.billing }),
      cacheLifetime: profile.cacheLifetime ?? 'none',
      tokenFactor: parts.tokenFactor?.(id) ?? tokenFactor,
      ...(parts.preferences && { preferences: parts.preferences(profile) ?? {} }),
    });
  } catch (error) {
    // The reason stands behind the profile's name, with which errors of a vendor begin, too.
    const message = errorMessage(error);
    return { profile: name, reason: message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message };
  }
}
