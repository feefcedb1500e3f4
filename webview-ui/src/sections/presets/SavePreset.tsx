import { useState, type ReactNode } from 'react';
import { makeUnusedId } from '../../../../src/core/freeId';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { SearchablePlace } from '../../state/search';
import { Button, TextField } from '../../ui';
import { isPlainObject } from '../smart/smartValue';
import { DoneMessageWithUndo } from './PresetItem';
import { usePresetList } from './usePresetList';

export function SavePresetForm(): ReactNode {
  const { state } = usePanel();
  const { change, done: doneChange, setDone, problems } = usePresetList();
  const [name, setName] = useState('');
  const config = state.settings['smart']?.value;
  if (!isPlainObject(config)) return null;
  const savePreset = async (): Promise<void> => {
    const presetName = name.trim();
    const id = makeUnusedId(
      presetName,
      state.presets.map((preset) => preset.id),
      'preset',
    );
    const entry = { id, name: presetName, config };
    if (await change({ kind: 'insert', entry, place: {} }, t('“{0}” was saved.', presetName))) setName('');
  };
  return (
    <SearchablePlace id="presets.save" searchTexts={[t('Save the passes as a preset'), t('Name of the new preset')]}>
      <div className="control-line">
        <TextField
          label={t('Name of the new preset')}
          placeholder={t('Name of the new preset')}
          value={name}
          onInput={setName}
          onCommit={setName}
        />
        <Button disabled={name.trim() === ''} onClick={() => void savePreset()}>
          {t('Save the passes as a preset')}
        </Button>
      </div>
      <DoneMessageWithUndo done={doneChange} onDone={setDone} />
      <ProblemList problems={problems} />
    </SearchablePlace>
  );
}
