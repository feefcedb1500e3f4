import * as vscode from 'vscode';
import { formatReadablePath } from '../../core/readablePath';
import type { ConfigProblem } from '../../core/condense/types';
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings } from '../../settings/table';
import {
  getEffectiveValue,
  isWorkspaceLessCareful,
  listWorkspaceQuestions,
  type SettingValues,
} from '../../settings/workspaceRules';
import type { Services } from '../services';
import { createBuiltInProviders, SettingRules } from './settingRules';
import { isAnsweredWithAllow, setAnswerStore, WorkspaceAsker } from './workspaceAnswers';
import { showInformationMessage, showWarningMessage } from '../notifications';
import { isEqual } from '../../core/isEqual';

const SETTINGS_SECTION = 'contextCondenser';

/**
 * Uses the workspace's value if allowed, else the user's, or the default. An invalid value counts
 * as the default.
 */
export const readSetting = <N extends SettingName>(name: N): Settings[N] =>
  SETTINGS[name].parse(getEffectiveSetting(name)).value;

/** Returns the effective value, without validating it. */
export const getEffectiveSetting = (name: SettingName): unknown =>
  getEffectiveValue(name, getSettingValuesByScope, isAnsweredWithAllow);

/** Reads without a resource: with one, VS Code logs two warnings for each setting. */
export const getConfiguration = (): vscode.WorkspaceConfiguration =>
  vscode.workspace.getConfiguration(SETTINGS_SECTION, null);

/** A setting's values in the form in which VS Code reports them, not validated. */
interface CachedSetting {
  readonly all: unknown;
  readonly defaultValue?: unknown;
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
}

let settingsCache: Map<SettingName, CachedSetting> | undefined;
let isWatching = false;

/**
 * Clears the cache on changes, because VS Code can report one in the same event loop turn in which
 * settings were read.
 */
function watchSettingsOnce(): void {
  if (isWatching) return;
  isWatching = true;
  vscode.workspace.onDidChangeConfiguration(() => (settingsCache = undefined));
}

/**
 * Reads each setting once per task: VS Code takes 0.1 ms per read, and a single request reads
 * hundreds.
 */
function getCachedSetting(name: SettingName): CachedSetting {
  watchSettingsOnce();
  if (!settingsCache) {
    settingsCache = new Map();
    queueMicrotask(() => (settingsCache = undefined));
  }
  const cachedSetting = settingsCache.get(name);
  if (cachedSetting) return cachedSetting;
  const configuration = getConfiguration();
  const inspectedSetting = { ...configuration.inspect<unknown>(name), all: configuration.get<unknown>(name) };
  settingsCache.set(name, inspectedSetting);
  return inspectedSetting;
}

export function getSettingValuesByScope(name: SettingName): SettingValues {
  const { all, defaultValue, globalValue, workspaceValue } = getCachedSetting(name);
  return { all, user: globalValue ?? defaultValue, workspace: workspaceValue };
}

/**
 * Returns the user's own value without validating it, even if a workspace overrides it. Undefined
 * if not set.
 */
export const getUserSetting = (name: SettingName): unknown => getCachedSetting(name).globalValue;

/** Writes a value into the user's settings. Undefined removes the setting. */
export const saveUserSetting = (name: SettingName, value: unknown): Thenable<void> =>
  getConfiguration().update(name, value, vscode.ConfigurationTarget.Global);

/**
 * The default provider is saved by removing the setting, because a provider that is set explicitly
 * runs alone.
 */
export async function saveSettingAndShowOverride<N extends SettingName>(name: N, value: Settings[N]): Promise<void> {
  const isDefault = name === 'provider' && value === SETTINGS.provider.default;
  await saveUserSetting(name, isDefault ? undefined : value);
  const { workspace } = getSettingValuesByScope(name);
  if (workspace === undefined || isEqual(readSetting(name), value)) return;
  void showWorkspaceOverride(`${SETTINGS_SECTION}.${name}`, workspace);
}

async function showWorkspaceOverride(name: string, value: unknown): Promise<void> {
  const openLabel = vscode.l10n.t('Open Workspace Settings');
  const text = vscode.l10n.t(
    'Saved in your user settings. This workspace sets {0} to {1}, which applies here.',
    name,
    JSON.stringify(value),
  );
  if ((await showInformationMessage(text, openLabel)) === openLabel)
    await vscode.commands.executeCommand('workbench.action.openWorkspaceSettingsFile');
}

/**
 * True if the setting is set anywhere, including by another extension's `configurationDefaults`.
 */
