/** Runs a strategy: other providers in order, each on the previous result. */
import { asksModel, toJsonSchema, validate } from '../../config';
import { findPreset, type Preset } from '../smart/presets';
import { EVERYTHING, PROVIDER_NAMES, type CondensationProvider, type ValidationResult } from '../../types';
import { BUILT_IN_STRATEGIES } from './builtIn';
import { estimateStrategy, readyStep, runStrategy, type StepParts } from './run';
import { strategySchema, type Strategy } from './strategy';

export interface StrategyParts {
  /** Providers that steps may name, including those of other extensions. */
  readonly providers: () => readonly CondensationProvider[];
  /** The user's own presets. Default none. */
  readonly presets?: () => readonly Preset[];
}

/** The configuration is a strategy or the ID of a built-in one. */
export function strategyProvider({ providers, presets = () => [] }: StrategyParts): CondensationProvider<Strategy> {
  const parts: StepParts = {
    provider: (wanted) => providers().find(({ id }) => id === wanted),
    preset: (id) => findPreset(id, presets()),
  };
  return {
    id: 'strategy',
    name: PROVIDER_NAMES.strategy,
    description: 'Runs several providers or presets in order, each if its condition is met, until the target is met.',
    version: '1.0.0',

    getCapabilities: () => EVERYTHING,
    getConfigSchema: () => toJsonSchema(strategySchema),
    validateConfig: chooseStrategy,
    nameOfConfig: (config) => {
      const chosen = chooseStrategy(config);
      return chosen.valid ? chosen.config.name : undefined;
    },
    // A step that can't run calls no model.
    asksModel: ({ steps }) =>
      steps.some((step) => {
        const ready = readyStep(step, parts);
        return typeof ready !== 'string' && asksModel(ready.provider, ready.config);
      }),

    condense: (context, strategy, options) => runStrategy(strategy, parts, context, options),
    estimate: (context, strategy, options) => estimateStrategy(strategy, parts, context, options),
  };
}

/** The default is Pipeline. */
export function chooseStrategy(config: unknown): ValidationResult<Strategy> {
  if (typeof config !== 'string') return validate(strategySchema, config ?? BUILT_IN_STRATEGIES[0]);
  const found = BUILT_IN_STRATEGIES.find(({ id }) => id === config);
  if (found) return validate(strategySchema, found);
  const known = BUILT_IN_STRATEGIES.map(({ id }) => id).join(', ');
  return {
    valid: false,
    problems: [{ path: '', message: `there is no strategy "${config}"; known strategies: ${known}` }],
  };
}
