import * as vscode from 'vscode';
import { summarizeMeasures, type Distribution } from '../core/condense/metrics/metrics';
import { formatCost, formatTime } from '../core/condense/report/report';
import { metricsOf } from '../window/metrics';
import type { Services } from '../window/services';

/** "Show Measures": what condensations with models took so far. They are kept on this machine alone, and can be cleared. */
export async function showMeasures(services: Services): Promise<void> {
  const store = metricsOf(services);
  const summary = summarizeMeasures(await store.read());
  const told = (name: string, values: Distribution | undefined, format: (value: number) => string): string[] =>
    values
      ? [
          vscode.l10n.t(
            '{0}: {1} on average, {2} at the 95th percentile.',
            name,
            format(values.mean),
            format(values.p95),
          ),
        ]
      : [];
  const percent = (value: number): string => `${value.toFixed(1)} %`;
  const lines = [
    vscode.l10n.t(
      '{0} condensations, {1} failures, {2} fallbacks.',
      summary.condensations,
      summary.failures,
      summary.fallbacks,
    ),
    ...told(vscode.l10n.t('Time'), summary.latencyMs, formatTime),
    ...told(vscode.l10n.t('Tokens per second'), summary.tokensPerSecond, (value) => value.toFixed(0)),
    ...told(vscode.l10n.t('Reduction'), summary.reductionPercent, percent),
    ...told(vscode.l10n.t('Error of the estimate'), summary.estimateErrorPercent, percent),
    ...Object.entries(summary.byProfile).map(([profile, { calls, cost }]) =>
      vscode.l10n.t('{0}: {1} calls, {2}.', profile, calls, formatCost(cost)),
    ),
  ];
  services.log.info(lines.join('\n'));
  const clear = vscode.l10n.t('Clear');
  if ((await vscode.window.showInformationMessage(lines.join(' '), clear)) === clear) await store.clear();
}
