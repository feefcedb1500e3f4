import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { getErrorMessage } from '../core/errors';
import { deleteApiKey, readApiKey, storeApiKey } from '../settings/keys';
import { listProfileIds, replaceOrAddProfileEntry, type ApiProfile } from '../settings/profiles';
import type { ImportedProfile } from '../settings/rooProfiles';
import { readRooSettings, type ImportedSetting, type ImportedRooSettings } from '../settings/rooSettings';
import { readModelSettings, readProfileEntries } from '../window/settings/modelSettings';
import { saveUserSetting, getUserSetting } from '../window/settings/settings';
import type { Services } from '../window/services';
import { pickSeveralItems, showErrorMessage, showInformationMessage } from '../window/notifications';
import { isEqual } from '../core/isEqual';

/** In bytes. Roo's exports have a few kilobytes. */
const MAX_SETTINGS_FILE_BYTES = 4 * 1024 * 1024;

type ImportItem = vscode.QuickPickItem &
  ({ readonly setting: ImportedSetting } | { readonly profile: ApiProfile } | { readonly isKeys: true });

export async function importRooSettings(services: Services): Promise<void> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Settings exported by Roo Code (its Settings → About → Export)'),
      openLabel: vscode.l10n.t('Import'),
      filters: { JSON: ['json'] },
    })) ?? [];
  if (!file) return;
  const importedSettings = await readRooExport(file.fsPath);
  if (typeof importedSettings === 'string') {
    void showErrorMessage(vscode.l10n.t('Nothing was imported. {0} {1}', basename(file.fsPath), importedSettings));
    return;
  }
  const items = createImportItems(importedSettings);
  if (items.length === 0) {
    const reasons = importedSettings.notImported.join('; ');
    void showInformationMessage(
      vscode.l10n.t('{0} contains nothing that can be imported. {1}', basename(file.fsPath), reasons),
    );
    return;
  }
  const pickedItems = await pickSeveralItems(items, {
    title: vscode.l10n.t('Settings to import into your user settings'),
    ignoreFocusOut: true,
  });
  if (!pickedItems || pickedItems.length === 0) return;
  const undoImport = await applyImportedItems(services, pickedItems, importedSettings.profiles);
  for (const notImported of importedSettings.notImported)
    services.log.warn(`Import of Roo Code’s settings: not imported: ${notImported}`);
  const notice = [
    vscode.l10n.t('Imported from {0}: {1}.', basename(file.fsPath), pickedItems.map(({ label }) => label).join(', ')),
    ...(importedSettings.notImported.length > 0
      ? [vscode.l10n.t('Not imported: {0}.', importedSettings.notImported.join('; '))]
      : []),
  ].join(' ');
  const undoLabel = vscode.l10n.t('Undo');
  if ((await showInformationMessage(notice, undoLabel)) !== undoLabel) return;
  const keptSettings = await undoImport();
  void showInformationMessage(
    keptSettings.length === 0
      ? vscode.l10n.t('Undone. The settings are as they were before.')
      : vscode.l10n.t('Undone, except for settings that have changed since the import: {0}.', keptSettings.join(', ')),
  );
}

/** @returns an explanation if the file is not usable */
async function readRooExport(path: string): Promise<ImportedRooSettings | string> {
  try {
    if ((await stat(path)).size > MAX_SETTINGS_FILE_BYTES) return vscode.l10n.t('is larger than 4 MB.');
    const existingProfiles = { profiles: readModelSettings().profiles, taken: listProfileIds(readProfileEntries()) };
    return readRooSettings(await readFile(path, 'utf8'), existingProfiles);
  } catch (error) {
    return getErrorMessage(error);
  }
}

function createImportItems({ settings, profiles }: ImportedRooSettings): ImportItem[] {
  const profilesWithKey = profiles.filter(({ key }) => key !== undefined);
  return [
    ...settings.map((setting) => ({
      setting,
      label: `contextCondenser.${setting.name}`,
      description: typeof setting.value === 'string' ? shortenValue(setting.value) : String(setting.value),
      detail: vscode.l10n.t('from {0}', setting.from),
      picked: true,
    })),
    // Leave out the profile's key, because lists must not show secrets.
    ...profiles.map(({ profile }) => ({
      profile,
      label: profile.name,
      description: `${profile.vendor} · ${profile.model}`,
      detail: vscode.l10n.t('model'),
      picked: true,
    })),
    ...(profilesWithKey.length > 0
      ? [
          {
            isKeys: true as const,
            label: vscode.l10n.t('API keys of these models'),
            description: String(profilesWithKey.length),
            detail: vscode.l10n.t('into VS Code’s secret store'),
            picked: true,
          },
        ]
      : []),
  ];
}

const shortenValue = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/**
 * @returns a function that undoes the import. It returns the settings that it left alone because
 * they have changed since.
 */
async function applyImportedItems(
  { context }: Services,
  pickedItems: readonly ImportItem[],
  imported: readonly ImportedProfile[],
): Promise<() => Promise<string[]>> {
  const profiles = pickedItems.flatMap((item) => ('profile' in item ? [item.profile] : []));
  const settings = pickedItems.flatMap((item) => ('setting' in item ? [item.setting] : []));
  const ids = new Set([...readModelSettings().profiles, ...profiles].map(({ id }) => id));
  // A profile that wasn't selected can't be used for condensing.
  const usableSettings = settings.filter(({ name, value }) => name !== 'condensingProfile' || ids.has(String(value)));
  const changedNames = ['profiles' as const, ...usableSettings.map(({ name }) => name)];
  const previousValues = changedNames.map((name) => [name, getUserSetting(name)] as const);
  /** Profiles whose key was written, each with the key that it had before. */
  const storedKeys: { readonly profile: ApiProfile; readonly before: string | undefined }[] = [];
  if (profiles.length > 0) {
    await saveUserSetting('profiles', profiles.reduce(replaceOrAddProfileEntry, readProfileEntries()));
  }
  if (pickedItems.some((item) => 'isKeys' in item)) {
    for (const { profile, key } of imported) {
      if (key === undefined || !profiles.includes(profile)) continue;
      const storedKey = await readApiKey(context.secrets, profile);
      await storeApiKey(context.secrets, profile, key);
      storedKeys.push({ profile, before: storedKey.kind === 'set' ? storedKey.key : undefined });
    }
  }
  for (const { name, value } of usableSettings) await saveUserSetting(name, value);
  const writtenValues = new Map(changedNames.map((name) => [name, getUserSetting(name)]));
  return async () => {
    const changedSinceImport: string[] = [];
    for (const [name, value] of previousValues) {
      if (isEqual(getUserSetting(name), writtenValues.get(name))) await saveUserSetting(name, value);
      else changedSinceImport.push(`contextCondenser.${name}`);
    }
    if (changedSinceImport.includes('contextCondenser.profiles')) return changedSinceImport;
    for (const { profile, before: key } of storedKeys) {
      if (key === undefined) await deleteApiKey(context.secrets, profile.id);
      else await storeApiKey(context.secrets, profile, key);
    }
    return changedSinceImport;
  };
}
