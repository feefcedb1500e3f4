import { isOperation, OPERATIONS, type OperationName } from '../../../../src/core/condense/edits/operations';
import { FILE_AWARE_PRESET_ID } from '../../../../src/core/condense/measured';
import type { PanelState } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import type { SettingHandle } from '../../state/useSetting';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the preset that a scope uses, by its own value or the inherited one.
 * @param inherited as written, without defaults
 */
export const getCurrentPreset = ({ value, isSet }: SettingHandle, inherited: unknown): string | undefined =>
  [value, ...(isSet ? [] : [inherited])].find((one) => typeof one === 'string');

/** Returns the preset whose passes apply: if the one in the settings does not exist, the default. */
export function getPresetInUse({ presets, settings }: PanelState, setting: SettingHandle): string | undefined {
  const id = getCurrentPreset(setting, settings['smart']?.value);
  return id === undefined || presets.some((preset) => preset.id === id) ? id : FILE_AWARE_PRESET_ID;
}

export interface PassEntry {
  readonly index: number;
  /** Identifies the pass within the list, even if two passes have the same ID. */
  readonly key: string;
  readonly raw: Fields;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly mode: 'individual' | 'batch';
  readonly isConditional: boolean;
  readonly callsModel: boolean;
  /**
   * Operations by type of content, except `keep`; a batch pass has one operation for all content.
   */
  readonly operations: readonly {
    readonly type: string;
    readonly content: string;
    readonly operation: OperationName;
  }[];
}

export const getContentTitles = (): Readonly<Record<string, string>> => ({
  toolResults: t('Tool results'),
  toolParameters: t('Tool parameters'),
  messageText: t('Message text'),
});

export const isPlainObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** True if the scope has its own passes, which can be edited. */
export const isOwnConfiguration = ({ isSet, value }: SettingHandle): boolean => isSet && isPlainObject(value);

export function readPassEntries(config: unknown): PassEntry[] {
  const passes = isPlainObject(config) ? config['passes'] : undefined;
  if (!Array.isArray(passes)) return [];
  const countById = new Map<string, number>();
  return (passes as unknown[]).map((entry, index) => {
    const raw = isPlainObject(entry) ? entry : {};
    const id = typeof raw['id'] === 'string' ? raw['id'] : '';
    const countBefore = countById.get(id) ?? 0;
    countById.set(id, countBefore + 1);
    const { execution } = raw;
    return {
      index,
      key: countBefore === 0 && id !== '' ? id : `${id}#${countBefore}`,
      raw,
      name: typeof raw['name'] === 'string' ? raw['name'] : '',
      isEnabled: raw['enabled'] !== false,
      mode: raw['mode'] === 'batch' ? 'batch' : 'individual',
      isConditional: isPlainObject(execution) && execution['type'] === 'conditional',
      callsModel: containsModelCall(raw['batchConfig']) || containsModelCall(raw['individualConfig']),
      operations: readOperations(raw),
    };
  });
}

function readOperations({ mode, batchConfig, individualConfig }: Fields): PassEntry['operations'] {
  const makeOperations = (type: string, content: string, config: unknown): PassEntry['operations'] => {
    const operation = isPlainObject(config) ? config['operation'] : undefined;
    return isOperation(operation) && operation !== 'keep' ? [{ type, content, operation }] : [];
  };
  if (mode === 'batch') return makeOperations('all', t('All of it'), batchConfig);
  const defaults = isPlainObject(individualConfig) ? individualConfig['defaults'] : undefined;
  return Object.entries(getContentTitles()).flatMap(([type, title]) =>
    makeOperations(type, title, isPlainObject(defaults) ? defaults[type] : undefined),
  );
}

function containsModelCall(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(containsModelCall);
  if (!isPlainObject(value)) return false;
  const { operation } = value;
  return (isOperation(operation) && OPERATIONS[operation].callsModel) || Object.values(value).some(containsModelCall);
}

export function makeUnusedPassId(passes: readonly PassEntry[]): string {
  const takenIds = new Set(passes.map(({ raw }) => raw['id']));
  let number = passes.length + 1;
  while (takenIds.has(`pass-${number}`)) number++;
  return `pass-${number}`;
}

/** A new pass changes nothing yet. */
export const makeNewPass = (id: string, name: string): Fields => ({
  id,
  name,
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 10 },
  individualConfig: { defaults: { toolResults: { operation: 'keep' } } },
});
