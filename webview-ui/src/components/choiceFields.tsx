import type { ReactNode } from 'react';
import { t } from '../l10n';
import { usePanel } from '../state/panel';
import { useSetting } from '../state/useSetting';
import { Checkbox, Dropdown, LinkButton } from '../ui';
import { Row } from './Row';
import type { FieldKind } from './schema';
import type { FieldProps } from './SchemaField';
import { wordsOf } from './titles';

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
        onChange={(checked) => void setting.save(checked)}
      />
    </Row>
  );
}

type Choice = Extract<FieldKind, { kind: 'choice' }>;

export function ChoiceField({ name, path, title, help, choice }: FieldProps & { readonly choice: Choice }): ReactNode {
  const setting = useSetting(name, path);
  const choices = choice.values.map((value, index) => ({ value, label: t(choice.labels[index] ?? value) }));
  return (
    <Row setting={setting} title={title} help={help} keywords={choice.labels.join(' ')} isInline>
      <Dropdown
        label={title}
        help={help}
        value={typeof setting.value === 'string' ? setting.value : ''}
        choices={choices}
        onChange={(value) => setting.save(value)}
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
