/**
 * A trusted workspace's settings can be more careful than the user's and choose how to condense;
 * other models or prompts need the user's consent. Untrusted workspaces set nothing. The settings
 * table has the rules.
 */
import { findPresetById, type Preset } from '../core/condense/providers/smart/presets';
import { resolveSmartConfig } from '../core/condense/providers/smart';
import { listRequestedModels, type RequestedModel } from '../core/condense/providers/smart/config';
import { resolveStrategy } from '../core/condense/providers/strategy';
import { needsModelOrExtension } from '../core/condense/types';
import { hashText } from '../core/hash';
import { isRecord } from '../core/messages/blocks';
import type { ApiProfile } from './profiles';
import { SETTINGS, type SettingName, type Settings } from './table';

/** A setting's unvalidated values in the settings files; undefined if not set. */
export interface SettingValues {
  /** VS Code's effective value: the workspace's over the user's, with objects merged. */
  readonly all: unknown;
  readonly user: unknown;
  readonly workspace: unknown;
}

/** True if no workspace can set this setting. */
export const isUserOnlySetting = (name: SettingName): boolean =>
  SETTINGS[name].scope === 'machine' || SETTINGS[name].scope === 'application';

/** True if the workspace's value must be ignored, because the user's is more careful. */
export function isWorkspaceLessCareful(name: SettingName, workspace: unknown, user: unknown): boolean {
  const { workspace: rule, parse } = SETTINGS[name];
  if (workspace === undefined || (rule !== 'lower' && rule !== 'higher')) return false;
  // An invalid value counts as the default, which may be less careful than the user's value.
  const [theirs, own] = [Number(parse(workspace).value), Number(parse(user).value)];
  return rule === 'lower' ? theirs > own : theirs < own;
}

/** These settings determine which models are called; one answer of the user covers all. */
export const PROVIDER_CHOICE_SETTINGS = [
  'provider',
  'smart',
  'strategy',
  'presets',
] as const satisfies readonly SettingName[];

/**
 * Returns the value that applies, without validating it.
 * @param isAllowed whether the user agreed to the question with this key
 */
export function getEffectiveValue(
  name: SettingName,
  getValues: (name: SettingName) => SettingValues,
  isAllowed: (key: string) => boolean,
): unknown {
  const values = getValues(name);
  if (values.workspace === undefined) return values.all;
  if (SETTINGS[name].workspace === 'asks') {
    const { choice, prompt } = listWorkspaceQuestions(getValues);
    const question = name === 'condensingPrompt' ? prompt : choice;
    if (question && !isAllowed(question.key)) return values.user;
  }
  if (isUserOnlySetting(name) || isWorkspaceLessCareful(name, values.workspace, values.user)) return values.user;
  return dropWeakeningValues(name, values);
}

/**
 * The user's values apply instead of a workspace's minimum coherence, which could discard paid
 * results, or Summary options such as disabling masking.
 */
function dropWeakeningValues(name: SettingName, { all, user, workspace }: SettingValues): unknown {
  if (name === 'smart' && isRecord(workspace) && isRecord(all) && Object.hasOwn(workspace, 'coherenceFloor')) {
    const { coherenceFloor } = isRecord(user) ? user : {};
    return { ...all, coherenceFloor };
  }
  if (name === 'presets' && workspace !== undefined && Array.isArray(all)) {
    return (all as unknown[]).map((preset) =>
      isRecord(preset) ? { ...preset, config: dropCoherenceFloor(preset['config']) } : preset,
    );
  }
  if (name === 'strategy' && isRecord(workspace) && isRecord(all) && Array.isArray(workspace['steps'])) {
    return { ...all, steps: workspace['steps'].map(dropStepOptions) };
  }
  return all;
}

const dropCoherenceFloor = (config: unknown): unknown =>
  isRecord(config)
    ? Object.fromEntries(Object.entries(config).filter(([field]) => field !== 'coherenceFloor'))
    : config;

function dropStepOptions(step: unknown): unknown {
  if (!isRecord(step)) return step;
  const { config, ...rest } = step;
  return rest['provider'] === 'native' || config === undefined ? rest : { ...rest, config: dropCoherenceFloor(config) };
}

/**
 * A question about a workspace's settings. It is asked once, and again if what they request
 * changes.
 */
export interface WorkspaceQuestion {
  /** Identifies the question, for remembering its answer. */
  readonly key: string;
  /** Profiles that only the workspace's settings would call. */
  readonly profiles: readonly ApiProfile[];
  /** Prompts that the workspace wants to send to models. */
  readonly prompts: readonly string[];
}

export interface WorkspaceQuestions {
  /** The question about {@link PROVIDER_CHOICE_SETTINGS}. */
  readonly choice?: WorkspaceQuestion;
  /** The question about `condensingPrompt`. */
  readonly prompt?: WorkspaceQuestion;
}

/**
 * Returns the questions about the workspace's settings. No question is asked about effects that the
 * user's own settings also have.
 */
