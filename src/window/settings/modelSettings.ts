import * as vscode from 'vscode';
import type { CondensationThreshold } from '../../core/condense/trigger/thresholds';
import type { WarningLimits } from '../../core/condense/metrics/metrics';
import type { ApiProfile } from '../../settings/profiles';
import { readSetting, getUserSetting } from './settings';

export interface ModelSettings {
  readonly profiles: readonly ApiProfile[];
  /**
   * The profile that writes summaries; undefined if none is chosen or the chosen one is missing.
   */
  readonly condensing: ApiProfile | undefined;
  readonly threshold: CondensationThreshold;
  /** The user's own condensing prompt; blank means the built-in one. */
  readonly prompt: string;
  /** Limit in US dollars per condensation. */
  readonly maxCost: number;
  readonly warnings: WarningLimits;
}

export function readModelSettings(): ModelSettings {
  const profiles = readSetting('profiles');
  const id = readSetting('condensingProfile');
  return {
    profiles,
    condensing: profiles.find((profile) => profile.id === id),
    threshold: readGlobalThreshold(),
    prompt: readSetting('condensingPrompt'),
    maxCost: readSetting('maxCostPerCondensation'),
    warnings: { cost: readSetting('warnings.cost'), reductionPercent: readSetting('warnings.reductionPercent') },
  };
}

/** Returns the threshold and the target for profiles that have none of their own. */
function readGlobalThreshold(): CondensationThreshold {
  const tokens = readSetting('thresholdTokens');
  return {
    percent: readSetting('threshold'),
    ...(tokens > 0 && { tokens }),
    targetPercent: readSetting('agent.targetPercent'),
  };
}

/**
 * Includes invalid entries, so that saving keeps them.
 * @throws Error if the setting is not a list, because saving a list would destroy it
 */
export function readProfileEntries(): readonly unknown[] {
  const value = getUserSetting('profiles');
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new Error(
    vscode.l10n.t(
      'The setting contextCondenser.profiles is not a list. Nothing was saved; fix it in settings.json first.',
    ),
  );
}
