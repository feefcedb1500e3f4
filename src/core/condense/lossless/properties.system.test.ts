/**
 * Tests properties that always hold for the operations, with generated histories that contain many
 * repetitions.
 */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import type { MechanicalStep } from '../draft/steps';
import { createLineNumbersStep } from './lineNumbers';
import { createRepeatedRemindersStep } from './reminders';
import { LINE_OPERATIONS, createRepeatedLinesStep } from './repeatedLines';
import { createRetriedErrorsStep } from './retries';
import { createTerminalNoiseStep } from './terminal';
import { repeatingHistoryArbitrary, runSteps } from './testing';

const STEPS: Readonly<Record<string, () => readonly MechanicalStep[]>> = {
  'repeated lines, latest': () => createRepeatedLinesStep(DEFAULT_TOOLS, 'latest', LINE_OPERATIONS),
  'repeated lines, first': () => createRepeatedLinesStep(DEFAULT_TOOLS, 'first', LINE_OPERATIONS),
  'line numbers': () => [createLineNumbersStep(DEFAULT_TOOLS)],
  'repeated lines and line numbers': () => [
    ...createRepeatedLinesStep(DEFAULT_TOOLS, 'latest', LINE_OPERATIONS),
    createLineNumbersStep(DEFAULT_TOOLS),
  ],
  reminders: () => [createRepeatedRemindersStep(DEFAULT_TOOLS, 'latest')],
  'terminal noise': () => [createTerminalNoiseStep(DEFAULT_TOOLS)],
  'failed calls': () => [createRetriedErrorsStep(DEFAULT_TOOLS)],
};

describe.each(Object.entries(STEPS))('Lossless over %s', (_name, steps) => {
  it('is reversible, keeps its references valid, makes nothing larger, and finds nothing more in a second run', () =>
    fc.assert(
      fc.asyncProperty(repeatingHistoryArbitrary, (messages) => {
        runSteps(steps(), messages);
      }),
    ));
});
