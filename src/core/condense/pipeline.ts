/**
 * Runs steps in order until the target is met. Lossless, Truncation, Smart's passes, strategies and
 * fallbacks are lists of steps.
 */
import { yieldBetweenSteps } from '../betweenSteps';
import { getErrorMessage } from '../errors';
import type { Edit } from './edits/edits';
import type { PipelineStep, StepReporter, PipelineResult, StepSpending } from './draft/steps';
import type { PipelineWork } from './draft/work';
import type { CondensationOptions, StepReport } from './types';

export interface PipelineOptions<W extends PipelineWork> extends Pick<
  CondensationOptions,
  'targetTokens' | 'signal' | 'onProgress'
> {
  /**
   * The returned function runs after the step and restores what the step must not remove. If it
   * returns true, the step runs once more.
   */
  readonly watchStep?: (work: W, step: PipelineStep<W>) => () => Promise<boolean>;
  /** True if a second round may find more. */
  readonly shouldRunAgain?: (work: W, first: PipelineRound) => boolean;
  /** Filled step by step, so that reports are known after an abort. */
  readonly reports?: StepReport[];
}

export interface PipelineRound {
  readonly tokensBefore: number;
  readonly isEnded: boolean;
}

/**
 * Drops a failed step's changes and runs the next step.
 * @returns what each step did; for the second round only steps that changed something
 * @throws the signal's reason
 */
export async function runPipeline<W extends PipelineWork>(
  work: W,
  steps: readonly PipelineStep<W>[],
  options: PipelineOptions<W>,
): Promise<readonly StepReport[]> {
  const { reports = [], signal, onProgress } = options;
  try {
    const firstRound = await runPipelineRound(work, steps, options, reports);
    if (options.shouldRunAgain?.(work, firstRound)) {
      const repeatedSteps = steps.map((step) => ({ ...step, isRepeat: true }));
      await runPipelineRound(work, repeatedSteps, options, reports);
    }
    onProgress?.({ step: '', done: steps.length, total: steps.length });
    await yieldBetweenSteps(signal);
    return reports;
  } finally {
    work.releaseResources?.();
  }
}

async function runPipelineRound<W extends PipelineWork>(
  work: W,
  steps: readonly PipelineStep<W>[],
  options: PipelineOptions<W>,
  reports: StepReport[],
): Promise<PipelineRound> {
  const { signal, targetTokens, onProgress } = options;
  const tokensBefore = work.tokens;
  for (const [index, step] of steps.entries()) {
    await yieldBetweenSteps(signal);
    const showProgress = (words: string): void => {
      onProgress?.({ step: words, done: index, total: steps.length });
    };
    showProgress(step.name);
    const isTargetMet = targetTokens !== undefined && work.tokens <= targetTokens;
    const skipReason = isTargetMet ? 'the target was already met' : await step.skip?.(work);
    const { reports: stepReports, endsRound }: PipelineResult =
      skipReason === undefined
        ? await runPipelineStep(work, step, options, (doing) => {
            showProgress(`${step.name}: ${doing}`);
          })
        : { reports: [makeStepReport(work, step.name, { kind: 'skipped', reason: skipReason })] };
    reports.push(...(step.isRepeat ? stepReports.filter(isWorthReporting) : stepReports));
    if (endsRound) return { tokensBefore, isEnded: true };
  }
  return { tokensBefore, isEnded: false };
}

const isWorthReporting = ({ edits, calls, outcome }: StepReport): boolean =>
  edits > 0 || calls !== undefined || outcome.kind === 'failed';

/** Makes the report of a step that changed nothing. */
export const makeStepReport = ({ tokens }: PipelineWork, name: string, outcome: StepReport['outcome']): StepReport => ({
  name,
  tokensBefore: tokens,
  tokensAfter: tokens,
  edits: 0,
  timeMs: 0,
  cost: 0,
  outcome,
});

async function runPipelineStep<W extends PipelineWork>(
  work: W,
  step: PipelineStep<W>,
  { signal, watchStep }: PipelineOptions<W>,
  report: StepReporter,
): Promise<PipelineResult> {
  const checkpoint = work.saveState();
  const { tokens: tokensBefore, edits: editsBefore } = work;
  const spendingBefore = step.spent?.() ?? ZERO_SPENDING;
  const startTime = performance.now();
  let outcome: StepReport['outcome'] = { kind: 'done' };
  try {
    await runStepRestoringReferences(work, step, watchStep, signal, report);
    const refusal = step.refuse?.(work);
    if (refusal !== undefined) throw new Error(refusal);
    if (step.result) return step.result();
  } catch (error) {
    work.restoreState(checkpoint);
    signal?.throwIfAborted();
    outcome = { kind: 'failed', reason: getErrorMessage(error) };
  }
  const spendingAfter = step.spent?.() ?? ZERO_SPENDING;
  const calls = spendingAfter.calls - spendingBefore.calls;
  const stepReport: StepReport = {
    name: step.name,
    tokensBefore,
    tokensAfter: work.tokens,
    edits: countNewEdits(work.edits, editsBefore),
    timeMs: performance.now() - startTime,
    cost: spendingAfter.cost === undefined ? undefined : spendingAfter.cost - (spendingBefore.cost ?? 0),
    ...(calls > 0 && { calls }),
    outcome,
  };
  return { reports: [stepReport] };
}

function countNewEdits(edits: readonly Edit[], editsBefore: readonly Edit[]): number {
  if (edits === editsBefore) return 0;
  const oldEdits = new Set(editsBefore);
  return edits.filter((edit) => !oldEdits.has(edit)).length;
}

async function runStepRestoringReferences<W extends PipelineWork>(
  work: W,
  step: PipelineStep<W>,
  watchStep: PipelineOptions<W>['watchStep'],
  signal: AbortSignal | undefined,
  report: StepReporter,
): Promise<void> {
  for (let attempt = 1; attempt <= 2; attempt++) {
    const restoreLostLines = watchStep?.(work, step);
    await step.run(work, signal, report);
    await yieldBetweenSteps(signal);
    if (!(await restoreLostLines?.())) return;
    await yieldBetweenSteps(signal);
  }
}

const ZERO_SPENDING: StepSpending = { calls: 0, cost: 0 };
