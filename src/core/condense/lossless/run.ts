/** Lossless: its settings, its operations in their order, and a run of them over a conversation. */
import * as z from 'zod';
import { betweenSteps } from '../../betweenSteps';
import { toolTable } from '../../messages/tools';
import { ownTools } from '../../messages/toolsSchema';
import { Draft } from '../draft/draft';
import type { DraftStep, MechanicalStep } from '../draft/steps';
import { editKey } from '../edits/edits';
import { runSteps } from '../pipeline';
import type { CondensationOptions, ConversationContext, KnownLosslessRun, LosslessRun } from '../types';
import { repeatedCommands, repeatedListings, similarResults } from './consolidation';
import { duplicateReads, duplicateResults } from './duplicates';
import { keepingReferences, restoredReferences } from './integrity';
import { lineNumbers } from './lineNumbers';
import { obsoleteState } from './obsoleteState';
import { repeatedReminders } from './reminders';
import { LINE_OPERATIONS, repeatedLines } from './repeatedLines';
import { retriedErrors } from './retries';
import { supersededVersions } from './supersededVersions';
import { terminalNoise } from './terminal';

const on = (what: string) => z.boolean().default(true).describe(what);

export const losslessConfigSchema = z
  .object({
    deduplicateFileReads: on('Keeps one of several reads of a file that returned the same text.'),
    deduplicateResults: on('Keeps one of several other results with the same text.'),
    consolidateToolResults: on('Merges repeated listings, searches and commands, and small similar results.'),
    removeObsoleteState: on(
      'Keeps only what differs in environment details, reminders and plans that a later one supersedes, and the newest version of a file that was written anew.',
    ),
    oneViewPerFile: on('Keeps lines of a file once if another read, write or edit shows them too.'),
    editEchoes: on('Removes what a tool repeats after an edit if the edit and the file show it.'),
    writesReadBack: on('Keeps only those lines of long parameters that no result and no other call shows.'),
    repeatedRuns: on('Keeps runs of lines that occur in several results once.'),
    lineNumbers: on('Keeps numbers and paths in front of lines once per run of lines.'),
    terminalNoise: on('Removes control sequences, overwritten progress and repeated lines from command output.'),
    failedCalls: on('Removes long parameters of calls that failed and were retried successfully.'),
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
      .describe(
        'Removes only what appears elsewhere in the view, nothing that would remain only in the reference store.',
      ),
    tools: ownTools,
  })
  .strict();

/** Settings of the Lossless provider, all with defaults. */
export type LosslessConfig = z.output<typeof losslessConfigSchema>;

/**
 * Runs Lossless over a conversation, or gives what such a run has led to before: an estimate and the condensation that
 * follows it, the steps of a strategy and the presets that are compared all begin alike.
 * @throws the signal's reason where it was aborted.
 */
export async function runLossless(
  { messages, counter, edits, losslessRuns }: ConversationContext,
  config: LosslessConfig,
  options: CondensationOptions,
): Promise<LosslessRun> {
  const { targetTokens } = options;
  const key = JSON.stringify([config, messages.length, edits.map((edit) => [editKey(edit), edit.id])]);
  const runs = losslessRuns?.get(messages) ?? [];
  const known = runs.find((run) => run.key === key && leadsTo(run, targetTokens));
  if (known) return { draft: known.draft.copy(), steps: known.steps };
  const draft = new Draft(messages, counter, edits);
  const { steps } = await runSteps(draft, losslessSteps(config), options);
  const run: KnownLosslessRun = { draft: draft.copy(), steps, key, targetTokens };
  losslessRuns?.set(messages, [...runs, run].slice(-REMEMBERED_RUNS));
  return { draft, steps };
}

/** Whether a run would have gone the same way with this target: it ends where one of its steps finds the target met. */
function leadsTo({ targetTokens: own, steps }: KnownLosslessRun, targetTokens: number | undefined): boolean {
  if (own === targetTokens) return true;
  const fewest = Math.min(...steps.map(({ tokensBefore }) => tokensBefore));
  return fewest > (own ?? 0) && fewest > (targetTokens ?? 0);
}

/** The runs that are kept of a conversation: strategies run Lossless on what other steps have left, too. */
const REMEMBERED_RUNS = 4;

/** The configured operations in order; also the prelude of other providers. */
export function losslessSteps(config: LosslessConfig): DraftStep[] {
  const tools = toolTable(config.tools);
  const { keep, strictOnly } = config;
  const removing: MechanicalStep[] = [];
  if (!strictOnly) {
    if (config.terminalNoise) removing.push(terminalNoise(tools));
    if (config.failedCalls) removing.push(retriedErrors(tools));
    if (config.consolidateToolResults) removing.push(repeatedCommands(tools), similarResults(tools));
    if (config.removeObsoleteState) removing.push(supersededVersions(tools));
  }
  const merging: MechanicalStep[] = [];
  if (config.deduplicateFileReads) merging.push(duplicateReads(tools, keep));
  if (config.deduplicateResults) merging.push(duplicateResults(tools, keep));
  if (config.consolidateToolResults) merging.push(repeatedListings(tools, keep));
  if (config.removeObsoleteState) merging.push(obsoleteState(tools), repeatedReminders(tools, keep));
  const steps: MechanicalStep[] = [];
  steps.push(
    ...repeatedLines(
      tools,
      keep,
      LINE_OPERATIONS.filter((operation) => config[operation]),
      config.acrossFiles,
    ),
  );
  // Last, since it asks which lines still stand behind which.
  if (config.lineNumbers) steps.push(lineNumbers(tools));
  const kept = [
    // Steps that remove whole texts come first, so that no reference is made to a copy that goes afterwards. References of an
    // earlier condensation that may name such a copy are made anew.
    ...removing.map((step) => keepingReferences(step, tools, 'all')),
    ...merging.map((step) => keepingReferences(step, tools, 'earlier')),
    ...steps.map((step) => keepingReferences(step, tools)),
  ];
  return [...kept, untilNothingIsFound(kept, restoredReferences(tools))];
}

/** A step's result can be shorter once a later one has moved the copy that its reference names. */
const MAX_ROUNDS = 3;

/** The last step, behind which the others run again for as long as they find something: a second run then finds nothing. */
const untilNothingIsFound = (steps: readonly MechanicalStep[], last: MechanicalStep): DraftStep => ({
  ...last,
  run: async (draft, signal) => {
    last.run(draft, signal);
    // Where nothing was found there is nothing that could have made more to find.
    if (draft.edits.length === 0) return;
    for (let round = 0, before = Infinity; round < MAX_ROUNDS && draft.tokens < before; round++) {
      before = draft.tokens;
      for (const step of steps) {
        await betweenSteps(signal);
        if (step.skip?.(draft) === undefined) step.run(draft, signal);
      }
      await betweenSteps(signal);
      last.run(draft, signal);
    }
  },
});
