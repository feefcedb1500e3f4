import type { ReactNode } from 'react';
import { formatNumber, t } from '../l10n';
import { useDraft, type Parsed } from '../state/useDraft';
import { useSetting } from '../state/useSetting';
import { TextArea, TextField } from '../ui';
import { Row } from './Row';
import type { FieldProps } from './SchemaField';

/** What stands in a field also where it is wrong there. */
const textOf = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : '';

/** An empty field takes the setting back. */
export function parseNumber(text: string): Parsed {
  if (text.trim() === '') return {};
  const value = Number(text.replace(',', '.'));
  return Number.isFinite(value) ? { value } : { problem: t('This is no number.') };
}

export function NumberField({ name, path, title, help, schema }: FieldProps): ReactNode {
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

export function ListField({ name, path, title, help }: FieldProps): ReactNode {
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
