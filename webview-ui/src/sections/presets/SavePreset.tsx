import { useState, type ReactNode } from 'react';
import { makeFreeId } from '../../../../src/core/freeId';
import { t } from '../../l10n';
import { Button, TextField } from '../../ui';
import { isFields } from '../smart/smartValue';

interface SavePresetProps {
  /** The Smart provider's configuration as it stands. */
  readonly config: unknown;
  readonly taken: readonly string[];
  readonly onSave: (id: string, name: string, config: unknown) => Promise<boolean>;
}

/** Gives the user's own configuration a name. A configuration that is a preset already has one. */
export function SavePreset({ config, taken, onSave }: SavePresetProps): ReactNode {
  const [name, setName] = useState('');
  if (!isFields(config)) return null;
  const save = async (): Promise<void> => {
    if (await onSave(makeFreeId(name, taken, 'preset'), name.trim(), config)) setName('');
  };
  return (
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
  );
}
