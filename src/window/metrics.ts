import { join } from 'node:path';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import { isBuiltInProvider } from '../core/condense/types';
import { getErrorMessage } from '../core/errors';
import { MetricsStore } from '../storage/metrics';
import type { Services } from './services';
import { getPresetId } from './settings/providerConfig';
import { readSetting } from './settings/settings';

export const openMetricsStore = ({ context }: Services): MetricsStore =>
  new MetricsStore(join(context.globalStorageUri.fsPath, 'metrics.jsonl'));

/**
 * A failure is only logged, because the condensation succeeded.
 * @param config default: from the settings
 */
export async function recordMetrics(
  services: Services,
  metrics: RunMetrics,
  providerId: string,
  config: unknown = isBuiltInProvider(providerId) ? readSetting(providerId) : undefined,
): Promise<void> {
  const preset = typeof config === 'string' ? config : providerId === 'smart' ? getPresetId(config) : undefined;
  try {
    await openMetricsStore(services).addRun({ ...metrics, ...(preset !== undefined && { preset }) });
  } catch (error) {
    services.log.warn(`The metrics could not be saved. ${getErrorMessage(error)}`);
  }
}
