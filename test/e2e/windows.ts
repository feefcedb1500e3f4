/**
 * Windows shared by scenarios in several files: scenarios with the same `open` function share a
 * window.
 */
import type { SharedScenarios } from './bed';

/** Default settings and an empty workspace folder. */
export const plainWindow: SharedScenarios['open'] = (bed) =>
  bed.open({ home: bed.folder(), folder: bed.folder({ 'readme.txt': 'A workspace.' }) });

/** The same again for the panel, so that both run in parallel. */
export const panelWindow: SharedScenarios['open'] = (bed) => plainWindow(bed);
