/**
 * Imports settings exported by Roo Code (and Zoo, Kilo up to 5). Source: Roo-Code,
 * src/core/config/importExport.ts and packages/types/src/{global,provider}-settings.ts. All fields
 * are optional, because newer versions dropped some.
 */
import * as z from 'zod';
import { validateCustomPrompt } from '../core/condense/summary/prompt';
import { isRecord } from '../core/messages/blocks';
import { INHERIT_THRESHOLD, MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD } from '../core/condense/trigger/thresholds';
import { makeUnusedId } from '../core/freeId';
import { describeIssue } from '../core/issueWords';
import type { ApiProfile } from './profiles';
import {
  areSameProfile,
  rooProfileSchema,
  translateRooProfile,
  type ImportedProfile,
  type RooProfile,
} from './rooProfiles';

export interface ImportedSetting {
  /** Our setting's name without the prefix `contextCondenser.`. */
  readonly name: 'automatic' | 'threshold' | 'condensingPrompt' | 'condensingProfile';
  readonly value: boolean | number | string;
  /** Roo's name for the setting. */
  readonly from: string;
}

export interface ExistingProfiles {
  readonly profiles: readonly ApiProfile[];
  /** IDs that new profiles can't have: those of all profiles, including invalid ones. */
  readonly taken: readonly string[];
}

export interface ImportedRooSettings {
  readonly settings: readonly ImportedSetting[];
  readonly profiles: readonly ImportedProfile[];
  /** Settings that could not be imported, with reasons. */
  readonly notImported: readonly string[];
}

const rooExportSchema = z.object({
  providerProfiles: z.object({ apiConfigs: z.record(z.string(), rooProfileSchema) }).optional(),
  globalSettings: z.looseObject({}).optional(),
});

/**
 * @param existingProfiles profiles that were imported before are updated, and keep the fields that
 *   Roo doesn't have
 * @throws Error if the text is not an export of Roo
 */
export function readRooSettings(json: string, existingProfiles: ExistingProfiles): ImportedRooSettings {
  const parsed = rooExportSchema.safeParse(parseJson(json));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path.map(String).join('.') ?? '';
    throw new Error(
      `is not an export of Roo Code’s settings: ${path === '' ? 'the file' : path} ${issue ? describeIssue(issue) : ''}`,
    );
  }
  const { providerProfiles, globalSettings = {} } = parsed.data;
  if (!providerProfiles && !parsed.data.globalSettings) {
    throw new Error('is not an export of Roo Code’s settings: it contains neither providerProfiles nor globalSettings');
  }
  const notImported: string[] = [];
  const profiles: ImportedProfile[] = [];
  /** Our profile's ID, by Roo's ID. */
  const idsByRooId = new Map<string, string>();
  const thresholds = isRecord(globalSettings['profileThresholds']) ? globalSettings['profileThresholds'] : {};
  for (const [name, roo] of Object.entries(providerProfiles?.apiConfigs ?? {})) {
    const takenIds = [...existingProfiles.taken, ...idsByRooId.values()];
    const importedProfile = translateRooProfile(
      name,
      makeUnusedId(name, takenIds, 'roo'),
      roo,
      importThreshold(roo, thresholds),
    );
    if (typeof importedProfile === 'string') {
      notImported.push(importedProfile);
      continue;
    }
    const { profile, key } = importedProfile;
    const existingProfile = existingProfiles.profiles.find(
      (other) => areSameProfile(other, profile) && ![...idsByRooId.values()].includes(other.id),
    );
    const id = existingProfile?.id ?? profile.id;
    profiles.push({ profile: { ...existingProfile, ...profile, id }, key });
    idsByRooId.set(roo.id ?? name, id);
  }
  return { settings: importSettings(globalSettings, idsByRooId, notImported), profiles, notImported };
}

function importSettings(
  roo: Readonly<Record<string, unknown>>,
  idsByRooId: ReadonlyMap<string, string>,
  notImported: string[],
): ImportedSetting[] {
  const settings: ImportedSetting[] = [];
  const { autoCondenseContext, autoCondenseContextPercent, condensingApiConfigId } = roo;
  if (typeof autoCondenseContext === 'boolean') {
    settings.push({ name: 'automatic', value: autoCondenseContext, from: 'autoCondenseContext' });
  }
  if (autoCondenseContextPercent !== undefined) {
    if (isValidThreshold(autoCondenseContextPercent)) {
      settings.push({ name: 'threshold', value: autoCondenseContextPercent, from: 'autoCondenseContextPercent' });
    } else {
      notImported.push(`autoCondenseContextPercent is not ${MIN_CONDENSE_THRESHOLD} to ${MAX_CONDENSE_THRESHOLD}`);
    }
  }
  const prompt = importPrompt(roo);
  if (prompt) {
    const [problem] = validateCustomPrompt(prompt.value);
    if (problem) notImported.push(`${prompt.from}: ${problem.message}`);
    else settings.push({ name: 'condensingPrompt', ...prompt });
  }
  if (typeof condensingApiConfigId === 'string' && condensingApiConfigId !== '') {
    const id = idsByRooId.get(condensingApiConfigId);
    if (id === undefined) notImported.push('condensingApiConfigId names a profile that was not imported');
    else settings.push({ name: 'condensingProfile', value: id, from: 'condensingApiConfigId' });
  }
  return settings;
}

/**
 * Imports the condensing prompt, which newer versions of Roo keep only among the support prompts.
 */
function importPrompt(
  roo: Readonly<Record<string, unknown>>,
): { readonly value: string; readonly from: string } | undefined {
  const supportPrompts = roo['customSupportPrompts'];
  const candidates = [
    { value: isRecord(supportPrompts) ? supportPrompts['CONDENSE'] : undefined, from: 'customSupportPrompts.CONDENSE' },
    { value: roo['customCondensingPrompt'], from: 'customCondensingPrompt' },
  ];
  for (const { value, from } of candidates)
    if (typeof value === 'string' && value.trim() !== '') return { value, from };
  return undefined;
}

function importThreshold(roo: RooProfile, thresholds: Readonly<Record<string, unknown>>): number | undefined {
  const value = roo.id === undefined ? undefined : thresholds[roo.id];
  return value === INHERIT_THRESHOLD || isValidThreshold(value) ? value : undefined;
}

const isValidThreshold = (value: unknown): value is number =>
  typeof value === 'number' && value >= MIN_CONDENSE_THRESHOLD && value <= MAX_CONDENSE_THRESHOLD;

/**
 * Reports only where JSON is invalid, because the message of JSON.parse would quote the file, which
 * contains keys.
 */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    const [place = ''] = /position \d+/.exec(String(error)) ?? [];
    throw new Error(place === '' ? 'is not JSON' : `is not JSON from ${place} on`);
  }
}
