import * as vscode from 'vscode';
import type { Measure } from '../core/condense/metrics/metrics';
import { errorMessage } from '../core/errors';
import { metricsOf } from '../commands/native';
import type { Services } from './services';

/**
 * Keeps what a condensation took, with the preset or strategy that the settings name. What can't be kept is logged: it
 * costs nobody the condensation.
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
