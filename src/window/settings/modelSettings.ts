import * as vscode from 'vscode';
import type { Threshold } from '../../core/condense/trigger/thresholds';
import type { WarningLimits } from '../../core/condense/metrics/metrics';
import type { ApiProfile } from '../../settings/profiles';
import { setting, userValueOf } from './settings';

/** The settings about models. */
export interface ModelSettings {
  readonly profiles: readonly ApiProfile[];
  /** The profile that summarizes; undefined where none is chosen, or the chosen one isn't there. */
  readonly condensing: ApiProfile | undefined;
  /** The values used where a profile has none of its own. */
  readonly threshold: Threshold;
  /** The user's own condensing prompt; blank: the built-in. */
  readonly prompt: string;
  /** US dollars that one condensation may cost. */
  readonly maxCost: number;
  readonly warnings: WarningLimits;
}

export function modelSettings(): ModelSettings {
  const profiles = setting('profiles');
  const id = setting('condensingProfile');
  return {
    profiles,
    condensing: profiles.find((profile) => profile.id === id),
    threshold: globalThreshold(),
    prompt: setting('condensingPrompt'),
    maxCost: setting('maxCostPerCondensation'),
    warnings: { cost: setting('warnings.cost'), reductionPercent: setting('warnings.reductionPercent') },
  };
}

/** When conversations are condensed, and how far, where a profile doesn't say it. */
function globalThreshold(): Threshold {
  const tokens = setting('thresholdTokens');
  return {
    percent: setting('threshold'),
    ...(tokens > 0 && { tokens }),
    targetPercent: setting('agent.targetPercent'),
  };
}

/**
 * The entries of the user's profiles as they stand, the wrong ones too: what isn't changed is saved as it is.
 * @throws Error where the setting holds something else, which saving a list would destroy.
 */
export function profileEntries(): readonly unknown[] {
  const value = userValueOf('profiles');
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new Error(
    vscode.l10n.t(
      'The setting contextCondenser.profiles is not a list. Nothing was saved; fix it in settings.json first.',
    ),
  );
}
