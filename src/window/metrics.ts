import { join } from 'node:path';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import { isBuiltIn } from '../core/condense/types';
import { errorMessage } from '../core/errors';
import { MetricsStore } from '../storage/metrics';
import type { Services } from './services';
import { presetIdOf } from './settings/providerConfig';
import { setting } from './settings/settings';

/** The metrics of this user's condensations. */
export const metricsOf = ({ context }: Services): MetricsStore =>
  new MetricsStore(join(context.globalStorageUri.fsPath, 'metrics.jsonl'));

/**
 * Records what a condensation took, with the preset or strategy that ran. A failure is only logged: the condensation itself has
 * succeeded.
 * @param chosen the provider that was asked for.
 * @param config with which it ran; default: the settings'.
 */
export async function keepMetrics(
  services: Services,
  metrics: RunMetrics,
  chosen: string,
  config: unknown = isBuiltIn(chosen) ? setting(chosen) : undefined,
): Promise<void> {
  const preset = typeof config === 'string' ? config : chosen === 'smart' ? presetIdOf(config) : undefined;
  try {
    await metricsOf(services).add({ ...metrics, ...(preset !== undefined && { preset }) });
  } catch (error) {
    services.log.warn(`The metrics could not be saved. ${errorMessage(error)}`);
  }
}
