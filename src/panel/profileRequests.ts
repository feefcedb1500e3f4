/** Answers what the webview asks about API profiles. */
import * as vscode from 'vscode';
import { profileEntries } from '../window/settings/modelSettings';
import { setting } from '../window/settings/settings';
import type { ApiProfile } from '../settings/profiles';
import type { PanelSettings } from './panelSettings';
import type { PanelParts } from './parts';
import type { RequestHandlers } from './requestHandlers';

type Handlers = Pick<RequestHandlers, 'saveProfile' | 'removeProfile' | 'setKey' | 'testProfile' | 'listModels'>;

/** The panel's requests that change an API profile, its key, or try it out. */
export function profileRequests(parts: PanelParts, settings: PanelSettings): Handlers {
  const { services } = parts;
  return {
    saveProfile: async ({ profile }) => {
      const raw = profileEntries();
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
    listModels: async ({ id }, signal) => ({
      models: [...(await parts.commands().vendorModels(services, profileOf(id), signal))],
    }),
  };
}

const idOf = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;

/** @throws Error where there is none (any more). */
function profileOf(id: string): ApiProfile {
  const profile = setting('profiles').find((entry) => entry.id === id);
  if (!profile) throw new Error(vscode.l10n.t('The profile "{0}" no longer exists.', id));
  return profile;
}
