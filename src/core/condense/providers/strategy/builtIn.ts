import type { StrategyInput } from './strategy';

const pipelineStrategy: StrategyInput = {
  id: 'pipeline',
  name: 'Pipeline',
  description: 'Lossless first, then Truncation, then a summary: each only while too much remains.',
  steps: [{ provider: 'lossless' }, { provider: 'truncation' }, { provider: 'native' }],
};

const adaptiveThreshold: StrategyInput = {
  id: 'adaptive-threshold',
  name: 'Adaptive Threshold',
  description: 'One provider: the more has to be removed, the stronger it is.',
  steps: [
    { provider: 'lossless', when: { not: { overTarget: 1.2 } }, ends: true },
    { provider: 'truncation', when: { not: { overTarget: 2 } }, ends: true },
    { provider: 'native', when: { not: { overTarget: 3 } }, ends: true },
    { preset: 'aggressive', when: { overTarget: 1 }, ends: true },
  ],
};

const costAware: StrategyInput = {
  id: 'cost-aware',
  name: 'Cost-Aware',
  description: 'A summary if your cost limit allows it, otherwise summaries of single results, otherwise what is free.',
  steps: [
    { provider: 'native', affordable: true, ends: true },
    { preset: 'balanced', affordable: true, ends: true },
    { provider: 'lossless' },
    { provider: 'truncation' },
  ],
};

const qualityFirst: StrategyInput = {
  id: 'quality-first',
  name: 'Quality-First with Fallback',
  description:
    'Summaries of single results, then one of the whole; old results are removed without a summary only if those fail.',
  steps: [
    { preset: 'conservative' },
    { provider: 'native' },
    {
      provider: 'truncation',
      config: { toolResults: { mode: 'suppress' }, toolParameters: { mode: 'suppress' } },
      after: 'failure',
    },
  ],
};

const progressiveEnhancement: StrategyInput = {
  id: 'progressive-enhancement',
  name: 'Progressive Enhancement',
  description: 'Free steps first; a model only while too much remains and your cost limit allows it.',
  steps: [
    { provider: 'lossless' },
    { provider: 'truncation' },
    { preset: 'cost', when: { budgetLeft: 0.01 } },
    { provider: 'native', when: { budgetLeft: 0.05 } },
  ],
};

export const BUILT_IN_STRATEGIES: readonly StrategyInput[] = [
  pipelineStrategy,
  adaptiveThreshold,
  costAware,
  qualityFirst,
  progressiveEnhancement,
];
