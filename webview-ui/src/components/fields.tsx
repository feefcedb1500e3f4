/** One control for each kind of value; SchemaField chooses among them. */
import type { ComponentProps, ReactNode } from 'react';
import { isRecord } from '../../../src/core/messages/blocks';
import { t } from '../l10n';
import { usePanel } from '../state/panel';
import type { Path } from '../state/path';
import { listProfileEntries } from '../state/profileEntries';
import { useFieldDraft, type ParsedText } from '../state/useDraft';
import { useSetting, type SettingHandle } from '../state/useSetting';
import { Checkbox, Dropdown, LinkButton, TextArea, TextField } from '../ui';
import { isMoneyUnit, parseNumber, getUnitOfSetting, formatTypedNumber } from './numbers';
import { SettingRow } from './Row';
import type { FieldKind, JsonSchema } from './schema';
import { formatFieldName } from './titles';

export interface FieldProps {
  readonly name: string;
  /** Path of the value within the setting. */
  readonly path: Path;
  readonly schema: JsonSchema;
  readonly title: string;
  readonly help: string;
}

/** Conditions with three states: yes, no, and not checked. */
const YES_NO_CONDITIONS = new Set(['isError', 'cacheCold']);

export function BooleanField({ name, path, title, help }: FieldProps): ReactNode {
  const setting = useSetting(name, path);
  if (YES_NO_CONDITIONS.has(String(path.at(-1)))) {
    const choices = [
      { value: '', label: t('Either') },
      { value: 'true', label: t('Yes') },
      { value: 'false', label: t('No') },
    ];
    return (
      <SettingRow setting={setting} title={title} help={help} isInline>
        <Dropdown
          label={title}
          help={help}
          value={typeof setting.value === 'boolean' ? String(setting.value) : ''}
          choices={choices}
          onChange={(value) => setting.save(value === '' ? undefined : value === 'true')}
        />
      </SettingRow>
    );
  }
  return (
    <SettingRow setting={setting} title={title} help={help} isTitled>
      <Checkbox
        label={title}
        help={help}
        checked={setting.value === true}
        onChange={(checked) => setting.save(checked)}
      />
    </SettingRow>
  );
}

type ChoiceFieldKind = Extract<FieldKind, { kind: 'choice' }>;

/**
 * Removes the setting. Without this choice, an unset setting would show its first value, which the
 * user could then not choose.
 */
export const makeNotSetChoice = () => ({ value: '', label: t('Not set') });

/** A valid value from settings.json that is not among the choices. */
const makeOwnChoice = () => ({ value: '', label: t('Your own') });

/**
 * Returns an empty text if the user has chosen nothing. If choices name whole configurations, an
 * unset setting has the default configuration as its value.
 */
function getChosenValue({ value, isSet }: SettingHandle, { values }: ChoiceFieldKind): string {
  if (typeof value === 'string') return value;
  const id = !isSet && isRecord(value) ? value['id'] : undefined;
  return typeof id === 'string' && values.includes(id) ? id : '';
}

interface ChoiceFieldProps extends FieldProps {
  readonly choice: ChoiceFieldKind;
  readonly isOptional: boolean;
}

export function ChoiceField({ name, path, title, help, choice, isOptional }: ChoiceFieldProps): ReactNode {
  const setting = useSetting(name, path);
  const shownValue = getChosenValue(setting, choice);
  const values = choice.values.map((value, index) => ({ value, label: t(choice.labels[index] ?? value) }));
  return (
    <SettingRow setting={setting} title={title} help={help} keywords={choice.labels.join(' ')} isInline>
      <Dropdown
        label={title}
        help={help}
        value={shownValue}
        choices={
          isOptional || shownValue === ''
            ? [setting.isSet && shownValue === '' ? makeOwnChoice() : makeNotSetChoice(), ...values]
            : values
        }
        onChange={(wanted) => setting.save(wanted === '' ? undefined : wanted)}
      />
    </SettingRow>
  );
}

export function MultipleChoiceField({
  name,
  path,
  title,
  help,
  values,
}: FieldProps & { readonly values: readonly string[] }): ReactNode {
  const setting = useSetting(name, path);
  const chosenValues = new Set(Array.isArray(setting.value) ? setting.value : []);
  return (
    <SettingRow setting={setting} title={title} help={help} keywords={values.join(' ')}>
      <div className="control-line" role="group" aria-label={title}>
        {values.map((value) => (
          <Checkbox
            key={value}
            label={t(formatFieldName(value))}
            checked={chosenValues.has(value)}
            onChange={(checked) => {
              const wantedValues = values.filter((other) => (other === value ? checked : chosenValues.has(other)));
              return setting.save(wantedValues.length === 0 ? undefined : wantedValues);
            }}
          />
        ))}
      </div>
    </SettingRow>
  );
}

interface SettingsFileFieldProps extends FieldProps {
  readonly isHiddenWhenUnset: boolean;
}

