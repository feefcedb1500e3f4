/** Runs the steps of a condensation, one after the other, until its target is met. */
import { betweenSteps } from '../betweenSteps';
import { sumOfCosts } from '../cost/callCost';
import { errorMessage } from '../errors';
import type { Draft } from './draft/draft';
import type { DraftStep, StepSpending } from './draft/steps';
import type { CondensationOptions, ProviderResult, StepReport } from './types';

/**
 * Runs steps in order until the target is met. A step that fails is dropped whole and the next one runs.
 * @throws the signal's reason where it was aborted.
 */
export async function runSteps(
  draft: Draft,
  steps: readonly DraftStep[],
  options: CondensationOptions,
): Promise<ProviderResult> {
  const reports: StepReport[] = [];
  for (const [index, step] of steps.entries()) {
    await betweenSteps(options.signal);
    options.onProgress?.({ step: step.name, done: index, total: steps.length });
    const reached = options.targetTokens !== undefined && draft.tokens <= options.targetTokens;
    const skip = reached ? 'the target was already met' : step.skip?.(draft);
    reports.push(skip === undefined ? await runStep(draft, step, options.signal) : skipped(draft, step, skip));
  }
  options.onProgress?.({ step: '', done: steps.length, total: steps.length });
  await betweenSteps(options.signal);
  draft.remember();
  return { edits: draft.edits, steps: reports, cost: sumOfCosts(reports.map(({ cost }) => cost)) };
}

const skipped = (draft: Draft, { name }: DraftStep, reason: string): StepReport => ({
  name,
  tokensBefore: draft.tokens,
  tokensAfter: draft.tokens,
  edits: 0,
  timeMs: 0,
  cost: 0,
  outcome: { kind: 'skipped', reason },
});

async function runStep(draft: Draft, step: DraftStep, signal: AbortSignal | undefined): Promise<StepReport> {
  const before = draft.checkpoint();
  const spentBefore = step.spent?.() ?? NOTHING_SPENT;
  const started = performance.now();
  let outcome: StepReport['outcome'] = { kind: 'done' };
  try {
    await step.run(draft, signal);
  } catch (error) {
    draft.rollback(before);
    signal?.throwIfAborted();
    outcome = { kind: 'failed', reason: errorMessage(error) };
  }
  const spent = step.spent?.() ?? NOTHING_SPENT;
  const calls = spent.calls - spentBefore.calls;
  const known = new Set(before.edits.values());
  return {
    name: step.name,
    tokensBefore: before.tokens,
    tokensAfter: draft.tokens,
    edits: draft.edits.filter((edit) => !known.has(edit)).length,
    timeMs: performance.now() - started,
    cost: spent.cost === undefined ? undefined : spent.cost - (spentBefore.cost ?? 0),
    ...(calls > 0 && { calls }),
    outcome,
  };
}

const NOTHING_SPENT: StepSpending = { calls: 0, cost: 0 };
