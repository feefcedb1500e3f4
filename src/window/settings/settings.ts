/** The settings of this extension, as VS Code holds them now. */
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { ConfigProblem } from '../../core/condense/types';
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings } from '../../settings/table';
import { countedValue, isLessCareful, workspaceQuestions, type SettingValues } from '../../settings/workspaceRules';
import type { Services } from '../services';
import { builtInProviders, SettingRules } from './settingRules';
import { isAllowed, rememberAnswersIn, WorkspaceAsker } from './workspaceAnswers';
import { showInformationMessage, showWarningMessage } from '../notifications';

const SECTION = 'contextCondenser';

/** A setting's value as it counts: of the workspace as far as it may say it, else the user's, or the default. An invalid one counts as the default. */
export const setting = <N extends SettingName>(name: N): Settings[N] => SETTINGS[name].parse(valueOf(name)).value;

/** The value that counts, as it was written, unchecked. */
export const valueOf = (name: SettingName): unknown => countedValue(name, valuesOf, isAllowed);

/** For no resource in particular: where none is named, VS Code writes two warnings into its log for each setting that is read. */
const configurationNow = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration(SECTION, null);

/** A setting as VS Code reports it: the values in the files, unchecked, and the merged one. */
interface Held {
  readonly all: unknown;
  readonly defaultValue?: unknown;
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
}

/** Settings read in the current task, during which none can change. */
let held: Map<SettingName, Held> | undefined;

/** Reads each setting once per task: VS Code takes 0.1 ms per read, and a single request reads hundreds. */
function heldOf(name: SettingName): Held {
  if (!held) {
    held = new Map();
    queueMicrotask(() => (held = undefined));
  }
  const known = held.get(name);
  if (known) return known;
  const configuration = configurationNow();
  const found = { ...configuration.inspect<unknown>(name), all: configuration.get<unknown>(name) };
  held.set(name, found);
  return found;
}

/** A setting's values in the files. */
export function valuesOf(name: SettingName): SettingValues {
  const { all, defaultValue, globalValue, workspaceValue } = heldOf(name);
  return { all, user: globalValue ?? defaultValue, workspace: workspaceValue };
}

/** This user's own value, unchecked, even if a workspace sets another; undefined if nothing is set. */
export const userValueOf = (name: SettingName): unknown => heldOf(name).globalValue;

/** Writes a setting for this user; undefined takes it back. */
export const saveUserSetting = (name: SettingName, value: unknown): Thenable<void> =>
  vscode.workspace.getConfiguration(SECTION).update(name, value, vscode.ConfigurationTarget.Global);

/**
 * Writes what this user has just chosen, and says so where the workspace has its own value, which counts there. The default
 * provider is chosen by setting nothing, as in VS Code's settings editor: one that is set runs alone.
 */
export async function saveChoice<N extends SettingName>(name: N, value: Settings[N]): Promise<void> {
  const isDefault = name === 'provider' && value === SETTINGS.provider.default;
  await saveUserSetting(name, isDefault ? undefined : value);
  const { workspace } = valuesOf(name);
  if (workspace === undefined || isDeepStrictEqual(setting(name), value)) return;
  void tellWorkspaceCounts(`${SECTION}.${name}`, workspace);
}

async function tellWorkspaceCounts(name: string, value: unknown): Promise<void> {
  const open = vscode.l10n.t('Open Workspace Settings');
  const words = vscode.l10n.t(
    'Saved in your user settings. This workspace sets {0} to {1}, which applies here.',
    name,
    JSON.stringify(value),
  );
  if ((await showInformationMessage(words, open)) === open)
    await vscode.commands.executeCommand('workbench.action.openWorkspaceSettingsFile');
}

/** Whether somebody has set a setting, another extension by its `configurationDefaults` included. */
export function isSet(name: SettingName): boolean {
  const { defaultValue, globalValue, workspaceValue } = heldOf(name);
  const isOurs = defaultValue === undefined || isDeepStrictEqual(defaultValue, SETTINGS[name].default);
  return globalValue !== undefined || workspaceValue !== undefined || !isOurs;
}

/** The problems of the settings, a sentence each: where, what is expected, what was found, what counts instead. */
export function settingProblems(): string[] {
  const rules = new SettingRules(builtInProviders(() => setting('presets')));
  // Our own defaults are sound.
  const names = SETTING_NAMES.filter(isSet);
  const sentence = (name: SettingName, { path, message }: ConfigProblem, consequence: string): string =>
    `Setting ${[SECTION, name, path].filter((part) => part !== '').join('.')}: ${message}. ${consequence}`;
  const invalid = names.flatMap((name) => {
    const value = valueOf(name);
    // Other extensions register their providers later: an id that is not known yet is no mistake.
    const problems = name === 'provider' ? SETTINGS[name].parse(value).problems : rules.problems(name, value);
    return problems.map((problem) => sentence(name, problem, rules.consequence(name, value)));
  });
  const ignored = names.flatMap((name) =>
    rules.unknownFields(name, valueOf(name)).map((problem) => sentence(name, problem, 'It is ignored.')),
  );
  const weakened = names.flatMap((name) => weakeningProblem(name) ?? []);
  const condensing = setting('condensingProfile');
  const isThere = condensing === '' || setting('profiles').some(({ id }) => id === condensing);
  return isThere
    ? [...invalid, ...ignored, ...weakened]
    : [
        ...invalid,
        ...ignored,
        ...weakened,
        `Setting ${SECTION}.condensingProfile: there is no profile ${JSON.stringify(condensing)}. No model is called.`,
      ];
}

/** The message about a workspace's value that counts for nothing, since it is less careful than the user's own. */
export function weakeningProblem(name: SettingName): string | undefined {
  const { workspace, user } = valuesOf(name);
  if (!isLessCareful(name, workspace, user)) return undefined;
  const rule = SETTINGS[name].workspace === 'lower' ? 'lower' : 'raise';
  return `Setting ${SECTION}.${name}: a workspace can only ${rule} it. ${JSON.stringify(setting(name))} is used.`;
}

const watched = new WeakSet<Services>();

/**
 * Names invalid settings once, now and whenever they change: all of them in the log, the first in a notification. Asks for what the
 * workspace's settings may not do unasked.
 */
export function watchSettings(services: Services): void {
  if (watched.has(services)) return;
  watched.add(services);
  rememberAnswersIn(services.context.workspaceState);
  const asker = new WorkspaceAsker(services);
  let known: readonly string[] = [];
  const look = (): void => {
    const problems = settingProblems();
    const added = problems.filter((problem) => !known.includes(problem));
    known = problems;
    for (const problem of added) services.log.warn(problem);
    if (added.length > 0) void showProblems(added);
    asker.ask(workspaceQuestions(valuesOf));
  };
  services.context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(SECTION)) look();
    }),
  );
  look();
}

async function showProblems([first = '', ...others]: readonly string[]): Promise<void> {
  const open = vscode.l10n.t('Open Settings');
  const more = others.length > 0 ? vscode.l10n.t(' {0} more problems are in the log.', others.length) : '';
  const choice = await showWarningMessage(`${first}${more}`, open);
  if (choice === open) await vscode.commands.executeCommand(`${SECTION}.openSettings`);
}
