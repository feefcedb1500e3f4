/** The settings about agent mode, as they are now. */
import type { LiveSettings } from '../live/types';
import { modelSettings } from '../window/settings/modelSettings';
import { configToRun, fallbackConfigs } from '../window/settings/providerConfig';
import { setting } from '../window/settings/settings';
import type { AgentSettings } from './offeredModels';

export const agentSettings = (): AgentSettings => ({
  automatic: setting('automatic'),
  declaredWindow: setting('agent.declaredWindow'),
});

/** The settings that live conversations take. */
export function liveSettings(): LiveSettings {
  const { condensing, maxCost } = modelSettings();
  const provider = setting('provider');
  const backgroundPercent = setting('agent.backgroundPercent');
  const coldPercent = setting('agent.coldPercent');
  return {
    provider,
    onArrival: setting('agent.onArrival'),
    largeResultPercent: setting('agent.largeResultPercent'),
    config: configToRun(provider),
    configs: fallbackConfigs(),
    ...(backgroundPercent > 0 && { backgroundPercent }),
    ...(coldPercent > 0 && { coldPercent }),
    waitMs: setting('agent.summaryWaitSeconds') * 1_000,
    mayUseNative: condensing !== undefined && maxCost > 0,
    maxCost,
    coherenceFloor: setting('coherenceFloor'),
  };
}
