import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Measure } from '../core/condense/metrics/metrics';
import { errorMessage } from '../core/errors';
import { MetricsStore } from '../storage/metrics';
import type { Services } from './services';

/** What this user's condensations took and saved. */
export const metricsOf = ({ context }: Services): MetricsStore =>
  new MetricsStore(join(context.globalStorageUri.fsPath, 'metrics.jsonl'));

/**
 * Records what a condensation took, with the preset or strategy that the settings name. A failure is only logged: the
 * condensation itself has succeeded.
 * @param chosen the provider that was asked for.
 */
export async function keepMeasure(services: Services, measure: Measure, chosen: string): Promise<void> {
  const named = vscode.workspace.getConfiguration('contextCondenser').get<unknown>(chosen);
  try {
    await metricsOf(services).add({ ...measure, ...(typeof named === 'string' && { preset: named }) });
  } catch (error) {
    services.log.warn(`The measures could not be kept. ${errorMessage(error)}`);
  }
}
