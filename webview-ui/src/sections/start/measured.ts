/**
 * What each way removed from real sessions, and how many of the lines that their agents needed later it removed, both in percent:
 * the table of docs/guide/choosing.md (`npm run bench:quality`), with which a test compares these. Ways are named as the settings
 * name them; of a summary the loss was not measured with a real model.
 */
export interface Measured {
  readonly removed: number;
  readonly lost?: number;
}

export const MEASURED_PROVIDERS: Readonly<Record<string, Measured>> = {
  lossless: { removed: 28, lost: 0 },
  truncation: { removed: 59, lost: 57 },
  native: { removed: 81 },
};

export const MEASURED_PRESETS: Readonly<Record<string, Measured>> = {
  'file-aware': { removed: 40, lost: 0 },
  'multi-zone': { removed: 68, lost: 43 },
  speed: { removed: 72, lost: 68 },
  cost: { removed: 71, lost: 68 },
  conservative: { removed: 50, lost: 43 },
  balanced: { removed: 64, lost: 43 },
  quality: { removed: 65, lost: 49 },
  aggressive: { removed: 76, lost: 66 },
};
