import { isRecord } from '../core/messages/blocks';
import { DEFAULT_TOOLS, makeToolTable, type ToolTable } from '../core/messages/tools';
import { ownToolsSchema } from '../core/messages/toolsSchema';
import type { LiveSettings } from './types';

/**
 * Reads the user's definitions of tools of unknown agents: from Smart's Lossless passes if those
 * run, else from the Lossless provider. Ignores invalid ones, which the settings panel reports.
 */
export function readOwnTools({
  provider,
  config,
  configs,
}: Pick<LiveSettings, 'provider' | 'config' | 'configs'>): ToolTable {
  const prelude = provider === 'smart' ? getProperty(getProperty(config, 'losslessPrelude'), 'operations') : undefined;
  const lossless = provider === 'lossless' ? config : configs?.['lossless'];
  const rows = ownToolsSchema.safeParse(getProperty(prelude, 'tools') ?? getProperty(lossless, 'tools'));
  return rows.success ? makeToolTable(rows.data) : DEFAULT_TOOLS;
}

const getProperty = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);
