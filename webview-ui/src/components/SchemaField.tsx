import { use, type ReactNode } from 'react';
import { formatNumber, t } from '../l10n';
import { useDraft, type Parsed } from '../state/useDraft';
import type { Path } from '../state/path';
import { useSetting } from '../state/useSetting';
import { usePanel } from '../state/panel';
import { Checkbox, Dropdown, LinkButton, TextArea, TextField } from '../ui';
import { Row } from './Row';
import { ProfileField } from './ProfileField';
import { helpOf, kindOf, resolve, type FieldKind, type Schema } from './schema';
import { titleOf, wordsOf } from './titles';
import { SchemaRoot } from './schemaRoot';
import { SchemaForm } from './SchemaForm';
import { VariantField } from './VariantField';

export interface SchemaFieldProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: Schema;
  readonly title?: string | undefined;
  readonly help?: string | undefined;
}

export interface FieldProps extends SchemaFieldProps {
  readonly title: string;
  readonly help: string;
}

/** A control for one place in the settings, made from its schema. */
export function SchemaField({ name, path, schema: given, ...texts }: SchemaFieldProps): ReactNode {
  const { root, ancestors } = use(SchemaRoot);
  const schema = resolve(given, root);
  const title = texts.title ?? titleOf(String(path.at(-1) ?? name), schema);
  const help = texts.help ?? helpOf(schema) ?? '';
  const field = { name, path, schema, title, help };
  // A shape that holds itself has no end: what is inside of it is written in settings.json.
  const isRecursive = [schema, resolve((schema['items'] ?? {}) as Schema, root)].some(
    ({ properties }) => properties !== undefined && ancestors.includes(properties),
  );
  const kind: FieldKind = isRecursive ? { kind: 'other' } : kindOf(schema);
  if (path.at(-1) === 'apiProfile') return <ProfileField {...field} />;
  switch (kind.kind) {
    case 'boolean':
      return <BooleanField {...field} />;
    case 'choice':
      return <ChoiceField {...field} choice={kind} />;
    case 'number':
      return <NumberField {...field} />;
    case 'text':
      return <TextualField {...field} rows={kind.rows} />;
    case 'list':
      return <ListField {...field} />;
    case 'choices':
      return <ChoicesField {...field} values={kind.values} />;
    case 'variants':
      return <VariantField {...field} variants={kind} />;
    case 'group':
      return (
        <SchemaRoot value={{ root, ancestors: [...ancestors, schema['properties']] }}>
          <fieldset className="group">
            <legend>{title}</legend>
            {help !== '' && <p className="row-help">{help}</p>}
            <SchemaForm name={name} path={path} fields={kind.fields} />
          </fieldset>
        </SchemaRoot>
      );
    case 'other':
      return <OtherField {...field} isHiddenWhenUnset={isRecursive} />;
  }
}

/** Questions to which no answer is an answer, too. */
const ASKED = new Set(['isError', 'cacheCold']);

function BooleanField({ name, path, title, help }: FieldProps): ReactNode {
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
          onChange={(value) => void setting.save(value === '' ? undefined : value === 'true')}
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
        onChange={(checked) => void setting.save(checked)}
      />
    </Row>
  );
}

type Choice = Extract<FieldKind, { kind: 'choice' }>;

function ChoiceField({ name, path, title, help, choice }: FieldProps & { readonly choice: Choice }): ReactNode {
  const setting = useSetting(name, path);
  const choices = choice.values.map((value, index) => ({ value, label: t(choice.labels[index] ?? value) }));
  return (
    <Row setting={setting} title={title} help={help} keywords={choice.labels.join(' ')} isInline>
      <Dropdown
        label={title}
        help={help}
        value={typeof setting.value === 'string' ? setting.value : ''}
        choices={choices}
        onChange={(value) => void setting.save(value)}
      />
    </Row>
  );
}

/** What stands in a field also where it is wrong there. */
const textOf = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : '';

/** An empty field takes the setting back. */
export function parseNumber(text: string): Parsed {
  if (text.trim() === '') return {};
  const value = Number(text.replace(',', '.'));
  return Number.isFinite(value) ? { value } : { problem: t('This is no number.') };
}

function NumberField({ name, path, title, help, schema }: FieldProps): ReactNode {
  const setting = useSetting(name, path);
  const draft = useDraft(setting, textOf(setting.value), parseNumber);
  const { default: standard } = schema;
  return (
    <Row setting={setting} title={title} help={help} problems={draft.problems} isInline>
      <TextField
        label={title}
        help={[help, ...draft.problems].join(' ')}
        invalid={draft.problems.length > 0}
        numeric
        placeholder={typeof standard === 'number' ? formatNumber(standard) : t('none')}
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
      {rows > 1 ? <TextArea {...control} rows={rows} /> : <TextField {...control} />}
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

function ListField({ name, path, title, help }: FieldProps): ReactNode {
  const setting = useSetting(name, path);
  const shown = Array.isArray(setting.value) ? setting.value.map(String).join('\n') : '';
  const draft = useDraft(setting, shown, parseList);
  const explained = `${help} ${t('One a line.')}`.trim();
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

function ChoicesField({
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
            label={t(wordsOf(value))}
            checked={chosen.has(value)}
            onChange={(checked) => {
              const wanted = values.filter((other) => (other === value ? checked : chosen.has(other)));
              void setting.save(wanted.length === 0 ? undefined : wanted);
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

/** What no form is made of. */
function OtherField({ name, path, title, help, isHiddenWhenUnset }: OtherFieldProps): ReactNode {
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
