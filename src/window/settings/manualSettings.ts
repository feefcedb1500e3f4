import type { HistoryScope } from '../../conversations/types';
import type { CoherenceFloor } from '../../core/condense/coherence/coherence';
import { setting } from './settings';

/** The settings that condensing by hand takes. */
export interface ManualSettings {
  /** Id of a provider, which another extension may bring. */
  readonly provider: string;
  readonly targetPercent: number;
  readonly history: HistoryScope;
  /** Percent of each kind of facts that must stand in the view. */
  readonly coherenceFloor: CoherenceFloor;
  /** Indexes of the messages that no edit is to touch: chosen for one condensation, and no setting. */
  readonly excluded?: readonly number[];
}

export const manualSettings = (): ManualSettings => ({
  provider: setting('provider'),
  targetPercent: setting('manual.targetPercent'),
  history: setting('history'),
  coherenceFloor: setting('coherenceFloor'),
});
