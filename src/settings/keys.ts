/** Stores the keys of profiles, only in VS Code's SecretStorage. */
import { ApiError } from '../api/apiError';
import { getKeyTarget, type ApiProfile } from './profiles';

/** The members of `vscode.SecretStorage` that we use. */
export interface SecretStore {
  get(name: string): PromiseLike<string | undefined>;
  store(name: string, value: string): PromiseLike<void>;
  delete(name: string): PromiseLike<void>;
}

const getSecretName = (id: string): string => `contextCondenser.profileKey.${id}`;

export type StoredKeyState =
  | { readonly kind: 'set'; readonly key: string }
  | { readonly kind: 'missing' }
  /** The key was entered for a different endpoint, so it isn't sent. */
  | { readonly kind: 'other-endpoint'; readonly givenFor: string };

export async function readApiKey(secrets: SecretStore, profile: ApiProfile): Promise<StoredKeyState> {
  const storedKey = parseStoredKey(await secrets.get(getSecretName(profile.id)));
  if (!storedKey) return { kind: 'missing' };
  return storedKey.target === getKeyTarget(profile)
    ? { kind: 'set', key: storedKey.key }
    : { kind: 'other-endpoint', givenFor: storedKey.target };
}

/** @throws {ApiError} kind `auth` if the key was entered for another endpoint */
export async function getKeyForEndpoint(secrets: SecretStore, profile: ApiProfile): Promise<string | undefined> {
  const state = await readApiKey(secrets, profile);
  if (state.kind !== 'other-endpoint') return state.kind === 'set' ? state.key : undefined;
  const sentence = `The key was given for ${state.givenFor}, but the model now has another endpoint. It was not sent there.`;
  throw new ApiError('auth', { name: profile.name, sentence });
}

/** Stores the key only in SecretStorage, together with its endpoint. */
export async function storeApiKey(secrets: SecretStore, profile: ApiProfile, key: string): Promise<void> {
  await secrets.store(getSecretName(profile.id), JSON.stringify({ key, target: getKeyTarget(profile) }));
}

/** @param id the profile's ID */
export async function deleteApiKey(secrets: SecretStore, id: string): Promise<void> {
  await secrets.delete(getSecretName(id));
}

function parseStoredKey(text: string | undefined): { key: string; target: string } | undefined {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as { key?: unknown; target?: unknown } | null;
    const { key, target } = value ?? {};
    return typeof key === 'string' && typeof target === 'string' ? { key, target } : undefined;
  } catch {
    return undefined;
  }
}
