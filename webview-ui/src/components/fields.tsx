/** The controls for one place in the settings, one for each kind of value. SchemaField chooses among them. */
import type { ComponentProps, ReactNode } from 'react';
import { isRecord } from '../../../src/core/messages/blocks';
import { t } from '../l10n';
import { usePanel } from '../state/panel';
import type { Path } from '../state/path';
import { profileEntries } from '../state/profileEntries';
import { useDraft, type Parsed } from '../state/useDraft';
import { useSetting, type Setting } from '../state/useSetting';
import { Checkbox, Dropdown, LinkButton, TextArea, TextField } from '../ui';
import { parseNumber, unitOf, writtenNumber } from './numbers';
import { Row } from './Row';
import type { FieldKind, Schema } from './schema';
import { nameInWords } from './titles';

export interface FieldProps {
  /** The setting. */
  readonly name: string;
  /** Where the value is inside of it. */
  readonly path: Path;
  readonly schema: Schema;
  readonly title: string;
  readonly help: string;
}

/** Questions to which no answer is an answer, too. */
const ASKED = new Set(['isError', 'cacheCold']);

export function BooleanField({ name, path, title, help }: FieldProps): ReactNode {
  const setting = useSetting(name, path);
  if (ASKED.has(String(path.at(-1)))) {
    const choices = [
      { value: '', label: t('Either') },
      { value: 'true', label: t('Yes') },
      { value: 'false', label: t('No') },
    ];
    return (
      <Row setting={setting} title={title} help={help} isInline>
        <Dropdown
          label={title}
          help={help}
          value={typeof setting.value === 'boolean' ? String(setting.value) : ''}
          choices={choices}
          onChange={(value) => setting.save(value === '' ? undefined : value === 'true')}
        />
      </Row>
    );
  }
  return (
    <Row setting={setting} title={title} help={help} isTitled>
      <Checkbox
        label={title}
        help={help}
        checked={setting.value === true}
        onChange={(checked) => setting.save(checked)}
      />
    </Row>
  );
}

type Choice = Extract<FieldKind, { kind: 'choice' }>;

/** The choice that leaves a setting out. Without it the first value would show where none is set, and could not be chosen. */
export const notSet = () => ({ value: '', label: t('Not set') });

/** Stands for a value of one's own, which no choice holds: written in settings.json, and in force. */
const written = () => ({ value: '', label: t('Your own') });

/**
 * The choice in force; empty where there is none. Where the scope sets nothing, a setting whose choices name whole
 * configurations (such as a strategy) has the default configuration for its value, with the choice as its id.
 */
function chosenIn({ value, isSet }: Setting, { values }: Choice): string {
  if (typeof value === 'string') return value;
  const id = !isSet && isRecord(value) ? value['id'] : undefined;
  return typeof id === 'string' && values.includes(id) ? id : '';
}

interface ChoiceFieldProps extends FieldProps {
  readonly choice: Choice;
  readonly isOptional: boolean;
}

export function ChoiceField({ name, path, title, help, choice, isOptional }: ChoiceFieldProps): ReactNode {
  const setting = useSetting(name, path);
  const shown = chosenIn(setting, choice);
  const values = choice.values.map((value, index) => ({ value, label: t(choice.labels[index] ?? value) }));
  return (
    <Row setting={setting} title={title} help={help} keywords={choice.labels.join(' ')} isInline>
      <Dropdown
        label={title}
        help={help}
        value={shown}
        choices={
          isOptional || shown === '' ? [setting.isSet && shown === '' ? written() : notSet(), ...values] : values
        }
        onChange={(wanted) => setting.save(wanted === '' ? undefined : wanted)}
      />
    </Row>
  );
}

export function ChoicesField({
  name,
  path,
  title,
  help,
  values,
}: FieldProps & { readonly values: readonly string[] }): ReactNode {
  const setting = useSetting(name, path);
  const chosen = new Set(Array.isArray(setting.value) ? setting.value : []);
  return (
    <Row setting={setting} title={title} help={help} keywords={values.join(' ')}>
      <div className="control-line" role="group" aria-label={title}>
        {values.map((value) => (
          <Checkbox
            key={value}
            label={t(nameInWords(value))}
            checked={chosen.has(value)}
            onChange={(checked) => {
              const wanted = values.filter((other) => (other === value ? checked : chosen.has(other)));
              return setting.save(wanted.length === 0 ? undefined : wanted);
            }}
          />
        ))}
      </div>
    </Row>
  );
}

