/**
 * Windows that scenarios in several files share: all scenarios with the same `open` function use
 * one window.
 */
import type { SharedScenarios } from './bed';

/** Opens a window with default settings and an empty workspace folder. */
export const plainWindow: SharedScenarios['open'] = (bed) =>
  bed.open({ home: bed.folder(), folder: bed.folder({ 'readme.txt': 'A workspace.' }) });

/** Opens another such window for the panel, so that both groups of scenarios run in parallel. */
export const panelWindow: SharedScenarios['open'] = (bed) => plainWindow(bed);
