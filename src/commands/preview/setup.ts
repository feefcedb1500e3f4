/** How would be condensed, gathered for the preview's worker, which has neither settings nor keys. */
import * as vscode from 'vscode';
import type { PreviewModel, PreviewSetup } from '../../background/preview/messages';
import { findPreset } from '../../core/condense/presets';
import { NoSummarizerError } from '../../core/condense/summary/summarizer';
import { BUILT_IN_PROVIDERS } from '../../core/condense/types';
import { isRecord } from '../../core/messages/blocks';
import { summariesOf } from '../../window/background';
import { modelSettings } from '../../window/settings/modelSettings';
import { counterOf } from '../../window/counter';
import { metricsOf } from '../../window/metrics';
import { configToRun, ownPresets } from '../../window/settings/providerConfig';
import type { Services } from '../../window/services';
import { manualSettings } from '../../window/settings/manualSettings';
import { mayAskModels } from '../../window/engine';
import { modelsOfWindow } from '../../window/models';

/** `current`: what the settings hold. `preset`: one of the Smart provider. `provider`: one with its own settings. */
export type Configuration =
  | { readonly kind: 'current' }
  | { readonly kind: 'preset'; readonly id: string }
  | { readonly kind: 'provider'; readonly id: string };

/** @throws Error where there is no such preset (any more), or the provider is another extension's */
export async function previewSetup(services: Services, configuration: Configuration): Promise<PreviewSetup> {
  const { provider, config } = chosen(configuration);
  const { maxCost } = modelSettings();
  return {
    provider,
    config,
    presets: plain(ownPresets()),
    targetPercent: manualSettings().targetPercent,
    maxCost,
    summaries: summariesOf(services).folder,
    models: mayAsk(provider, config) ? await plannedModels(services, config) : [],
  };
}

function chosen(configuration: Configuration): Pick<PreviewSetup, 'provider' | 'config'> {
  switch (configuration.kind) {
    case 'current': {
      const { provider } = manualSettings();
      if (!BUILT_IN_PROVIDERS.some((id) => id === provider)) {
        throw new Error(
          vscode.l10n.t(
            'The provider "{0}" comes from another extension: what it does can’t be previewed. Condensing shows it, and can be undone.',
            provider,
          ),
        );
      }
      return { provider, config: configToRun(provider) };
    }
    case 'provider':
      return { provider: configuration.id, config: configToRun(configuration.id) };
    case 'preset': {
      const preset = findPreset(configuration.id, ownPresets());
      if (!preset)
        throw new Error(vscode.l10n.t('There is no preset "{0}" any more. Choose another one.', configuration.id));
      return { provider: 'smart', config: plain(preset.config) };
    }
  }
}

/** What VS Code gives can't cross to a worker. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const mayAsk = (provider: string, config: unknown): boolean =>
  provider === 'native' || provider === 'strategy' || (provider === 'smart' && mayAskModels(config));

/** The model that is chosen for condensing, and those that passes name. */
async function plannedModels(services: Services, config: unknown): Promise<PreviewModel[]> {
  const { select, samples } = modelsOfWindow(services, await counterOf(services), metricsOf(services));
  const plan = async (apiProfile?: string): Promise<PreviewModel> => {
    const name = apiProfile === undefined ? {} : { apiProfile };
    try {
      const { summarizer, chosen: by, warning } = await select(apiProfile);
      const { model } = summarizer;
      return { ...name, model, chosen: by, ...(warning !== undefined && { warning }), samples: samples(model) };
    } catch (error) {
      if (!(error instanceof NoSummarizerError)) throw error;
      return { ...name, problem: error.message };
    }
  };
  return Promise.all([plan(), ...[...profilesIn(config)].map(plan)]);
}

/** The profiles that a configuration names anywhere. */
function profilesIn(config: unknown): Set<string> {
  if (Array.isArray(config)) return new Set(config.flatMap((entry) => [...profilesIn(entry)]));
  if (!isRecord(config)) return new Set();
  return new Set(
    Object.entries(config).flatMap(([key, value]) =>
      key === 'apiProfile' && typeof value === 'string' ? [value] : [...profilesIn(value)],
    ),
  );
}