interface OtherFieldProps extends FieldProps {
  readonly isHiddenWhenUnset: boolean;
}

/** A value that no form is made of. */
export function OtherField({ name, path, title, help, isHiddenWhenUnset }: OtherFieldProps): ReactNode {
  const setting = useSetting(name, path);
  const { connection } = usePanel();
  if (isHiddenWhenUnset && setting.value === undefined) return null;
  return (
    <Row setting={setting} title={title} help={help}>
      <LinkButton onClick={() => void connection.request('openSettingsFile', { scope: setting.scope, name })}>
        {t('Edit in settings.json')}
      </LinkButton>
    </Row>
  );
}

/** A field's text, even if the value is wrong there. */
const textOf = (value: unknown): string =>
  typeof value === 'number' ? writtenNumber(value) : typeof value === 'string' ? value : '';

type NumberInputProps = Omit<ComponentProps<typeof TextField>, 'numeric'> & { readonly unit: string | undefined };

/** A field for a number, with its unit beside it; a screen reader reads the unit with the name. */
export function NumberInput({ unit, label, ...field }: NumberInputProps): ReactNode {
  if (unit === undefined) return <TextField label={label} numeric {...field} />;
  return (
    <span className="with-unit">
      <TextField label={`${label} (${unit})`} numeric {...field} />
      <span aria-hidden="true">{unit}</span>
    </span>
  );
}

export function NumberField({ name, path, title, help, schema }: FieldProps): ReactNode {
  const setting = useSetting(name, path);
  const draft = useDraft(setting, textOf(setting.value), parseNumber);
  const { default: standard } = schema;
  return (
    <Row setting={setting} title={title} help={help} problems={draft.problems} isInline>
      <NumberInput
        unit={unitOf(name, path)}
        label={title}
        help={[help, ...draft.problems].join(' ')}
        invalid={draft.problems.length > 0}
        placeholder={typeof standard === 'number' ? writtenNumber(standard) : t('none')}
        value={draft.text}
        onInput={draft.onInput}
        onCommit={draft.onCommit}
      />
    </Row>
  );
}

const parseText = (text: string): Parsed => (text === '' ? {} : { value: text });

export function TextualField({ name, path, title, help, rows }: FieldProps & { readonly rows: number }): ReactNode {
  const setting = useSetting(name, path);
  const draft = useDraft(setting, typeof setting.value === 'string' ? setting.value : '', parseText);
  // A field of one line would drop the line breaks of what was written elsewhere, with the first key.
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
    <Row setting={setting} title={title} help={help} problems={draft.problems}>
      {rows > 1 || hasLines ? <TextArea {...control} rows={Math.max(rows, 2)} /> : <TextField {...control} />}
    </Row>
  );
}

/** One entry a line. */
const parseList = (text: string): Parsed => {
  const value = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return value.length === 0 ? {} : { value };
};

export function ListField({ name, path, title, help }: FieldProps): ReactNode {
  const setting = useSetting(name, path);
  const shown = Array.isArray(setting.value) ? setting.value.map(String).join('\n') : '';
  const draft = useDraft(setting, shown, parseList);
  const explained = `${help} ${t('One per line.')}`.trim();
  return (
    <Row setting={setting} title={title} help={explained} problems={draft.problems}>
      <TextArea
        label={title}
        help={[explained, ...draft.problems].join(' ')}
        invalid={draft.problems.length > 0}
        rows={3}
        value={draft.text}
        onInput={draft.onInput}
        onCommit={draft.onCommit}
      />
    </Row>
  );
}

/** A profile by its id; none: the one that is chosen for condensing. */
export function ProfileField({ name, path, title, help }: FieldProps): ReactNode {
  const { state } = usePanel();
  const setting = useSetting(name, path);
  const choices = profileEntries(state).map(({ id, name: label }) => ({ value: id, label }));
  return (
    <Row setting={setting} title={title} help={help} isInline>
      <Dropdown
        label={title}
        help={help}
        value={typeof setting.value === 'string' ? setting.value : ''}
        choices={[{ value: '', label: t('The condensing profile') }, ...choices]}
        onChange={(value) => setting.save(value === '' ? undefined : value)}
      />
    </Row>
  );
}
