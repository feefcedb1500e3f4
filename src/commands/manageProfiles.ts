import * as vscode from 'vscode';
import { explainModelPicker } from '../agent/wrappedModels';
import { ApiError, isApiError } from '../api/apiError';
import type { ListedModel } from '../api/modelList';
import { formatDurationMs } from '../core/format';
import { getErrorMessage } from '../core/errors';
import { describeIssue } from '../core/issueWords';
import { vendorHasField, VENDOR_IDS, getVendorEntry } from '../core/vendors/vendors';
import { deleteApiKey, getKeyForEndpoint, readApiKey, storeApiKey } from '../settings/keys';
import { createProfileHandler, testConnection } from '../settings/profileHandler';
import { makeUnusedId } from '../core/freeId';
import {
  profileSchema,
  listProfileIds,
  dropProfileEntry,
  replaceOrAddProfileEntry,
  type ApiProfile,
} from '../settings/profiles';
import { withCancellation } from '../window/background';
import { languageModels } from '../window/languageModels';
import { readModelSettings, readProfileEntries } from '../window/settings/modelSettings';
import { saveUserSetting } from '../window/settings/settings';
import { getMessageCounter } from '../window/counter';
import { countConsents, forgetConsents } from '../window/profileConsent';
import type { Services } from '../window/services';
import {
  askInput,
  pickOneItem,
  showErrorMessage,
  showInformationMessage,
  showProgress,
  showWarningMessage,
} from '../window/notifications';

interface ProfileItem extends vscode.QuickPickItem {
  readonly profile?: ApiProfile;
}

export async function manageProfiles(services: Services): Promise<void> {
  const { profiles, condensing } = readModelSettings();
  const items: ProfileItem[] = profiles.map((profile) => ({
    profile,
    label: profile.name,
    description: `${profile.vendor} · ${profile.model}`,
    ...(profile.id === condensing?.id && { detail: vscode.l10n.t('for summaries') }),
  }));
  const pickedItem = await pickOneItem<ProfileItem>([...items, { label: `$(add) ${vscode.l10n.t('Add Model…')}` }], {
    title: vscode.l10n.t('Models'),
  });
  if (!pickedItem) return;
  if (pickedItem.profile) await chooseProfileAction(services, pickedItem.profile);
  else await addProfile(services);
}

/** Adds a profile. The first one is also chosen for condensing. */
async function addProfile(services: Services): Promise<void> {
  const profile = await askProfileFields(undefined);
  if (!profile) return;
  const isFirst = readProfileEntries().length === 0;
  await saveUserSetting('profiles', replaceOrAddProfileEntry(readProfileEntries(), profile));
  if (profile.vendor !== 'vscode') await askApiKey(services, profile);
  if (isFirst) await saveUserSetting('condensingProfile', profile.id);
  await testProfile(services, profile);
}

type ProfileManagementAction = 'edit' | 'test' | 'key' | 'use' | 'offer' | 'forget' | 'remove';

async function chooseProfileAction(services: Services, profile: ApiProfile): Promise<void> {
  const actions: (vscode.QuickPickItem & { readonly action: ProfileManagementAction })[] = [
    { action: 'test', label: `$(plug) ${vscode.l10n.t('Test Connection')}` },
    { action: 'use', label: `$(archive) ${vscode.l10n.t('Use for Summaries')}` },
    {
      action: 'offer',
      label: profile.offerInChat
        ? `$(comment-discussion) ${vscode.l10n.t('No Longer Offer in Chat')}`
        : `$(comment-discussion) ${vscode.l10n.t('Offer in Chat, Condensed')}`,
    },
    { action: 'key', label: `$(key) ${vscode.l10n.t('Set Key…')}` },
    {
      action: 'forget',
      label: `$(circle-slash) ${vscode.l10n.t('Ask Again Which Extensions May Use It')}`,
    },
    { action: 'edit', label: `$(edit) ${vscode.l10n.t('Edit…')}` },
    { action: 'remove', label: `$(trash) ${vscode.l10n.t('Remove')}` },
  ];
  const offeredActions = actions.filter(
    ({ action }) =>
      (action !== 'key' || acceptsApiKey(profile)) && (action !== 'forget' || countConsents(services, profile) > 0),
  );
  const pickedAction = await pickOneItem(offeredActions, { title: profile.name });
  switch (pickedAction?.action) {
    case 'test':
      return testProfile(services, profile);
    case 'use':
      return saveUserSetting('condensingProfile', profile.id);
    case 'offer':
      return toggleOfferInChat(profile);
    case 'key':
      if (await askApiKey(services, profile)) await showApiKeySaved(services, profile);
      return;
    case 'forget':
      return forgetConsents(services, profile);
    case 'edit':
      return editProfile(profile);
    case 'remove':
      await removeProfile(services, profile);
      return;
    case undefined:
      return;
  }
}

