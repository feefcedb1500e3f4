import { useState, type ReactNode } from 'react';
import { errorMessage } from '../../../../src/core/errors';
import { makeFreeId } from '../../../../src/core/freeId';
import { hasField, isVendor, VENDOR_IDS, getVendorEntry, type Vendor } from '../../../../src/core/vendors/vendors';
import { Problems } from '../../components/Problems';
import { t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSetting } from '../../state/useSetting';
import { Button, Dropdown, TextField } from '../../ui';

interface NewProfileProps {
  /** Ids that there are. */
  readonly taken: readonly string[];
  /** The first profile sums up from then on. */
  readonly isFirst: boolean;
  readonly onDone: () => void;
}

/** What is wrong with a field of the new profile. @property path of the field; empty: none of them */
interface Problem {
  readonly path: string;
  readonly message: string;
}

const problemWords = ({ path, message }: Problem): string => (path === '' ? message : `${path}: ${message}`);

/** A vendor with the others whose API is the same. */
function vendorLabel(vendor: Vendor): string {
  const { label, alsoFor = [] } = getVendorEntry(vendor);
  return [label, ...alsoFor].join(', ');
}

/** The fields that a profile needs; all else is set once it is there. */
export function NewProfile({ taken, isFirst, onDone }: NewProfileProps): ReactNode {
  const { connection, state } = usePanel();
  const condensing = useSetting('condensingProfile');
  const [vendor, setVendor] = useState<Vendor>('anthropic');
  const [fields, setFields] = useState({
    model: '',
    name: '',
    baseUrl: '',
    region: '',
    projectId: '',
  });
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  /** The profile that is there, but could not be chosen for summaries: the next attempt is about the same one. */
  const [added, setAdded] = useState<string>();
  const { model, name, baseUrl, region, projectId } = fields;
  const change = (field: keyof typeof fields) => (value: string) => {
    setFields((before) => ({ ...before, [field]: value }));
  };
  const at = (field: string): readonly string[] =>
    problems.filter(({ path }) => path === field).map(({ message }) => message);
  const row = (field: keyof typeof fields | 'vendor', label: string, control: ReactNode, help?: string): ReactNode => (
    <div className="row">
      <span className="row-name">{label}</span>
      {help !== undefined && <p className="row-help">{help}</p>}
      <div className="row-control">{control}</div>
      <Problems problems={at(field)} />
    </div>
  );
  const text = (field: keyof typeof fields, label: string, help?: string): ReactNode =>
    row(
      field,
      label,
      <TextField
        label={label}
        help={[help ?? '', ...at(field)].join(' ').trim()}
        invalid={at(field).length > 0}
        value={fields[field]}
        onInput={change(field)}
        onCommit={change(field)}
      />,
      help,
    );
  const save = async (): Promise<void> => {
    if (model.trim() === '') {
      setProblems([{ path: 'model', message: t('Enter a model.') }]);
      return;
    }
    const called = name.trim() || model.trim();
    const id = added ?? makeFreeId(called, taken, 'profile');
    const profile = {
      id,
      name: called,
      vendor,
      model: model.trim(),
      ...(baseUrl.trim() !== '' && { baseUrl: baseUrl.trim() }),
      ...(region.trim() !== '' && { region: region.trim() }),
      ...(projectId.trim() !== '' && { projectId: projectId.trim() }),
    };
    try {
      const verdict = await connection.request('saveProfile', { profile });
      setProblems(verdict.problems);
      if (verdict.problems.length > 0) return;
      if (isFirst || added !== undefined) {
        const refused = await condensing.save(id);
        setProblems(refused.map((message) => ({ path: '', message })));
        if (refused.length > 0) {
          setAdded(id);
          return;
        }
      }
      onDone();
      if (getVendorEntry(vendor).key !== 'none') await connection.request('setKey', { id }, { timeoutMs: Infinity });
    } catch (error) {
      setProblems([{ path: '', message: errorMessage(error) }]);
    }
  };
  return (
    <div className="item item-content" role="group" aria-label={t('New profile')}>
      {row(
        'vendor',
        t('Vendor'),
        <Dropdown
          label={t('Vendor')}
          value={vendor}
          choices={VENDOR_IDS.map((value) => ({ value, label: vendorLabel(value) }))}
          onChange={(value) => {
            if (isVendor(value)) setVendor(value);
          }}
        />,
      )}
      {vendor === 'vscode' && state.editorModels.length > 0
        ? row(
            'model',
            t('Model'),
            <Dropdown
              label={t('Model')}
              value={model}
              choices={[
                { value: '', label: t('Choose…') },
                ...state.editorModels.map((entry) => ({ value: entry.id, label: `${entry.name} (${entry.vendor})` })),
              ]}
              onChange={change('model')}
            />,
          )
        : text('model', t('Model'), t('The model’s ID at the vendor.'))}
      {text('name', t('Name'), t('The name that is shown. If empty, the model’s ID.'))}
      {hasField(vendor, 'baseUrl') &&
        text(
          'baseUrl',
          t('Base URL'),
          t('Address of the API, such as http://127.0.0.1:11434/v1. If empty, the vendor’s own.'),
        )}
      {hasField(vendor, 'region') && text('region', t('Region'))}
      {hasField(vendor, 'projectId') && text('projectId', t('Project'))}
      <Problems problems={problems.filter(({ path }) => !(path in fields)).map(problemWords)} />
      <p className="actions">
        <Button primary onClick={() => void save()}>
          {t('Add')}
        </Button>
        <Button onClick={onDone}>{t('Cancel')}</Button>
      </p>
    </div>
  );
}
