import type { HistoryScope } from '../../conversations/types';
import type { MinimumCoherence } from '../../core/condense/coherence/coherence';
import { readSetting } from './settings';

export interface ManualSettings {
  readonly provider: string;
  readonly targetPercent: number;
  readonly history: HistoryScope;
  /** Percentage of the facts of each kind that the view must contain. */
  readonly coherenceFloor: MinimumCoherence;
  /** Indexes of messages that no edit may touch in this condensation. */
  readonly excluded?: readonly number[];
}

export const readManualSettings = (): ManualSettings => ({
  provider: readSetting('provider'),
  targetPercent: readSetting('manual.targetPercent'),
  history: readSetting('history'),
  coherenceFloor: readSetting('coherenceFloor'),
});
