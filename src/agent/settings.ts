import type { ConversationLimits } from '../live/conversationSpending';
import type { LiveSettings, WhenNotEnough } from '../live/types';
import { chooseThreshold } from '../settings/profiles';
import { readModelSettings } from '../window/settings/modelSettings';
import { resolveProviderConfig, readFallbackConfigs } from '../window/settings/providerConfig';
import { isSettingConfigured, readSetting } from '../window/settings/settings';
import type { AgentSettings } from './offeredModels';

export const readAgentSettings = (): AgentSettings => ({
  automatic: readSetting('automatic'),
  declaredWindow: readSetting('agent.declaredWindow'),
});

export const readConversationLimits = (): ConversationLimits => ({
  perConversation: readSetting('agent.maxCostPerConversation'),
  perDay: readSetting('agent.maxCostPerDay'),
  stops: readSetting('agent.atMaxCost') === 'stop',
});

/**
 * If the user chose a provider explicitly, nothing follows when it misses the target, unless the
 * user chose that, too.
 */
export function readWhenNotEnoughSetting(): { readonly whenNotEnough?: WhenNotEnough } {
  if (isSettingConfigured('agent.whenNotEnough')) return { whenNotEnough: readSetting('agent.whenNotEnough') };
  return isSettingConfigured('provider') ? { whenNotEnough: 'nothing' } : {};
}

export function readLiveSettings(): LiveSettings {
  const { condensing, maxCost, profiles, threshold } = readModelSettings();
  const provider = readSetting('provider');
  const backgroundPercent = readSetting('agent.backgroundPercent');
  const coldPercent = readSetting('agent.coldPercent');
  return {
    provider,
    ...readWhenNotEnoughSetting(),
    newResults: readSetting('agent.onArrival'),
    newResultsNoise: readSetting('agent.noiseOnArrival'),
    largeResultPercent: readSetting('agent.largeResultPercent'),
    config: resolveProviderConfig(provider),
    configs: readFallbackConfigs(),
    ...(backgroundPercent > 0 && { backgroundPercent }),
    ...(coldPercent > 0 && { coldPercent }),
    waitMs: readSetting('agent.summaryWaitSeconds') * 1_000,
    mayUseNative: condensing !== undefined && maxCost > 0,
    maxCost,
    thresholds: {
      default: threshold,
      byProfile: Object.fromEntries(profiles.map((profile) => [profile.id, chooseThreshold(profile, threshold)])),
    },
    coherenceFloor: readSetting('coherenceFloor'),
  };
}
