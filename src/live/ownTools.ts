import { isRecord } from '../core/messages/blocks';
import { DEFAULT_TOOLS, makeToolTable, type ToolTable } from '../core/messages/tools';
import { ownToolsSchema } from '../core/messages/toolsSchema';
import type { LiveSettings } from './types';

/**
 * Reads the user's tool definitions from Smart's Lossless passes if those run, else from the
 * Lossless provider. Ignores invalid ones, which the settings panel reports.
 */
export function readOwnTools({
  provider,
  config,
  configs,
}: Pick<LiveSettings, 'provider' | 'config' | 'configs'>): ToolTable {
  const preludeConfig =
    provider === 'smart' ? getProperty(getProperty(config, 'losslessPrelude'), 'operations') : undefined;
  const losslessConfig = provider === 'lossless' ? config : configs?.['lossless'];
  const parsedRules = ownToolsSchema.safeParse(
    getProperty(preludeConfig, 'tools') ?? getProperty(losslessConfig, 'tools'),
  );
  return parsedRules.success ? makeToolTable(parsedRules.data) : DEFAULT_TOOLS;
}

const getProperty = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);
