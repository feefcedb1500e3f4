import * as vscode from 'vscode';
import { summarizeMetrics, type ValueDistribution } from '../core/condense/metrics/metrics';
import { formatCost, formatDurationMs } from '../core/format';
import { formatPercent } from '../core/percent';
import { clearHistory } from './history';
import { openMetricsStore } from '../window/metrics';
import type { Services } from '../window/services';
import { showInformationMessage } from '../window/notifications';

export async function showMetrics(services: Services): Promise<void> {
  const summary = summarizeMetrics(await openMetricsStore(services).readRuns());
  const formatDistribution = (
    name: string,
    values: ValueDistribution | undefined,
    format: (value: number) => string,
  ): string[] =>
    values
      ? [vscode.l10n.t('{0}: {1} on average, 95% at most {2}.', name, format(values.mean), format(values.p95))]
      : [];
  const formatWithOneDecimal = (value: number): string => formatPercent(value, 1);
  const lines = [
    vscode.l10n.t(
      'Condensations: {0}. Failures: {1}. Fallbacks: {2}.',
      summary.condensations,
      summary.failures,
      summary.fallbacks,
    ),
    ...formatDistribution(vscode.l10n.t('Time'), summary.latencyMs, formatDurationMs),
    ...formatDistribution(vscode.l10n.t('Tokens per second'), summary.tokensPerSecond, (value) => value.toFixed(0)),
    ...formatDistribution(vscode.l10n.t('Cost'), summary.cost, formatCost),
    ...formatDistribution(vscode.l10n.t('Reduction'), summary.reductionPercent, formatWithOneDecimal),
    ...formatDistribution(vscode.l10n.t('Estimation error'), summary.estimateErrorPercent, formatWithOneDecimal),
    ...Object.entries(summary.byProfile).map(([profile, { calls, cost }]) =>
      calls === 1
        ? vscode.l10n.t('{0}: 1 call, {1}.', profile, formatCost(cost))
        : vscode.l10n.t('{0}: {1} calls, {2}.', profile, calls, formatCost(cost)),
    ),
  ];
  services.log.info(lines.join('\n'));
  const clearLabel = vscode.l10n.t('Clear…');
  if ((await showInformationMessage(lines.join(' '), clearLabel)) === clearLabel)
    await clearHistory(services, 'metrics');
}
