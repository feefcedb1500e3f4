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
  const found = await createProfileSummarizer(profile, {
    counter,
    secrets: services.context.secrets,
    models: languageModels,
    tokenFactor: (model) => computeTokenFactor(runs, model),
    preferences: readSummaryPreferences,
    billing,
  });
  return applySpendingLimits(services, counter, found);
}

/** The limits apply per conversation and per day, over all windows. */
const applySpendingLimits = (
  services: Services,
  counter: MessageCounter,
  found: Summarizer | UnavailableProfile,
): Summarizer | UnavailableProfile =>
  'summarize' in found
    ? createLimitedSummarizer(found, {
        spending: openSpending(services),
        limits: () => ({
          perConversation: readSetting('maxCostPerConversation'),
          perDay: readSetting('maxCostPerDay'),
        }),
        count: (text) => counter.countText(text),
      })
    : found;

/** Reads settings and metrics for each model, so that changes apply at once. */
export function createWindowModels(services: Services, counter: MessageCounter, metrics: MetricsStore): WindowModels {
  let runs: Awaited<ReturnType<MetricsStore['readRuns']>> = [];
  const summarizer = (profile: ApiProfile): Promise<Summarizer | UnavailableProfile> =>
    createWindowSummarizer(services, counter, profile, runs);
  return {
    async select(apiProfile, loadOwnModel): Promise<SelectedSummarizer> {
      const { profiles, condensing } = readModelSettings();
      runs = await metrics.readRuns();
      // If a pass names a missing profile, the condensing profile is used and a note says so.
      const namedProfile = profiles.find(({ id, name }) => id === apiProfile || name === apiProfile);
      const wantedProfile = apiProfile === undefined ? condensing : namedProfile;
      const fallback = condensing && condensing !== wantedProfile ? await summarizer(condensing) : undefined;
      const missing: UnavailableProfile | undefined =
        apiProfile !== undefined && !namedProfile
          ? { profile: apiProfile, reason: 'there is no such model.' }
          : undefined;
      const first = wantedProfile ? await summarizer(wantedProfile) : missing;
      const isUsable = [first, fallback].some((candidate) => candidate && 'summarize' in candidate);
      const ownModel = isUsable ? undefined : await loadOwnModel?.();
      const conversation = ownModel && applySpendingLimits(services, counter, ownModel);
      return selectSummarizer({
        ...(first && { condensing: first }),
        ...(fallback && { fallback }),
        ...(conversation && { conversation }),
      });
    },
    samples: ({ model }) => getOutputSamples(runs, model),
  };
}
