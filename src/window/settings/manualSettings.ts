import * as vscode from 'vscode';
import { coherenceFloorIn, type CoherenceFloor } from '../../core/condense/report/coherence/coherence';
import type { HistoryScope } from '../../conversations/types';

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

/** The settings as they are now; what is out of its bounds counts as the nearest that isn't. */
export function manualSettings(): ManualSettings {
  const settings = vscode.workspace.getConfiguration('contextCondenser');
  const percent = settings.get<unknown>('manual.targetPercent');
  return {
    provider: providerIn(settings.get<unknown>('provider')),
    targetPercent: typeof percent === 'number' && Number.isFinite(percent) ? Math.min(95, Math.max(5, percent)) : 50,
    history: settings.get<string>('history') === 'all' ? 'all' : 'active',
    coherenceFloor: coherenceFloorIn(settings.get<unknown>('coherenceFloor')),
  };
}

const providerIn = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : 'lossless');
