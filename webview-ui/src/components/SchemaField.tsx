import { createContext, use, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { isRecord } from '../../../src/core/messages/blocks';
import { t } from '../l10n';
import type { Path } from '../state/path';
import { useIsSearching } from '../state/search';
import { useSetting } from '../state/useSetting';
import { Button, Dropdown, IconButton, TextField } from '../ui';
import {
  BooleanField,
  ChoiceField,
  MultipleChoiceField,
  TextListField,
  NumberField,
  SettingsFileField,
  makeNotSetChoice,
  ProfileChoiceField,
  TextSettingField,
  type FieldProps,
} from './fields';
import { ProblemsOfSetting } from './OwnProblems';
import { ProblemList } from './Problems';
import { SettingRow } from './Row';
import {
  makeEmptyValue,
  getSchemaFields,
  getHelpText,
  getFieldKind,
  findNestedFields,
  resolveReference,
  getStarterSchema,
  type FieldKind,
  type JsonSchema,
} from './schema';
import { getFieldTitle, formatFieldName } from './titles';

/**
 * The schema that `$ref` references point into, and the properties of the objects around a field.
 */
export const SchemaRoot = createContext<{ readonly root: JsonSchema; readonly ancestors: readonly unknown[] }>({
  root: {},
  ancestors: [],
});

interface SchemaFormProps {
  readonly name: string;
  /** Path of the fields within the setting. */
  readonly path: Path;
  readonly fields: Readonly<Record<string, JsonSchema>>;
  /** Names of the required fields; default: all. */
  readonly required?: readonly unknown[];
}

export function SchemaForm({ name, path, fields, required }: SchemaFormProps): ReactNode {
  return Object.entries(fields).map(([field, schema]) => (
    <SchemaField
      key={field}
      name={name}
      path={[...path, field]}
      schema={schema}
      isOptional={required !== undefined && !required.includes(field) && schema['default'] === undefined}
    />
  ));
}

export const listRequiredFields = ({ required }: JsonSchema): readonly unknown[] =>
  Array.isArray(required) ? required : [];

export interface SchemaFieldProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: JsonSchema;
  readonly title?: string | undefined;
  readonly help?: string | undefined;
  /** True if the user may leave the choice empty. */
  readonly isOptional?: boolean;
}

/** Chooses a field's control by its schema. */
export function SchemaField({
  name,
  path,
  schema: givenSchema,
  isOptional = false,
  ...texts
}: SchemaFieldProps): ReactNode {
  const { root, ancestors } = use(SchemaRoot);
  const schema = resolveReference(givenSchema, root);
  const title = texts.title ?? getFieldTitle(String(path.at(-1) ?? name), schema);
  const help = texts.help ?? getHelpText(schema) ?? '';
  const field = { name, path, schema, title, help };
  const nestedFields = findNestedFields(schema, root);
  if (Object.keys(nestedFields).length > 0) return <ConditionRuleField {...field} />;
  // A shape that contains itself has no end, so users edit it in settings.json.
  const isRecursive = [schema, resolveReference((schema['items'] ?? {}) as JsonSchema, root)].some(
    ({ properties }) => properties !== undefined && ancestors.includes(properties),
  );
  const kind: FieldKind = isRecursive ? { kind: 'other' } : getFieldKind(schema);
  if (path.at(-1) === 'apiProfile') return <ProfileChoiceField {...field} />;
  switch (kind.kind) {
    case 'boolean':
      return <BooleanField {...field} />;
    case 'choice':
      return <ChoiceField {...field} choice={kind} isOptional={isOptional} />;
    case 'number':
      return <NumberField {...field} />;
    case 'text':
      return <TextSettingField {...field} rows={kind.rows} />;
    case 'list':
      return <TextListField {...field} />;
    case 'choices':
      return <MultipleChoiceField {...field} values={kind.values} />;
    case 'variants':
      return <VariantField {...field} variants={kind} isOptional={isOptional} />;
    case 'group':
      return (
        <SchemaRoot value={{ root, ancestors: [...ancestors, schema['properties']] }}>
          <fieldset className="group">
            <legend>{title}</legend>
            {help !== '' && <p className="row-help">{help}</p>}
            <ProblemsOfSetting name={name} path={path} fields={kind.fields} />
            <SchemaForm name={name} path={path} fields={kind.fields} required={listRequiredFields(schema)} />
          </fieldset>
        </SchemaRoot>
      );
    case 'entries':
      return <ListOfEntriesField {...field} items={kind.items} />;
    case 'map':
      return <MapOfEntriesField {...field} items={kind.items} />;
    case 'other':
      return <SettingsFileField {...field} isHiddenWhenUnset={isRecursive} />;
  }
}

