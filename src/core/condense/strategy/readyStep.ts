import type { Preset } from '../presets';
import type { CondensationProvider } from '../types';
import type { StrategyStep } from './strategy';

/** What steps may name. */
export interface StepParts {
  /** By id. */
  readonly providers: ReadonlyMap<string, CondensationProvider>;
  readonly preset: (id: string) => Preset | undefined;
}

/** A step's provider with its configuration, checked. */
export interface ReadyStep {
  readonly name: string;
  readonly provider: CondensationProvider;
  readonly config: unknown;
}

/** What a step runs; in words what is wrong where it can't. */
export function readyStep(step: StrategyStep, { providers, preset: presetOf }: StepParts): ReadyStep | string {
  const id = step.preset === undefined ? (step.provider ?? '') : 'smart';
  const provider = providers.get(id);
  if (!provider) {
    return id === 'native'
      ? 'Native needs a model, and none is called here: leave this step out, or condense in VS Code'
      : `there is no provider "${id}"`;
  }
  const preset = step.preset === undefined ? undefined : presetOf(step.preset);
  if (step.preset !== undefined && !preset) return `there is no preset "${step.preset}"`;
  const checked = provider.validateConfig(preset ? preset.config : step.config);
  if (!checked.valid) {
    return checked.problems.map(({ path, message }) => `${path || 'configuration'}: ${message}`).join('; ');
  }
  return { name: preset?.name ?? provider.name, provider, config: checked.config };
}
