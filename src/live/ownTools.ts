import { isRecord } from '../core/messages/blocks';
import { DEFAULT_TOOLS, toolTable, type ToolTable } from '../core/messages/tools';
import { ownTools } from '../core/messages/toolsSchema';
import type { LiveSettings } from './types';

/**
 * The user's rows for tools of agents that nobody knows: those of Smart's Lossless where they are what runs, else those of the
 * Lossless provider. Wrong ones count as none; the settings panel names them.
 */
export function ownToolsOf({
  provider,
  config,
  configs,
}: Pick<LiveSettings, 'provider' | 'config' | 'configs'>): ToolTable {
  const prelude = provider === 'smart' ? at(at(config, 'losslessPrelude'), 'operations') : undefined;
  const lossless = provider === 'lossless' ? config : configs?.['lossless'];
  const rows = ownTools.safeParse(at(prelude, 'tools') ?? at(lossless, 'tools'));
  return rows.success ? toolTable(rows.data) : DEFAULT_TOOLS;
}

const at = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);