interface VariantFieldProps extends FieldProps {
  readonly variants: Extract<FieldKind, { kind: 'variants' }>;
  readonly isOptional: boolean;
}

function VariantField({ name, path, title, variants: { key, variants }, isOptional }: VariantFieldProps): ReactNode {
  const setting = useSetting(name, path);
  const { root } = use(SchemaRoot);
  const value = (typeof setting.value === 'object' && setting.value !== null ? setting.value : {}) as JsonSchema;
  const chosenVariant = variants.find((variant) => variant.value === value[key]);
  const fields = Object.fromEntries(
    Object.entries(getSchemaFields(chosenVariant?.schema ?? {})).filter(([field]) => field !== key),
  );
  const description = chosenVariant?.schema['description'];
  const help = typeof description === 'string' ? t(description) : '';
  const choices = variants.map((variant) => ({ value: variant.value, label: t(formatFieldName(variant.value)) }));
  return (
    <>
      <SettingRow
        setting={setting}
        title={title}
        help={help}
        keywords={variants.map((variant) => variant.value).join(' ')}
        isInline
      >
        <Dropdown
          label={title}
          help={help}
          value={chosenVariant?.value ?? ''}
          choices={isOptional ? [makeNotSetChoice(), ...choices] : choices}
          onChange={(wanted) => {
            const variant = variants.find((other) => other.value === wanted);
            return setting.save(
              variant && {
                ...getStarterSchema(resolveReference(variant.schema, root)),
                ...createStarterValue(variant.value, variant.schema),
              },
            );
          }}
        />
      </SettingRow>
      {Object.keys(fields).length > 0 && (
        <div className="variant-fields">
          <SchemaForm name={name} path={path} fields={fields} />
        </div>
      )}
    </>
  );
}

/** A useful start for each shape of a Smart pass. */
const STARTER_VALUES_BY_SHAPE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  preserve_recent: { count: 10 },
  preserve_percent: { percentage: 30 },
  custom: { filter: { contentTypes: ['toolResults'] } },
  conditional: { condition: { tokenThreshold: 50_000 } },
  truncate: { maxLines: 20 },
};

const createStarterValue = (shape: string, schema: JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(STARTER_VALUES_BY_SHAPE[shape] ?? {}).filter(([field]) => field in getSchemaFields(schema)),
  );

function ListEntry({ title, onRemove, children }: ListEntryProps): ReactNode {
  return (
    <fieldset className="group entry">
      <legend>
        {title} <IconButton icon="trash" label={t('Remove {0}', title)} onClick={onRemove} />
      </legend>
      {children}
    </fieldset>
  );
}

interface ListEntryProps {
  readonly title: string;
  readonly onRemove: () => void;
  readonly children: ReactNode;
}

interface FieldWithItemsProps extends FieldProps {
  readonly items: JsonSchema;
}

