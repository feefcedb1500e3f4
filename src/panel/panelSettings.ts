/** VS Code's settings as the panel shows and changes them. They are the only store: the panel keeps nothing of its own. */
import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { ConfigProblem } from '../core/condense/types';
import { getValueAt } from '../core/messages/path';
import { isOfMachine, scopesOf } from './manifest';
import type { Params, PassDrafts, SettingScope, SettingState } from './protocol';
import { isSettingName, SETTING_NAMES, type SettingName } from '../settings/table';
import { isLessCareful } from '../settings/workspaceRules';
import type { SettingRules } from '../window/settings/settingRules';
import { configurationNow, valueOf, valuesOf, weakeningProblem } from '../window/settings/settings';
import {
  changedList,
  isEmptyObject,
  PathError,
  resolvePath,
  withValueAt,
  type ListChange,
  type Path,
} from '../core/settingValue';

type Change = Params<'updateSetting'>;

/** More than a settings file should hold. */
const MAX_CHARS = 1_000_000;

const TARGET: Readonly<Record<SettingScope, vscode.ConfigurationTarget>> = {
  user: vscode.ConfigurationTarget.Global,
  workspace: vscode.ConfigurationTarget.Workspace,
};

interface Verdict {
  /** The text that the verdict was made of. */
  readonly text: string;
  readonly problems: readonly ConfigProblem[];
  readonly effective: unknown;
}

export class PanelSettings {
  /** One change after the other: each is put into what the one before left. */
  private saving: Promise<unknown> = Promise.resolve();
  private readonly verdicts = new Map<string, Verdict>();

  constructor(private readonly rules: SettingRules) {}

  /** Judges the settings one after the other, so that {@link states} has little left to do. */
  async judge(): Promise<void> {
    for (const name of SETTING_NAMES) {
      this.verdict(name, valueOf(name), presetsNow());
      await setImmediate();
    }
  }

  /** All settings as they stand now. */
  states(): Record<string, SettingState> {
    const configuration = configurationNow();
    const presets = presetsNow();
    return Object.fromEntries(
      SETTING_NAMES.map((name) => {
        const found = configuration.inspect(name);
        // The value in force; a workspace's value without effect stands beside it, with a word on that.
        const value = valueOf(name);
        const { effective, problems } = this.verdict(name, value, presets);
        const weakening = weakeningProblem(name);
        const state: SettingState = {
          value,
          ...(found?.globalValue !== undefined && { user: found.globalValue }),
          ...(found?.workspaceValue !== undefined && { workspace: found.workspaceValue }),
          ...(effective !== undefined && { effective }),
          scopes: scopesOf(name, vscode.workspace.isTrusted),
          isOfMachine: isOfMachine(name),
          problems: [...problems, ...(weakening === undefined ? [] : [{ path: '', message: weakening }])],
        };
        return [name, state];
      }),
    );
  }

  /** VS Code's command that opens the file in which a setting of a scope counts. */
  fileCommand(name: string, scope: SettingScope): string {
    if (scope === 'workspace') return 'workbench.action.openWorkspaceSettingsFile';
    const isRemote = vscode.env.remoteName !== undefined && isSettingName(name) && isOfMachine(name);
    return isRemote ? 'workbench.action.openRemoteSettingsFile' : 'workbench.action.openSettingsJson';
  }

  /** The value that counts of a setting, unchecked. */
  valueOf(name: SettingName): unknown {
    return valueOf(name);
  }

  /** The configuration that a provider makes of a value of its setting; see {@link SettingRules.effective}. */
  effective(name: SettingName, value: unknown): unknown {
    return this.rules.effective(name, value);
  }

  /** Judges all settings anew: there are other providers now. */
  forget(): void {
    this.verdicts.clear();
  }

  /** The last verdict on each setting holds while its value does: of a change, one setting is judged anew. */
  private verdict(name: SettingName, value: unknown, presets: string): Verdict {
    const text = `${JSON.stringify(value)}\n${presets}`;
    const known = this.verdicts.get(name);
    if (known?.text === text) return known;
    const problems = this.rules.problems(name, value);
    const ignored = this.rules.unknownFields(name, value);
    const verdict = { text, problems: [...problems, ...ignored], effective: this.rules.effective(name, value) };
    this.verdicts.set(name, verdict);
    return verdict;
  }

  /** The problems that a change would add to the present ones, and what a sound value at its place works with. */
  check(change: Change): { problems: readonly ConfigProblem[]; effective?: unknown } {
    const { value, problems, path } = this.plan(change);
    if (problems.length > 0 || !isSettingName(change.name)) return { problems };
    return { problems, effective: getValueAt(this.rules.effective(change.name, value), path) };
  }

