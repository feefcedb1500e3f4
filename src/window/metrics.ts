import { join } from 'node:path';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import { isBuiltIn } from '../core/condense/types';
import { errorMessage } from '../core/errors';
import { MetricsStore } from '../storage/metrics';
import type { Services } from './services';
import { setting } from './settings/settings';

/** The metrics of this user's condensations. */
export const metricsOf = ({ context }: Services): MetricsStore =>
  new MetricsStore(join(context.globalStorageUri.fsPath, 'metrics.jsonl'));

/**
 * Records what a condensation took, with the preset or strategy that the settings name. A failure is only logged: the
 * condensation itself has succeeded.
 * @param chosen the provider that was asked for.
 */
export async function keepMetrics(services: Services, metrics: RunMetrics, chosen: string): Promise<void> {
  const named = isBuiltIn(chosen) ? setting(chosen) : undefined;
  try {
    await metricsOf(services).add({ ...metrics, ...(typeof named === 'string' && { preset: named }) });
  } catch (error) {
    services.log.warn(`The metrics could not be saved. ${errorMessage(error)}`);
  }
}
