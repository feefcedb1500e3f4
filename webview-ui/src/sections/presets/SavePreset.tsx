import { useState, type ReactNode } from 'react';
import { makeFreeId } from '../../../../src/core/freeId';
import { Problems } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Findable } from '../../state/search';
import { Button, TextField } from '../../ui';
import { isFields } from '../smart/smartValue';
import { DoneLine } from './PresetItem';
import { usePresetList } from './usePresetList';

export function SavePreset(): ReactNode {
  const { state } = usePanel();
  const { change, done, setDone, problems } = usePresetList();
  const [name, setName] = useState('');
  const config = state.settings['smart']?.value;
  if (!isFields(config)) return null;
  const save = async (): Promise<void> => {
    const called = name.trim();
    const id = makeFreeId(
      called,
      state.presets.map((preset) => preset.id),
      'preset',
    );
    const entry = { id, name: called, config };
    if (await change({ kind: 'insert', entry, place: {} }, t('"{0}" was saved.', called))) setName('');
  };
  return (
    <Findable id="presets.save" words={[t('Save the passes as a preset'), t('Name of the new preset')]}>
      <div className="control-line">
        <TextField
          label={t('Name of the new preset')}
          placeholder={t('Name of the new preset')}
          value={name}
          onInput={setName}
          onCommit={setName}
        />
        <Button disabled={name.trim() === ''} onClick={() => void save()}>
          {t('Save the passes as a preset')}
        </Button>
      </div>
      <DoneLine done={done} onDone={setDone} />
      <Problems problems={problems} />
    </Findable>
  );
}
