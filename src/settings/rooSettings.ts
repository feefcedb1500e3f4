/**
 * Settings of Roo Code (and Zoo, Kilo up to 5, which kept the form) as "Export" of its settings writes them:
 * `{ providerProfiles: { apiConfigs }, globalSettings }` (Roo-Code, src/core/config/importExport.ts and
 * packages/types/src/{global,provider}-settings.ts). Newer versions left some of the fields out; all are optional here.
 */
import * as z from 'zod';
import { promptProblems } from '../core/condense/summary/prompt';
import { isRecord } from '../core/messages/blocks';
import { INHERIT_THRESHOLD, MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD } from '../core/condense/thresholds';
import { freeId } from '../core/freeId';
import { profileSchema, type ApiProfile } from './profiles';

/** A setting of this extension that Roo's settings give a value for. */
export interface ImportedSetting {
  /** Without the prefix `contextCondenser.`. */
  readonly name: 'automatic' | 'threshold' | 'condensingPrompt' | 'condensingProfile';
  readonly value: boolean | number | string;
  /** Roo's name of it. */
  readonly from: string;
}

export interface ImportedProfile {
  readonly profile: ApiProfile;
  /** As the file holds it; it belongs into the secret store and nowhere else. */
  readonly key: string | undefined;
}

export interface RooImport {
  readonly settings: readonly ImportedSetting[];
  readonly profiles: readonly ImportedProfile[];
  /** What could not be taken over, each with the reason. */
  readonly left: readonly string[];
}

const text = z.string().optional().catch(undefined);
const rooProfileSchema = z.looseObject({ id: text, apiProvider: text });
const exportSchema = z.object({
  providerProfiles: z.object({ apiConfigs: z.record(z.string(), rooProfileSchema) }).optional(),
  globalSettings: z.looseObject({}).optional(),
});

type RooProfile = z.output<typeof rooProfileSchema>;

/** How a provider of Roo is called here, and the fields that its model, address and key stand in. */
interface Translation {
  readonly vendor: ApiProfile['vendor'];
  readonly model: string;
  readonly key?: string;
  readonly url?: string;
  /** Where Roo calls it when no address is set. */
  readonly defaultUrl?: string;
  readonly api?: ApiProfile['api'];
  readonly region?: string;
  readonly projectId?: string;
}

/** Providers that speak a protocol that a profile knows. The addresses are those of Roo's own handlers (src/api/providers). */
const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  anthropic: { vendor: 'anthropic', model: 'apiModelId', key: 'apiKey', url: 'anthropicBaseUrl' },
  'openai-native': {
    vendor: 'openai',
    model: 'apiModelId',
    key: 'openAiNativeApiKey',
    url: 'openAiNativeBaseUrl',
    api: 'responses',
  },
  openai: { vendor: 'openai', model: 'openAiModelId', key: 'openAiApiKey', url: 'openAiBaseUrl' },
  openrouter: {
    vendor: 'openai',
    model: 'openRouterModelId',
    key: 'openRouterApiKey',
    url: 'openRouterBaseUrl',
    defaultUrl: 'https://openrouter.ai/api/v1',
  },
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
    defaultUrl: 'http://localhost:1234/v1',
  },
  bedrock: { vendor: 'bedrock', model: 'apiModelId', region: 'awsRegion' },
  vertex: { vendor: 'vertex', model: 'apiModelId', region: 'vertexRegion', projectId: 'vertexProjectId' },
};

/**
 * What Roo's exported settings mean here. Nothing is written.
 * @param taken ids of the profiles that there are.
 * @throws Error where the text is no such export; its message says what was found.
 */
export function readRooSettings(json: string, taken: readonly string[]): RooImport {
  const parsed = exportSchema.safeParse(parseJson(json));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.map(String).join('.') ?? '';
    throw new Error(
      `is no export of Roo Code's settings: ${place === '' ? 'the file' : place}: ${issue?.message ?? ''}`,
    );
  }
  const { providerProfiles, globalSettings = {} } = parsed.data;
  if (!providerProfiles && !parsed.data.globalSettings) {
    throw new Error("is no export of Roo Code's settings: it holds neither providerProfiles nor globalSettings");
  }
  const left: string[] = [];
  const profiles: ImportedProfile[] = [];
  /** From Roo's ids to ours. */
  const ids = new Map<string, string>();
  const thresholds = isRecord(globalSettings['profileThresholds']) ? globalSettings['profileThresholds'] : {};
  for (const [name, roo] of Object.entries(providerProfiles?.apiConfigs ?? {})) {
    const id = freeId(name, [...taken, ...ids.values()], 'roo');
    const translated = translate(name, id, roo, thresholdOf(roo, thresholds));
    if (typeof translated === 'string') {
      left.push(translated);
      continue;
    }
    profiles.push(translated);
    ids.set(roo.id ?? name, id);
  }
  return { settings: settingsOf(globalSettings, ids, left), profiles, left };
}