async function toggleOfferInChat({ offerInChat: isOffered, ...profile }: ApiProfile): Promise<void> {
  const changedProfile = isOffered ? profile : { ...profile, offerInChat: true };
  await saveUserSetting('profiles', replaceOrAddProfileEntry(readProfileEntries(), changedProfile));
  if (!isOffered) await explainModelPicker([profile.name]);
}

async function editProfile(profile: ApiProfile): Promise<void> {
  const changedProfile = await askProfileFields(profile);
  if (changedProfile) await saveUserSetting('profiles', replaceOrAddProfileEntry(readProfileEntries(), changedProfile));
}

/**
 * Removes a profile and its key after confirmation.
 * @returns whether it was removed
 */
export async function removeProfile(services: Services, profile: ApiProfile): Promise<boolean> {
  const removeLabel = vscode.l10n.t('Remove');
  const question = vscode.l10n.t('Remove the model “{0}”?', profile.name);
  const hasKey = (await readApiKey(services.context.secrets, profile)).kind !== 'missing';
  const detail = hasKey ? vscode.l10n.t('Its API key is removed, too.') : '';
  if ((await showWarningMessage(question, { modal: true, detail }, removeLabel)) !== removeLabel) return false;
  const { condensing } = readModelSettings();
  // Clear the choice first, because a chosen profile that does not exist is reported as a problem.
  if (condensing?.id === profile.id) await saveUserSetting('condensingProfile', '');
  await saveUserSetting('profiles', dropProfileEntry(readProfileEntries(), profile.id));
  await deleteApiKey(services.context.secrets, profile.id);
  await forgetConsents(services, profile);
  return true;
}

/**
 * Asks for the profile's API key. An empty input removes the stored one.
 * @returns whether a key was set
 */