export function isSettingConfigured(name: SettingName): boolean {
  const { defaultValue, globalValue, workspaceValue } = getCachedSetting(name);
  const isOwnDefault = defaultValue === undefined || isEqual(defaultValue, SETTINGS[name].default);
  return globalValue !== undefined || workspaceValue !== undefined || !isOwnDefault;
}

export function listSettingProblems(): string[] {
  const rules = new SettingRules(createBuiltInProviders(() => readSetting('presets')));
  const names = SETTING_NAMES.filter(isSettingConfigured);
  const formatProblem = (name: SettingName, { path, message }: ConfigProblem, consequence: string): string =>
    `Setting ${formatSettingPath(name, path)}: ${message}. ${consequence}`;
  const invalidSettings = names.flatMap((name) => {
    const value = getEffectiveSetting(name);
    // An unknown provider ID is no mistake, because other extensions register later.
    const problems = name === 'provider' ? SETTINGS[name].parse(value).problems : rules.findProblems(name, value);
    return problems.map((problem) => formatProblem(name, problem, rules.describeConsequence(name, value)));
  });
  const ignoredFields = names.flatMap((name) =>
    rules
      .findUnknownFields(name, getEffectiveSetting(name))
      .map((problem) => formatProblem(name, problem, 'It is ignored.')),
  );
  const weakenedSettings = names.flatMap((name) => describeWeakerWorkspaceSetting(name) ?? []);
  const condensingProfileId = readSetting('condensingProfile');
  const isKnownProfile =
    condensingProfileId === '' || readSetting('profiles').some(({ id }) => id === condensingProfileId);
  return isKnownProfile
    ? [...invalidSettings, ...ignoredFields, ...weakenedSettings]
    : [
        ...invalidSettings,
        ...ignoredFields,
        ...weakenedSettings,
        `Setting ${SETTINGS_SECTION}.condensingProfile: there is no model with the ID ${JSON.stringify(condensingProfileId)}. No model is called.`,
      ];
}

/**
 * Returns `contextCondenser.truncation.images`, or `contextCondenser.profiles › “Work” ›
 * threshold`.
 */
function formatSettingPath(name: SettingName, path: string): string {
  const readablePath = formatReadablePath(getEffectiveSetting(name), path);
  if (readablePath === path) return [SETTINGS_SECTION, name, path].filter((part) => part !== '').join('.');
  return `${SETTINGS_SECTION}.${name} › ${readablePath}`;
}

/**
 * Explains that a workspace's value is ignored because it is less careful than the user's;
 * undefined if it isn't ignored.
 */
export function describeWeakerWorkspaceSetting(name: SettingName): string | undefined {
  const { workspace, user } = getSettingValuesByScope(name);
  if (!isWorkspaceLessCareful(name, workspace, user)) return undefined;
  const rule = SETTINGS[name].workspace === 'lower' ? 'lower' : 'raise';
  return `Setting ${SETTINGS_SECTION}.${name}: a workspace can only ${rule} it. ${JSON.stringify(readSetting(name))} is used.`;
}

const watchedServices = new WeakSet<Services>();

/**
 * Reports invalid settings once, now and when they change, and asks for consent to settings of the
 * workspace.
 */
export function watchSettings(services: Services): void {
  if (watchedServices.has(services)) return;
  watchedServices.add(services);
  setAnswerStore(services.context.workspaceState);
  const workspaceAsker = new WorkspaceAsker(services);
  let knownProblems: readonly string[] = [];
  const checkSettings = (): void => {
    const problems = listSettingProblems();
    const newProblems = problems.filter((problem) => !knownProblems.includes(problem));
    knownProblems = problems;
    for (const problem of newProblems) services.log.warn(problem);
    if (newProblems.length > 0) void showSettingProblems(newProblems);
    workspaceAsker.askQuestions(listWorkspaceQuestions(getSettingValuesByScope));
  };
  services.context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(SETTINGS_SECTION)) checkSettings();
    }),
  );
  checkSettings();
}

async function showSettingProblems([firstProblem = '', ...otherProblems]: readonly string[]): Promise<void> {
  const openLabel = vscode.l10n.t('Open Settings');
  const moreText =
    otherProblems.length === 0
      ? []
      : [
          otherProblems.length === 1
            ? vscode.l10n.t('1 more problem is in the log.')
            : vscode.l10n.t('{0} more problems are in the log.', otherProblems.length),
        ];
  const choice = await showWarningMessage([firstProblem, ...moreText].join(' '), openLabel);
  if (choice === openLabel) await vscode.commands.executeCommand(`${SETTINGS_SECTION}.openSettings`);
}