  /**
   * Saves a change, unless something is wrong with it: then nothing is saved.
   * @throws Error where VS Code can't write its settings file.
   */
  update(change: Change): Promise<readonly ConfigProblem[]> {
    const saved = this.saving.then(() => this.save(change));
    this.saving = saved.catch(() => undefined);
    return saved;
  }

  /**
   * Changes a list as it stands when the change is made, whatever the page knew of it.
   * @returns what takes the change back, and no other one.
   * @throws Error where VS Code can't write its settings file.
   */
  changeList({
    change,
    ...place
  }: Params<'changeList'>): Promise<{ problems: readonly ConfigProblem[]; undo?: ListChange }> {
    const { name, scope, path } = place;
    const changed = this.saving.then(async () => {
      const found = getValueAt(ownValue(name, scope), path);
      const list: readonly unknown[] = Array.isArray(found) ? found : [];
      let after;
      try {
        after = changedList(list, change);
      } catch (error) {
        if (error instanceof PathError)
          return { problems: [{ path: path.join('.'), message: vscode.l10n.t(error.message) }] };
        throw error;
      }
      if (after.list === list) return { problems: [] };
      // A setting that is a list is taken back where nothing is left in it.
      const isGone = path.length === 0 && after.list.length === 0;
      const problems = await this.save({ ...place, value: isGone ? undefined : after.list });
      return { problems, ...(problems.length === 0 && after.undo && { undo: after.undo }) };
    });
    this.saving = changed.catch(() => undefined);
    return changed;
  }

  /** Smart's configuration with passes as they are being edited. @throws PathError where one of them is gone */
  withDrafts({ name, scope, passes }: PassDrafts): unknown {
    return passes.reduce(
      (config: unknown, { entry, pass }) => {
        const place = resolvePath(config, ['passes', entry]);
        return withValueAt(config, place, pass);
      },
      ownValue(name, scope) ?? valueOf('smart'),
    );
  }

  private async save(change: Change): Promise<readonly ConfigProblem[]> {
    const { value, problems } = this.plan(change);
    if (problems.length > 0) return problems;
    await configurationNow().update(change.name, value, TARGET[change.scope]);
    return [];
  }

  private plan({ name, scope, path: named, value }: Change): Plan {
    let path: Path = named.map((key) => (typeof key === 'object' ? key.id : key));
    const refuse = (message: string): Plan => ({
      value: undefined,
      path,
      problems: [{ path: path.join('.'), message }],
    });
    if (!isSettingName(name)) return refuse(vscode.l10n.t('There is no such setting.'));
    if (!scopesOf(name, true).includes(scope)) {
      return refuse(vscode.l10n.t('This is a user setting; a workspace can’t set it.'));
    }
    if (!scopesOf(name, vscode.workspace.isTrusted).includes(scope)) {
      return refuse(vscode.l10n.t('This workspace is not trusted; it can’t set anything.'));
    }
    if (scope === 'workspace' && vscode.workspace.workspaceFolders === undefined) {
      return refuse(vscode.l10n.t('No workspace is open.'));
    }
    const before = ownValue(name, scope);
    let after: unknown;
    try {
      path = resolvePath(before, named);
      after = withValueAt(before, path, value);
    } catch (error) {
      if (error instanceof PathError) return refuse(vscode.l10n.t(error.message));
      throw error;
    }
    if (isEmptyObject(after) && path.length > 0) after = undefined;
    if (after === undefined) return { value: after, path, problems: [] };
    if (JSON.stringify(after).length > MAX_CHARS) {
      return refuse(vscode.l10n.t('This is longer than a million characters.'));
    }
    if (scope === 'workspace' && isLessCareful(name, after, valuesOf(name).user)) {
      return refuse(vscode.l10n.t('A workspace can only be more careful than your own setting.'));
    }
    // Problems that existed before don't keep the rest from being mended.
    const known = new Set(this.rules.problems(name, before).map(keyOf));
    const problems = this.rules.problems(name, after).filter((problem) => !known.has(keyOf(problem)));
    return { value: after, path, problems };
  }
}

/** The result of a change. */
interface Plan {
  readonly value: unknown;
  /** The change's place, its entries by their indexes. */
  readonly path: Path;
  readonly problems: readonly ConfigProblem[];
}

/** The values that a scope itself sets. */
function ownValue(name: string, scope: SettingScope): unknown {
  const found = configurationNow().inspect(name);
  return scope === 'user' ? found?.globalValue : found?.workspaceValue;
}

/** Problems of a value may depend on the user's presets, too, and on nothing else. */
const presetsNow = (): string => JSON.stringify(valueOf('presets'));

const keyOf = ({ path, message }: ConfigProblem): string => `${path}\n${message}`;
