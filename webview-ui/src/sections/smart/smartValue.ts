/** The setting `smart` as the panel works on it: the value that stands there, not the one with all defaults filled in. */
import { isOperation, OPERATIONS, type OperationName } from '../../../../src/core/condense/edits/operations';
import { t } from '../../l10n';
import type { Setting } from '../../state/useSetting';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The preset that a scope uses: by its own value, or by the one that holds without it.
 * @param inherited as the settings name it, not with all defaults filled in
 */
export const presetIn = ({ value, isSet }: Setting, inherited: unknown): string | undefined =>
  [value, ...(isSet ? [] : [inherited])].find((one) => typeof one === 'string');

export interface PassEntry {
  readonly index: number;
  /** Unique within the list, also where the ids aren't. */
  readonly key: string;
  readonly raw: Fields;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly mode: 'individual' | 'batch';
  /** Tokens above which it runs; undefined: always, or another condition. */
  readonly tokenThreshold: number | undefined;
  readonly isConditional: boolean;
  /** Whether a model may be called. */
  readonly callsModel: boolean;
  /** The operation on each type of content that is not simply kept; of a batch on all of it. */
  readonly operations: readonly { readonly content: string; readonly operation: OperationName }[];
}

/** The types of content, as the panel calls them. */
export const contentTitles = (): Readonly<Record<string, string>> => ({
  toolResults: t('Tool results'),
  toolParameters: t('Tool parameters'),
  messageText: t('Message text'),
});

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the scope holds a configuration of its own, so that its parts can be changed one by one. */
export const isOwn = ({ isSet, value }: Setting): boolean => isSet && isFields(value);

export function passesOf(config: unknown): PassEntry[] {
  const passes = isFields(config) ? config['passes'] : undefined;
  if (!Array.isArray(passes)) return [];
  const seen = new Map<string, number>();
  return (passes as unknown[]).map((entry, index) => {
    const raw = isFields(entry) ? entry : {};
    const id = typeof raw['id'] === 'string' ? raw['id'] : '';
    const before = seen.get(id) ?? 0;
    seen.set(id, before + 1);
    const { execution } = raw;
    const condition = isFields(execution) ? execution['condition'] : undefined;
    const threshold = isFields(condition) ? condition['tokenThreshold'] : undefined;
    return {
      index,
      key: before === 0 && id !== '' ? id : `${id}#${before}`,
      raw,
      name: typeof raw['name'] === 'string' ? raw['name'] : '',
      isEnabled: raw['enabled'] !== false,
      mode: raw['mode'] === 'batch' ? 'batch' : 'individual',
      tokenThreshold: typeof threshold === 'number' ? threshold : undefined,
      isConditional: isFields(execution) && execution['type'] === 'conditional',
      callsModel: holdsModelCall(raw['batchConfig']) || holdsModelCall(raw['individualConfig']),
      operations: operationsOf(raw),
    };
  });
}

function operationsOf({ mode, batchConfig, individualConfig }: Fields): PassEntry['operations'] {
  const named = (content: string, config: unknown): PassEntry['operations'] => {
    const operation = isFields(config) ? config['operation'] : undefined;
    return isOperation(operation) && operation !== 'keep' ? [{ content, operation }] : [];
  };
  if (mode === 'batch') return named(t('All of it'), batchConfig);
  const defaults = isFields(individualConfig) ? individualConfig['defaults'] : undefined;
  return Object.entries(contentTitles()).flatMap(([type, title]) =>
    named(title, isFields(defaults) ? defaults[type] : undefined),
  );
}

/** Whether an operation anywhere inside is one that a model does. */
function holdsModelCall(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsModelCall);
  if (!isFields(value)) return false;
  const { operation } = value;
  return (isOperation(operation) && OPERATIONS[operation].callsModel) || Object.values(value).some(holdsModelCall);
}

/** An id that no pass has. */
export function freshId(passes: readonly PassEntry[]): string {
  const taken = new Set(passes.map(({ raw }) => raw['id']));
  let number = passes.length + 1;
  while (taken.has(`pass-${number}`)) number++;
  return `pass-${number}`;
}

/** A new pass does no harm: it keeps everything until it is told otherwise. */
export const newPass = (id: string, name: string): Fields => ({
  id,
  name,
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 10 },
  individualConfig: { defaults: { toolResults: { operation: 'keep' } } },
});
