/** The Smart provider's presets in the panel: those of this extension and the user's own. */
import * as vscode from 'vscode';
import {
  BUILT_IN_PRESETS,
  formatPresetFile,
  parsePresetFile,
  PRESET_FILE_END,
  type Preset,
} from '../core/condense/presets';
import type { ConfigProblem } from '../core/condense/types';
import { setting } from '../window/settings/settings';
import type { PanelSettings } from './panelSettings';
import type { PresetState, SettingScope } from './protocol';

/** All presets for the page: the built-in ones, then the user's own. */
export const presetStates = (): PresetState[] => [
  ...BUILT_IN_PRESETS.map((preset) => stateOf(preset, true)),
  ...setting('presets').map((preset) => stateOf(preset, false)),
];

const stateOf = ({ id, name, description, config }: Preset, isBuiltIn: boolean): PresetState => ({
  id,
  name,
  description,
  isBuiltIn,
  config: { ...config },
});

/** The last part of the ending alone: VS Code's own dialog puts a longer one behind a name that has it already. */
const filters = (): Record<string, string[]> => ({ [vscode.l10n.t('Presets')]: ['json'] });

/**
 * Writes a preset to a file that the user names. @returns whether it was written.
 * @throws Error where there is no such preset, or the file can't be written.
 */
export async function exportPreset(id: string): Promise<boolean> {
  const preset = [...BUILT_IN_PRESETS, ...setting('presets')].find((entry) => entry.id === id);
  if (!preset) throw new Error(vscode.l10n.t('The preset "{0}" no longer exists.', id));
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const name = `${id}${PRESET_FILE_END}`;
  const target = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Export the preset {0}', preset.name),
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, name) }),
    filters: filters(),
  });
  if (!target) return false;
  await vscode.workspace.fs.writeFile(target, Buffer.from(formatPresetFile(preset)));
  return true;
}

export interface Imported {
  /** Id of the preset; absent where the user left, or something was wrong. */
  readonly id?: string;
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads a preset from a file that the user picks, into the settings; one of their own with the same id is replaced.
 * @throws Error where the file can't be read.
 */
export async function importPreset(settings: PanelSettings, scope: SettingScope): Promise<Imported> {
  const [file] =
    (await vscode.window.showOpenDialog({ title: vscode.l10n.t('Import a preset'), filters: filters() })) ?? [];
  if (!file) return { problems: [] };
  const parsed = parsePresetFile(Buffer.from(await vscode.workspace.fs.readFile(file)).toString('utf8'));
  if (!parsed.valid) return { problems: parsed.problems };
  const preset = parsed.config;
  const found = vscode.workspace.getConfiguration('contextCondenser').inspect<unknown>('presets');
  const standing = scope === 'user' ? found?.globalValue : found?.workspaceValue;
  const list: readonly unknown[] = Array.isArray(standing) ? standing : [];
  const same = list.findIndex(
    (entry) => typeof entry === 'object' && entry !== null && 'id' in entry && entry.id === preset.id,
  );
  const path = [same === -1 ? list.length : same];
  const problems = await settings.update({ name: 'presets', scope, path, value: preset });
  return problems.length > 0 ? { problems } : { id: preset.id, problems: [] };
}
