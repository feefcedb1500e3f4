import type { ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { PresetState } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { SearchablePlace, useIsSearching } from '../../state/search';
import { useSetting } from '../../state/useSetting';
import { Button } from '../../ui';
import { isPlainObject, getCurrentPreset } from '../smart/smartValue';
import { MEASURED_LOSS_BY_PRESET } from '../../../../src/core/condense/measured';
import { DoneMessageWithUndo, PresetItem } from './PresetItem';
import { usePresetList } from './usePresetList';

export function PresetsSection(): ReactNode {
  const { state, connection, scope } = usePanel();
  const isSearching = useIsSearching();
  const smart = useSetting('smart');
  const {
    ownPresets,
    list: presetList,
    names: entryNames,
    sendChange,
    change,
    done: doneChange,
    setDone,
    problems,
    setProblems,
  } = usePresetList();
  const selectedPreset = getCurrentPreset(smart, state.settings['smart']?.value);
  const loadPreset = async (): Promise<void> => {
    try {
      const {
        id,
        problems: newProblems,
        undo,
      } = await connection.sendRequest('importPreset', { scope: ownPresets.scope }, { timeoutMs: Infinity });
      setProblems(newProblems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)));
      if (id === undefined) return;
      const undoLastChange = async (): Promise<void> => {
        for (const step of undo) if (!(await sendChange(step))) return;
      };
      setDone({ text: t('The preset “{0}” was imported.', id), undo: () => void undoLastChange() });
    } catch (error) {
      setProblems([getErrorMessage(error)]);
    }
  };
  return (
    <div id="presets" className="presets">
      <h4 className="group-title">{t('Presets')}</h4>
      {!isSearching && (
        <p className="row-help">
          {t(
            'Ready-made lists of passes. Those that lose least of what agents needed later come first. “At most”: measured with summaries that say nothing; real ones keep more.',
          )}
        </p>
      )}
      {ownPresets.scope !== scope && !isSearching && (
        <p className="row-help">
          {ownPresets.scope === 'user'
            ? t('Presets are saved in your user settings.')
            : t(
                'This workspace has its own presets: they apply here, and changes are saved in the workspace settings.',
              )}
        </p>
      )}
      <ul className="items">
        {sortByLoss(state.presets).map((preset) => (
          <PresetItem
            key={preset.id}
            preset={preset}
            isSelected={preset.id === selectedPreset}
            scope={ownPresets.scope}
            ownIndex={presetList.findIndex((entry) => isPlainObject(entry) && entry['id'] === preset.id)}
            entry={entryNames[presetList.findIndex((entry) => isPlainObject(entry) && entry['id'] === preset.id)]}
            done={doneChange?.presetId === preset.id ? doneChange : undefined}
            onDone={setDone}
            onChange={change}
          />
        ))}
      </ul>
      <SearchablePlace id="presets.import" searchTexts={[t('Import…'), t('Presets'), 'import preset load open file']}>
        <p className="actions">
          <Button onClick={() => void loadPreset()}>{t('Import…')}</Button>
          <DoneMessageWithUndo done={doneChange?.presetId === undefined ? doneChange : undefined} onDone={setDone} />
        </p>
      </SearchablePlace>
      <ProblemList problems={[...problems, ...ownPresets.problems]} />
    </div>
  );
}

/** Lists built-in presets first, by measured loss. */
const sortByLoss = (presets: readonly PresetState[]): readonly PresetState[] =>
  presets.toSorted((a, b) => {
    const [first, second] = [getMeasuredLoss(a), getMeasuredLoss(b)];
    return first === second ? 0 : first - second;
  });

const getMeasuredLoss = ({ id, isBuiltIn }: PresetState): number =>
  isBuiltIn ? (MEASURED_LOSS_BY_PRESET[id]?.lost ?? Infinity) : Infinity;
