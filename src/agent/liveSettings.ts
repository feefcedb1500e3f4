import { modelSettings } from '../window/settings/modelSettings';
import { configToRun } from '../window/settings/providerConfig';
import { manualSettings } from '../window/settings/manualSettings';
import type { LiveSettings } from '../live/types';
import { agentSettings } from '../window/settings/agentSettings';

/** What the user has set, as it is now. */
export function liveSettings(): LiveSettings {
  const { provider, coherenceFloor } = manualSettings();
  const { condensing, maxCost } = modelSettings();
  const { backgroundPercent, coldPercent, summaryWaitSeconds } = agentSettings();
  return {
    provider,
    config: configToRun(provider),
    configs: { native: configToRun('native'), truncation: configToRun('truncation') },
    ...(backgroundPercent > 0 && { backgroundPercent }),
    ...(coldPercent > 0 && { coldPercent }),
    waitMs: summaryWaitSeconds * 1_000,
    mayUseNative: condensing !== undefined && maxCost > 0,
    maxCost,
    coherenceFloor,
  };
}
