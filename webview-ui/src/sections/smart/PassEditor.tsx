import { use, type ReactNode } from 'react';
import { isOperation, OPERATIONS } from '../../../../src/core/condense/edits/operations';
import { SchemaField, SchemaForm, SchemaRoot } from '../../components/SchemaField';
import { getSchemaFields, getFieldKind, type JsonSchema } from '../../components/schema';
import { Disclosure } from '../../components/Disclosure';
import { t } from '../../l10n';
import type { Path } from '../../state/path';
import { SearchablePlace, useIsSearching } from '../../state/search';
import { useSetting } from '../../state/useSetting';
import { LinkButton } from '../../ui';
import { SelectionStrip } from '../preview/SelectionStrip';
import { OperationBadge, describePriceAndQuality } from './OperationBadge';
import { getContentTitles, isPlainObject, type PassEntry } from './smartValue';

interface PassEditorProps {
  /** The setting that contains the configuration. */
  readonly name: string;
  readonly entry: PassEntry;
}

const DEFAULT_CONFIG_BY_MODE = {
  individual: { individualConfig: { defaults: { toolResults: { operation: 'keep' } } } },
  batch: { batchConfig: { operation: 'summarize' } },
} as const;

export function PassEditor({ name, entry }: PassEditorProps): ReactNode {
  const { root } = use(SchemaRoot);
  const isSearching = useIsSearching();
  const base = ['passes', entry.index];
  const fields = getPassFields(root, entry.mode);
  const individual = getSchemaFields(fields['individualConfig'] ?? {});
  const renderField = (key: string, title: string, path: readonly (string | number)[] = base): ReactNode => {
    const schema = fields[key];
    return schema && <SchemaField name={name} path={[...path, key]} schema={schema} title={title} />;
  };
  return (
    <>
      {renderField('name', t('Name'))}
      {renderField('description', t('Description'))}
      <fieldset className="group">
        <legend>{t('What it selects')}</legend>
        {renderField('selection', t('Messages'))}
        {!isSearching && <SelectionStrip pass={entry.index} />}
      </fieldset>
      <fieldset className="group">
        <legend>{t('What it does')}</legend>
        <PassModeField name={name} entry={entry} />
        {entry.mode === 'batch' ? (
          renderField('batchConfig', t('Operation'))
        ) : (
          <PassOperationsFields name={name} entry={entry} fields={getSchemaFields(individual['defaults'] ?? {})} />
        )}
      </fieldset>
      <fieldset className="group">
        <legend>{t('When it runs')}</legend>
        {renderField('execution', t('Condition'))}
      </fieldset>
      <Disclosure title={t('Advanced')}>
        {individual['messageTokenThresholds'] && (
          <SchemaField
            name={name}
            path={[...base, 'individualConfig', 'messageTokenThresholds']}
            schema={individual['messageTokenThresholds']}
            title={t('Minimum tokens')}
          />
        )}
        {renderField('protect', t('Left alone'))}
        {individual['overrides'] && (
          <SchemaField
            name={name}
            path={[...base, 'individualConfig', 'overrides']}
            schema={individual['overrides']}
            title={t('Single messages')}
          />
        )}
      </Disclosure>
    </>
  );
}

/** Takes a mode's fields from the schema of the whole configuration. */
function getPassFields(root: JsonSchema, mode: string): Record<string, JsonSchema> {
  const { items } = getSchemaFields(root)['passes'] ?? {};
  const kind = getFieldKind((items ?? {}) as JsonSchema);
  const variant = kind.kind === 'variants' ? kind.variants.find(({ value }) => value === mode) : undefined;
  return getSchemaFields(variant?.schema ?? {});
}

function PassModeField({ name, entry }: PassEditorProps): ReactNode {
  const setting = useSetting(name, ['passes', entry.index]);
  const chooseMode = (mode: PassEntry['mode']): void => {
    const otherFields = Object.entries(entry.raw).filter(
      ([field]) => field !== 'individualConfig' && field !== 'batchConfig',
    );
    void setting.save({ ...Object.fromEntries(otherFields), mode, ...DEFAULT_CONFIG_BY_MODE[mode] });
  };
  const renderModeOption = (mode: PassEntry['mode'], title: string, help: string): ReactNode => (
    <label className="answer">
      <input
        type="radio"
        name={`mode-${entry.key}`}
        checked={entry.mode === mode}
        onChange={() => {
          chooseMode(mode);
        }}
      />
      <span>
        {title} <span className="row-note">{help}</span>
      </span>
    </label>
  );
  return (
    <SearchablePlace
      id={`${setting.id}.mode`}
      searchTexts={[t('Mode'), t('One by one'), t('All at once'), 'individual batch']}
    >
      <fieldset className="row">
        <legend className="row-name">{t('Mode')}</legend>
        {renderModeOption('individual', t('One by one'), t('each message separately, by content type'))}
        {renderModeOption('batch', t('All at once'), t('the selected messages as one block'))}
      </fieldset>
    </SearchablePlace>
  );
}

interface PassOperationsFieldsProps extends PassEditorProps {
  readonly fields: Readonly<Record<string, JsonSchema>>;
}

function PassOperationsFields({ name, entry, fields }: PassOperationsFieldsProps): ReactNode {
  const titles = getContentTitles();
  const path = ['passes', entry.index, 'individualConfig', 'defaults'];
  const knownFields = Object.entries(titles).flatMap(([type, title]) => {
    const schema = fields[type];
    return schema
      ? [<ContentOperationField key={type} name={name} path={[...path, type]} schema={schema} title={title} />]
      : [];
  });
  const otherFields = Object.fromEntries(Object.entries(fields).filter(([type]) => !(type in titles)));
  return (
    <>
      {knownFields}
      <SchemaForm name={name} path={path} fields={otherFields} />
    </>
  );
}

interface ContentOperationFieldProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: JsonSchema;
  readonly title: string;
}

function ContentOperationField({ name, path, schema, title }: ContentOperationFieldProps): ReactNode {
  const { value, save } = useSetting(name, path);
  const operation = isPlainObject(value) && isOperation(value['operation']) ? value['operation'] : 'keep';
  return (
    <div className="operation">
      <SchemaField name={name} path={path} schema={schema} title={title} />
      {operation !== 'keep' && (
        <p className="actions">
          <OperationBadge operation={operation} />
          <span className="row-note">
            {describePriceAndQuality(OPERATIONS[operation].callsModel, OPERATIONS[operation].outcome).join(' · ')}
          </span>
          <LinkButton onClick={() => void save({ operation: 'keep' })}>{t('Keep {0}', title)}</LinkButton>
        </p>
      )}
    </div>
  );
}
