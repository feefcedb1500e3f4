/**
 * A workspace's settings may (issue S 4) be more careful than the user's own, choose how conversations are condensed
 * once the user trusts the workspace, and call no model, and tell none anything, that the user's own settings don't, unless
 * the user was asked. The table of settings says which rule holds for which setting.
 */
import { findPreset, type Preset } from '../core/condense/providers/smart/presets';
import { chooseConfig } from '../core/condense/providers/smart';
import { modelsAsked, type AskedModel } from '../core/condense/providers/smart/config';
import { chooseStrategy } from '../core/condense/providers/strategy';
import { isBuiltIn } from '../core/condense/types';
import { hashText } from '../core/hash';
import { isRecord } from '../core/messages/blocks';
import type { ApiProfile } from './profiles';
import { SETTINGS, type SettingName, type Settings } from './table';

/** A setting's values as the files have them, unchecked; undefined where one says nothing. */
export interface SettingValues {
  /** VS Code's merged value: the workspace's before the user's, objects of both laid over each other. */
  readonly all: unknown;
  readonly user: unknown;
  readonly workspace: unknown;
}

/** Whether a workspace can set it at all. */
export const isOfUserAlone = (name: SettingName): boolean =>
  SETTINGS[name].scope === 'machine' || SETTINGS[name].scope === 'application';

/** Whether the workspace's value is less careful than the user's, and so doesn't count. Invalid values are none. */
export function isLessCareful(name: SettingName, workspace: unknown, user: unknown): boolean {
  const { workspace: rule, parse } = SETTINGS[name];
  if (workspace === undefined || (rule !== 'lower' && rule !== 'higher')) return false;
  // An invalid value counts as the default, which may be less careful than what the user chose.
  const [theirs, own] = [Number(parse(workspace).value), Number(parse(user).value)];
  return rule === 'lower' ? theirs > own : theirs < own;
}

/** The settings that say by what conversations are condensed, and so which models are called. One answer holds for all of them. */
export const CHOICE = ['provider', 'smart', 'strategy', 'presets'] as const satisfies readonly SettingName[];

/**
 * The value that counts of a setting, unchecked.
 * @param valuesOf what the files say of each setting.
 * @param isAllowed whether the user has allowed what a question asks, by its key.
 */
export function countedValue(
  name: SettingName,
  valuesOf: (name: SettingName) => SettingValues,
  isAllowed: (key: string) => boolean,
): unknown {
  const values = valuesOf(name);
  if (values.workspace === undefined) return values.all;
  if (SETTINGS[name].workspace === 'asks') {
    const { choice, prompt } = workspaceQuestions(valuesOf);
    const asked = name === 'condensingPrompt' ? prompt : choice;
    if (asked && !isAllowed(asked.key)) return values.user;
  }
  if (isOfUserAlone(name) || isLessCareful(name, values.workspace, values.user)) return values.user;
  return withoutWeakening(name, values);
}

/**
 * The value without what a workspace has no say in: floors under which what was paid for is dropped, and options of its own
 * for Native, such as one that sends keys unmasked. The user's own hold in their place.
 */
function withoutWeakening(name: SettingName, { all, user, workspace }: SettingValues): unknown {
  if (name === 'smart' && isRecord(workspace) && isRecord(all) && Object.hasOwn(workspace, 'coherenceFloor')) {
    const { coherenceFloor } = isRecord(user) ? user : {};
    return { ...all, coherenceFloor };
  }
  if (name === 'presets' && workspace !== undefined && Array.isArray(all)) {
    return (all as unknown[]).map((preset) =>
      isRecord(preset) ? { ...preset, config: withoutFloor(preset['config']) } : preset,
    );
  }
  if (name === 'strategy' && isRecord(workspace) && isRecord(all) && Array.isArray(workspace['steps'])) {
    return { ...all, steps: workspace['steps'].map(withoutOwnOptions) };
  }
  return all;
}

const withoutFloor = (config: unknown): unknown =>
  isRecord(config)
    ? Object.fromEntries(Object.entries(config).filter(([field]) => field !== 'coherenceFloor'))
    : config;

function withoutOwnOptions(step: unknown): unknown {
  if (!isRecord(step)) return step;
  const { config, ...rest } = step;
  return rest['provider'] === 'native' || config === undefined ? rest : { ...rest, config: withoutFloor(config) };
}

/** A workspace's question to the user: asked once, and again when it asks for something else. */
export interface WorkspaceQuestion {
  /** Under which the answer is remembered. */
  readonly key: string;
  /** Profiles that would be called, and that the user's own settings don't call. */
  readonly profiles: readonly ApiProfile[];
  /** Prompts of the workspace that a model would be given. */
  readonly prompts: readonly string[];
}

