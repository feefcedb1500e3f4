/** Presets without our own measurements. They use the condensing profile. */
import {
  createTokenThresholdExecution,
  selectExceptNewest,
  selectExceptNewestPercent,
  makeTruncateCharsOperation,
  createIndividualPass,
  makeTruncateLinesOperation,
  makeSummarizeOperation,
  suppressOperation,
  createBatchPass,
} from './passes';
import type { Preset } from './preset';

const conservativePreset: Preset = {
  id: 'conservative',
  name: 'Conservative',
  description: 'A model summarizes only the longest old results; everything else stays as it is.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'llm-quality', name: 'Summaries of long results', selection: selectExceptNewest(15) },
        { toolResults: makeSummarizeOperation(150) },
        { toolResults: 2_000 },
      ),
    ],
  },
};

const balancedPreset: Preset = {
  id: 'balanced',
  name: 'Balanced',
  description:
    'A model summarizes long old results; above 40,000 tokens they are also truncated, and above 30,000 the oldest messages are summarized as a whole.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'llm-selective', name: 'Summaries of long results', selection: selectExceptNewest(10) },
        { toolResults: makeSummarizeOperation(120) },
        { toolResults: 1_000 },
      ),
      createIndividualPass(
        {
          id: 'mechanical',
          name: 'Truncation',
          selection: selectExceptNewest(5),
          execution: createTokenThresholdExecution(40_000),
        },
        { toolParameters: makeTruncateCharsOperation(100), toolResults: makeTruncateLinesOperation(5) },
        { toolParameters: 500, toolResults: 500 },
      ),
      createBatchPass({
        id: 'batch-old',
        name: 'Summary of the oldest messages',
        selection: selectExceptNewestPercent(30),
        execution: createTokenThresholdExecution(30_000),
      }),
    ],
  },
};

const aggressivePreset: Preset = {
  id: 'aggressive',
  name: 'Aggressive',
  description: 'Removes most: old results and parameters; above 35,000 tokens a model summarizes the oldest messages.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'suppress-aggressive', name: 'Suppression', selection: selectExceptNewest(8) },
        { toolParameters: suppressOperation, toolResults: suppressOperation },
        { toolParameters: 300, toolResults: 300 },
      ),
      createIndividualPass(
        {
          id: 'truncate-fallback',
          name: 'Truncation',
          selection: selectExceptNewest(5),
          execution: createTokenThresholdExecution(50_000),
        },
        { toolParameters: makeTruncateCharsOperation(80), toolResults: makeTruncateLinesOperation(3) },
        { toolParameters: 500, toolResults: 500 },
      ),
      createBatchPass({
        id: 'batch-aggressive',
        name: 'Summary of the oldest messages',
        selection: selectExceptNewestPercent(25),
        execution: createTokenThresholdExecution(35_000),
      }),
    ],
  },
};

const speedPreset: Preset = {
  id: 'speed',
  name: 'Speed',
  description: 'No model, and instant: old parameters are removed, old results keep three lines.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'speed-pass', name: 'Truncation', selection: selectExceptNewest(5) },
        { toolParameters: suppressOperation, toolResults: makeTruncateLinesOperation(3) },
      ),
    ],
  },
};

const qualityPreset: Preset = {
  id: 'quality',
  name: 'Result by Result',
  description: 'A model summarizes every old result, so that something of each remains.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'quality-pass', name: 'Summaries of results', selection: selectExceptNewest(10) },
        { toolResults: makeSummarizeOperation(150) },
      ),
    ],
  },
};

const costPreset: Preset = {
  id: 'cost',
  name: 'Cost',
  description:
    'Free first: old parameters are removed and old results keep five lines; one summary if that is not enough.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'mechanical', name: 'Truncation', selection: selectExceptNewest(5) },
        { toolParameters: suppressOperation, toolResults: makeTruncateLinesOperation(5) },
      ),
      createBatchPass(
        {
          id: 'fallback-llm',
          name: 'Summary of the oldest messages',
          selection: selectExceptNewestPercent(30),
          execution: createTokenThresholdExecution(60_000),
        },
        { keepFirst: 1, keepLast: 5 },
      ),
    ],
  },
};

const multiZonePreset: Preset = {
  id: 'multi-zone',
  name: 'Multi-Zone',
  description: 'No model: the older a message, the less is kept of its parameters and results.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'zone-ancient', name: 'Ancient: suppression', selection: selectExceptNewest(50) },
        { toolParameters: suppressOperation, toolResults: suppressOperation },
      ),
      createIndividualPass(
        { id: 'zone-old', name: 'Old: truncation', selection: selectExceptNewest(30) },
        { toolParameters: makeTruncateCharsOperation(120), toolResults: makeTruncateLinesOperation(6) },
      ),
      createIndividualPass(
        { id: 'zone-medium', name: 'Medium: light truncation', selection: selectExceptNewest(10) },
        { toolResults: makeTruncateLinesOperation(15) },
      ),
    ],
  },
};

export const DOCUMENTED_PRESETS = [
  conservativePreset,
  balancedPreset,
  aggressivePreset,
  speedPreset,
  qualityPreset,
  costPreset,
  multiZonePreset,
] as const;
