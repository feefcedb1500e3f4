/**
 * Measured on real sessions, in percent: tokens removed, and lines lost of those that the agent
 * needed later. Source: docs/guide/choosing.md ("What was measured"). For File-Aware:
 * docs/BENCHMARKS.md (projects that its weights were not fitted on). By agent:
 * docs/research/lossless.md.
 */
export interface MeasuredLoss {
  readonly removed: number;
  /** The least and the most of several agents, each over all its sessions. */
  readonly removedByAgent?: readonly [least: number, most: number];
  /** Absent if not measured with a real model. */
  readonly lost?: number;
  /** Measured with empty summaries; a real summary keeps some of these lines. */
  readonly isAtMost?: true;
  /** Number of projects measured. Default 1. */
  readonly projects?: number;
}

export const MEASURED_LOSS_BY_PROVIDER: Readonly<Record<string, MeasuredLoss>> = {
  lossless: { removed: 28, removedByAgent: [4, 29], lost: 0 },
  truncation: { removed: 58, lost: 57 },
  native: { removed: 81 },
};

export const FILE_AWARE_PRESET_ID = 'file-aware';

export const MEASURED_LOSS_BY_PRESET: Readonly<Record<string, MeasuredLoss>> = {
  [FILE_AWARE_PRESET_ID]: { removed: 49, lost: 13, projects: 18 },
  'multi-zone': { removed: 68, lost: 43 },
  speed: { removed: 71, lost: 68 },
  cost: { removed: 70, lost: 68, isAtMost: true },
  conservative: { removed: 50, lost: 43, isAtMost: true },
  balanced: { removed: 66, lost: 43, isAtMost: true },
  quality: { removed: 65, lost: 49, isAtMost: true },
  aggressive: { removed: 75, lost: 66, isAtMost: true },
};
