/**
 * Presets without our own measurements: Conservative, Balanced, Aggressive, Speed, Quality, Cost
 * and Multi-Zone. They use the condensing profile.
 */
import {
  above,
  butNewest,
  butNewestPercent,
  chars,
  individually,
  lines,
  summarize,
  suppress,
  together,
} from './passes';
import type { Preset } from './preset';

const conservative: Preset = {
  id: 'conservative',
  name: 'Conservative',
  description: 'Quality first: a model summarizes long old results; everything else stays as it is.',
  config: {
    passes: [
      individually(
        { id: 'llm-quality', name: 'Summaries of long results', selection: butNewest(15) },
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
      individually(
        { id: 'llm-selective', name: 'Summaries of long results', selection: butNewest(10) },
        { toolResults: summarize(120) },
        { toolResults: 1_000 },
      ),
      individually(
        { id: 'mechanical', name: 'Truncation', selection: butNewest(5), execution: above(40_000) },
        { toolParameters: chars(100), toolResults: lines(5) },
        { toolParameters: 500, toolResults: 500 },
      ),
      together({
        id: 'batch-old',
        name: 'Summary of the oldest messages',
        selection: butNewestPercent(30),
        execution: above(30_000),
      }),
    ],
  },
};

const aggressive: Preset = {
  id: 'aggressive',
  name: 'Aggressive',
  description:
    'Most tokens for the least cost: old results and parameters are removed; above 35,000 tokens the oldest messages are summarized.',
  config: {
    passes: [
      individually(
        { id: 'suppress-aggressive', name: 'Suppression', selection: butNewest(8) },
        { toolParameters: suppress, toolResults: suppress },
        { toolParameters: 300, toolResults: 300 },
      ),
      individually(
        { id: 'truncate-fallback', name: 'Truncation', selection: butNewest(5), execution: above(50_000) },
        { toolParameters: chars(80), toolResults: lines(3) },
        { toolParameters: 500, toolResults: 500 },
      ),
      together({
        id: 'batch-aggressive',
        name: 'Summary of the oldest messages',
        selection: butNewestPercent(25),
        execution: above(35_000),
      }),
    ],
  },
};

const speed: Preset = {
  id: 'speed',
  name: 'Speed',
  description: 'No model: old parameters are removed, old results keep three lines.',
  config: {
    passes: [
      individually(
        { id: 'speed-pass', name: 'Truncation', selection: butNewest(5) },
        { toolParameters: suppress, toolResults: lines(3) },
      ),
    ],
  },
};

const quality: Preset = {
  id: 'quality',
  name: 'Quality',
  description: 'A model summarizes every old result.',
  config: {
    passes: [
      individually(
        { id: 'quality-pass', name: 'Summaries of results', selection: butNewest(10) },
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
      individually(
        { id: 'mechanical', name: 'Truncation', selection: butNewest(5) },
        { toolParameters: suppress, toolResults: lines(5) },
      ),
      together(
        {
          id: 'fallback-llm',
          name: 'Summary of the oldest messages',
          selection: butNewestPercent(30),
          execution: above(60_000),
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
      individually(
        { id: 'zone-ancient', name: 'Ancient: suppression', selection: butNewest(50) },
        { toolParameters: suppress, toolResults: suppress },
      ),
      individually(
        { id: 'zone-old', name: 'Old: truncation', selection: butNewest(30) },
        { toolParameters: chars(120), toolResults: lines(6) },
      ),
      individually(
        { id: 'zone-medium', name: 'Medium: light truncation', selection: butNewest(10) },
        { toolResults: lines(15) },
      ),
    ],
  },
};

export const DOCUMENTED_PRESETS = [conservative, balanced, aggressive, speed, quality, cost, multiZone] as const;