export interface WorkspaceQuestions {
  /** About {@link CHOICE}. */
  readonly choice?: WorkspaceQuestion;
  /** About `condensingPrompt`. */
  readonly prompt?: WorkspaceQuestion;
}

/** The effects that the workspace's settings have and the user's own don't. */
export function workspaceQuestions(valuesOf: (name: SettingName) => SettingValues): WorkspaceQuestions {
  const isSilent = (name: SettingName): boolean => valuesOf(name).workspace === undefined;
  // Mostly: then nothing is read of what the user's own settings would do.
  if (CHOICE.every(isSilent) && isSilent('condensingPrompt')) return {};
  const profiles = SETTINGS.profiles.parse(valuesOf('profiles').user).value;
  const condensing = SETTINGS.condensingProfile.parse(valuesOf('condensingProfile').user).value;
  const called = (asked: readonly AskedModel[]): readonly ApiProfile[] => {
    // As `modelsOfWindow` selects: where the profile that a pass names isn't there, the one for condensing.
    const ids = asked.map(
      ({ apiProfile }) => profiles.find(({ id, name }) => id === apiProfile || name === apiProfile)?.id ?? condensing,
    );
    return profiles.filter(({ id }) => ids.includes(id));
  };
  const ofWorkspace = CHOICE.filter((name) => !isSilent(name));
  const user = makeChoice((name) => valuesOf(name).user);
  const both = makeChoice((name) => withoutWeakening(name, valuesOf(name)));
  const own = askedBy('provider', user);
  const asked = ofWorkspace.flatMap((name) => askedBy(name, both));
  const known = new Set(CHOICE.flatMap((name) => askedBy(name, user)).map(({ prompt }) => prompt));
  const others = called(asked).filter((profile) => !called(own).includes(profile));
  const prompts = [...new Set(asked.map(({ prompt }) => prompt))].filter((text) => text !== '' && !known.has(text));
  const { workspace } = valuesOf('condensingPrompt');
  const prompt = SETTINGS.condensingPrompt.parse(workspace).value;
  return {
    ...((others.length > 0 || prompts.length > 0) && { choice: question('choice', others, prompts) }),
    ...(prompt !== '' &&
      prompt !== SETTINGS.condensingPrompt.parse(valuesOf('condensingPrompt').user).value && {
        prompt: question('prompt', [], [prompt]),
      }),
  };
}

function question(
  about: keyof WorkspaceQuestions,
  profiles: readonly ApiProfile[],
  prompts: readonly string[],
): WorkspaceQuestion {
  // The same id may come to stand for another vendor's model.
  const called = profiles.map(({ id, vendor, model, baseUrl }) => [id, vendor, model, baseUrl ?? '']);
  return { key: hashText(JSON.stringify([about, called, prompts])), profiles, prompts };
}

type Choice = Pick<Settings, (typeof CHOICE)[number]>;

const makeChoice = (valueOf: (name: SettingName) => unknown): Choice => ({
  provider: SETTINGS.provider.parse(valueOf('provider')).value,
  smart: SETTINGS.smart.parse(valueOf('smart')).value,
  strategy: SETTINGS.strategy.parse(valueOf('strategy')).value,
  presets: SETTINGS.presets.parse(valueOf('presets')).value,
});

/** Native, and a provider of another extension, may call the profile for condensing. */
const CONDENSING: readonly AskedModel[] = [{ apiProfile: undefined, prompt: '' }];

/** The models that a setting's value may call. */
function askedBy(name: (typeof CHOICE)[number], choice: Choice): readonly AskedModel[] {
  switch (name) {
    case 'provider':
      if (choice.provider === 'smart' || choice.provider === 'strategy') return askedBy(choice.provider, choice);
      return choice.provider === 'native' || !isBuiltIn(choice.provider) ? CONDENSING : [];
    case 'smart':
      return askedBySmart(choice.smart, choice.presets);
    case 'presets':
      return choice.presets.flatMap(({ config }) => askedBySmart(config, []));
    case 'strategy': {
      // An invalid value counts as the default.
      const checked = [choice.strategy, undefined].map(chooseStrategy).find(({ valid }) => valid);
      if (!checked?.valid) return CONDENSING;
      return checked.config.steps.flatMap(({ provider, preset, config }) => {
        if (preset !== undefined) {
          const found = findPreset(preset, choice.presets);
          return found ? askedBySmart(found.config, []) : [];
        }
        return provider === 'smart' ? askedBySmart(config, []) : provider === 'native' ? CONDENSING : [];
      });
    }
  }
}

function askedBySmart(config: unknown, presets: readonly Preset[]): readonly AskedModel[] {
  const checked = chooseConfig(config, presets);
  return checked.valid ? modelsAsked(checked.config) : [];
}