/** A field for a value without a form, which users edit in settings.json. */
export function SettingsFileField({ name, path, title, help, isHiddenWhenUnset }: SettingsFileFieldProps): ReactNode {
  const setting = useSetting(name, path);
  const { connection } = usePanel();
  if (isHiddenWhenUnset && setting.value === undefined) return null;
  return (
    <SettingRow setting={setting} title={title} help={help}>
      <LinkButton onClick={() => void connection.sendRequest('openSettingsFile', { scope: setting.scope, name })}>
        {t('Edit in settings.json')}
      </LinkButton>
    </SettingRow>
  );
}

const formatFieldValue = (value: unknown, unit: string | undefined): string =>
  typeof value === 'number' ? formatTypedNumber(value, isMoneyUnit(unit)) : typeof value === 'string' ? value : '';

type NumberInputProps = Omit<ComponentProps<typeof TextField>, 'numeric'> & { readonly unit: string | undefined };

/** Shows the unit beside the number. A screen reader reads it with the name. */
export function NumberInput({ unit, label, ...field }: NumberInputProps): ReactNode {
  if (unit === undefined) return <TextField label={label} numeric {...field} />;
  const unitAfterField = isMoneyUnit(unit) ? unit.slice(1).trim() : unit;
  return (
    <span className="with-unit">
      {isMoneyUnit(unit) && <span aria-hidden="true">$</span>}
      <TextField label={`${label} (${unit})`} numeric {...field} />
      {unitAfterField !== '' && <span aria-hidden="true">{unitAfterField}</span>}
    </span>
  );
}

/** The known price of a profile's model, which applies while the profile has none of its own. */
function useModelPrice(name: string, path: Path): number | undefined {
  const { state } = usePanel();
  const [index, field, kind] = path;
  if (name !== 'profiles' || field !== 'prices' || path.length !== 3) return undefined;
  const prices = listProfileEntries(state)[Number(index)]?.facts?.prices;
  return Object.entries(prices ?? {}).find(([known]) => known === kind)?.[1];
}

export function NumberField({ name, path, title, help, schema }: FieldProps): ReactNode {
  const setting = useSetting(name, path);
  const unit = getUnitOfSetting(name, path);
  const draft = useFieldDraft(setting, formatFieldValue(setting.value, unit), parseNumber);
  const standard = useModelPrice(name, path) ?? schema['default'];
  return (
    <SettingRow setting={setting} title={title} help={help} problems={draft.problems} isInline>
      <NumberInput
        unit={unit}
        label={title}
        help={[help, ...draft.problems].join(' ')}
        invalid={draft.problems.length > 0}
        placeholder={typeof standard === 'number' ? formatFieldValue(standard, unit) : t('none')}
        value={draft.text}
        onInput={draft.onInput}
        onCommit={draft.onCommit}
      />
    </SettingRow>
  );
}

const parseOptionalText = (text: string): ParsedText => (text === '' ? {} : { value: text });

export function TextSettingField({ name, path, title, help, rows }: FieldProps & { readonly rows: number }): ReactNode {
  const setting = useSetting(name, path);
  const draft = useFieldDraft(setting, typeof setting.value === 'string' ? setting.value : '', parseOptionalText);
  // A single-line field would drop line breaks.
  const hasLines = draft.text.includes('\n');
  const control = {
    label: title,
    help: [help, ...draft.problems].join(' '),
    invalid: draft.problems.length > 0,
    value: draft.text,
    onInput: draft.onInput,
    onCommit: draft.onCommit,
  };
  return (
    <SettingRow setting={setting} title={title} help={help} problems={draft.problems}>
      {rows > 1 || hasLines ? <TextArea {...control} rows={Math.max(rows, 2)} /> : <TextField {...control} />}
    </SettingRow>
  );
}

/** One entry per line. */
const parseLinesAsList = (text: string): ParsedText => {
  const value = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return value.length === 0 ? {} : { value };
};

export function TextListField({ name, path, title, help }: FieldProps): ReactNode {
  const setting = useSetting(name, path);
  const savedText = Array.isArray(setting.value) ? setting.value.map(String).join('\n') : '';
  const draft = useFieldDraft(setting, savedText, parseLinesAsList);
  const fullHelp = `${help} ${t('One per line.')}`.trim();
  return (
    <SettingRow setting={setting} title={title} help={fullHelp} problems={draft.problems}>
      <TextArea
        label={title}
        help={[fullHelp, ...draft.problems].join(' ')}
        invalid={draft.problems.length > 0}
        rows={3}
        value={draft.text}
        onInput={draft.onInput}
        onCommit={draft.onCommit}
      />
    </SettingRow>
  );
}

/** If the ID is empty, the profile chosen for summaries is used. */
export function ProfileChoiceField({ name, path, title, help }: FieldProps): ReactNode {
  const { state } = usePanel();
  const setting = useSetting(name, path);
  const choices = listProfileEntries(state).map(({ id, name: label }) => ({ value: id, label }));
  return (
    <SettingRow setting={setting} title={title} help={help} isInline>
      <Dropdown
        label={title}
        help={help}
        value={typeof setting.value === 'string' ? setting.value : ''}
        choices={[{ value: '', label: t('The model chosen for summaries') }, ...choices]}
        onChange={(value) => setting.save(value === '' ? undefined : value)}
      />
    </SettingRow>
  );
}
