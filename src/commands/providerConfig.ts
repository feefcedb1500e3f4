import * as vscode from 'vscode';
import type { Preset } from '../core/condense/presets';
import { parsePresets } from '../settings/presets';

/**
 * The configuration of a provider as the settings hold it; the provider checks it, and takes its defaults for what is
 * absent. A copy: what VS Code gives can't cross to a worker. Where it names a preset of the user's own, that preset's.
 */
export function providerConfig(id: string): unknown {
  const value = vscode.workspace.getConfiguration('contextCondenser').get<unknown>(id);
  const own = id === 'smart' ? ownPresets().find((preset) => preset.id === value)?.config : undefined;
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(own ?? value)) as unknown);
}

/** The user's own presets; wrong ones are left out. */
export const ownPresets = (): readonly Preset[] =>
  parsePresets(vscode.workspace.getConfiguration('contextCondenser').get<unknown>('presets')).presets;
