import { use, useState } from 'react';
import { formatReadablePath } from '../../../src/core/readablePath';
import { getErrorMessage } from '../../../src/core/errors';
import { replaceIndexesByNames } from '../../../src/core/settingValue';
import type { MethodParams, SettingScope, SettingState } from '../../../src/panel/protocol';
import { waitForValidations, EditedEntryContext, getPathInEntry } from './editedEntry';
import { usePanel } from './panel';
import { formatPath, getValueAt, type Path } from './path';

export interface SettingHandle {
  /** The setting's name and the path inside it, dotted. */
  readonly id: string;
  /** The scope's own value, or else the inherited one. */
  readonly value: unknown;
  /** The effective value: the default if the stored value is invalid. */
  readonly effectiveValue: unknown;
  readonly isSet: boolean;
  /** True if the scope sets this value itself. Fields of list entries don't count as changes. */
  readonly isChange: boolean;
  /** The other scope, if it sets this value too; undefined otherwise. */
  readonly alsoIn: SettingScope | undefined;
  /**
   * True if the setting is stored in the remote machine's settings, where the user's own file has
   * no effect. Only for whole settings.
   */
  readonly isOfRemote: boolean;
  /** The scope in which the value would be saved. */
  readonly scope: SettingScope;
  readonly problems: readonly string[];
  /** Problems of the last value to save, or why it could not be written. */
  readonly refused: readonly string[];
  /** Why the last reset failed; a field reports its own refused text. */
  readonly notReset: readonly string[];
  /** @returns problems; if there are any, nothing is saved */
  readonly save: (value: unknown) => Promise<readonly string[]>;
  readonly check: (value: unknown) => Promise<readonly string[]>;
  readonly reset: () => Promise<readonly string[]>;
  /** Reports whether the field contains invalid text. */
  readonly hold: (isWrong: boolean) => void;
}

const OTHER_SCOPE: Readonly<Record<SettingScope, SettingScope>> = { user: 'workspace', workspace: 'user' };

/** The problems of the last save and the last reset. */
interface SettingRefusals {
  readonly save: readonly string[];
  readonly reset: readonly string[];
}

/**
 * @param name without the extension's prefix; must be in package.json
 * @param wantedScope the scope, if not the page's
 */
export function useSetting(name: string, path: Path = [], wantedScope?: SettingScope): SettingHandle {
  const { state, scope: ofPage, connection, welcome } = usePanel();
  const chosenScope = wantedScope ?? ofPage;
  const [refusals, setRefusals] = useState<SettingRefusals>({ save: [], reset: [] });
  const setting: SettingState = state.settings[name] ?? {
    value: undefined,
    scopes: ['user'],
    isOfMachine: false,
    problems: [],
  };
  const scope = setting.scopes.includes(chosenScope) ? chosenScope : 'user';
  const editedEntry = use(EditedEntryContext);
  const pathInside = getPathInEntry(editedEntry, name, path);
  const ownValue =
    editedEntry && pathInside ? getValueAt(editedEntry.value, pathInside) : getValueAt(setting[scope], path);
  const otherValue = getValueAt(setting[OTHER_SCOPE[scope]], path);
  const inheritedValue =
    editedEntry && pathInside
      ? getValueAt(editedEntry.effective, pathInside)
      : scope === 'user' && otherValue !== undefined
        ? getValueAt(welcome.schemas[name]?.['default'], path)
        : getValueAt(setting.effective ?? setting.value, path);
  // List entries are identified by name, because the list may have changed since the page received
  // it.
  const makeParams = (value: unknown): MethodParams<'updateSetting'> => ({
    name,
    scope,
    path: [...replaceIndexesByNames(setting[scope], path)],
    value,
  });
  const sendValue = async (method: 'checkSetting' | 'updateSetting', value: unknown): Promise<readonly string[]> => {
    try {
      // A change of the whole setting may remove the edited entry, so the typed text is saved as a
      // draft first.
      if (method === 'updateSetting' && path.length === 0) await waitForValidations();
      const problems =
        editedEntry && pathInside
          ? await editedEntry.change(pathInside, value, method === 'checkSetting')
          : (await connection.sendRequest(method, makeParams(value))).problems;
      return problems.map((problem) => formatProblem(problem, formatPath(path), setting.value));
    } catch (error) {
      return [getErrorMessage(error)];
    }
  };
  const id = formatPath([name, ...path]);
  const value = ownValue ?? inheritedValue;
  // A draft is valid, so the saved value's problems no longer apply.
  const problems = pathInside && editedEntry?.isChanged === true ? [] : listProblemsAt(setting, path);
  return {
    id,
    value,
    effectiveValue: problems.length === 0 ? value : getValueAt(welcome.schemas[name]?.['default'], path),
    isSet: ownValue !== undefined,
    isChange: ownValue !== undefined && !path.some((key) => typeof key === 'number'),
    alsoIn: otherValue === undefined ? undefined : OTHER_SCOPE[scope],
    isOfRemote: setting.isOfMachine && state.isRemote && path.length === 0,
    scope,
    problems,
    refused: refusals.save,
    notReset: refusals.reset,
    save: async (value) => {
      const problems = await sendValue('updateSetting', value);
      setRefusals({ save: problems, reset: [] });
      return problems;
    },
    check: (value) => sendValue('checkSetting', value),
    reset: async () => {
      const problems = await sendValue('updateSetting', undefined);
      setRefusals({ save: [], reset: problems });
      return problems;
    },
    hold: (isWrong) => {
      if (pathInside) editedEntry?.hold(id, isWrong);
    },
  };
}

/** Lists problems at the path and at places inside it. */
function listProblemsAt({ problems, value }: SettingState, path: Path): string[] {
  const ownPath = formatPath(path);
  return problems
    .filter((problem) => ownPath === '' || problem.path === ownPath || problem.path.startsWith(`${ownPath}.`))
    .map((problem) => formatProblem(problem, ownPath, value));
}

/** Adds the place of a problem, unless the field that shows the problem is that place. */
const formatProblem = (
  { path, message }: { readonly path: string; readonly message: string },
  ownPath: string,
  value: unknown,
): string => (path === ownPath || path === '' ? message : `${formatReadablePath(value, path)}: ${message}`);
