import { createContext, use, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { isRecord } from '../../../src/core/messages/blocks';
import { t } from '../l10n';
import type { Path } from '../state/path';
import { useSearch } from '../state/search';
import { useSetting } from '../state/useSetting';
import { Button, Dropdown, IconButton, TextField } from '../ui';
import {
  BooleanField,
  ChoiceField,
  ChoicesField,
  ListField,
  NumberField,
  OtherField,
  makeNotSetChoice,
  ProfileField,
  TextualField,
  type FieldProps,
} from './fields';
import { OwnProblems } from './OwnProblems';
import { Problems } from './Problems';
import { Row } from './Row';
import {
  makeEmptyValue,
  getFields,
  getHelp,
  getFieldKind,
  getNesting,
  resolveReference,
  getStarterSchema,
  type FieldKind,
  type Schema,
} from './schema';
import { getTitle, formatFieldName } from './titles';

/** The document that references refer to, and the groups around a field. */
export const SchemaRoot = createContext<{ readonly root: Schema; readonly ancestors: readonly unknown[] }>({
  root: {},
  ancestors: [],
});

interface SchemaFormProps {
  readonly name: string;
  /** Path of the fields within the setting. */
  readonly path: Path;
  readonly fields: Readonly<Record<string, Schema>>;
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

export const listRequired = ({ required }: Schema): readonly unknown[] => (Array.isArray(required) ? required : []);

export interface SchemaFieldProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: Schema;
  readonly title?: string | undefined;
  readonly help?: string | undefined;
  /** True if the user may leave the choice empty. */
  readonly isOptional?: boolean;
}

/** Chooses a field's control by its schema. */
export function SchemaField({ name, path, schema: given, isOptional = false, ...texts }: SchemaFieldProps): ReactNode {
  const { root, ancestors } = use(SchemaRoot);
  const schema = resolveReference(given, root);
  const title = texts.title ?? getTitle(String(path.at(-1) ?? name), schema);
  const help = texts.help ?? getHelp(schema) ?? '';
  const field = { name, path, schema, title, help };
  const nesting = getNesting(schema, root);
  if (Object.keys(nesting).length > 0) return <RuleField {...field} />;
  // A shape that contains itself has no end, so users edit it in settings.json.
  const isRecursive = [schema, resolveReference((schema['items'] ?? {}) as Schema, root)].some(
    ({ properties }) => properties !== undefined && ancestors.includes(properties),
  );
  const kind: FieldKind = isRecursive ? { kind: 'other' } : getFieldKind(schema);
  if (path.at(-1) === 'apiProfile') return <ProfileField {...field} />;
  switch (kind.kind) {
    case 'boolean':
      return <BooleanField {...field} />;
    case 'choice':
      return <ChoiceField {...field} choice={kind} isOptional={isOptional} />;
    case 'number':
      return <NumberField {...field} />;
    case 'text':
      return <TextualField {...field} rows={kind.rows} />;
    case 'list':
      return <ListField {...field} />;
    case 'choices':
      return <ChoicesField {...field} values={kind.values} />;
    case 'variants':
      return <VariantField {...field} variants={kind} isOptional={isOptional} />;
    case 'group':
      return (
        <SchemaRoot value={{ root, ancestors: [...ancestors, schema['properties']] }}>
          <fieldset className="group">
            <legend>{title}</legend>
            {help !== '' && <p className="row-help">{help}</p>}
            <OwnProblems name={name} path={path} fields={kind.fields} />
            <SchemaForm name={name} path={path} fields={kind.fields} required={listRequired(schema)} />
          </fieldset>
        </SchemaRoot>
      );
    case 'entries':
      return <EntriesField {...field} items={kind.items} />;
    case 'map':
      return <MapField {...field} items={kind.items} />;
    case 'other':
      return <OtherField {...field} isHiddenWhenUnset={isRecursive} />;
  }
}

interface VariantFieldProps extends FieldProps {
  readonly variants: Extract<FieldKind, { kind: 'variants' }>;
  readonly isOptional: boolean;
}

function VariantField({ name, path, title, variants: { key, variants }, isOptional }: VariantFieldProps): ReactNode {
  const setting = useSetting(name, path);
  const { root } = use(SchemaRoot);
  const value = (typeof setting.value === 'object' && setting.value !== null ? setting.value : {}) as Schema;
  const chosen = variants.find((variant) => variant.value === value[key]);
  const fields = Object.fromEntries(Object.entries(getFields(chosen?.schema ?? {})).filter(([field]) => field !== key));
  const description = chosen?.schema['description'];
  const help = typeof description === 'string' ? t(description) : '';
  const choices = variants.map((variant) => ({ value: variant.value, label: t(formatFieldName(variant.value)) }));
  return (
    <>
      <Row
        setting={setting}
        title={title}
        help={help}
        keywords={variants.map((variant) => variant.value).join(' ')}
        isInline
      >
        <Dropdown
          label={title}
          help={help}
          value={chosen?.value ?? ''}
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
      </Row>
      {Object.keys(fields).length > 0 && (
        <div className="variant-fields">
          <SchemaForm name={name} path={path} fields={fields} />
        </div>
      )}
    </>
  );
}

/** A useful start for each shape of a Smart pass. */
const STARTER_VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  preserve_recent: { count: 10 },
  preserve_percent: { percentage: 30 },
  custom: { filter: { contentTypes: ['toolResults'] } },
  conditional: { condition: { tokenThreshold: 50_000 } },
  truncate: { maxLines: 20 },
};

