import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { errorMessage } from '../core/errors';
import { deleteKey, storeKey } from '../settings/keys';
import { takenIds, withProfile, type ApiProfile } from '../settings/profiles';
import { readRooSettings, type ImportedProfile, type ImportedSetting, type RooImport } from '../settings/rooSettings';
import { modelSettings, profileEntries, saveUserSetting } from './modelSettings';
import type { Services } from './services';

/** Roo's exports have some kilobytes. */
const MAX_BYTES = 4 * 1024 * 1024;

type Item = vscode.QuickPickItem &
  ({ readonly setting: ImportedSetting } | { readonly profile: ApiProfile } | { readonly isKeys: true });

/** "Import Settings of Roo Code": a file that Roo exported; the user ticks what is taken over, and can undo it. */
export async function importRooSettings(services: Services): Promise<void> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: vscode.l10n.t('Settings exported by Roo Code (its Settings → About → Export)'),
      openLabel: vscode.l10n.t('Import'),
      filters: { JSON: ['json'] },
    })) ?? [];
  if (!file) return;
  const found = await read(file.fsPath);
  if (typeof found === 'string') {
    void vscode.window.showErrorMessage(vscode.l10n.t('Nothing was imported. {0} {1}', basename(file.fsPath), found));
    return;
  }
  const items = itemsOf(found);
  if (items.length === 0) {
    const why = found.left.join('; ');
    void vscode.window.showInformationMessage(
      vscode.l10n.t('{0} holds nothing that can be taken over. {1}', basename(file.fsPath), why),
    );
    return;
  }
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('What is taken over, as settings of this user'),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  if (!picked || picked.length === 0) return;
  const undo = await apply(services, picked, found.profiles);
  for (const left of found.left) services.log.warn(`Import of Roo Code's settings: not taken over: ${left}`);
  const told = [
    vscode.l10n.t('Imported from {0}: {1}.', basename(file.fsPath), picked.map(({ label }) => label).join(', ')),
    ...(found.left.length > 0 ? [vscode.l10n.t('Not taken over: {0}.', found.left.join('; '))] : []),
  ].join(' ');
  const back = vscode.l10n.t('Undo');
  if ((await vscode.window.showInformationMessage(told, back)) !== back) return;
  await undo();
  void vscode.window.showInformationMessage(vscode.l10n.t('Undone; the settings are as they were.'));
}

/** @returns what is wrong with the file, where it can't be taken. */
async function read(path: string): Promise<RooImport | string> {
  try {
    if ((await stat(path)).size > MAX_BYTES) return vscode.l10n.t('has more than 4 MB.');
    return readRooSettings(await readFile(path, 'utf8'), takenIds(profileEntries()));
  } catch (error) {
    return errorMessage(error);
  }
}

function itemsOf({ settings, profiles }: RooImport): Item[] {
  const keys = profiles.filter(({ key }) => key !== undefined);
  return [
    ...settings.map((setting) => ({
      setting,
      label: `contextCondenser.${setting.name}`,
      description: typeof setting.value === 'string' ? shortened(setting.value) : String(setting.value),
      detail: vscode.l10n.t('from {0}', setting.from),
      picked: true,
    })),
    // Without its key: what is shown in a list holds none.
    ...profiles.map(({ profile }) => ({
      profile,
      label: profile.name,
      description: `${profile.vendor} · ${profile.model}`,
      detail: vscode.l10n.t('API profile'),
      picked: true,
    })),
    ...(keys.length > 0
      ? [
          {
            isKeys: true as const,
            label: vscode.l10n.t('API keys of these profiles'),
            description: String(keys.length),
            detail: vscode.l10n.t("into VS Code's secret store"),
            picked: true,
          },
        ]
      : []),
  ];
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Writes what was ticked. @returns what takes all of it back. */
async function apply(
  { context }: Services,
  picked: readonly Item[],
  imported: readonly ImportedProfile[],
): Promise<() => Promise<void>> {
  const profiles = picked.flatMap((item) => ('profile' in item ? [item.profile] : []));
  const settings = picked.flatMap((item) => ('setting' in item ? [item.setting] : []));
  const ids = new Set([...modelSettings().profiles, ...profiles].map(({ id }) => id));
  // A profile that wasn't ticked can't condense.
  const possible = settings.filter(({ name, value }) => name !== 'condensingProfile' || ids.has(String(value)));
  const changed = ['profiles', ...possible.map(({ name }) => name)];
  const configuration = vscode.workspace.getConfiguration('contextCondenser');
  const before = changed.map((name) => [name, configuration.inspect(name)?.globalValue] as const);
  const stored: string[] = [];
  if (profiles.length > 0) {
    await saveUserSetting('profiles', profiles.reduce(withProfile, profileEntries()));
  }
  if (picked.some((item) => 'isKeys' in item)) {
    for (const { profile, key } of imported) {
      if (key === undefined || !profiles.includes(profile)) continue;
      await storeKey(context.secrets, profile, key);
      stored.push(profile.id);
    }
  }
  for (const { name, value } of possible) await saveUserSetting(name, value);
  return async () => {
    for (const [name, value] of before) await saveUserSetting(name, value);
    for (const id of stored) await deleteKey(context.secrets, id);
  };
}
