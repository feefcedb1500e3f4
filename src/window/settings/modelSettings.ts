import * as vscode from 'vscode';
import { DEFAULT_WARNING_LIMITS, type WarningLimits } from '../../core/condense/metrics/metrics';
import { promptProblems } from '../../core/condense/summary/prompt';
import {
  DEFAULT_THRESHOLD_PERCENT,
  MAX_CONDENSE_THRESHOLD,
  MIN_CONDENSE_THRESHOLD,
} from '../../core/condense/trigger/thresholds';
import type { ConfigProblem } from '../../core/condense/types';
import { parseProfiles, type ApiProfile } from '../../settings/profiles';

/** The settings about models. */
export interface ModelSettings {
  readonly profiles: readonly ApiProfile[];
  /** The profile that summarizes; undefined where none is chosen, or the chosen one isn't there. */
  readonly condensing: ApiProfile | undefined;
  /** Percent of the window. */
  readonly threshold: number;
  /** The user's own condensing prompt; blank: the built-in. */
  readonly prompt: string;
  /** US dollars that one condensation may cost. */
  readonly maxCost: number;
  readonly warnings: WarningLimits;
  /** What is wrong with the settings, by name. */
  readonly problems: readonly ConfigProblem[];
}

const DEFAULT_MAX_COST = 0.5;

const numberIn = (value: unknown, least: number, most: number, standard: number): number =>
  typeof value === 'number' && value >= least && value <= most ? value : standard;

/** The settings as they are now. What is wrong counts as its default and is named. */
export function modelSettings(): ModelSettings {
  const settings = vscode.workspace.getConfiguration('contextCondenser');
  const { profiles, problems } = parseProfiles(settings.get<unknown>('profiles'));
  const id = settings.get<unknown>('condensingProfile');
  const condensing = profiles.find((profile) => profile.id === id);
  const missing =
    typeof id === 'string' && id !== '' && !condensing
      ? [{ path: 'condensingProfile', message: `there is no profile "${id}"` }]
      : [];
  const written = settings.get<unknown>('condensingPrompt');
  const prompt = typeof written === 'string' ? written : '';
  const wrongPrompt = promptProblems(prompt, 'condensingPrompt');
  return {
    profiles,
    condensing,
    threshold: numberIn(
      settings.get('threshold'),
      MIN_CONDENSE_THRESHOLD,
      MAX_CONDENSE_THRESHOLD,
      DEFAULT_THRESHOLD_PERCENT,
    ),
    prompt: wrongPrompt.length === 0 ? prompt : '',
    maxCost: numberIn(settings.get('maxCostPerCondensation'), 0, 1_000, DEFAULT_MAX_COST),
    warnings: {
      cost: numberIn(settings.get('warnings.cost'), 0, 1_000, DEFAULT_WARNING_LIMITS.cost),
      reductionPercent: numberIn(
        settings.get('warnings.reductionPercent'),
        0,
        100,
        DEFAULT_WARNING_LIMITS.reductionPercent,
      ),
    },
    problems: [...problems, ...missing, ...wrongPrompt],
  };
}

/**
 * The entries of the user's profiles as they stand, the wrong ones too: what isn't changed is saved as it is.
 * @throws Error where the setting holds something else, which saving a list would destroy.
 */
export function profileEntries(): readonly unknown[] {
  const value: unknown = vscode.workspace.getConfiguration('contextCondenser').inspect('profiles')?.globalValue;
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new Error(
    vscode.l10n.t(
      'The setting contextCondenser.profiles is no list. Nothing was saved; mend it in settings.json first.',
    ),
  );
}

/** Writes a setting for this user; profiles name endpoints, so no workspace may set them. */
export const saveUserSetting = (name: string, value: unknown): Thenable<void> =>
  vscode.workspace.getConfiguration('contextCondenser').update(name, value, vscode.ConfigurationTarget.Global);
