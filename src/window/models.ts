import { computeTokenFactor, getOutputSamples, type RunMetrics } from '../core/condense/metrics/metrics';
import type { SelectModel } from '../core/condense/providers/smart/passParts';
import type { OutputSample } from '../core/condense/summary/expectedOutput';
import {
  selectSummarizer,
  type SelectedSummarizer,
  type Summarizer,
  type SummarizerModel,
  type UnavailableProfile,
} from '../core/condense/summarizer';
import type { MessageCounter } from '../core/tokens/messageCounter';
import type { ApiProfile } from '../settings/profiles';
import { createProfileSummarizer } from '../settings/profileSummarizer';
import { createLimitedSummarizer } from '../storage/limitedSummarizer';
import type { MetricsStore } from '../storage/metrics';
import { openSpending } from './spending';
import { readSetting } from './settings/settings';
import { languageModels } from './languageModels';
import { readModelSettings } from './settings/modelSettings';
import { readSummaryPreferences } from './settings/providerConfig';
import type { Services } from './services';

export interface WindowModels {
  /** @throws NoSummarizerError */
  readonly select: SelectModel;
  readonly samples: (model: SummarizerModel) => readonly OutputSample[];
}

/** Returns a profile's model, or why it can't be called. */
export async function createWindowSummarizer(
  services: Services,
  counter: MessageCounter,
  profile: ApiProfile,
  runs: readonly RunMetrics[],
  billing: SummarizerModel['billing'] = 'per-token',
): Promise<Summarizer | UnavailableProfile> {
  const summarizer = await createProfileSummarizer(profile, {
    counter,
    secrets: services.context.secrets,
    models: languageModels,
    tokenFactor: (model) => computeTokenFactor(runs, model),
    preferences: readSummaryPreferences,
    billing,
  });
  return applySpendingLimits(services, counter, summarizer);
}

/** Limits what the summarizer spends, per conversation and per day, over all windows. */
const applySpendingLimits = (
  services: Services,
  counter: MessageCounter,
  summarizer: Summarizer | UnavailableProfile,
): Summarizer | UnavailableProfile =>
  'summarize' in summarizer
    ? createLimitedSummarizer(summarizer, {
        spending: openSpending(services),
        limits: () => ({
          perConversation: readSetting('maxCostPerConversation'),
          perDay: readSetting('maxCostPerDay'),
        }),
        count: (text) => counter.countText(text),
      })
    : summarizer;

/**
 * Creates models of profiles. Settings and metrics are read each time, so that changes apply at
 * once.
 */
export function createWindowModels(services: Services, counter: MessageCounter, metrics: MetricsStore): WindowModels {
  let runs: Awaited<ReturnType<MetricsStore['readRuns']>> = [];
  const createSummarizer = (profile: ApiProfile): Promise<Summarizer | UnavailableProfile> =>
    createWindowSummarizer(services, counter, profile, runs);
  return {
    async select(apiProfile, loadOwnModel): Promise<SelectedSummarizer> {
      const { profiles, condensing } = readModelSettings();
      runs = await metrics.readRuns();
      // If a pass names a missing profile, the condensing profile is used and a note says so.
      const namedProfile = profiles.find(({ id, name }) => id === apiProfile || name === apiProfile);
      const wantedProfile = apiProfile === undefined ? condensing : namedProfile;
      const fallback = condensing && condensing !== wantedProfile ? await createSummarizer(condensing) : undefined;
      const missingProfile: UnavailableProfile | undefined =
        apiProfile !== undefined && !namedProfile
          ? { profile: apiProfile, reason: 'there is no such model.' }
          : undefined;
      const wantedSummarizer = wantedProfile ? await createSummarizer(wantedProfile) : missingProfile;
      const isUsable = [wantedSummarizer, fallback].some((candidate) => candidate && 'summarize' in candidate);
      const ownModel = isUsable ? undefined : await loadOwnModel?.();
      const conversation = ownModel && applySpendingLimits(services, counter, ownModel);
      return selectSummarizer({
        ...(wantedSummarizer && { condensing: wantedSummarizer }),
        ...(fallback && { fallback }),
        ...(conversation && { conversation }),
      });
    },
    samples: ({ model }) => getOutputSamples(runs, model),
  };
}