export async function askApiKey({ context }: Services, profile: ApiProfile): Promise<boolean> {
  const key = await askInput({
    title: vscode.l10n.t('API key of {0}', profile.name),
    prompt: vscode.l10n.t(
      'The key is stored in VS Code’s secret store and sent only to this model’s endpoint. Leave empty for none.',
    ),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return false;
  if (key.trim() === '') {
    await deleteApiKey(context.secrets, profile.id);
    return false;
  }
  await storeApiKey(context.secrets, profile, key.trim());
  return true;
}

async function showApiKeySaved(services: Services, profile: ApiProfile): Promise<void> {
  const testLabel = vscode.l10n.t('Test Connection');
  const notice = vscode.l10n.t('The key of {0} was saved.', profile.name);
  if ((await showInformationMessage(notice, testLabel)) === testLabel) await testProfile(services, profile);
}

export interface ConnectionTestResult {
  readonly ok: boolean;
  /** Text for the user; empty if the user canceled. */
  readonly message: string;
  /** True if the key is missing or was rejected. */
  readonly needsKey?: true;
}

/** Asks the model for one word and reports the vendor's own error with advice. Never throws. */
export async function testProfileConnection(
  services: Services,
  profile: ApiProfile,
  signal: AbortSignal,
): Promise<ConnectionTestResult> {
  try {
    const handler = createProfileHandler(profile, await getKeyForEndpoint(services.context.secrets, profile), {
      counter: await getMessageCounter(services),
      models: languageModels,
    });
    const result = await testConnection(handler, signal);
    if (!result.ok) return describeFailure(profile, result.error);
    const time = formatDurationMs(result.timeMs);
    return { ok: true, message: vscode.l10n.t('{0} responded ({1}, {2}).', profile.name, profile.model, time) };
  } catch (error) {
    return isApiError(error) ? describeFailure(profile, error) : { ok: false, message: getErrorMessage(error) };
  }
}

const describeFailure = (profile: ApiProfile, { kind, message }: ApiError): ConnectionTestResult => ({
  ok: false,
  message: kind === 'aborted' ? '' : message,
  ...(kind === 'auth' && acceptsApiKey(profile) && { needsKey: true }),
});

const acceptsApiKey = ({ vendor }: ApiProfile): boolean => getVendorEntry(vendor).key !== 'none';

/** @throws {ApiError} also if the vendor has no list */
export async function listVendorModels(
  services: Services,
  profile: ApiProfile,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const handler = createProfileHandler(profile, await getKeyForEndpoint(services.context.secrets, profile), {
    counter: await getMessageCounter(services),
    models: languageModels,
  });
  if (!handler.listModels) {
    const sentence = vscode.l10n.t('{0} provides no list of models.', getVendorEntry(profile.vendor).label);
    throw new ApiError('model', { name: profile.name, sentence });
  }
  return handler.listModels(signal);
}

async function testProfile(services: Services, profile: ApiProfile): Promise<void> {
  const { log } = services;
  const progress = {
    location: vscode.ProgressLocation.Notification,
    title: vscode.l10n.t('Testing {0}', profile.name),
    cancellable: true,
  };
  const { ok, message, needsKey } = await showProgress(progress, (_report, token) =>
    withCancellation(token, (signal) => testProfileConnection(services, profile, signal)),
  );
  if (message === '') return;
  if (ok) {
    log.info(message);
    void showInformationMessage(message);
    return;
  }
  log.error(message);
  const retryLabel = vscode.l10n.t('Retry');
  const setKeyLabel = vscode.l10n.t('Set Key…');
  const actionLabels = needsKey
    ? [setKeyLabel, retryLabel]
    : acceptsApiKey(profile)
      ? [retryLabel, setKeyLabel]
      : [retryLabel];
  const choice = await showErrorMessage(message, ...actionLabels);
  if (choice === retryLabel || (choice === setKeyLabel && (await askApiKey(services, profile))))
    await testProfile(services, profile);
}

const VENDOR_ITEMS = VENDOR_IDS.map((vendor) => {
  const { label, alsoFor = [] } = getVendorEntry(vendor);
  return { vendor, label: [label, ...alsoFor.map((server) => server.label)].join(', ') };
});

/** Returns undefined if the user left the dialog. */
async function askProfileFields(existingProfile: ApiProfile | undefined): Promise<ApiProfile | undefined> {
  const vendor =
    existingProfile?.vendor ??
    (await pickOneItem(VENDOR_ITEMS, { title: vscode.l10n.t('Which vendor’s model?') }))?.vendor;
  if (vendor === undefined) return undefined;
  const model = await askForText(
    vscode.l10n.t('Model'),
    existingProfile?.model ?? getVendorEntry(vendor).suggestedModel,
  );
  if (!model) return undefined;
  const name = await askForText(vscode.l10n.t('Name'), existingProfile?.name ?? model);
  if (!name) return undefined;
  const profile: Record<string, unknown> = {
    ...existingProfile,
    id: existingProfile?.id ?? makeUnusedId(name, listProfileIds(readProfileEntries()), 'profile'),
    name,
    vendor,
    model,
  };
  if (vendorHasField(vendor, 'baseUrl')) {
    const url = await askForText(
      vscode.l10n.t('Base URL; leave empty for the vendor’s own'),
      existingProfile?.baseUrl ?? '',
    );
    if (url === undefined) return undefined;
    delete profile['baseUrl'];
    if (url !== '') profile['baseUrl'] = url;
  }
  for (const field of ['region', 'projectId'] as const) {
    if (!vendorHasField(vendor, field)) continue;
    const title = field === 'region' ? vscode.l10n.t('Region') : vscode.l10n.t('Project');
    const value = await askForText(title, existingProfile?.[field] ?? '');
    if (value === undefined) return undefined;
    profile[field] = value;
  }
  const parsedProfile = profileSchema.safeParse(profile);
  if (parsedProfile.success) return parsedProfile.data;
  const [issue] = parsedProfile.error.issues;
  void showErrorMessage(
    vscode.l10n.t(
      'The model was not saved. {0}: {1}',
      issue?.path.map(String).join('.') ?? '',
      issue ? describeIssue(issue) : '',
    ),
  );
  return undefined;
}

async function askForText(title: string, value: string): Promise<string | undefined> {
  return (await askInput({ title, value, ignoreFocusOut: true }))?.trim();
}
