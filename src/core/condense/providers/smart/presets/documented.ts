/**
 * Presets without our own measurements: Conservative, Balanced, Aggressive, Speed, Result by Result, Cost
 * and Multi-Zone. They use the condensing profile.
 */
import {
  aboveTokens,
  exceptNewest,
  exceptNewestPercent,
  truncateChars,
  createIndividualPass,
  truncateLines,
  summarize,
  suppress,
  createBatchPass,
} from './passes';
import type { Preset } from './preset';

const conservative: Preset = {
  id: 'conservative',
  name: 'Conservative',
  description: 'A model summarizes only the longest old results; everything else stays as it is.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'llm-quality', name: 'Summaries of long results', selection: exceptNewest(15) },
        { toolResults: summarize(150) },
        { toolResults: 2_000 },
      ),
    ],
  },
};

const balanced: Preset = {
  id: 'balanced',
  name: 'Balanced',
  description:
    'A model summarizes long old results; above 40,000 tokens they are also truncated, and above 30,000 the oldest messages are summarized as a whole.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'llm-selective', name: 'Summaries of long results', selection: exceptNewest(10) },
        { toolResults: summarize(120) },
        { toolResults: 1_000 },
      ),
      createIndividualPass(
        { id: 'mechanical', name: 'Truncation', selection: exceptNewest(5), execution: aboveTokens(40_000) },
        { toolParameters: truncateChars(100), toolResults: truncateLines(5) },
        { toolParameters: 500, toolResults: 500 },
      ),
      createBatchPass({
        id: 'batch-old',
        name: 'Summary of the oldest messages',
        selection: exceptNewestPercent(30),
        execution: aboveTokens(30_000),
      }),
    ],
  },
};

const aggressive: Preset = {
  id: 'aggressive',
  name: 'Aggressive',
  description: 'Removes most: old results and parameters; above 35,000 tokens a model summarizes the oldest messages.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'suppress-aggressive', name: 'Suppression', selection: exceptNewest(8) },
        { toolParameters: suppress, toolResults: suppress },
        { toolParameters: 300, toolResults: 300 },
      ),
      createIndividualPass(
        { id: 'truncate-fallback', name: 'Truncation', selection: exceptNewest(5), execution: aboveTokens(50_000) },
        { toolParameters: truncateChars(80), toolResults: truncateLines(3) },
        { toolParameters: 500, toolResults: 500 },
      ),
      createBatchPass({
        id: 'batch-aggressive',
        name: 'Summary of the oldest messages',
        selection: exceptNewestPercent(25),
        execution: aboveTokens(35_000),
      }),
    ],
  },
};

const speed: Preset = {
  id: 'speed',
  name: 'Speed',
  description: 'No model, and instant: old parameters are removed, old results keep three lines.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'speed-pass', name: 'Truncation', selection: exceptNewest(5) },
        { toolParameters: suppress, toolResults: truncateLines(3) },
      ),
    ],
  },
};

const quality: Preset = {
  id: 'quality',
  name: 'Result by Result',
  description: 'A model summarizes every old result, so that something of each remains.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'quality-pass', name: 'Summaries of results', selection: exceptNewest(10) },
        { toolResults: summarize(150) },
      ),
    ],
  },
};

const cost: Preset = {
  id: 'cost',
  name: 'Cost',
  description:
    'Free first: old parameters are removed and old results keep five lines; one summary if that is not enough.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'mechanical', name: 'Truncation', selection: exceptNewest(5) },
        { toolParameters: suppress, toolResults: truncateLines(5) },
      ),
      createBatchPass(
        {
          id: 'fallback-llm',
          name: 'Summary of the oldest messages',
          selection: exceptNewestPercent(30),
          execution: aboveTokens(60_000),
        },
        { keepFirst: 1, keepLast: 5 },
      ),
    ],
  },
};

const multiZone: Preset = {
  id: 'multi-zone',
  name: 'Multi-Zone',
  description: 'No model: the older a message, the less is kept of its parameters and results.',
  config: {
    passes: [
      createIndividualPass(
        { id: 'zone-ancient', name: 'Ancient: suppression', selection: exceptNewest(50) },
        { toolParameters: suppress, toolResults: suppress },
      ),
      createIndividualPass(
        { id: 'zone-old', name: 'Old: truncation', selection: exceptNewest(30) },
        { toolParameters: truncateChars(120), toolResults: truncateLines(6) },
      ),
      createIndividualPass(
        { id: 'zone-medium', name: 'Medium: light truncation', selection: exceptNewest(10) },
        { toolResults: truncateLines(15) },
      ),
    ],
  },
};

export const DOCUMENTED_PRESETS = [conservative, balanced, aggressive, speed, quality, cost, multiZone] as const;
