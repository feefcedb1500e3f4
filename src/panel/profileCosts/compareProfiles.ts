import type { PreviewResult } from '../../background/preview/messages';
import type { PreviewThread } from '../../engine/previewThread';
import type { ModelPricing } from '../../commands/previewSetup';
import { recommendProfile } from '../../core/cost/recommendedProfile';
import { estimateCondensationSaving, type CondensationSaving } from '../../core/cost/saving';
import { getTokenizerFactor } from '../../core/vendors/families';
import type { PanelDependencies } from '../parts';
import type { PreviewedConversationName } from '../preview/methods';
import type { ProfileComparison, ProfileCost } from './methods';

/**
 * @param thread has no keys, so that nothing is called or saved
 * @throws Error if the conversation can't be read; the signal's reason if aborted
 */
export async function compareProfiles(
  dependencies: PanelDependencies,
  thread: PreviewThread,
  requestedName: PreviewedConversationName,
  signal: AbortSignal,
): Promise<ProfileComparison> {
  const { services } = dependencies;
  const {
    getDefaultConversation,
    findOwnConversation,
    resolveConversation,
    readPreviewSetup,
    loadLiveView,
    findModelPricing,
    createPreviewSetupsOfProfiles,
  } = dependencies.commands();
  const name =
    requestedName.kind === 'default'
      ? getDefaultConversation(services, await findOwnConversation(services))
      : requestedName;
  await loadLiveView(services, name);
  const conversation = resolveConversation(services, name);
  const losslessSetup = await readPreviewSetup(services, { kind: 'provider', id: 'lossless' });
  const { title, tokensBefore, model } = await thread.askPreviewQuestion(
    { kind: 'preview', conversation, setup: losslessSetup, excluded: [] },
    signal,
  );
  const pricing = model === undefined ? undefined : await findModelPricing(model);
  const profiles: ProfileCost[] = [];
  const figures: Parameters<typeof recommendProfile>[0][number][] = [];
  for (const { id, name: profileName, model: profileModel, setup } of await createPreviewSetupsOfProfiles(services)) {
    if ('problem' in setup) {
      profiles.push({ id, name: profileName, model: profileModel, estimate: setup });
      continue;
    }
    const preview = await thread.askPreviewQuestion({ kind: 'preview', conversation, setup, excluded: [] }, signal);
    const saving = pricing && computeProfileSaving(preview, pricing, model);
    const { tokensAfter, cost } = preview;
    figures.push({ profile: id, cost, tokensSaved: tokensBefore - tokensAfter, saving });
    profiles.push({ id, name: profileName, model: profileModel, estimate: makeProfileEstimate(preview, saving) });
  }
  const recommendedProfile = recommendProfile(figures);
  return {
    conversation: name,
    title,
    tokens: tokensBefore,
    ...(model !== undefined && { model }),
    profiles,
    ...(recommendedProfile !== undefined && { recommended: recommendedProfile }),
  };
}

/** Returns the saving per request if the cache is warm; with a cold cache, more is saved. */
function computeProfileSaving(
  { tokensBefore, tokensAfter, cost, cells }: PreviewResult,
  pricing: ModelPricing,
  model: string | undefined,
): CondensationSaving {
  const firstChangedIndex = cells.findIndex(({ outcome }) => outcome !== 'kept');
  const keptTokens = cells
    .slice(0, firstChangedIndex < 0 ? cells.length : firstChangedIndex)
    .reduce((sum, cell) => sum + cell.tokensAfter, 0);
  const tokenFactor = getTokenizerFactor(model);
  const effect = {
    tokensBefore: tokensBefore * tokenFactor,
    tokensAfter: tokensAfter * tokenFactor,
    keptPrefixTokens: keptTokens * tokenFactor,
    cost,
  };
  return estimateCondensationSaving(effect, { ...pricing, cache: 'warm' });
}

const makeProfileEstimate = (
  { tokensAfter, cost }: PreviewResult,
  saving: CondensationSaving | undefined,
): ProfileCost['estimate'] => ({
  tokensAfter,
  ...(cost !== undefined && { cost }),
  ...(saving && { savedPerRequest: saving.perRequest }),
  ...(saving?.breakEvenRequests !== undefined && { breakEvenRequests: saving.breakEvenRequests }),
});