const createStarterValue = (shape: string, schema: Schema): Schema =>
  Object.fromEntries(Object.entries(STARTER_VALUES[shape] ?? {}).filter(([field]) => field in getFields(schema)));

function Entry({ title, onRemove, children }: EntryProps): ReactNode {
  return (
    <fieldset className="group entry">
      <legend>
        {title} <IconButton icon="trash" label={t('Remove {0}', title)} onClick={onRemove} />
      </legend>
      {children}
    </fieldset>
  );
}

interface EntryProps {
  readonly title: string;
  readonly onRemove: () => void;
  readonly children: ReactNode;
}

interface ItemsFieldProps extends FieldProps {
  readonly items: Schema;
}

function EntriesField({ name, path, title, help, items }: ItemsFieldProps): ReactNode {
  const { root } = use(SchemaRoot);
  const setting = useSetting(name, path);
  const entries: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const schema = resolveReference(items, root);
  return (
    <Row setting={setting} title={title} help={help}>
      {entries.map((_entry, index) => (
        <Entry
          key={index}
          title={t('{0}, {1} of {2}', title, index + 1, entries.length)}
          onRemove={() => void setting.save(entries.length === 1 ? undefined : entries.toSpliced(index, 1))}
        >
          <SchemaForm name={name} path={[...path, index]} fields={getFields(schema)} required={listRequired(schema)} />
        </Entry>
      ))}
      <Button icon="add" onClick={() => void setting.save([...entries, getStarterSchema(schema)])}>
        {t('Add to {0}', title)}
      </Button>
    </Row>
  );
}

/** A field for objects or numbers under names that the user chooses. */
function MapField({ name, path, title, help, items }: ItemsFieldProps): ReactNode {
  const { root } = use(SchemaRoot);
  const setting = useSetting(name, path);
  const [called, setCalled] = useState('');
  const entries = isRecord(setting.value) ? setting.value : {};
  const schema = resolveReference(items, root);
  const isGroup = getFieldKind(schema).kind !== 'number';
  const add = async (): Promise<void> => {
    const key = called.trim();
    if (key === '' || key in entries) return;
    if ((await setting.save({ ...entries, [key]: makeEmptyValue(schema) })).length === 0) setCalled('');
  };
  const label = t('New name in {0}', title);
  return (
    <Row setting={setting} title={title} help={help}>
      {Object.keys(entries).map((key) => (
        <Entry
          key={key}
          title={key}
          onRemove={() => {
            const rest = Object.entries(entries).filter(([other]) => other !== key);
            void setting.save(rest.length === 0 ? undefined : Object.fromEntries(rest));
          }}
        >
          {isGroup ? (
            <SchemaForm name={name} path={[...path, key]} fields={getFields(schema)} required={listRequired(schema)} />
          ) : (
            <SchemaField name={name} path={[...path, key]} schema={schema} title={key} />
          )}
        </Entry>
      ))}
      <div className="control-line">
        <TextField label={label} placeholder={t('Name')} value={called} onInput={setCalled} onCommit={setCalled} />
        <Button icon="add" disabled={called.trim() === '' || called.trim() in entries} onClick={() => void add()}>
          {t('Add')}
        </Button>
      </div>
    </Row>
  );
}

/** A tree of conditions, such as a filter. */
function RuleField({ title, help, ...place }: FieldProps): ReactNode {
  return (
    <fieldset className="group">
      <legend>{title}</legend>
      {help !== '' && <p className="row-help">{help}</p>}
      <Rules {...place} />
    </fieldset>
  );
}

interface RulesProps {
  readonly name: string;
  readonly path: Path;
  readonly schema: Schema;
}

