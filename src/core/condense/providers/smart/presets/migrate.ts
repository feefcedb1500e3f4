/**
 * Brings older configurations of the Smart provider to the version of today. Version 0 are the forms that the design
 * documents give ("Pass-Based Architecture", "Smart Provider", "Complete Provider Architecture" 5): they name no version.
 * Fields that a migration doesn't know stay as they are: the check that follows names them.
 */
import { isRecord } from '../../../../messages/blocks';
import { SMART_CONFIG_VERSION } from '../config';

type Fields = Readonly<Record<string, unknown>>;

/** By the version that they start from. */
const MIGRATIONS: readonly ((config: Fields) => Fields)[] = [fromDocuments];

/** The configuration in today's form; the very same object where it is that already. */
export function migrateSmartConfig(config: unknown): unknown {
  if (!isRecord(config)) return config;
  const version = config['version'] ?? 0;
  if (typeof version !== 'number' || version >= SMART_CONFIG_VERSION) return config;
  return MIGRATIONS.slice(version).reduce<Fields>((older, migrate) => migrate(older), config);
}

function fromDocuments(config: Fields): Fields {
  const { losslessPrelude, passes } = config;
  return {
    ...config,
    version: 1,
    ...(typeof losslessPrelude === 'boolean' && { losslessPrelude: { enabled: losslessPrelude } }),
    ...(Array.isArray(passes) && { passes: (passes as unknown[]).map(passFromDocuments) }),
  };
}

function passFromDocuments(pass: unknown): unknown {
  if (!isRecord(pass)) return pass;
  const { id, selection, execution, mode, batchConfig, individualConfig } = pass;
  return {
    name: id,
    ...pass,
    ...(isRecord(selection) && { selection: selectionFromDocuments(selection) }),
    ...(isRecord(execution) && { execution: executionFromDocuments(execution) }),
    // One document gives a pass in batch mode no configuration: it summarizes.
    ...(mode === 'batch' && { batchConfig: batchFromDocuments(isRecord(batchConfig) ? batchConfig : {}) }),
    ...(isRecord(individualConfig) && { individualConfig: individualFromDocuments(individualConfig) }),
  };
}

/** `strategy` was `type`, `keepRecentCount` was `count`. */
function selectionFromDocuments({ strategy, keepRecentCount, keepPercentage, ...rest }: Fields): Fields {
  return {
    ...(strategy !== undefined && { type: strategy }),
    ...(keepRecentCount !== undefined && { count: keepRecentCount }),
    ...(keepPercentage !== undefined && { percentage: keepPercentage }),
    ...rest,
  };
}

function executionFromDocuments({ tokenThreshold, ...rest }: Fields): Fields {
  return tokenThreshold === undefined ? rest : { condition: { tokenThreshold }, ...rest };
}

function batchFromDocuments({ summarizationConfig, ...rest }: Fields): Fields {
  const summarization = isRecord(summarizationConfig) ? withoutDefaultProfile(summarizationConfig) : {};
  return { operation: 'summarize', ...summarization, ...rest };
}

function individualFromDocuments(config: Fields): Fields {
  const { defaults, overrides } = config;
  return {
    ...config,
    ...(isRecord(defaults) && { defaults: operationsFromDocuments(defaults) }),
    ...(Array.isArray(overrides) && {
      overrides: (overrides as unknown[]).map((override) =>
        isRecord(override) && isRecord(override['operations'])
          ? { ...override, operations: operationsFromDocuments(override['operations']) }
          : override,
      ),
    }),
  };
}

const operationsFromDocuments = (operations: Fields): Fields =>
  Object.fromEntries(
    Object.entries(operations).map(([type, operation]) => [
      type,
      isRecord(operation) ? operationFromDocuments(operation, type) : operation,
    ]),
  );

/**
 * The settings of an operation lay in `params.truncate` or in `truncateConfig`; those of the others are of no use to
 * it.
 */
function operationFromDocuments(fields: Fields, type: string): Fields {
  const { params, truncateConfig, summarizeConfig, suppressConfig, ...rest } = fields;
  const nested = isRecord(params) ? params : {};
  const own = {
    truncate: nested['truncate'] ?? truncateConfig,
    summarize: nested['summarize'] ?? summarizeConfig,
    suppress: nested['suppress'] ?? suppressConfig,
  }[String(rest['operation'])];
  if (!isRecord(own)) return rest;
  if (rest['operation'] === 'suppress') {
    const marker = own[type] ?? own['marker'];
    return { ...rest, ...(typeof marker === 'string' && { marker: marker.replace(/^\[(.*)\]$/, '$1') }) };
  }
  const { prompt, ...settings } = withoutDefaultProfile(own);
  return { ...rest, ...(prompt !== undefined && { customPrompt: prompt }), ...settings };
}

/** `default` stood for the conversation's own profile; the condensing profile is chosen by naming none. */
const withoutDefaultProfile = ({ apiProfile, ...rest }: Fields): Fields =>
  apiProfile === undefined || apiProfile === 'default' ? rest : { ...rest, apiProfile };
