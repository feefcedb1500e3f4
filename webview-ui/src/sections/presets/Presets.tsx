import { useState, type ReactNode } from 'react';
import { errorMessage } from '../../../../src/core/errors';
import { listEntryNames, type ListChange } from '../../../../src/core/settingValue';
import type { PresetState } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Findable, useSearch } from '../../state/search';
import { isStill } from '../../state/together';
import { useSetting } from '../../state/useSetting';
import { Button } from '../../ui';
import { isFields, presetIn } from '../smart/smartValue';
import { MEASURED_PRESETS } from '../start/measured';
import { DoneLine, PresetItem, type Done } from './PresetItem';
import { SavePreset } from './SavePreset';
import { usePresetScope } from './usePresetScope';

/** Configurations of the Smart provider under names: applied, saved, shared. */
export function Presets(): ReactNode {
  const { state, connection, scope } = usePanel();
  const isSearching = useSearch() !== '';
  const smart = useSetting('smart');
  const own = useSetting('presets', [], usePresetScope());
  const [last, setDone] = useState<Done>();
  const done = last?.written === undefined || isStill(state, last.written) ? last : undefined;
  const [problems, setProblems] = useState<readonly string[]>([]);
  const inUse = presetIn(smart, state.settings['smart']?.value);
  const list: readonly unknown[] = own.isSet && Array.isArray(own.value) ? own.value : [];
  const names = listEntryNames(list);

  /** Changes the list of one's own presets as it then stands. @returns undefined where that was refused. */
  const make = async (wanted: ListChange): Promise<{ readonly undo: ListChange | undefined } | undefined> => {
    try {
      const place = { name: 'presets', scope: own.scope, path: [] };
      const { problems: found, undo } = await connection.request('changeList', { ...place, change: wanted });
      setProblems(found.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)));
      return found.length > 0 ? undefined : { undo };
    } catch (error) {
      setProblems([errorMessage(error)]);
      return undefined;
    }
  };
  const change = async (wanted: ListChange, text: string): Promise<boolean> => {
    const made = await make(wanted);
    if (!made) return false;
    const { undo } = made;
    setDone({ text, ...(undo && { undo: () => void make(undo) }) });
    return true;
  };
  const load = async (): Promise<void> => {
    try {
      const {
        id,
        problems: found,
        undo,
      } = await connection.request('importPreset', { scope: own.scope }, { timeoutMs: Infinity });
      setProblems(found.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)));
      if (id === undefined) return;
      const takeBack = async (): Promise<void> => {
        for (const step of undo) if (!(await make(step))) return;
      };
      setDone({ text: t('The preset "{0}" was imported.', id), undo: () => void takeBack() });
    } catch (error) {
      setProblems([errorMessage(error)]);
    }
  };
  return (
    <div id="presets" className="presets">
      <h4 className="group-title">{t('Presets')}</h4>
      {!isSearching && (
        <p className="row-help">
          {t(
            'Ready-made lists of passes. Those that lost least of what agents needed later come first, as measured on sessions of one project without a target.',
          )}
        </p>
      )}
      {own.scope !== scope && !isSearching && (
        <p className="row-help">
          {own.scope === 'user'
            ? t('Presets are saved in your user settings.')
            : t(
                'This workspace has its own presets: they apply here, and changes are saved in the workspace settings.',
              )}
        </p>
      )}
      <ul className="items">
        {byLoss(state.presets).map((preset) => (
          <PresetItem
            key={preset.id}
            preset={preset}
            isInUse={preset.id === inUse}
            scope={own.scope}
            ownIndex={list.findIndex((entry) => isFields(entry) && entry['id'] === preset.id)}
            entry={names[list.findIndex((entry) => isFields(entry) && entry['id'] === preset.id)]}
            done={done?.of === preset.id ? done : undefined}
            onDone={setDone}
            onChange={change}
          />
        ))}
      </ul>
      <Findable id="presets.save" words={[t('Save the passes as a preset'), t('Name of the new preset')]}>
        <SavePreset
          config={state.settings['smart']?.value}
          taken={state.presets.map(({ id }) => id)}
          onSave={(id, name, config) =>
            change({ kind: 'insert', entry: { id, name, config }, place: {} }, t('"{0}" was saved.', name))
          }
        />
      </Findable>
      <Findable id="presets.import" words={[t('Import…'), t('Presets'), 'import preset load open file']}>
        <p className="actions">
          <Button onClick={() => void load()}>{t('Import…')}</Button>
          <DoneLine done={done?.of === undefined ? done : undefined} onDone={setDone} />
        </p>
      </Findable>
      <Problems problems={[...problems, ...own.problems]} />
    </div>
  );
}

/** Those that were measured come first, and of them those that lose least. */
const byLoss = (presets: readonly PresetState[]): readonly PresetState[] =>
  presets.toSorted((a, b) => lossOf(a) - lossOf(b));

const lossOf = ({ id, isBuiltIn }: PresetState): number =>
  (isBuiltIn && MEASURED_PRESETS[id]?.lost) || (isBuiltIn ? 0 : 100);
