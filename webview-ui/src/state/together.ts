/** One click changes several settings, all or none, and one undo restores them. */
import type { PanelState, SettingScope } from '../../../src/panel/protocol';
import type { SettingHandle } from './useSetting';
import { isEqual } from '../../../src/core/isEqual';

/** The value that a click wrote into a scope; undefined if it removed the scope's own value. */
export interface WrittenSetting {
  readonly name: string;
  readonly scope: SettingScope;
  readonly value: unknown;
}

export interface SavedSettings {
  readonly written: readonly WrittenSetting[];
  /**
   * Restores all previous values or none.
   * @returns why it could not restore them
   */
  readonly undo: () => Promise<readonly string[]>;
}

export interface SaveTogetherResult {
  readonly problems: readonly string[];
  /** Absent if there are problems. */
  readonly saved?: SavedSettings;
}

interface SettingStep {
  readonly setting: SettingHandle;
  readonly value: unknown;
  readonly valueBefore: unknown;
}

/** Saves all values, or none if one is refused. */
export async function saveSettingsTogether(
  changes: readonly (readonly [SettingHandle, unknown])[],
): Promise<SaveTogetherResult> {
  const steps = changes.map(([setting, value]) => ({
    setting,
    value,
    valueBefore: setting.isSet ? setting.value : undefined,
  }));
  const problems = await saveAllOrNothing(steps);
  if (problems.length > 0) return { problems };
  const undoSteps = steps.map(({ setting, value, valueBefore }) => ({
    setting,
    value: valueBefore,
    valueBefore: value,
  }));
  return {
    problems,
    saved: {
      written: steps.map(({ setting: { id, scope }, value }) => ({ name: id, scope, value })),
      undo: () => saveAllOrNothing(undoSteps),
    },
  };
}

async function saveAllOrNothing(steps: readonly SettingStep[]): Promise<readonly string[]> {
  // Check all values before writing any, because a value that was invalid before could not be
  // restored.
  const checkProblems = (await Promise.all(steps.map(({ setting, value }) => setting.check(value)))).flat();
  if (checkProblems.length > 0) return [...new Set(checkProblems)];
  for (const [index, { setting, value }] of steps.entries()) {
    const problems = [...(await setting.save(value))];
    if (problems.length === 0) continue;
    for (const savedStep of steps.slice(0, index).toReversed())
      problems.push(...(await savedStep.setting.save(savedStep.valueBefore)));
    return [...new Set(problems)];
  }
  return [];
}

/**
 * True if the settings still contain what was written; otherwise an undo would overwrite newer
 * values.
 */
export const areSettingsUnchanged = ({ settings }: PanelState, written: readonly WrittenSetting[]): boolean =>
  written.every(({ name, scope, value }) => isEqual(settings[name]?.[scope], value));
