/** Gathers settings for the preview's worker, which has access to neither settings nor keys. */
import * as vscode from 'vscode';
import { loadPriceTable } from '../api/prices';
import type { PreviewModel, PreviewSetup } from '../background/preview/messages';
import { getOutputSamples } from '../core/condense/metrics/metrics';
import { findPresetById } from '../core/condense/providers/smart/presets';
import { BUILT_IN_PROVIDERS } from '../core/condense/types';
import type { ModelPrices } from '../core/cost/prices';
import type { UsageAccounting } from '../core/cost/usage';
import { isRecord } from '../core/messages/blocks';
import { getAccounting, VENDOR_IDS } from '../core/vendors/vendors';
import { getSummaries } from '../window/background';
import { readModelSettings } from '../window/settings/modelSettings';
import { getMessageCounter } from '../window/counter';
import { openMetricsStore } from '../window/metrics';
import { copyAsPlainData } from '../window/settings/plain';
import { resolveProviderConfig, readOwnPresets } from '../window/settings/providerConfig';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { createSmartProvider } from '../core/condense/providers/smart';
import { mayCallModel } from '../core/condense/config';
import { createPlannedModel } from '../window/hostModels';
import { createWindowModels, createWindowSummarizer } from '../window/models';

/**
 * `current`: the settings' provider and configuration. `smart`: this configuration of Smart.
 * `preset`: one of Smart's presets. `provider`: a provider with its own settings.
 */
export type PreviewConfiguration =
  | { readonly kind: 'smart'; readonly config: unknown }
  | { readonly kind: 'current' }
  | { readonly kind: 'preset'; readonly id: string }
  | { readonly kind: 'provider'; readonly id: string };

/** @throws Error if the preset doesn't exist or the provider belongs to another extension */
export async function readPreviewSetup(services: Services, configuration: PreviewConfiguration): Promise<PreviewSetup> {
  const { provider, config } = resolveConfiguration(configuration);
  const { maxCost } = readModelSettings();
  return {
    provider,
    config,
    presets: copyAsPlainData(readOwnPresets()),
    targetPercent: readManualSettings().targetPercent,
    maxCost,
    summaries: getSummaries(services).folder,
    models: choiceMayCallModel(provider, config) ? await listPlannedModels(services, config) : [],
  };
}

function resolveConfiguration(configuration: PreviewConfiguration): Pick<PreviewSetup, 'provider' | 'config'> {
  switch (configuration.kind) {
    case 'current': {
      const { provider } = readManualSettings();
      if (!BUILT_IN_PROVIDERS.some((id) => id === provider)) {
        throw new Error(
          vscode.l10n.t(
            'The provider “{0}” comes from another extension, so what it does can’t be previewed. Condense to see it; you can undo that.',
            provider,
          ),
        );
      }
      return { provider, config: resolveProviderConfig(provider) };
    }
    case 'smart':
      return { provider: 'smart', config: resolveProviderConfig('smart', copyAsPlainData(configuration.config)) };
    case 'provider':
      return { provider: configuration.id, config: resolveProviderConfig(configuration.id) };
    case 'preset': {
      const preset = findPresetById(configuration.id, readOwnPresets());
      if (!preset)
        throw new Error(vscode.l10n.t('The preset “{0}” no longer exists. Choose another one.', configuration.id));
      return { provider: 'smart', config: copyAsPlainData(preset.config) };
    }
  }
}

export const choiceMayCallModel = (provider: string, config: unknown): boolean =>
  provider === 'native' ||
  provider === 'strategy' ||
  (provider === 'smart' && mayCallModel(createSmartProvider(), config));

async function listPlannedModels(services: Services, config: unknown): Promise<PreviewModel[]> {
  const { select, samples } = createWindowModels(
    services,
    await getMessageCounter(services),
    openMetricsStore(services),
  );
  const planModel = async (apiProfile?: string): Promise<PreviewModel> =>
    (await createPlannedModel(select, samples, apiProfile)).planned;
  return Promise.all([planModel(), ...[...findProfileNames(config)].map(planModel)]);
}

function findProfileNames(config: unknown): Set<string> {
  if (Array.isArray(config)) return new Set(config.flatMap((entry) => [...findProfileNames(entry)]));
  if (!isRecord(config)) return new Set();
  return new Set(
    Object.entries(config).flatMap(([key, value]) =>
      key === 'apiProfile' && typeof value === 'string' ? [value] : [...findProfileNames(value)],
    ),
  );
}

/**
 * High enough for every preview: comparisons may include configurations that cost more than the
 * user would spend.
 */
const UNLIMITED_PREVIEW_COST_DOLLARS = 1_000;

export interface PreviewSetupOfProfile {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  /** What the preview needs to call the profile, or why it can't be called. */
  readonly setup: PreviewSetup | { readonly problem: string };
}

export async function createPreviewSetupsOfProfiles(services: Services): Promise<PreviewSetupOfProfile[]> {
  const { profiles } = readModelSettings();
  const counter = await getMessageCounter(services);
  const recordedRuns = await openMetricsStore(services).readRuns();
  return Promise.all(
    profiles.map(async (profile): Promise<PreviewSetupOfProfile> => {
      const { id, name, model } = profile;
      const summarizer = await createWindowSummarizer(services, counter, profile, recordedRuns);
      if ('reason' in summarizer) return { id, name, model, setup: { problem: summarizer.reason } };
      const previewModel = {
        model: summarizer.model,
        chosen: 'condensing-profile',
        samples: getOutputSamples(recordedRuns, model),
      } as const;
      const setup: PreviewSetup = {
        provider: 'native',
        config: resolveProviderConfig('native'),
        presets: [],
        targetPercent: readManualSettings().targetPercent,
        maxCost: UNLIMITED_PREVIEW_COST_DOLLARS,
        models: [previewModel],
        summaries: getSummaries(services).folder,
      };
      return { id, name, model, setup };
    }),
  );
}

export interface ModelPricing {
  readonly prices: ModelPrices;
  readonly accounting: UsageAccounting;
}

/** Returns undefined if the price table doesn't have this model. */
export async function findModelPricing(model: string): Promise<ModelPricing | undefined> {
  const table = await loadPriceTable();
  for (const vendor of VENDOR_IDS) {
    const listedModel = table.lookup({ vendor, model });
    if (listedModel) return { prices: listedModel.prices, accounting: getAccounting(vendor, model) };
  }
  return undefined;
}
