/** The settings of this extension, as VS Code holds them now. */
import * as vscode from 'vscode';
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings } from '../../settings/table';
import type { Services } from '../services';
import { builtInProviders, SettingRules } from './settingRules';

const SECTION = 'contextCondenser';

/** A setting's value where it is set; the workspace's, the user's, or the default. An invalid one counts as the default. */
export const setting = <N extends SettingName>(name: N): Settings[N] => SETTINGS[name].parse(valueOf(name)).value;

/** A setting's value as it was written, unchecked. */
export const valueOf = (name: SettingName): unknown => vscode.workspace.getConfiguration(SECTION).get<unknown>(name);

/** What this user has set, unchecked, wherever a workspace sets something else; undefined where nothing is set. */
export const userValueOf = (name: SettingName): unknown =>
  vscode.workspace.getConfiguration(SECTION).inspect(name)?.globalValue;

/** Writes a setting for this user; undefined takes it back. */
export const saveUserSetting = (name: SettingName, value: unknown): Thenable<void> =>
  vscode.workspace.getConfiguration(SECTION).update(name, value, vscode.ConfigurationTarget.Global);

/** What is wrong with the settings, a sentence each: where, what is expected, what was found, what counts instead. */
export function settingProblems(): string[] {
  const rules = new SettingRules(builtInProviders(() => setting('presets')));
  const invalid = SETTING_NAMES.flatMap((name) => {
    const { parse, default: standard, instead = `${JSON.stringify(standard)} is used.` } = SETTINGS[name];
    // Other extensions register their providers later: an id that is not known yet is no mistake.
    const problems = name === 'provider' ? parse(valueOf(name)).problems : rules.problems(name, valueOf(name));
    return problems.map(({ path, message }) => {
      const place = [SECTION, name, path].filter((part) => part !== '').join('.');
      return `Setting ${place}: ${message}. ${instead}`;
    });
  });
  const condensing = setting('condensingProfile');
  const isThere = condensing === '' || setting('profiles').some(({ id }) => id === condensing);
  return isThere
    ? invalid
    : [
        ...invalid,
        `Setting ${SECTION}.condensingProfile: there is no profile ${JSON.stringify(condensing)}. No model is called.`,
      ];
}

const watched = new WeakSet<Services>();

/** Names invalid settings once, now and whenever they change: all of them in the log, the first in a notification. */
export function watchSettings(services: Services): void {
  if (watched.has(services)) return;
  watched.add(services);
  let known: readonly string[] = [];
  const look = (): void => {
    const problems = settingProblems();
    const added = problems.filter((problem) => !known.includes(problem));
    known = problems;
    for (const problem of added) services.log.warn(problem);
    if (added.length > 0) void showProblems(added);
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
  const choice = await vscode.window.showWarningMessage(`${first}${more}`, open);
  if (choice === open) await vscode.commands.executeCommand(`${SECTION}.openSettings`);
}
