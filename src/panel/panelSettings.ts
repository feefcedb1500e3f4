/** The panel shows and changes VS Code's settings and stores nothing itself. */
import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { ConfigProblem } from '../core/condense/types';
import { getValueAt } from '../core/messages/path';
import { isMachineSetting, listSettingScopes } from './manifest';
import type { MethodParams, PassDrafts, SettingScope, SettingState } from './protocol';
import { isSettingName, SETTING_NAMES, type SettingName } from '../settings/table';
import { isWorkspaceLessCareful } from '../settings/workspaceRules';
import type { SettingRules } from '../window/settings/settingRules';
import {
  getConfiguration,
  getEffectiveSetting,
  getSettingValuesByScope,
  describeWeakerWorkspaceSetting,
} from '../window/settings/settings';
import {
  applyListChange,
  isEmptyObject,
  SettingPathError,
  replaceNamesByIndexes,
  replaceSettingValueAt,
  type ListChange,
  type SettingPath,
} from '../core/settingValue';

type SettingUpdate = MethodParams<'updateSetting'>;

/** Far more than a setting's JSON should have. */
const MAX_SETTING_JSON_CHARS = 1_000_000;

const TARGET_BY_SCOPE: Readonly<Record<SettingScope, vscode.ConfigurationTarget>> = {
  user: vscode.ConfigurationTarget.Global,
  workspace: vscode.ConfigurationTarget.Workspace,
};

interface ValueVerdict {
  /** JSON of the validated value and of the user's presets, to recognize a change. */
  readonly text: string;
  readonly problems: readonly ConfigProblem[];
  readonly effective: unknown;
}

export class PanelSettings {
  /**
   * Resolves when the last change is saved. Each change starts after the previous one, because it
   * is applied to the previous one's result.
   */
  private saveQueue: Promise<unknown> = Promise.resolve();
  private readonly verdicts = new Map<string, ValueVerdict>();

  constructor(private readonly rules: SettingRules) {}

  /** Validates all settings in advance, one after the other, so that {@link listStates} is fast. */
  async validateAll(): Promise<void> {
    for (const name of SETTING_NAMES) {
      this.checkValue(name, getEffectiveSetting(name), getPresetsKey());
      await setImmediate();
    }
  }

  listStates(): Record<string, SettingState> {
    const configuration = getConfiguration();
    const presets = getPresetsKey();
    return Object.fromEntries(
      SETTING_NAMES.map((name) => {
        const inspected = configuration.inspect(name);
        // The effective value. If a workspace's value is ignored, the panel shows that value next
        // to the effective one.
        const value = getEffectiveSetting(name);
        const { effective, problems } = this.checkValue(name, value, presets);
        const weakeningText = describeWeakerWorkspaceSetting(name);
        const state: SettingState = {
          value,
          ...(inspected?.globalValue !== undefined && { user: inspected.globalValue }),
          ...(inspected?.workspaceValue !== undefined && { workspace: inspected.workspaceValue }),
          ...(effective !== undefined && { effective }),
          scopes: listSettingScopes(name, vscode.workspace.isTrusted),
          isOfMachine: isMachineSetting(name),
          problems: [...problems, ...(weakeningText === undefined ? [] : [{ path: '', message: weakeningText }])],
        };
        return [name, state];
      }),
    );
  }

  getFileCommand(name: string, scope: SettingScope): string {
    if (scope === 'workspace') return 'workbench.action.openWorkspaceSettingsFile';
    const isRemote = vscode.env.remoteName !== undefined && isSettingName(name) && isMachineSetting(name);
    return isRemote ? 'workbench.action.openRemoteSettingsFile' : 'workbench.action.openSettingsJson';
  }

  /** Does not validate the value. */
  getRawValue(name: SettingName): unknown {
    return getEffectiveSetting(name);
  }

  /** See {@link SettingRules.getEffectiveValue}. */
  getEffectiveValue(name: SettingName, value: unknown): unknown {
    return this.rules.getEffectiveValue(name, value);
  }

  /** Call this after the providers changed. */
  clearVerdicts(): void {
    this.verdicts.clear();
  }

  /**
   * Keeps the result of a validation until the value changes, so that a change validates only one
   * setting.
   */
  private checkValue(name: SettingName, value: unknown, presets: string): ValueVerdict {
    const text = `${JSON.stringify(value)}\n${presets}`;
    const cachedVerdict = this.verdicts.get(name);
    if (cachedVerdict?.text === text) return cachedVerdict;
    const problems = this.rules.findProblems(name, value);
    const unknownFieldProblems = this.rules.findUnknownFields(name, value);
    const verdict = {
      text,
      problems: [...problems, ...unknownFieldProblems],
      effective: this.rules.getEffectiveValue(name, value),
    };
    this.verdicts.set(name, verdict);
    return verdict;
  }

  /**
   * Checks a change without saving it. Returns the problems that it would add or, if there are
   * none, the resulting effective value.
   */
  checkChange(change: SettingUpdate): { problems: readonly ConfigProblem[]; effective?: unknown } {
    const { value, problems, path } = this.planChange(change);
    if (problems.length > 0 || !isSettingName(change.name)) return { problems };
    return { problems, effective: getValueAt(this.rules.getEffectiveValue(change.name, value), path) };
  }

