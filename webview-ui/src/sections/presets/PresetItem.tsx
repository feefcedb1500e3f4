import { useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { ListEntryName, ListChange } from '../../../../src/core/settingValue';
import type { PresetState, SettingScope } from '../../../../src/panel/protocol';
import { Disclosure } from '../../components/Disclosure';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useUndoKey } from '../../state/undoKey';
import { SearchablePlace } from '../../state/search';
import { saveSettingsTogether, type WrittenSetting } from '../../state/together';
import { useSetting } from '../../state/useSetting';
import { Button, LinkButton, TextField } from '../../ui';
import { isOwnConfiguration, readPassEntries } from '../smart/smartValue';
import { MEASURED_LOSS_BY_PRESET } from '../../../../src/core/condense/measured';
import { describePresetFigures } from '../start/providerFacts';
import { PresetComparison } from './PresetComparison';

export interface UndoableChange {
  readonly text: string;
  /** ID of the preset beside which the message is shown; default: below the list. */
  readonly presetId?: string;
  readonly undo?: () => void;
  /** The settings after the change; the message is hidden once they differ. */
  readonly written?: readonly WrittenSetting[];
}

interface PresetItemProps {
  readonly preset: PresetState;
  /** True if Smart's setting names it; it is in use only while Smart is the provider. */
  readonly isSelected: boolean;
  /** The scope of the list of the user's own presets. */
  readonly scope: SettingScope;
  /** The preset's index in the user's list, or -1. */
  readonly ownIndex: number;
  readonly entry: ListEntryName | undefined;
  readonly done: UndoableChange | undefined;
  readonly onDone: (done: UndoableChange | undefined) => void;
  readonly onChange: (change: ListChange, text: string) => Promise<boolean>;
}

export function PresetItem({
  preset,
  isSelected,
  scope,
  ownIndex,
  entry: entryName,
  done: doneChange,
  onDone,
  onChange,
}: PresetItemProps): ReactNode {
  const { connection } = usePanel();
  const [newName, setNewName] = useState<string>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const apply = useApplyPreset(onDone, setProblems);
  const condensingProfile = useSetting('condensingProfile');
  const isInUse = useSetting('provider').value === 'smart' && isSelected;
  const nameSetting = useSetting('presets', [ownIndex, 'name'], scope);
  const { id, description, isBuiltIn } = preset;
  const name = isBuiltIn ? t(preset.name) : preset.name;
  const passes = readPassEntries(preset.config);
  const callsModel = passes.some((pass) => pass.callsModel && pass.isEnabled);
  const renamePreset = async (): Promise<void> => {
    const trimmedName = newName?.trim() ?? '';
    if (trimmedName !== '' && trimmedName !== name) {
      const newProblems = await nameSetting.save(trimmedName);
      setProblems(newProblems);
      if (newProblems.length > 0) return;
      onDone({ text: t('Renamed to “{0}”.', trimmedName), undo: () => void nameSetting.save(name).then(setProblems) });
    }
    setNewName(undefined);
  };
  const exportPreset = (): void => {
    setProblems([]);
    connection.sendRequest('exportPreset', { id }, { timeoutMs: Infinity }).then(
      ({ written }) => {
        if (written) onDone({ text: t('“{0}” was exported.', name) });
      },
      (error: unknown) => {
        setProblems([getErrorMessage(error)]);
      },
    );
  };
  const actions = [t('Apply'), t('Export…'), ...(entryName ? [t('Rename'), t('Delete')] : []), t('Compare with…')];
  const measuredLoss = isBuiltIn ? MEASURED_LOSS_BY_PRESET[id] : undefined;
  const searchTexts = [name, description, id, t('Presets'), 'preset save share', ...actions];
  return (
    <li className="item preset" aria-current={isSelected}>
      <SearchablePlace id={`presets.${id}`} searchTexts={searchTexts}>
        <div className="item-line">
          {newName === undefined ? (
            <span className="item-name">{name}</span>
          ) : (
            <TextField label={t('Name')} value={newName} onInput={setNewName} onCommit={setNewName} />
          )}
          {isSelected && <span className="badge">{isInUse ? t('in use') : t('selected')}</span>}
          <span className="badges">
            <span className="tag">{passes.length === 1 ? t('1 pass') : t('{0} passes', passes.length)}</span>
            <span className="tag">{callsModel ? t('calls a model') : t('free')}</span>
            {!isBuiltIn && <span className="tag">{t('yours')}</span>}
          </span>
        </div>
        <p className="row-help">{isBuiltIn ? t(description) : description}</p>
        {measuredLoss && <p className="row-help">{describePresetFigures(id, measuredLoss)}</p>}
        {isSelected && callsModel && condensingProfile.value === '' && (
          <p className="row-help" role="note">
            {t('No model writes summaries yet, so anything that needs a model is skipped. Add one under Models.')}
          </p>
        )}
        <span className="item-buttons actions">
          {newName !== undefined && <Button onClick={() => void renamePreset()}>{t('Save')}</Button>}
          {!isInUse && newName === undefined && <Button onClick={() => void apply(preset)}>{t('Apply')}</Button>}
          <Button onClick={exportPreset}>{t('Export…')}</Button>
          {entryName && newName === undefined && (
            <>
              <Button
                onClick={() => {
                  setNewName(name);
                }}
              >
                {t('Rename')}
              </Button>
              <Button
                onClick={() => void onChange({ kind: 'remove', entry: entryName }, t('“{0}” was deleted.', name))}
              >
                {t('Delete')}
              </Button>
            </>
          )}
        </span>
        <DoneMessageWithUndo done={doneChange} onDone={onDone} />
        <ProblemList problems={problems} />
        <div className="preset-comparison">
          <Disclosure title={t('Compare with…')} searchTexts={[name]}>
            <PresetComparison preset={preset} name={name} isSelected={isSelected} />
          </Disclosure>
        </div>
      </SearchablePlace>
    </li>
  );
}

