import { useState } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import { listEntryNames, type ListEntryName, type ListChange } from '../../../../src/core/settingValue';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { areSettingsUnchanged } from '../../state/together';
import { useSetting, type SettingHandle } from '../../state/useSetting';
import type { UndoableChange } from './PresetItem';
import { usePresetScope } from './usePresetScope';

export interface PresetList {
  readonly ownPresets: SettingHandle;
  readonly list: readonly unknown[];
  readonly names: readonly ListEntryName[];
  /** Makes a change without offering an undo. @returns undefined if it was refused */
  readonly sendChange: (change: ListChange) => Promise<{ readonly undo: ListChange | undefined } | undefined>;
  /**
   * Offers an undo of the change.
   * @returns whether the change was made
   */
  readonly change: (change: ListChange, text: string) => Promise<boolean>;
  readonly done: UndoableChange | undefined;
  readonly setDone: (done: UndoableChange | undefined) => void;
  readonly problems: readonly string[];
  readonly setProblems: (problems: readonly string[]) => void;
}

const formatProblems = (problems: readonly { readonly path: string; readonly message: string }[]): string[] =>
  problems.map(({ path, message }) => (path === '' ? message : t('{0}: {1}', path, message)));

/** The user's own presets in the effective scope. */
export function usePresetList(): PresetList {
  const { state, connection } = usePanel();
  const ownPresets = useSetting('presets', [], usePresetScope());
  const [lastChange, setDone] = useState<UndoableChange>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const presetList: readonly unknown[] = ownPresets.isSet && Array.isArray(ownPresets.value) ? ownPresets.value : [];
  const sendChange: PresetList['sendChange'] = async (wanted) => {
    try {
      const place = { name: 'presets', scope: ownPresets.scope, path: [] };
      const { problems: newProblems, undo } = await connection.sendRequest('changeList', { ...place, change: wanted });
      setProblems(formatProblems(newProblems));
      return newProblems.length > 0 ? undefined : { undo };
    } catch (error) {
      setProblems([getErrorMessage(error)]);
      return undefined;
    }
  };
  const changeList = async (wanted: ListChange, text: string): Promise<boolean> => {
    const undoChange = await sendChange(wanted);
    if (!undoChange) return false;
    const { undo } = undoChange;
    setDone({ text, ...(undo && { undo: () => void sendChange(undo) }) });
    return true;
  };
  return {
    ownPresets,
    list: presetList,
    names: listEntryNames(presetList),
    sendChange,
    change: changeList,
    done: lastChange?.written === undefined || areSettingsUnchanged(state, lastChange.written) ? lastChange : undefined,
    setDone,
    problems,
    setProblems,
  };
}