function ListOfEntriesField({ name, path, title, help, items }: FieldWithItemsProps): ReactNode {
  const { root } = use(SchemaRoot);
  const setting = useSetting(name, path);
  const entries: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const schema = resolveReference(items, root);
  return (
    <SettingRow setting={setting} title={title} help={help}>
      {entries.map((_entry, index) => (
        <ListEntry
          key={index}
          title={t('{0}, {1} of {2}', title, index + 1, entries.length)}
          onRemove={() => void setting.save(entries.length === 1 ? undefined : entries.toSpliced(index, 1))}
        >
          <SchemaForm
            name={name}
            path={[...path, index]}
            fields={getSchemaFields(schema)}
            required={listRequiredFields(schema)}
          />
        </ListEntry>
      ))}
      <Button icon="add" onClick={() => void setting.save([...entries, getStarterSchema(schema)])}>
        {t('Add to {0}', title)}
      </Button>
    </SettingRow>
  );
}

/** A field for objects or numbers under names that the user chooses. */
function MapOfEntriesField({ name, path, title, help, items }: FieldWithItemsProps): ReactNode {
  const { root } = use(SchemaRoot);
  const setting = useSetting(name, path);
  const [newKey, setNewKey] = useState('');
  const entries = isRecord(setting.value) ? setting.value : {};
  const schema = resolveReference(items, root);
  const isGroup = getFieldKind(schema).kind !== 'number';
  const addEntry = async (): Promise<void> => {
    const key = newKey.trim();
    if (key === '' || key in entries) return;
    if ((await setting.save({ ...entries, [key]: makeEmptyValue(schema) })).length === 0) setNewKey('');
  };
  const label = t('New name in {0}', title);
  return (
    <SettingRow setting={setting} title={title} help={help}>
      {Object.keys(entries).map((key) => (
        <ListEntry
          key={key}
          title={key}
          onRemove={() => {
            const otherEntries = Object.entries(entries).filter(([other]) => other !== key);
            void setting.save(otherEntries.length === 0 ? undefined : Object.fromEntries(otherEntries));
          }}
        >
          {isGroup ? (
            <SchemaForm
              name={name}
              path={[...path, key]}
              fields={getSchemaFields(schema)}
              required={listRequiredFields(schema)}
            />
          ) : (
            <SchemaField name={name} path={[...path, key]} schema={schema} title={key} />
          )}
        </ListEntry>
      ))}
      <div className="control-line">
        <TextField label={label} placeholder={t('Name')} value={newKey} onInput={setNewKey} onCommit={setNewKey} />
        <Button icon="add" disabled={newKey.trim() === '' || newKey.trim() in entries} onClick={() => void addEntry()}>
          {t('Add')}
        </Button>
      </div>
    </SettingRow>
  );
}

/** A tree of conditions, such as a filter. */
function ConditionRuleField({ title, help, ...place }: FieldProps): ReactNode {
  return (
    <fieldset className="group">
      <legend>{title}</legend>
      {help !== '' && <p className="row-help">{help}</p>}
      <ConditionRules {...place} />
    </fieldset>
  );
}

interface ConditionRulesProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: JsonSchema;
}

