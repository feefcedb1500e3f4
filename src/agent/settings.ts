/** Reads the current settings of agent mode. */
import type { ConversationLimits } from '../live/conversationSpending';
import type { LiveSettings, WhenNotEnough } from '../live/types';
import { chooseThreshold } from '../settings/profiles';
import { modelSettings } from '../window/settings/modelSettings';
import { configToRun, fallbackConfigs } from '../window/settings/providerConfig';
import { isSet, setting } from '../window/settings/settings';
import type { AgentSettings } from './offeredModels';

export const agentSettings = (): AgentSettings => ({
  automatic: setting('automatic'),
  declaredWindow: setting('agent.declaredWindow'),
});

/** Spending limits for conversations of the chat and behind gateways. */
export const conversationLimits = (): ConversationLimits => ({
  perConversation: setting('agent.maxCostPerConversation'),
  perDay: setting('agent.maxCostPerDay'),
  stops: setting('agent.atMaxCost') === 'stop',
});

/** What follows Lossless, if set. An explicitly chosen provider runs alone. */
export function whenNotEnough(): { readonly whenNotEnough?: WhenNotEnough } {
  if (isSet('agent.whenNotEnough')) return { whenNotEnough: setting('agent.whenNotEnough') };
  return isSet('provider') ? { whenNotEnough: 'nothing' } : {};
}

export function liveSettings(): LiveSettings {
  const { condensing, maxCost, profiles, threshold } = modelSettings();
  const provider = setting('provider');
  const backgroundPercent = setting('agent.backgroundPercent');
  const coldPercent = setting('agent.coldPercent');
  return {
    provider,
    ...whenNotEnough(),
    newResults: setting('agent.onArrival'),
    newResultsNoise: setting('agent.noiseOnArrival'),
    largeResultPercent: setting('agent.largeResultPercent'),
    config: configToRun(provider),
    configs: fallbackConfigs(),
    ...(backgroundPercent > 0 && { backgroundPercent }),
    ...(coldPercent > 0 && { coldPercent }),
    waitMs: setting('agent.summaryWaitSeconds') * 1_000,
    mayUseNative: condensing !== undefined && maxCost > 0,
    maxCost,
    thresholds: {
      default: threshold,
      byProfile: Object.fromEntries(profiles.map((profile) => [profile.id, chooseThreshold(profile, threshold)])),
    },
    coherenceFloor: setting('coherenceFloor'),
  };
}
