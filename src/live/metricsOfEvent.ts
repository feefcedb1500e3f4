import { runMetrics, type RunMetrics } from '../core/condense/metrics/metrics';
import type { LiveEvent } from './events';

/**
 * The metrics of a condensation of a live conversation.
 * @param chosen the provider that the settings name.
 * @returns undefined where none was made, none failed, and none was given up that had called a model: one that only had nothing to do
 *   is no run.
 */
export function metricsOfEvent(event: LiveEvent, chosen: string, now: Date): RunMetrics | undefined {
  if (event.kind === 'not-condensed') {
    const { outcome, reason: trigger } = event;
    const wasPaid = outcome.kind === 'cancelled' && outcome.calls !== undefined;
    return outcome.kind === 'failed' || outcome.kind === 'refused' || wasPaid
      ? runMetrics(outcome, chosen, now, { trigger })
      : undefined;
  }
  if (event.kind !== 'condensed') return undefined;
  const { outcome, decision, condensation } = event;
  const { reason: trigger, saving, tokensBefore, contextWindow } = decision;
  return runMetrics(outcome, chosen, now, {
    condensation,
    trigger,
    ...(contextWindow > 0 && { windowPercent: (100 * tokensBefore) / contextWindow }),
    ...(saving && { savedPerRequest: saving.perRequest }),
  });
}