export function listWorkspaceQuestions(getValues: (name: SettingName) => SettingValues): WorkspaceQuestions {
  const isSilent = (name: SettingName): boolean => getValues(name).workspace === undefined;
  // Most workspaces set nothing here. Then the user's settings need not be read.
  if (PROVIDER_CHOICE_SETTINGS.every(isSilent) && isSilent('condensingPrompt')) return {};
  const profiles = SETTINGS.profiles.parse(getValues('profiles').user).value;
  const condensing = SETTINGS.condensingProfile.parse(getValues('condensingProfile').user).value;
  const listProfiles = (models: readonly RequestedModel[]): readonly ApiProfile[] => {
    // As in `createWindowModels`, a missing profile falls back to the one for condensing.
    const ids = models.map(
      ({ apiProfile }) => profiles.find(({ id, name }) => id === apiProfile || name === apiProfile)?.id ?? condensing,
    );
    return profiles.filter(({ id }) => ids.includes(id));
  };
  const workspaceNames = PROVIDER_CHOICE_SETTINGS.filter((name) => !isSilent(name));
  const userSettings = makeChoiceSettings((name) => getValues(name).user);
  const combinedSettings = makeChoiceSettings((name) => dropWeakeningValues(name, getValues(name)));
  const ownModels = listModelsCalledBySetting('provider', userSettings);
  const models = workspaceNames.flatMap((name) => listModelsCalledBySetting(name, combinedSettings));
  const ownPrompts = new Set(
    PROVIDER_CHOICE_SETTINGS.flatMap((name) => listModelsCalledBySetting(name, userSettings)).map(
      ({ prompt }) => prompt,
    ),
  );
  const newProfiles = listProfiles(models).filter((profile) => !listProfiles(ownModels).includes(profile));
  const prompts = [...new Set(models.map(({ prompt }) => prompt))].filter(
    (text) => text !== '' && !ownPrompts.has(text),
  );
  const { workspace } = getValues('condensingPrompt');
  const prompt = SETTINGS.condensingPrompt.parse(workspace).value;
  return {
    ...((newProfiles.length > 0 || prompts.length > 0) && {
      choice: makeWorkspaceQuestion('choice', newProfiles, prompts),
    }),
    ...(prompt !== '' &&
      prompt !== SETTINGS.condensingPrompt.parse(getValues('condensingPrompt').user).value && {
        prompt: makeWorkspaceQuestion('prompt', [], [prompt]),
      }),
  };
}

function makeWorkspaceQuestion(
  kind: keyof WorkspaceQuestions,
  profiles: readonly ApiProfile[],
  prompts: readonly string[],
): WorkspaceQuestion {
  // Include vendor and model, because an ID may later refer to another vendor's model.
  const profileKeys = profiles.map(({ id, vendor, model, baseUrl }) => [id, vendor, model, baseUrl ?? '']);
  return { key: hashText(JSON.stringify([kind, profileKeys, prompts])), profiles, prompts };
}

type ChoiceSettings = Pick<Settings, (typeof PROVIDER_CHOICE_SETTINGS)[number]>;

const makeChoiceSettings = (getValue: (name: SettingName) => unknown): ChoiceSettings => ({
  provider: SETTINGS.provider.parse(getValue('provider')).value,
  smart: SETTINGS.smart.parse(getValue('smart')).value,
  strategy: SETTINGS.strategy.parse(getValue('strategy')).value,
  presets: SETTINGS.presets.parse(getValue('presets')).value,
});

/** Summary and other extensions' providers may call the profile for condensing. */
const CONDENSING_MODEL_REQUESTED: readonly RequestedModel[] = [{ apiProfile: undefined, prompt: '' }];

const listModelsRequestedByProvider = (id: string): readonly RequestedModel[] =>
  needsModelOrExtension(id) ? CONDENSING_MODEL_REQUESTED : [];

function listModelsCalledBySetting(
  name: (typeof PROVIDER_CHOICE_SETTINGS)[number],
  settings: ChoiceSettings,
): readonly RequestedModel[] {
  switch (name) {
    case 'provider':
      if (settings.provider === 'smart' || settings.provider === 'strategy')
        return listModelsCalledBySetting(settings.provider, settings);
      return listModelsRequestedByProvider(settings.provider);
    case 'smart':
      return listModelsCalledBySmart(settings.smart, settings.presets);
    case 'presets':
      return settings.presets.flatMap(({ config }) => listModelsCalledBySmart(config, []));
    case 'strategy': {
      // Use the default strategy instead of an invalid one.
      const strategy = [settings.strategy, undefined].map(resolveStrategy).find(({ valid }) => valid);
      if (!strategy?.valid) return CONDENSING_MODEL_REQUESTED;
      return strategy.config.steps.flatMap(({ provider, preset, config }) => {
        if (preset !== undefined) {
          const knownPreset = findPresetById(preset, settings.presets);
          return knownPreset ? listModelsCalledBySmart(knownPreset.config, []) : [];
        }
        if (provider === 'smart') return listModelsCalledBySmart(config, []);
        return provider === undefined ? [] : listModelsRequestedByProvider(provider);
      });
    }
  }
}

function listModelsCalledBySmart(config: unknown, presets: readonly Preset[]): readonly RequestedModel[] {
  const checked = resolveSmartConfig(config, presets);
  return checked.valid ? listRequestedModels(checked.config) : [];
}