interface DoneMessageWithUndoProps {
  readonly done: UndoableChange | undefined;
  readonly onDone: (done: UndoableChange | undefined) => void;
}

export function DoneMessageWithUndo({ done: doneChange, onDone }: DoneMessageWithUndoProps): ReactNode {
  const undo =
    doneChange?.undo &&
    (() => {
      doneChange.undo?.();
      onDone(undefined);
    });
  useUndoKey(undo);
  return (
    <span role="status" className="done">
      {doneChange && `${doneChange.text} `}
      {undo && <LinkButton onClick={undo}>{t('Undo')}</LinkButton>}
    </span>
  );
}

/** Undo restores both changed settings. */
function useApplyPreset(
  onDone: (done: UndoableChange | undefined) => void,
  onProblems: (problems: readonly string[]) => void,
): (preset: PresetState) => Promise<void> {
  const smart = useSetting('smart');
  const provider = useSetting('provider');
  return async ({ id, name }) => {
    const isReplacing = isOwnConfiguration(smart) && readPassEntries(smart.value).length > 0;
    // Hides the previous Undo: while saving, the settings may match the earlier change again, and
    // its Undo would restore other values.
    onDone(undefined);
    const isOtherProvider = provider.value !== 'smart';
    const { problems, saved: savedSettings } = await saveSettingsTogether([
      [smart, id],
      [provider, 'smart'],
    ]);
    onProblems(problems);
    if (!savedSettings) return;
    const doneChange: UndoableChange = {
      presetId: id,
      text: [
        isReplacing
          ? t('“{0}” is now in use, in place of your passes and their drafts.', name)
          : t('“{0}” is now in use.', name),
        ...(isOtherProvider ? [t('The provider is now Smart.')] : []),
      ].join(' '),
      written: savedSettings.written,
      undo: () => {
        void savedSettings.undo().then((newProblems) => {
          onProblems(newProblems);
          // The undo failed and can be retried.
          if (newProblems.length > 0) onDone(doneChange);
        });
      },
    };
    onDone(doneChange);
  };
}
