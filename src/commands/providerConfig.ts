import * as vscode from 'vscode';
import type { Preset } from '../core/condense/presets';
import { isBuiltIn } from '../core/condense/types';
import { isRecord } from '../core/messages/blocks';
import { parsePresets } from '../settings/presets';

/**
 * The configuration of a provider as the settings hold it; the provider checks it, and takes its defaults for what is
 * absent. A copy: what VS Code gives can't cross to a worker. Where it names a preset of the user's own, that preset's.
 */
export function providerConfig(id: string): unknown {
  const settings = vscode.workspace.getConfiguration('contextCondenser');
  const value = isBuiltIn(id) ? settings.get<unknown>(id) : registeredConfig(settings.get<unknown>('providers'), id);
  const own = id === 'smart' ? ownPresets().find((preset) => preset.id === value)?.config : undefined;
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(own ?? value)) as unknown);
}

/** Those of other extensions have their configurations in one setting, by id. */
const registeredConfig = (configs: unknown, id: string): unknown =>
  isRecord(configs) && Object.hasOwn(configs, id) ? configs[id] : undefined;

/** The user's own presets; wrong ones are left out. */
export const ownPresets = (): readonly Preset[] =>
  parsePresets(vscode.workspace.getConfiguration('contextCondenser').get<unknown>('presets')).presets;
