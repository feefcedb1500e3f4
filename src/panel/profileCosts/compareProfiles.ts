/** Condensing one conversation with each profile: what it would cost, and when it has paid for itself. */
import type { PreviewResult } from '../../background/preview/messages';
import type { PreviewThread } from '../../engine/previewThread';
import type { ModelPricing } from '../../commands/previewSetup';
import { recommendProfile } from '../../core/cost/recommendedProfile';
import { estimateSaving, type Saving } from '../../core/cost/saving';
import { getTokenizerFactor } from '../../core/vendors/families';
import type { PanelParts } from '../parts';
import type { ConversationName } from '../preview/methods';
import type { ProfileComparison, ProfileCost } from './methods';

/**
 * @param thread estimates without keys; nothing is called and nothing is kept.
 * @throws Error where the conversation can't be read; the signal's reason where it was aborted
 */
export async function compareProfiles(
  parts: PanelParts,
  thread: PreviewThread,
  asked: ConversationName,
  signal: AbortSignal,
): Promise<ProfileComparison> {
  const { services } = parts;
  const { defaultConversation, resolveConversation, readPreviewSetup, lookAtConversation, pricingOf, profileSetups } =
    parts.commands();
  const name = asked.kind === 'default' ? defaultConversation(services) : asked;
  await lookAtConversation(services, name);
  const conversation = resolveConversation(services, name);
  const lossless = await readPreviewSetup(services, { kind: 'provider', id: 'lossless' });
  const { title, tokensBefore, model } = await thread.ask(
    { kind: 'preview', conversation, setup: lossless, excluded: [] },
    signal,
  );
  const own = model === undefined ? undefined : await pricingOf(model);
  const profiles: ProfileCost[] = [];
  const figures: Parameters<typeof recommendProfile>[0][number][] = [];
  for (const { id, name: called, model: of, setup } of await profileSetups(services)) {
    if ('problem' in setup) {
      profiles.push({ id, name: called, model: of, estimate: setup });
      continue;
    }
    const made = await thread.ask({ kind: 'preview', conversation, setup, excluded: [] }, signal);
    const saving = own && savingWith(made, own, model);
    const { tokensAfter, cost } = made;
    figures.push({ profile: id, cost, tokensSaved: tokensBefore - tokensAfter, saving });
    profiles.push({ id, name: called, model: of, estimate: estimateOf(made, saving) });
  }
  const recommended = recommendProfile(figures);
  return {
    conversation: name,
    title,
    tokens: tokensBefore,
    ...(model !== undefined && { model }),
    profiles,
    ...(recommended !== undefined && { recommended }),
  };
}

/** The saving of its next requests, with the vendor's cache warm: the cautious figure. */
function savingWith(
  { tokensBefore, tokensAfter, cost, cells }: PreviewResult,
  pricing: ModelPricing,
  model: string | undefined,
): Saving {
  const changed = cells.findIndex(({ outcome }) => outcome !== 'kept');
  const kept = cells.slice(0, changed < 0 ? cells.length : changed).reduce((sum, cell) => sum + cell.tokensAfter, 0);
  const factor = getTokenizerFactor(model);
  const effect = {
    tokensBefore: tokensBefore * factor,
    tokensAfter: tokensAfter * factor,
    keptPrefixTokens: kept * factor,
    cost,
  };
  return estimateSaving(effect, { ...pricing, cache: 'warm' });
}

const estimateOf = ({ tokensAfter, cost }: PreviewResult, saving: Saving | undefined): ProfileCost['estimate'] => ({
  tokensAfter,
  ...(cost !== undefined && { cost }),
  ...(saving && { savedPerRequest: saving.perRequest }),
  ...(saving?.breakEvenRequests !== undefined && { breakEvenRequests: saving.breakEvenRequests }),
});