/** Shows conditions that must all hold; unused ones take no space. */
function ConditionRules({ name, path, schema }: ConditionRulesProps): ReactNode {
  const { root } = use(SchemaRoot);
  const isSearching = useIsSearching();
  const setting = useSetting(name, path);
  const [openedFields, setOpenedFields] = useState<readonly string[]>([]);
  const [selectedField, setSelectedField] = useState('');
  const rulesElement = useRef<HTMLDivElement>(null);
  const addedField = useRef<string>(undefined);
  const value = isRecord(setting.value) ? setting.value : {};
  const nesting = findNestedFields(schema, root);
  const fields = getSchemaFields(schema);
  const isFieldShown = (field: string): boolean => value[field] !== undefined || openedFields.includes(field);
  const unsetFields = Object.keys(fields).filter((field) => !isFieldShown(field));
  const chosenField = unsetFields.includes(selectedField) ? selectedField : unsetFields[0];
  const titleOfField = (field: string): string => getFieldTitle(field, resolveReference(fields[field] ?? {}, root));
  // Focus a new item, so that keyboard users continue there.
  useLayoutEffect(() => {
    if (addedField.current === undefined) return;
    const control = [...(rulesElement.current?.children ?? [])]
      .find((child) => child instanceof HTMLElement && child.dataset['rule'] === addedField.current)
      ?.querySelector<HTMLElement>('vscode-text-field, vscode-text-area, vscode-dropdown, vscode-checkbox');
    if (!control) return;
    addedField.current = undefined;
    control.focus();
  });
  const addField = (field: string): void => {
    addedField.current = field;
    const nestedKind = nesting[field];
    if (nestedKind === undefined) setOpenedFields([...openedFields, field]);
    else void setting.save({ ...value, [field]: nestedKind === 'list' ? [{}] : {} });
  };
  return (
    <div className="rules" ref={rulesElement}>
      {Object.keys(value).length === 0 && (
        <p className="row-help">{t('No condition is set here, so it applies to everything.')}</p>
      )}
      {Object.keys(fields)
        .filter(isFieldShown)
        .map((field) => (
          <div key={field} className="rule" data-rule={field}>
            <ConditionRule
              name={name}
              path={[...path, field]}
              schema={resolveReference(fields[field] ?? {}, root)}
              title={titleOfField(field)}
              nested={nesting[field]}
              onRemove={() => {
                setOpenedFields(openedFields.filter((other) => other !== field));
              }}
            />
          </div>
        ))}
      {!isSearching && chosenField !== undefined && (
        <div className="control-line">
          <Dropdown
            label={t('Condition to add')}
            value={chosenField}
            choices={unsetFields.map((field) => ({ value: field, label: titleOfField(field) }))}
            onChange={setSelectedField}
          />
          <Button
            icon="add"
            onClick={() => {
              addField(chosenField);
            }}
          >
            {t('Add condition')}
          </Button>
        </div>
      )}
    </div>
  );
}

interface ConditionRuleProps extends ConditionRulesProps {
  readonly title: string;
  readonly nested: 'list' | 'one' | undefined;
  readonly onRemove: () => void;
}

/** One condition: a value, or conditions of the same shape. */
function ConditionRule({ name, path, schema, title, nested, onRemove }: ConditionRuleProps): ReactNode {
  const { root } = use(SchemaRoot);
  const setting = useSetting(name, path);
  const removeEntry = async (): Promise<void> => {
    if ((await setting.save(undefined)).length === 0) onRemove();
  };
  const entries: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const problems = <ProblemList problems={setting.refused} />;
  switch (nested) {
    case undefined:
      return (
        <>
          <SchemaField name={name} path={path} schema={schema} title={title} />
          <IconButton icon="trash" label={t('Remove {0}', title)} onClick={() => void removeEntry()} />
          {problems}
        </>
      );
    case 'one':
      return (
        <ListEntry title={title} onRemove={() => void removeEntry()}>
          <p className="row-help">{getHelpText(schema)}</p>
          <ConditionRules name={name} path={path} schema={schema} />
          {problems}
        </ListEntry>
      );
    case 'list': {
      const items = resolveReference((schema['items'] ?? {}) as JsonSchema, root);
      return (
        <ListEntry title={title} onRemove={() => void removeEntry()}>
          <p className="row-help">{getHelpText(schema)}</p>
          {entries.map((_entry, index) => (
            <ListEntry
              key={index}
              title={t('{0}, {1} of {2}', title, index + 1, entries.length)}
              onRemove={() => void (entries.length === 1 ? removeEntry() : setting.save(entries.toSpliced(index, 1)))}
            >
              <ConditionRules name={name} path={[...path, index]} schema={items} />
            </ListEntry>
          ))}
          <Button icon="add" onClick={() => void setting.save([...entries, {}])}>
            {t('Add to {0}', title)}
          </Button>
          {problems}
        </ListEntry>
      );
    }
  }
}
