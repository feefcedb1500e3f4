import type { ReactNode } from 'react';
import { t } from '../l10n';
import { usePanel } from '../state/panel';
import { useSetting } from '../state/useSetting';
import { profileEntries } from '../state/profileEntries';
import { Dropdown } from '../ui';
import { Row } from './Row';
import type { FieldProps } from './SchemaField';

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
