import * as vscode from 'vscode';
import { isRecord } from '../core/messages/blocks';
import { getKeyTarget, type ApiProfile } from '../settings/profiles';
import { showWarningMessage } from './notifications';
import type { Services } from './services';

const CONSENTS_STATE_KEY = 'contextCondenser.profileConsents';

/** Open questions by key. Calls that need the same answer wait for the same question. */
const openQuestionByKey = new Map<string, Promise<boolean>>();

/**
 * Identifies what the user allowed. It includes the profile's model and address, so that the user
 * is asked again if one changes.
 */
const makeConsentKey = (extension: string, profile: ApiProfile): string =>
  JSON.stringify([profile.id, extension, profile.vendor, profile.model, getKeyTarget(profile)]);

/** Asks the user unless the answer is known. Dismissing the question means no for now. */
export async function askToUseProfile(services: Services, extension: string, profile: ApiProfile): Promise<boolean> {
  const key = makeConsentKey(extension, profile);
  const consent = readConsents(services)[key];
  if (consent !== undefined) return consent;
  const answer =
    openQuestionByKey.get(key) ??
    askUserForConsent(services, extension, profile, key).finally(() => openQuestionByKey.delete(key));
  openQuestionByKey.set(key, answer);
  return answer;
}

async function askUserForConsent(
  services: Services,
  extension: string,
  profile: ApiProfile,
  key: string,
): Promise<boolean> {
  const allowLabel = vscode.l10n.t('Allow');
  const refuseLabel = vscode.l10n.t('Don’t Allow');
  const answer = await showWarningMessage(
    vscode.l10n.t('The extension “{0}” wants to use your model “{1}”.', getExtensionName(extension), profile.name),
    {
      modal: true,
      detail: vscode.l10n.t(
        'It can then send texts of its choice to {0} ({1}), which you pay for, within your cost limits. It does not get the key. Manage Models takes the permission back.',
        profile.model,
        getKeyTarget(profile),
      ),
    },
    allowLabel,
    refuseLabel,
  );
  if (answer !== undefined) await saveConsents(services, { ...readConsents(services), [key]: answer === allowLabel });
  return answer === allowLabel;
}

export const countConsents = (services: Services, { id }: ApiProfile): number =>
  Object.keys(readConsents(services)).filter((key) => isConsentForProfile(key, id)).length;

export const forgetConsents = (services: Services, { id }: ApiProfile): Promise<void> =>
  saveConsents(
    services,
    Object.fromEntries(Object.entries(readConsents(services)).filter(([key]) => !isConsentForProfile(key, id))),
  );

const isConsentForProfile = (key: string, profile: string): boolean => key.startsWith(`[${JSON.stringify(profile)},`);

function readConsents({ context }: Services): Readonly<Record<string, boolean>> {
  const stored = context.globalState.get<unknown>(CONSENTS_STATE_KEY);
  if (!isRecord(stored)) return {};
  return Object.fromEntries(
    Object.entries(stored).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'),
  );
}

const saveConsents = async ({ context }: Services, consents: Readonly<Record<string, boolean>>): Promise<void> =>
  context.globalState.update(CONSENTS_STATE_KEY, consents);

function getExtensionName(extension: string): string {
  const packageJson: unknown = vscode.extensions.getExtension(extension)?.packageJSON;
  const name = isRecord(packageJson) ? packageJson['displayName'] : undefined;
  return typeof name === 'string' && name !== '' && !name.startsWith('%') ? `${name} (${extension})` : extension;
}
