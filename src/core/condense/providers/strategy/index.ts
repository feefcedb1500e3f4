/** A strategy runs other providers in order, each on the previous result. */
import { mayCallModel, toJsonSchema, validateConfig } from '../../config';
import { findPresetById, type Preset } from '../smart/presets';
import {
  FULL_CAPABILITIES,
  PROVIDER_DESCRIPTIONS,
  PROVIDER_NAMES,
  type CondensationProvider,
  type ValidationResult,
} from '../../types';
import { BUILT_IN_STRATEGIES } from './builtIn';
import { estimateStrategy, prepareStrategyStep, runStrategy, type StrategyStepDependencies } from './run';
import { strategySchema, type Strategy } from './strategy';

export interface StrategyDependencies {
  readonly providers: () => readonly CondensationProvider[];
  readonly presets?: () => readonly Preset[];
}

/** The configuration is a strategy or the ID of a built-in one. */
export function createStrategyProvider({
  providers,
  presets = () => [],
}: StrategyDependencies): CondensationProvider<Strategy> {
  const dependencies: StrategyStepDependencies = {
    provider: (wanted) => providers().find(({ id }) => id === wanted),
    preset: (id) => findPresetById(id, presets()),
  };
  return {
    id: 'strategy',
    name: PROVIDER_NAMES.strategy,
    description: PROVIDER_DESCRIPTIONS.strategy,
    version: '1.0.0',

    getCapabilities: () => FULL_CAPABILITIES,
    getConfigSchema: () => toJsonSchema(strategySchema),
    validateConfig: resolveStrategy,
    nameOfConfig: (config) => {
      const resolvedStrategy = resolveStrategy(config);
      return resolvedStrategy.valid ? resolvedStrategy.config.name : undefined;
    },
    // A step that cannot run calls no model.
    asksModel: ({ steps }) =>
      steps.some((step) => {
        const preparedStep = prepareStrategyStep(step, dependencies);
        return typeof preparedStep !== 'string' && mayCallModel(preparedStep.provider, preparedStep.config);
      }),

    condense: (context, strategy, options) => runStrategy(strategy, dependencies, context, options),
    estimate: (context, strategy, options) => estimateStrategy(strategy, dependencies, context, options),
  };
}

/** The default is Pipeline. */
export function resolveStrategy(config: unknown): ValidationResult<Strategy> {
  if (typeof config !== 'string') return validateConfig(strategySchema, config ?? BUILT_IN_STRATEGIES[0]);
  const builtInStrategy = BUILT_IN_STRATEGIES.find(({ id }) => id === config);
  if (builtInStrategy) return validateConfig(strategySchema, builtInStrategy);
  const knownNames = BUILT_IN_STRATEGIES.map(({ id }) => id).join(', ');
  return {
    valid: false,
    problems: [{ path: '', message: `there is no strategy "${config}"; known strategies: ${knownNames}` }],
  };
}