  /**
   * Saves a change unless it has problems.
   * @throws Error if VS Code can't write its settings file
   */
  updateSetting(change: SettingUpdate): Promise<readonly ConfigProblem[]> {
    const savePromise = this.saveQueue.then(() => this.saveChange(change));
    this.saveQueue = savePromise.catch(() => undefined);
    return savePromise;
  }

  /**
   * Changes the list in the settings, even if the page shows an older state.
   * @throws Error if VS Code can't write its settings file
   */
  changeList({
    change,
    ...place
  }: MethodParams<'changeList'>): Promise<{ problems: readonly ConfigProblem[]; undo?: ListChange }> {
    const { name, scope, path } = place;
    const pendingChange = this.saveQueue.then(async () => {
      const currentValue = getValueAt(getValueInScope(name, scope), path);
      const currentList: readonly unknown[] = Array.isArray(currentValue) ? currentValue : [];
      let changedList;
      try {
        changedList = applyListChange(currentList, change);
      } catch (error) {
        if (error instanceof SettingPathError)
          return { problems: [{ path: path.join('.'), message: vscode.l10n.t(error.message) }] };
        throw error;
      }
      if (changedList.list === currentList) return { problems: [] };
      // Remove a list setting that has become empty.
      const isListEmpty = path.length === 0 && changedList.list.length === 0;
      const problems = await this.saveChange({ ...place, value: isListEmpty ? undefined : changedList.list });
      return { problems, ...(problems.length === 0 && changedList.undo && { undo: changedList.undo }) };
    });
    this.saveQueue = pendingChange.catch(() => undefined);
    return pendingChange;
  }

  /** @throws SettingPathError if one of the edited passes no longer exists */
  applyPassDrafts({ name, scope, passes }: PassDrafts): unknown {
    return passes.reduce(
      (config: unknown, { entry, pass }) => {
        const place = replaceNamesByIndexes(config, ['passes', entry]);
        return replaceSettingValueAt(config, place, pass);
      },
      getValueInScope(name, scope) ?? getEffectiveSetting('smart'),
    );
  }

  private async saveChange(change: SettingUpdate): Promise<readonly ConfigProblem[]> {
    const { value, problems } = this.planChange(change);
    if (problems.length > 0) return problems;
    await getConfiguration().update(change.name, value, TARGET_BY_SCOPE[change.scope]);
    return [];
  }

  private planChange({ name, scope, path: givenPath, value }: SettingUpdate): PlannedSettingUpdate {
    let path: SettingPath = givenPath.map((key) => (typeof key === 'object' ? key.id : key));
    const rejectChange = (message: string): PlannedSettingUpdate => ({
      value: undefined,
      path,
      problems: [{ path: path.join('.'), message }],
    });
    if (!isSettingName(name)) return rejectChange(vscode.l10n.t('There is no such setting.'));
    if (!listSettingScopes(name, true).includes(scope)) {
      return rejectChange(vscode.l10n.t('This is a user setting; a workspace can’t set it.'));
    }
    if (!listSettingScopes(name, vscode.workspace.isTrusted).includes(scope)) {
      return rejectChange(vscode.l10n.t('This workspace is not trusted; it can’t set anything.'));
    }
    if (scope === 'workspace' && vscode.workspace.workspaceFolders === undefined) {
      return rejectChange(vscode.l10n.t('No workspace is open.'));
    }
    const oldValue = getValueInScope(name, scope);
    let newValue: unknown;
    try {
      path = replaceNamesByIndexes(oldValue, givenPath);
      newValue = replaceSettingValueAt(oldValue, path, value);
    } catch (error) {
      if (error instanceof SettingPathError) return rejectChange(vscode.l10n.t(error.message));
      throw error;
    }
    if (isEmptyObject(newValue) && path.length > 0) newValue = undefined;
    if (newValue === undefined) return { value: newValue, path, problems: [] };
    if (JSON.stringify(newValue).length > MAX_SETTING_JSON_CHARS) {
      return rejectChange(vscode.l10n.t('This is longer than a million characters.'));
    }
    if (scope === 'workspace' && isWorkspaceLessCareful(name, newValue, getSettingValuesByScope(name).user)) {
      return rejectChange(vscode.l10n.t('A workspace can only be more careful than your own setting.'));
    }
    // Existing problems don't prevent other changes.
    const oldProblems = new Set(this.rules.findProblems(name, oldValue).map(makeProblemKey));
    const problems = this.rules
      .findProblems(name, newValue)
      .filter((problem) => !oldProblems.has(makeProblemKey(problem)));
    return { value: newValue, path, problems };
  }
}

interface PlannedSettingUpdate {
  readonly value: unknown;
  /** Path of the change, with list entries given by index. */
  readonly path: SettingPath;
  readonly problems: readonly ConfigProblem[];
}

function getValueInScope(name: string, scope: SettingScope): unknown {
  const inspected = getConfiguration().inspect(name);
  return scope === 'user' ? inspected?.globalValue : inspected?.workspaceValue;
}

/**
 * A key that changes with the user's presets, the only other setting on which problems of a value
 * may depend.
 */
const getPresetsKey = (): string => JSON.stringify(getEffectiveSetting('presets'));

const makeProblemKey = ({ path, message }: ConfigProblem): string => `${path}\n${message}`;