/** All of these conditions must hold. Unused ones take no space. */
function Rules({ name, path, schema }: RulesProps): ReactNode {
  const { root } = use(SchemaRoot);
  const isSearching = useSearch() !== '';
  const setting = useSetting(name, path);
  const [opened, setOpened] = useState<readonly string[]>([]);
  const [wanted, setWanted] = useState('');
  const place = useRef<HTMLDivElement>(null);
  const added = useRef<string>(undefined);
  const value = isRecord(setting.value) ? setting.value : {};
  const nesting = getNesting(schema, root);
  const fields = getFields(schema);
  const isShown = (field: string): boolean => value[field] !== undefined || opened.includes(field);
  const others = Object.keys(fields).filter((field) => !isShown(field));
  const chosen = others.includes(wanted) ? wanted : others[0];
  const titleOfField = (field: string): string => getTitle(field, resolveReference(fields[field] ?? {}, root));
  // Focus a new item, so that keyboard users continue there.
  useLayoutEffect(() => {
    if (added.current === undefined) return;
    const control = [...(place.current?.children ?? [])]
      .find((child) => child instanceof HTMLElement && child.dataset['rule'] === added.current)
      ?.querySelector<HTMLElement>('vscode-text-field, vscode-text-area, vscode-dropdown, vscode-checkbox');
    if (!control) return;
    added.current = undefined;
    control.focus();
  });
  const add = (field: string): void => {
    added.current = field;
    const nested = nesting[field];
    if (nested === undefined) setOpened([...opened, field]);
    else void setting.save({ ...value, [field]: nested === 'list' ? [{}] : {} });
  };
  return (
    <div className="rules" ref={place}>
      {Object.keys(value).length === 0 && (
        <p className="row-help">{t('No condition is set here, so it applies to everything.')}</p>
      )}
      {Object.keys(fields)
        .filter(isShown)
        .map((field) => (
          <div key={field} className="rule" data-rule={field}>
            <Rule
              name={name}
              path={[...path, field]}
              schema={resolveReference(fields[field] ?? {}, root)}
              title={titleOfField(field)}
              nested={nesting[field]}
              onRemove={() => {
                setOpened(opened.filter((other) => other !== field));
              }}
            />
          </div>
        ))}
      {!isSearching && chosen !== undefined && (
        <div className="control-line">
          <Dropdown
            label={t('Condition to add')}
            value={chosen}
            choices={others.map((field) => ({ value: field, label: titleOfField(field) }))}
            onChange={setWanted}
          />
          <Button
            icon="add"
            onClick={() => {
              add(chosen);
            }}
          >
            {t('Add condition')}
          </Button>
        </div>
      )}
    </div>
  );
}

interface RuleProps extends RulesProps {
  readonly title: string;
  readonly nested: 'list' | 'one' | undefined;
  readonly onRemove: () => void;
}

/** One condition: a value, or conditions of the same shape. */
function Rule({ name, path, schema, title, nested, onRemove }: RuleProps): ReactNode {
  const { root } = use(SchemaRoot);
  const setting = useSetting(name, path);
  const remove = async (): Promise<void> => {
    if ((await setting.save(undefined)).length === 0) onRemove();
  };
  const list: readonly unknown[] = Array.isArray(setting.value) ? setting.value : [];
  const problems = <Problems problems={setting.refused} />;
  switch (nested) {
    case undefined:
      return (
        <>
          <SchemaField name={name} path={path} schema={schema} title={title} />
          <IconButton icon="trash" label={t('Remove {0}', title)} onClick={() => void remove()} />
          {problems}
        </>
      );
    case 'one':
      return (
        <Entry title={title} onRemove={() => void remove()}>
          <p className="row-help">{getHelp(schema)}</p>
          <Rules name={name} path={path} schema={schema} />
          {problems}
        </Entry>
      );
    case 'list': {
      const items = resolveReference((schema['items'] ?? {}) as Schema, root);
      return (
        <Entry title={title} onRemove={() => void remove()}>
          <p className="row-help">{getHelp(schema)}</p>
          {list.map((_entry, index) => (
            <Entry
              key={index}
              title={t('{0}, {1} of {2}', title, index + 1, list.length)}
              onRemove={() => void (list.length === 1 ? remove() : setting.save(list.toSpliced(index, 1)))}
            >
              <Rules name={name} path={[...path, index]} schema={items} />
            </Entry>
          ))}
          <Button icon="add" onClick={() => void setting.save([...list, {}])}>
            {t('Add to {0}', title)}
          </Button>
          {problems}
        </Entry>
      );
    }
  }
}
