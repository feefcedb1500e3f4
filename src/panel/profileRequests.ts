import * as vscode from 'vscode';
import { readProfileEntries } from '../window/settings/modelSettings';
import { readSetting } from '../window/settings/settings';
import { isVendor, getVendorEntry } from '../core/vendors/vendors';
import { deleteApiKey } from '../settings/keys';
import { parseProfiles, type ApiProfile } from '../settings/profiles';
import type { PanelSettings } from './panelSettings';
import type { PanelDependencies } from './parts';
import type { MethodParams } from './protocol';
import type { RequestHandlers } from './requestHandlers';

type ProfileHandlers = Pick<
  RequestHandlers,
  'saveProfile' | 'removeProfile' | 'setKey' | 'forgetKey' | 'testProfile' | 'listModels'
>;

export function createProfileHandlers(dependencies: PanelDependencies, settings: PanelSettings): ProfileHandlers {
  const { services } = dependencies;
  return {
    saveProfile: async ({ profile }) => {
      const profileEntries = readProfileEntries();
      const existingIndex = profileEntries.findIndex((other) => getEntryId(other) === profile['id']);
      const entryIndex = existingIndex === -1 ? profileEntries.length : existingIndex;
      const problems = await settings.updateSetting({
        name: 'profiles',
        scope: 'user',
        path: [entryIndex],
        value: profile,
      });
      const prefix = `${entryIndex}.`;
      return {
        problems: problems.map(({ path, message }) => ({
          path: path.startsWith(prefix) ? path.slice(prefix.length) : path,
          message,
        })),
      };
    },
    removeProfile: async ({ id }) => ({
      removed: await dependencies.commands().removeProfile(services, findProfile(id)),
    }),
    setKey: async (asked) => ({ isSet: await dependencies.commands().askApiKey(services, getRequestedProfile(asked)) }),
    forgetKey: async ({ id }) => {
      if (!isProfileIdTaken(id)) await deleteApiKey(services.context.secrets, id);
      return null;
    },
    testProfile: async (asked, signal) =>
      dependencies.commands().testProfileConnection(services, getRequestedProfile(asked), signal),
    listModels: async (asked, signal) => ({
      models: [...(await dependencies.commands().listVendorModels(services, getRequestedProfile(asked), signal))],
    }),
  };
}

const getEntryId = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : undefined;

/**
 * True if the settings have a profile with this ID. Invalid profiles count too, because a key may
 * be stored for them.
 */
const isProfileIdTaken = (id: unknown): boolean => readProfileEntries().some((entry) => getEntryId(entry) === id);

/** @throws Error if there is no such profile, or it would use another profile's key */
function getRequestedProfile(params: MethodParams<'setKey'>): ApiProfile {
  if ('id' in params) return findProfile(params.id);
  const { vendor } = params.profile;
  const suggestedModel = typeof vendor === 'string' && isVendor(vendor) ? getVendorEntry(vendor).suggestedModel : '';
  const { profiles, problems } = parseProfiles([{ model: suggestedModel, ...params.profile }]);
  const [profile] = profiles;
  if (!profile || isProfileIdTaken(profile.id))
    throw new Error(problems[0]?.message ?? vscode.l10n.t('This ID is already in use.'));
  return profile;
}

/** @throws Error if the profile doesn't exist */
function findProfile(id: string): ApiProfile {
  const profile = readSetting('profiles').find((entry) => entry.id === id);
  if (!profile) throw new Error(vscode.l10n.t('The model “{0}” no longer exists.', id));
  return profile;
}
