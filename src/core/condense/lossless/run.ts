import * as z from 'zod';
import { makeToolTable } from '../../messages/tools';
import { ownToolsSchema } from '../../messages/toolsSchema';
import { Draft } from '../draft/draft';
import type { MechanicalStep, PipelineStep } from '../draft/steps';
import { makeEditPlaceKey } from '../edits/edits';
import { runPipeline } from '../pipeline';
import type { CondensationOptions, ConversationContext, CachedLosslessRun, LosslessRun } from '../types';
import { createRepeatedCommandsStep, createRepeatedListingsStep, createSimilarResultsStep } from './consolidation';
import { createDuplicateReadsStep, createDuplicateResultsStep } from './duplicates';
import { createRestorerOfBrokenReferences } from './integrity';
import { createLineNumbersStep } from './lineNumbers';
import { createObsoleteStateStep } from './obsoleteState';
import { createRepeatedRemindersStep } from './reminders';
import { LINE_OPERATIONS, createRepeatedLinesStep } from './repeatedLines';
import { createRetriedErrorsStep } from './retries';
import { createSupersededVersionsStep } from './supersededVersions';
import { createTerminalNoiseStep } from './terminal';

const createBooleanSchema = (what: string) => z.boolean().default(true).describe(what);

export const losslessConfigSchema = z
  .object({
    deduplicateFileReads: createBooleanSchema('Keeps one of several reads of a file that returned the same text.'),
    deduplicateResults: createBooleanSchema('Keeps one of several other results with the same text.'),
    consolidateToolResults: createBooleanSchema(
      'Merges repeated listings, searches and commands, and small similar results.',
    ),
    removeObsoleteState: createBooleanSchema(
      'Keeps only what differs in environment details, reminders and plans that a later one supersedes, and the newest version of a file that was written anew.',
    ),
    oneViewPerFile: createBooleanSchema('Keeps lines of a file once if another read, write or edit shows them too.'),
    writesReadBack: createBooleanSchema(
      'Keeps only those lines of long parameters that no result and no other call shows.',
    ),
    repeatedRuns: createBooleanSchema(
      'Keeps runs of lines that occur in several results once, and removes what a tool repeats after an edit.',
    ),
    lineNumbers: createBooleanSchema('Keeps numbers and paths in front of lines once per run of lines.'),
    terminalNoise: createBooleanSchema(
      'Removes control sequences, overwritten progress and repeated lines from command output.',
    ),
    failedCalls: createBooleanSchema('Removes long parameters of calls that failed and were retried successfully.'),
    keep: z.enum(['latest', 'first']).default('latest').describe('Which of several identical copies is kept.'),
    acrossFiles: z
      .boolean()
      .default(false)
      .describe(
        'Lets lines of a file refer to another file with the same lines, not only to the same file shown elsewhere.',
      ),
    strictOnly: z
      .boolean()
      .default(false)
      .describe('Removes only what the condensed conversation still contains elsewhere.'),
    tools: ownToolsSchema,
  })
  .strict();

export type LosslessConfig = z.output<typeof losslessConfigSchema>;

/**
 * Returns the result of an equal earlier run if there is one.
 * @throws the signal's reason if it is aborted
 */
export async function runLossless(
  { messages, counter, edits, losslessRuns }: ConversationContext,
  config: LosslessConfig,
  options: CondensationOptions,
): Promise<LosslessRun> {
  const { targetTokens } = options;
  const key = JSON.stringify([config, messages.length, edits.map((edit) => [makeEditPlaceKey(edit), edit.id])]);
  const runs = losslessRuns?.get(messages) ?? [];
  const earlierRun = runs.find((run) => run.key === key && stopsAtSameStep(run, targetTokens));
  if (earlierRun) return { draft: earlierRun.draft.copyDraft(), steps: earlierRun.steps };
  const draft = new Draft(messages, counter, edits);
  const steps = await runPipeline(draft, createLosslessSteps(config), {
    ...options,
    watchStep: createRestorerOfBrokenReferences(makeToolTable(config.tools), options.signal),
    // A second round can shrink results whose copies a later step has moved.
    shouldRunAgain: ({ edits: made }) => made.length > 0,
  });
  draft.rememberDraftWithEdits();
  const run: CachedLosslessRun = { draft: draft.copyDraft(), steps, key, targetTokens };
  losslessRuns?.set(messages, [...runs, run].slice(-MAX_CACHED_LOSSLESS_RUNS));
  return { draft, steps };
}

/** A run ends at the step that meets the target, so different targets may give the same result. */
function stopsAtSameStep(
  { targetTokens: cachedTarget, steps }: CachedLosslessRun,
  targetTokens: number | undefined,
): boolean {
  if (cachedTarget === targetTokens) return true;
  const fewestTokens = Math.min(...steps.map(({ tokensBefore, tokensAfter }) => Math.min(tokensBefore, tokensAfter)));
  return fewestTokens > (cachedTarget ?? 0) && fewestTokens > (targetTokens ?? 0);
}

const MAX_CACHED_LOSSLESS_RUNS = 4;

export function createLosslessSteps(config: LosslessConfig): PipelineStep[] {
  const tools = makeToolTable(config.tools);
  const { keep, strictOnly, acrossFiles } = config;
  const removingSteps = strictOnly
    ? []
    : [
        ...includeStepsIf(config.terminalNoise, () => [createTerminalNoiseStep(tools)]),
        ...includeStepsIf(config.failedCalls, () => [createRetriedErrorsStep(tools)]),
        ...includeStepsIf(config.consolidateToolResults, () => [
          createRepeatedCommandsStep(tools),
          createSimilarResultsStep(tools),
        ]),
        ...includeStepsIf(config.removeObsoleteState, () => [createSupersededVersionsStep(tools)]),
      ];
  const mergingSteps = [
    ...includeStepsIf(config.deduplicateFileReads, () => [createDuplicateReadsStep(tools, keep)]),
    ...includeStepsIf(config.deduplicateResults, () => [createDuplicateResultsStep(tools, keep)]),
    ...includeStepsIf(config.consolidateToolResults, () => [createRepeatedListingsStep(tools, keep)]),
    ...includeStepsIf(config.removeObsoleteState, () => [
      createObsoleteStateStep(tools),
      createRepeatedRemindersStep(tools, keep),
    ]),
  ];
  const lineOperations = LINE_OPERATIONS.filter((operation) => config[operation]);
  return [
    // Steps that remove whole texts come first, so that no reference names a copy that is removed
    // later.
    ...removingSteps.map((step): PipelineStep => ({ ...step, rewrites: 'all' })),
    ...mergingSteps.map((step): PipelineStep => ({ ...step, rewrites: 'earlier' })),
    ...createRepeatedLinesStep(tools, keep, lineOperations, acrossFiles),
    // Last, because it depends on which lines are still adjacent.
    ...includeStepsIf(config.lineNumbers, () => [createLineNumbersStep(tools)]),
  ];
}

const includeStepsIf = (isEnabled: boolean, createSteps: () => readonly MechanicalStep[]): readonly MechanicalStep[] =>
  isEnabled ? createSteps() : [];
