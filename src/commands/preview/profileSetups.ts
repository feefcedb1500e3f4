/** Native with each of the user's profiles, for the preview's worker to estimate; and how a conversation's own model is paid. */
import { loadPriceTable } from '../../api/prices';
import type { PreviewSetup } from '../../background/preview/messages';
import { calibratedFactor, outputSamples } from '../../core/condense/metrics/metrics';
import type { ModelPrices } from '../../core/cost/prices';
import type { UsageAccounting } from '../../core/cost/usage';
import { accountingOf, VENDOR_IDS } from '../../core/vendors/vendors';
import { summarizerFor } from '../../settings/profileSummarizer';
import { summariesOf } from '../../window/background';
import { languageModels } from '../../window/languageModels';
import { modelSettings } from '../../window/settings/modelSettings';
import { counterOf } from '../../window/counter';
import { metricsOf } from '../../window/metrics';
import { nativeConfigFor } from '../../window/settings/providerConfig';
import type { Services } from '../../window/services';
import { manualSettings } from '../../window/settings/manualSettings';

/** What is compared may cost more than the user would spend. */
const ANY_COST = 1_000;

export interface ProfileSetup {
  /** Of the profile. */
  readonly id: string;
  readonly name: string;
  readonly model: string;
  /** Or why it can't be called. */
  readonly setup: PreviewSetup | { readonly problem: string };
}

/** One entry a profile; for one that can't be used the reason stands in place of the model. */
export async function profileSetups(services: Services): Promise<ProfileSetup[]> {
  const { profiles, prompt } = modelSettings();
  const counter = await counterOf(services);
  const measures = await metricsOf(services).read();
  return Promise.all(
    profiles.map(async (profile): Promise<ProfileSetup> => {
      const { id, name, model } = profile;
      const made = await summarizerFor(profile, {
        counter,
        secrets: services.context.secrets,
        models: languageModels,
        tokenFactor: (used) => calibratedFactor(measures, used),
      });
      if ('reason' in made) return { id, name, model, setup: { problem: made.reason } };
      const planned = {
        model: made.model,
        chosen: 'condensing-profile',
        samples: outputSamples(measures, model),
      } as const;
      const setup: PreviewSetup = {
        provider: 'native',
        config: nativeConfigFor(profile, prompt),
        presets: [],
        targetPercent: manualSettings().targetPercent,
        maxCost: ANY_COST,
        models: [planned],
        summaries: summariesOf(services).folder,
      };
      return { id, name, model, setup };
    }),
  );
}

export interface ModelPricing {
  readonly prices: ModelPrices;
  readonly accounting: UsageAccounting;
}

/** How a model's tokens are paid, by its id alone; undefined where the price table doesn't know it. */
export async function pricingOf(model: string): Promise<ModelPricing | undefined> {
  const table = await loadPriceTable();
  for (const vendor of VENDOR_IDS) {
    const listed = table.lookup({ vendor, model });
    if (listed) return { prices: listed.prices, accounting: accountingOf(vendor, model) };
  }
  return undefined;
}
