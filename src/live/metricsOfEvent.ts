import { createRunMetrics, type RunMetrics } from '../core/condense/metrics/metrics';
import type { LiveEvent } from './events';

/**
 * @param providerId the provider that the settings select
 * @returns undefined unless a condensation was made, failed, or was abandoned after calling a model
 */
export function createMetricsOfEvent(event: LiveEvent, providerId: string, now: Date): RunMetrics | undefined {
  if (event.kind === 'not-condensed') {
    const { outcome, reason: trigger } = event;
    const wasPaid = outcome.kind === 'cancelled' && outcome.calls !== undefined;
    return outcome.kind === 'failed' || outcome.kind === 'refused' || wasPaid
      ? createRunMetrics(outcome, providerId, now, { trigger })
      : undefined;
  }
  if (event.kind !== 'condensed') return undefined;
  const { outcome, decision, condensation } = event;
  const { reason: trigger, saving, tokensBefore, contextWindow } = decision;
  return createRunMetrics(outcome, providerId, now, {
    condensation,
    trigger,
    ...(contextWindow > 0 && { windowPercent: (100 * tokensBefore) / contextWindow }),
    ...(saving && { savedPerRequest: saving.perRequest }),
  });
}
