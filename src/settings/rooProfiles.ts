import * as z from 'zod';
import { describeIssue } from '../core/issueWords';
import { profileSchema, type ApiProfile } from './profiles';

const optionalTextSchema = z.string().optional().catch(undefined);

/** A profile in Roo's export (Roo-Code, packages/types/src/provider-settings.ts). */
export const rooProfileSchema = z.looseObject({ id: optionalTextSchema, apiProvider: optionalTextSchema });

export type RooProfile = z.output<typeof rooProfileSchema>;

export interface ImportedProfile {
  readonly profile: ApiProfile;
  /** The profile's API key, which must be stored only in the secret store. */
  readonly key: string | undefined;
}

/** Our vendor for one of Roo's providers, and Roo's fields for model, URL and key. */
interface RooProviderTranslation {
  readonly vendor: ApiProfile['vendor'];
  readonly model: string;
  readonly key?: string;
  readonly url?: string;
  /** Roo's URL for the provider if the profile has none. */
  readonly defaultUrl?: string;
  /** The path that Roo appends to the URL. */
  readonly path?: string;
  readonly api?: ApiProfile['api'];
  readonly region?: string;
  readonly projectId?: string;
}

/**
 * By Roo's name of the provider. Only providers with a supported protocol. URLs are from Roo's
 * handlers (src/api/providers).
 */
const TRANSLATION_BY_ROO_PROVIDER: Readonly<Record<string, RooProviderTranslation>> = {
  anthropic: { vendor: 'anthropic', model: 'apiModelId', key: 'apiKey', url: 'anthropicBaseUrl' },
  'openai-native': {
    vendor: 'openai',
    model: 'apiModelId',
    key: 'openAiNativeApiKey',
    url: 'openAiNativeBaseUrl',
    api: 'responses',
  },
  openai: { vendor: 'openai', model: 'openAiModelId', key: 'openAiApiKey', url: 'openAiBaseUrl' },
  openrouter: { vendor: 'openrouter', model: 'openRouterModelId', key: 'openRouterApiKey', url: 'openRouterBaseUrl' },
  deepseek: {
    vendor: 'openai',
    model: 'apiModelId',
    key: 'deepSeekApiKey',
    url: 'deepSeekBaseUrl',
    defaultUrl: 'https://api.deepseek.com',
  },
  litellm: { vendor: 'openai', model: 'litellmModelId', key: 'litellmApiKey', url: 'litellmBaseUrl' },
  lmstudio: {
    vendor: 'openai',
    model: 'lmStudioModelId',
    url: 'lmStudioBaseUrl',
    defaultUrl: 'http://localhost:1234',
    path: '/v1',
  },
  // Roo uses Ollama's own protocol; the OpenAI-compatible one is at /v1 (Ollama, docs/openai.md).
  ollama: {
    vendor: 'openai',
    model: 'ollamaModelId',
    key: 'ollamaApiKey',
    url: 'ollamaBaseUrl',
    defaultUrl: 'http://localhost:11434',
    path: '/v1',
  },
  bedrock: { vendor: 'bedrock', model: 'apiModelId', region: 'awsRegion' },
  vertex: { vendor: 'vertex', model: 'apiModelId', region: 'vertexRegion', projectId: 'vertexProjectId' },
};

export function translateRooProfile(
  name: string,
  id: string,
  roo: RooProfile,
  threshold: number | undefined,
): ImportedProfile | string {
  const translation = TRANSLATION_BY_ROO_PROVIDER[roo.apiProvider ?? ''];
  if (!translation || !Object.hasOwn(TRANSLATION_BY_ROO_PROVIDER, roo.apiProvider ?? '')) {
    return `profile "${name}": the provider "${roo.apiProvider ?? ''}" has no counterpart here`;
  }
  const getField = (key: string | undefined): string | undefined => {
    const value = key === undefined ? undefined : roo[key];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  };
  const address = getField(translation.url) ?? translation.defaultUrl;
  const baseUrl = address === undefined ? undefined : appendPath(address, translation.path);
  const region = getField(translation.region);
  const projectId = getField(translation.projectId);
  const profile = profileSchema.safeParse({
    id,
    name: name.slice(0, 500),
    vendor: translation.vendor,
    model: getField(translation.model),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(translation.api && { api: translation.api }),
    ...(region !== undefined && { region }),
    ...(projectId !== undefined && { projectId }),
    ...(threshold !== undefined && { threshold }),
  });
  if (profile.success) return { profile: profile.data, key: getField(translation.key) };
  const [issue] = profile.error.issues;
  return `profile "${name}": ${issue?.path.map(String).join('.') ?? ''} ${issue ? describeIssue(issue) : ''}`;
}

function appendPath(address: string, path = ''): string {
  const trimmedAddress = path === '' ? address : address.replace(/\/+$/, '');
  return trimmedAddress.endsWith(path) ? trimmedAddress : `${trimmedAddress}${path}`;
}

export const areSameProfile = (one: ApiProfile, other: ApiProfile): boolean =>
  (['name', 'vendor', 'model', 'baseUrl', 'region', 'projectId'] as const).every(
    (field) => one[field] === other[field],
  );
