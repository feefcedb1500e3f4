/** What the panel does when its webview asks. Parameters were checked before. */
import { join } from 'node:path';
import * as vscode from 'vscode';
import { parseProfiles, type ApiProfile } from '../settings/profiles';
import { historyRequests } from './history/requests';
import type { PanelSettings } from './panelSettings';
import type { PanelParts } from './parts';
import { presetComparisonRequests } from './presetComparison/requests';
import type { PreviewHandlers } from './preview/previewHandlers';
import { compareProfiles } from './profileCosts/compareProfiles';
import { exportPreset, importPreset } from './presets';
import type { Method, Params, Result } from './protocol';

export type RequestHandlers = {
  readonly [M in Method]: (params: Params<M>, signal: AbortSignal) => Promise<Result<M>>;
};

/** @param preview answers what is asked of the preview. */
export function requestHandlers(
  parts: PanelParts,
  settings: PanelSettings,
  { handlers: preview, comparisons }: PreviewHandlers,
): RequestHandlers {
  const { services } = parts;
  return {
    checkSetting: (change) => Promise.resolve({ problems: [...settings.check(change)] }),
    updateSetting: async (change) => ({ problems: [...(await settings.update(change))] }),
    openSettingsFile: async ({ scope, name }) => {
      const command = scope === 'user' ? 'openSettingsJson' : 'openWorkspaceSettingsFile';
      const revealSetting = { key: `contextCondenser.${name}`, edit: true };
      await vscode.commands.executeCommand(`workbench.action.${command}`, { revealSetting });
      return null;
    },
    saveProfile: async ({ profile }) => {
      const raw = rawProfiles();
      const known = raw.findIndex((other) => idOf(other) === profile['id']);
      const place = known === -1 ? raw.length : known;
      const problems = await settings.update({ name: 'profiles', scope: 'user', path: [place], value: profile });
      const prefix = `${place}.`;
      return {
        problems: problems.map(({ path, message }) => ({
          path: path.startsWith(prefix) ? path.slice(prefix.length) : path,
          message,
        })),
      };
    },
    removeProfile: async ({ id }) => ({ removed: await parts.commands().removeProfile(services, profileOf(id)) }),
    setKey: async ({ id }) => {
      await parts.commands().askKey(services, profileOf(id));
      return null;
    },
    testProfile: async ({ id }, signal) => parts.commands().tryConnection(services, profileOf(id), signal),
    previewPrompt: async ({ prompt }, signal) => {
      const sample = join(services.context.extensionPath, 'sample', 'conversation.jsonl');
      return { text: await parts.commands().promptFor(services, sample, prompt, signal) };
    },
    exportPreset: async ({ id }) => ({ written: await exportPreset(id) }),
    importPreset: async ({ scope }) => {
      const { id, problems } = await importPreset(settings, scope);
      return { ...(id !== undefined && { id }), problems: [...problems] };
    },
    ...presetComparisonRequests(settings),
    ...preview,
    ...historyRequests(parts),
    compareProfiles: ({ conversation }, signal) => compareProfiles(parts, comparisons, conversation, signal),
    runCommand: async ({ command }) => {
      await vscode.commands.executeCommand(`contextCondenser.${command}`);
      return null;
    },
  };
}

/** The entries of the setting as they stand, the wrong ones too: what isn't changed is left as it is. */
function rawProfiles(): readonly unknown[] {
  const value: unknown = vscode.workspace.getConfiguration('contextCondenser').inspect('profiles')?.globalValue;
  return Array.isArray(value) ? value : [];
}

const idOf = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;

/** @throws Error where there is none (any more). */
function profileOf(id: string): ApiProfile {
  const { profiles } = parseProfiles(vscode.workspace.getConfiguration('contextCondenser').get('profiles'));
  const profile = profiles.find((entry) => entry.id === id);
  if (!profile) throw new Error(vscode.l10n.t('There is no profile "{0}" any more.', id));
  return profile;
}
