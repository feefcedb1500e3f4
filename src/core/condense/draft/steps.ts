import { sumOfCosts } from '../../cost/callCost';
import { errorMessage } from '../../errors';
import type { Draft } from './draft';
import { readDraft } from './exchanges';
import { Pace } from '../../pace';
import type { CondensationOptions, ProviderResult, StepReport } from '../types';

/** One mechanical step over a draft: it edits the draft and needs no model. */
export interface DraftStep {
  /** The name in reports. Edits carry it as their step. */
  readonly name: string;
  run(draft: Draft, pace: Pace): Promise<void>;
  /** Why it isn't run on the draft as it now stands, in words; undefined where it is. */
  readonly skip?: (draft: Draft) => string | undefined;
  /** Its spending so far, also if it failed. */
  readonly spent?: () => StepSpending;
}

/** Spending of a step's calls. */
export interface StepSpending {
  readonly calls: number;
  /** US dollars; undefined where a price is not known. */
  readonly cost: number | undefined;
}

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
  const pace = new Pace(options.signal);
  // The draft was made just before.
  await pace.yieldNow();
  await readDraft(draft, pace);
  for (const [index, step] of steps.entries()) {
    await pace.yieldIfDue();
    options.signal?.throwIfAborted();
    options.onProgress?.({ step: step.name, done: index, total: steps.length });
    const reached = options.targetTokens !== undefined && draft.tokens <= options.targetTokens;
    const skip = reached ? 'the target was already met' : step.skip?.(draft);
    reports.push(skip === undefined ? await runStep(draft, step, pace, options.signal) : skipped(draft, step, skip));
  }
  options.onProgress?.({ step: '', done: steps.length, total: steps.length });
  await pace.yieldNow();
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

async function runStep(
  draft: Draft,
  step: DraftStep,
  pace: Pace,
  signal: AbortSignal | undefined,
): Promise<StepReport> {
  const before = draft.checkpoint();
  const spentBefore = step.spent?.() ?? NOTHING_SPENT;
  const started = performance.now();
  let outcome: StepReport['outcome'] = { kind: 'done' };
  try {
    await step.run(draft, pace);
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
