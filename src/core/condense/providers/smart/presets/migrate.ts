/**
 * Version 0 covers early forms without a version number. Unknown fields stay for the check that
 * follows.
 */
import { isRecord } from '../../../../messages/blocks';
import { SMART_CONFIG_VERSION } from '../config';

type Fields = Readonly<Record<string, unknown>>;

/** Each function upgrades from the version that is its index. */
const MIGRATION_BY_OLD_VERSION: readonly ((config: Fields) => Fields)[] = [migrateToVersion1];

/** Returns the same object if it is current. */
export function migrateSmartConfig(config: unknown): unknown {
  if (!isRecord(config)) return config;
  const version = config['version'] ?? 0;
  if (typeof version !== 'number' || version >= SMART_CONFIG_VERSION) return config;
  return MIGRATION_BY_OLD_VERSION.slice(version).reduce<Fields>((older, migrate) => migrate(older), config);
}

function migrateToVersion1(config: Fields): Fields {
  const { losslessPrelude, passes } = config;
  return {
    ...config,
    version: 1,
    ...(typeof losslessPrelude === 'boolean' && { losslessPrelude: { enabled: losslessPrelude } }),
    ...(Array.isArray(passes) && { passes: (passes as unknown[]).map(migratePass) }),
  };
}

function migratePass(pass: unknown): unknown {
  if (!isRecord(pass)) return pass;
  const { id, selection, execution, mode, batchConfig, individualConfig } = pass;
  return {
    name: id,
    ...pass,
    ...(isRecord(selection) && { selection: migrateSelection(selection) }),
    ...(isRecord(execution) && { execution: migrateExecution(execution) }),
    // In one old form, a batch pass has no configuration: it summarizes.
    ...(mode === 'batch' && { batchConfig: migrateBatch(isRecord(batchConfig) ? batchConfig : {}) }),
    ...(isRecord(individualConfig) && { individualConfig: migrateIndividual(individualConfig) }),
  };
}

/** `strategy` was called `type`, and `keepRecentCount` was called `count`. */
function migrateSelection({ strategy, keepRecentCount, keepPercentage, ...rest }: Fields): Fields {
  return {
    ...(strategy !== undefined && { type: strategy }),
    ...(keepRecentCount !== undefined && { count: keepRecentCount }),
    ...(keepPercentage !== undefined && { percentage: keepPercentage }),
    ...rest,
  };
}

function migrateExecution({ tokenThreshold, ...rest }: Fields): Fields {
  return tokenThreshold === undefined ? rest : { condition: { tokenThreshold }, ...rest };
}

function migrateBatch({ summarizationConfig, ...rest }: Fields): Fields {
  const summarization = isRecord(summarizationConfig) ? removeDefaultProfile(summarizationConfig) : {};
  return { operation: 'summarize', ...summarization, ...rest };
}

function migrateIndividual(config: Fields): Fields {
  const { defaults, overrides } = config;
  return {
    ...config,
    ...(isRecord(defaults) && { defaults: migrateOperations(defaults) }),
    ...(Array.isArray(overrides) && {
      overrides: (overrides as unknown[]).map((override) =>
        isRecord(override) && isRecord(override['operations'])
          ? { ...override, operations: migrateOperations(override['operations']) }
          : override,
      ),
    }),
  };
}

const migrateOperations = (operations: Fields): Fields =>
  Object.fromEntries(
    Object.entries(operations).map(([type, operation]) => [
      type,
      isRecord(operation) ? migrateOperation(operation, type) : operation,
    ]),
  );

/** Settings were once in `params.truncate` or `truncateConfig`. */
function migrateOperation(fields: Fields, type: string): Fields {
  const { params, truncateConfig, summarizeConfig, suppressConfig, ...otherFields } = fields;
  const nestedParams = isRecord(params) ? params : {};
  const contentConfig = {
    truncate: nestedParams['truncate'] ?? truncateConfig,
    summarize: nestedParams['summarize'] ?? summarizeConfig,
    suppress: nestedParams['suppress'] ?? suppressConfig,
  }[String(otherFields['operation'])];
  if (!isRecord(contentConfig)) return otherFields;
  if (otherFields['operation'] === 'suppress') {
    const marker = contentConfig[type] ?? contentConfig['marker'];
    return { ...otherFields, ...(typeof marker === 'string' && { marker: marker.replace(/^\[(.*)\]$/, '$1') }) };
  }
  const { prompt, ...settings } = removeDefaultProfile(contentConfig);
  return { ...otherFields, ...(prompt !== undefined && { customPrompt: prompt }), ...settings };
}

/**
 * `default` once meant the conversation's own profile; naming none now selects the condensing
 * profile.
 */
const removeDefaultProfile = ({ apiProfile, ...rest }: Fields): Fields =>
  apiProfile === undefined || apiProfile === 'default' ? rest : { ...rest, apiProfile };
