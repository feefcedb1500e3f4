import * as vscode from 'vscode';
import { formatTokens } from '../core/format';
import {
  BUILT_IN_PROVIDERS,
  type BuiltInProviderId,
  PROVIDER_DESCRIPTIONS,
  PROVIDER_NAMES,
} from '../core/condense/types';
import { readModelSettings } from '../window/settings/modelSettings';
import { saveSettingAndShowOverride } from '../window/settings/settings';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { profileSchema, type ApiProfile } from '../settings/profiles';
import { listEditorModels } from './modelFacts';
import { BUILT_IN_STRATEGIES } from '../core/condense/providers/strategy/builtIn';
import { getPresetName, readProviderConfig } from '../window/settings/providerConfig';
import { MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD } from '../core/condense/trigger/thresholds';
import { askInput, pickOneItem, showInformationMessage } from '../window/notifications';

interface ProviderItem extends vscode.QuickPickItem {
  readonly provider: string;
}

const describeProviderUses = (condensing: ApiProfile | undefined): Readonly<Record<BuiltInProviderId, string>> => ({
  lossless: vscode.l10n.t('free'),
  smart: describeSmartPreset(),
  truncation: vscode.l10n.t('free'),
  native: condensing ? [...new Set([condensing.name, condensing.model])].join(' · ') : vscode.l10n.t('needs a model'),
  strategy: getStrategyName(),
});

const createRegisteredItems = ({ registered }: Services): ProviderItem[] =>
  registered.listProviders().map(({ id, name, description }) => ({
    provider: id,
    label: name,
    description: vscode.l10n.t('from another extension'),
    detail: description,
  }));

const describeSmartPreset = (): string => {
  const config = readProviderConfig('smart');
  return getPresetName(config) ?? (typeof config === 'string' ? config : vscode.l10n.t('your own passes'));
};

const getStrategyName = (): string => {
  const config = readProviderConfig('strategy') ?? BUILT_IN_STRATEGIES[0]?.id;
  if (typeof config !== 'string') return vscode.l10n.t('your own steps');
  return BUILT_IN_STRATEGIES.find(({ id }) => id === config)?.name ?? config;
};

export async function chooseProvider(services: Services): Promise<void> {
  const { condensing } = readModelSettings();
  const { provider } = readManualSettings();
  const descriptionByProvider = describeProviderUses(condensing);
  const builtInItems = BUILT_IN_PROVIDERS.map((id): ProviderItem => ({
    provider: id,
    label: PROVIDER_NAMES[id],
    description: descriptionByProvider[id],
    detail: PROVIDER_DESCRIPTIONS[id],
  }));
  const providerItems = [...builtInItems, ...createRegisteredItems(services)];
  const items = providerItems.toSorted((a, b) => Number(b.provider === provider) - Number(a.provider === provider));
  const pickedItem = await pickOneItem(items, {
    title: vscode.l10n.t('Condense with'),
    placeHolder: vscode.l10n.t('Now: {0}', items.find((item) => item.provider === provider)?.label ?? provider),
  });
  if (!pickedItem) return;
  if (pickedItem.provider === 'native' && !condensing && !(await chooseCondensingProfile())) return;
  await saveSettingAndShowOverride('provider', pickedItem.provider);
}

/**
 * Asks which of VS Code's models writes this one summary; its vendor bills it.
 * @returns undefined if VS Code has no model, `left` if the user left
 */
export async function askSummarizingModel(): Promise<ApiProfile | 'left' | undefined> {
  const models = await listEditorModels();
  if (models.length === 0) return undefined;
  const pickedItem = await pickOneItem(
    models.map(({ id, name, vendor, contextWindow }) => ({
      label: name,
      description:
        contextWindow === undefined ? vendor : vscode.l10n.t('{0} · {1} tokens', vendor, formatTokens(contextWindow)),
      profile: profileSchema.parse({ id: 'picked', name, vendor: 'vscode', model: id, contextWindow }),
    })),
    {
      title: vscode.l10n.t('Which of VS Code’s models writes the summary?'),
      placeHolder: vscode.l10n.t(
        'Makes at least one request, which the vendor may bill. The conversation is sent to it.',
      ),
    },
  );
  return pickedItem ? pickedItem.profile : 'left';
}

/** @returns false if the user chose no profile */
export async function chooseCondensingProfile(): Promise<boolean> {
  const { profiles, condensing } = readModelSettings();
  if (profiles.length === 0) {
    const addLabel = vscode.l10n.t('Add Model');
    const choice = await showInformationMessage(
      vscode.l10n.t('No model has been added that could write summaries.'),
      addLabel,
    );
    if (choice === addLabel) await vscode.commands.executeCommand('contextCondenser.manageProfiles');
    return false;
  }
  const noneItem = { id: '', label: vscode.l10n.t('None'), description: vscode.l10n.t('no model is called') };
  const items = profiles.map(({ id, name, model }) => ({
    id,
    label: name,
    description: id === condensing?.id ? vscode.l10n.t('{0} · chosen', model) : model,
  }));
  const pickedItem = await pickOneItem([...items, noneItem], { title: vscode.l10n.t('Which model writes summaries?') });
  if (!pickedItem) return false;
  await saveSettingAndShowOverride('condensingProfile', pickedItem.id);
  return pickedItem.id !== '';
}

/** A button in the message that no model could be called for condensing. It leads to a profile. */
export interface CondensingProfileAction {
  readonly label: string;
  /** @returns true if the condensing profile has changed, so that a retry makes sense */
  readonly follow: () => Promise<boolean>;
}

/**
 * Returns the button that helps: to add a first profile, to choose one, or to fix the chosen one
 * (key, address).
 */
export function getProfileAction(): CondensingProfileAction {
  const { profiles, condensing } = readModelSettings();
  if (profiles.length > 0 && !condensing) {
    return { label: vscode.l10n.t('Choose Model'), follow: chooseCondensingProfile };
  }
  return {
    label: condensing ? vscode.l10n.t('Manage Models') : vscode.l10n.t('Add Model'),
    follow: async () => {
      await vscode.commands.executeCommand('contextCondenser.manageProfiles');
      const { condensing: now } = readModelSettings();
      return now !== undefined && now.id !== condensing?.id;
    },
  };
}

export async function askAndSetThreshold(): Promise<void> {
  const { threshold } = readModelSettings();
  const text = await askInput({
    title: vscode.l10n.t('At what percentage of the context window should conversations be condensed?'),
    value: String(threshold.percent),
    validateInput: (value) =>
      parseThreshold(value) === undefined
        ? vscode.l10n.t('Enter a number from {0} to {1}.', MIN_CONDENSE_THRESHOLD, MAX_CONDENSE_THRESHOLD)
        : undefined,
  });
  const chosenThreshold = parseThreshold(text ?? '');
  if (chosenThreshold !== undefined) await saveSettingAndShowOverride('threshold', chosenThreshold);
}

function parseThreshold(text: string): number | undefined {
  const value = text.trim() === '' ? NaN : Number(text);
  return value >= MIN_CONDENSE_THRESHOLD && value <= MAX_CONDENSE_THRESHOLD ? value : undefined;
}
