import * as vscode from 'vscode';
import {
  BUILT_IN_PRESETS,
  formatPresetFile,
  parsePresetFile,
  PRESET_FILE_SUFFIX,
  type Preset,
} from '../core/condense/providers/smart/presets';
import type { ConfigProblem } from '../core/condense/types';
import { isRecord } from '../core/messages/blocks';
import { restoreReplacedEntry, type ListChange } from '../core/settingValue';
import { getConfiguration, readSetting } from '../window/settings/settings';
import { showWarningMessage } from '../window/notifications';
import type { PanelSettings } from './panelSettings';
import type { PresetState, SettingScope } from './protocol';

export const listPresetStates = (): PresetState[] => [
  ...BUILT_IN_PRESETS.map((preset) => toPresetState(preset, true)),
  ...readSetting('presets').map((preset) => toPresetState(preset, false)),
];

const toPresetState = ({ id, name, description, config }: Preset, isBuiltIn: boolean): PresetState => ({
  id,
  name,
  description,
  isBuiltIn,
  config: { ...config },
});

/**
 * Contains only the last part of the file extension, because VS Code's dialog would append a longer
 * one a second time.
 */
const makePresetFileFilters = (): Record<string, string[]> => ({ [vscode.l10n.t('Presets')]: ['json'] });

/** @throws Error if there is no such preset */
function requirePreset(id: string): Preset {
  const preset = [...BUILT_IN_PRESETS, ...readSetting('presets')].find((entry) => entry.id === id);
  if (!preset) throw new Error(vscode.l10n.t('The preset “{0}” no longer exists.', id));
  return preset;
}

/**
 * The tab has a preset file's name, so that VS Code completes and checks the content.
 * @throws Error if there is no such preset
 */
export async function openPreset(id: string): Promise<void> {
  const text = formatPresetFile(requirePreset(id));
  const uri = vscode.Uri.from({ scheme: 'untitled', path: `${id}${PRESET_FILE_SUFFIX}` });
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  // The file may be open with the user's changes.
  if (document.getText() !== '') return;
  await editor.edit((edit) => {
    edit.insert(new vscode.Position(0, 0), text);
  });
}

/**
 * @returns false if the user chose no file
 * @throws Error if the preset doesn't exist or the file can't be written
 */
export async function exportPreset(id: string): Promise<boolean> {
  const preset = requirePreset(id);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const name = `${id}${PRESET_FILE_SUFFIX}`;
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Export the preset {0}', preset.name),
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, name) }),
    filters: makePresetFileFilters(),
  });
  if (!file) return false;
  await vscode.workspace.fs.writeFile(file, Buffer.from(formatPresetFile(preset)));
  return true;
}

export interface ImportedPreset {
  /** The preset's ID; absent if the user canceled or the file is invalid. */
  readonly id?: string;
  readonly problems: readonly ConfigProblem[];
  /** Changes that undo the import, in order. */
  readonly undo: readonly ListChange[];
}

const CANCELED_IMPORT: ImportedPreset = { problems: [], undo: [] };

/**
 * Asks before replacing a preset with the same ID.
 * @throws Error if the file can't be read
 */
export async function importPreset(settings: PanelSettings, scope: SettingScope): Promise<ImportedPreset> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Import a preset'),
      filters: makePresetFileFilters(),
    })) ?? [];
  if (!file) return CANCELED_IMPORT;
  const parsed = parsePresetFile(Buffer.from(await vscode.workspace.fs.readFile(file)).toString('utf8'));
  if (!parsed.valid) return { problems: parsed.problems, undo: [] };
  const ownPresets = readOwnPresets(scope);
  const presetWithSameId = ownPresets.find(({ id }) => id === parsed.config.id);
  const preset = presetWithSameId ? await askAboutTakenId(presetWithSameId, parsed.config, ownPresets) : parsed.config;
  if (!preset) return CANCELED_IMPORT;
  // The list may have changed while the question was open.
  const currentPresets = readOwnPresets(scope);
  const index = currentPresets.findIndex(({ id }) => id === preset.id);
  const path = [index === -1 ? currentPresets.length : index];
  const problems = await settings.updateSetting({ name: 'presets', scope, path, value: preset });
  if (problems.length > 0) return { problems, undo: [] };
  const removal: ListChange = { kind: 'remove', entry: { id: preset.id, nth: 0 } };
  return { id: preset.id, problems: [], undo: index === -1 ? [removal] : restoreReplacedEntry(currentPresets, index) };
}

type StoredPreset = Readonly<Record<string, unknown>>;

/** Returns the scope's presets. Entries that are no objects become empty presets. */
function readOwnPresets(scope: SettingScope): StoredPreset[] {
  const inspectedSetting = getConfiguration().inspect<unknown>('presets');
  const scopeValue = scope === 'user' ? inspectedSetting?.globalValue : inspectedSetting?.workspaceValue;
  return Array.isArray(scopeValue) ? scopeValue.map((entry: unknown) => (isRecord(entry) ? entry : {})) : [];
}

/** @returns the preset to save; undefined to save none */
async function askAboutTakenId(
  existingPreset: StoredPreset,
  imported: Preset,
  presets: readonly StoredPreset[],
): Promise<Preset | undefined> {
  const replaceLabel = vscode.l10n.t('Replace');
  const copyLabel = vscode.l10n.t('Import as a Copy');
  const name = typeof existingPreset['name'] === 'string' ? existingPreset['name'] : imported.id;
  const answer = await showWarningMessage(
    vscode.l10n.t('You already have a preset with the ID “{0}”.', imported.id),
    {
      modal: true,
      detail: vscode.l10n.t('Its name is “{0}”. Replace it with “{1}”, or keep both?', name, imported.name),
    },
    replaceLabel,
    copyLabel,
  );
  if (answer === replaceLabel) return imported;
  return answer === copyLabel ? { ...imported, id: findUnusedPresetId(imported.id, presets) } : undefined;
}

function findUnusedPresetId(id: string, list: readonly StoredPreset[]): string {
  const isTaken = (candidate: string): boolean =>
    [...list, ...BUILT_IN_PRESETS].some((preset) => preset.id === candidate);
  let suffix = 2;
  while (isTaken(`${id}-${suffix}`)) suffix++;
  return `${id}-${suffix}`;
}