function settingsOf(
  roo: Readonly<Record<string, unknown>>,
  ids: ReadonlyMap<string, string>,
  left: string[],
): ImportedSetting[] {
  const settings: ImportedSetting[] = [];
  const { autoCondenseContext, autoCondenseContextPercent, customCondensingPrompt, condensingApiConfigId } = roo;
  if (typeof autoCondenseContext === 'boolean') {
    settings.push({ name: 'automatic', value: autoCondenseContext, from: 'autoCondenseContext' });
  }
  if (autoCondenseContextPercent !== undefined) {
    if (isThreshold(autoCondenseContextPercent)) {
      settings.push({ name: 'threshold', value: autoCondenseContextPercent, from: 'autoCondenseContextPercent' });
    } else {
      left.push(`autoCondenseContextPercent is not ${MIN_CONDENSE_THRESHOLD} to ${MAX_CONDENSE_THRESHOLD}`);
    }
  }
  if (typeof customCondensingPrompt === 'string' && customCondensingPrompt.trim() !== '') {
    const [problem] = promptProblems(customCondensingPrompt);
    if (problem) left.push(`customCondensingPrompt: ${problem.message}`);
    else settings.push({ name: 'condensingPrompt', value: customCondensingPrompt, from: 'customCondensingPrompt' });
  }
  if (typeof condensingApiConfigId === 'string' && condensingApiConfigId !== '') {
    const id = ids.get(condensingApiConfigId);
    if (id === undefined) left.push('condensingApiConfigId names a profile that was not taken over');
    else settings.push({ name: 'condensingProfile', value: id, from: 'condensingApiConfigId' });
  }
  return settings;
}

/** A profile of ours, or why there is none. */
function translate(name: string, id: string, roo: RooProfile, threshold: number | undefined): ImportedProfile | string {
  const by = TRANSLATIONS[roo.apiProvider ?? ''];
  if (!by || !Object.hasOwn(TRANSLATIONS, roo.apiProvider ?? '')) {
    return `profile "${name}": the provider "${roo.apiProvider ?? ''}" has no counterpart here`;
  }
  const field = (key: string | undefined): string | undefined => {
    const value = key === undefined ? undefined : roo[key];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
  };
  const baseUrl = field(by.url) ?? by.defaultUrl;
  const region = field(by.region);
  const projectId = field(by.projectId);
  const profile = profileSchema.safeParse({
    id,
    name: name.slice(0, 500),
    vendor: by.vendor,
    model: field(by.model),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(by.api && { api: by.api }),
    ...(region !== undefined && { region }),
    ...(projectId !== undefined && { projectId }),
    ...(threshold !== undefined && { threshold }),
  });
  if (profile.success) return { profile: profile.data, key: field(by.key) };
  const [issue] = profile.error.issues;
  return `profile "${name}": ${issue?.path.map(String).join('.') ?? ''} ${issue?.message ?? ''}`;
}

function thresholdOf(roo: RooProfile, thresholds: Readonly<Record<string, unknown>>): number | undefined {
  const value = roo.id === undefined ? undefined : thresholds[roo.id];
  return value === INHERIT_THRESHOLD || isThreshold(value) ? value : undefined;
}

const isThreshold = (value: unknown): value is number =>
  typeof value === 'number' && value >= MIN_CONDENSE_THRESHOLD && value <= MAX_CONDENSE_THRESHOLD;

/** What JSON.parse says would quote the file, and the file holds keys: only the place is told. */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    const [place = ''] = /position \d+/.exec(String(error)) ?? [];
    throw new Error(place === '' ? 'is no JSON' : `is no JSON from ${place} on`);
  }
}
