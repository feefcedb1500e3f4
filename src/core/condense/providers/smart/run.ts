import type { FeatureWeights } from '../../relevance/relevance';
import { sumCosts } from '../../../cost/callCost';
import { makeToolTable, type ToolTable } from '../../../messages/tools';
import { parseMinimumCoherence, measureCoherence, describeFloorBreaches } from '../../coherence/coherence';
import { describeUnmetCondition, type ConditionFacts } from '../../trigger/condition';
import { Draft } from '../../draft/draft';
import { createRestorerOfBrokenReferences } from '../../lossless/integrity';
import { createLosslessSteps, runLossless } from '../../lossless/run';
import { runPipeline } from '../../pipeline';
import type { PipelineStep } from '../../draft/steps';
import type { CondensationOptions, ConversationContext, ModelCall, StepReport } from '../../types';
import { createBatchStep } from './batch';
import { SpendingBudget, type CallDependencies, type CachingModelSelector, type PassDependencies } from './passParts';
import type { SmartConfig } from './config';
import type { EstimatedCallCollector } from './estimatedCalls';
import { createIndividualStep } from './individual';
import { createOldBlockSteps } from './oldBlocks';

export type SharedCallDependencies = Pick<CallDependencies, 'memo' | 'memory' | 'samples'> & {
  readonly models: CachingModelSelector;
  readonly weights: FeatureWeights;
};

export class SmartRunRecord {
  readonly calls: ModelCall[] = [];
  readonly steps: StepReport[] = [];
  readonly ownNotes = new Set<string>();

  constructor(private readonly models: CachingModelSelector) {}

  /** In US dollars; undefined if a price is unknown. */
  get cost(): number | undefined {
    return sumCosts(this.calls.map(({ cost }) => cost));
  }

  get notes(): readonly string[] {
    // A note may already give the reason of this warning.
    const isIncluded = (warning: string): boolean => [...this.ownNotes].some((note) => note.includes(warning));
    return [...this.models.warnings.filter((warning) => !isIncluded(warning)), ...this.ownNotes];
  }
}

interface SmartRunDependencies {
  readonly context: ConversationContext;
  readonly config: SmartConfig;
  readonly options: CondensationOptions;
  readonly shared: SharedCallDependencies;
  readonly record: SmartRunRecord;
  readonly estimatedCalls?: EstimatedCallCollector;
}

/** @throws the signal's reason if it was aborted */
export async function runSmart(dependencies: SmartRunDependencies): Promise<Draft> {
  const { context, config, options, record } = dependencies;
  const { enabled, operations } = config.losslessPrelude;
  const { messages, counter, edits, pinned } = context;
  const tools = makeToolTable(operations.tools);
  const { draft, steps } = enabled
    ? await runLossless(context, operations, options)
    : { draft: new Draft(messages, counter, edits), steps: [] };
  record.steps.push(...steps);
  const { restoredTokens } = draft;
  const { edits: editsBefore } = draft;
  // If a pass removes a copy that a reference names, the referring text is restored. It may repeat
  // other text, so the lossless steps run again.
  const stepsAfterPasses = createLosslessSteps(operations).map((step): PipelineStep => ({
    ...step,
    isRepeat: true,
    skip: () => (draft.edits === editsBefore ? 'the passes changed nothing' : undefined),
  }));
  const pipelineSteps = [
    ...createOldBlockSteps(config, pinned ?? new Set()),
    ...createPassSteps(dependencies, tools),
    ...(enabled ? stepsAfterPasses : []),
  ];
  await runPipeline(draft, pipelineSteps, {
    ...options,
    watchStep: createRestorerOfBrokenReferences(tools, options.signal),
    shouldRunAgain: () => enabled && draft.restoredTokens !== restoredTokens,
    reports: record.steps,
  });
  draft.rememberDraftWithEdits();
  return draft;
}

function createPassSteps(dependencies: SmartRunDependencies, tools: ToolTable): PipelineStep[] {
  const { config, options, context, record } = dependencies;
  const budget = new SpendingBudget(options.maxCost);
  const passParts = makePassDependencies(dependencies, budget, tools);
  const stepNames = listStepNames(config);
  const minimumCoherence = parseMinimumCoherence(config.coherenceFloor);
  const findRefusal = (draft: Draft): string | undefined => {
    const coherence = measureCoherence(draft.original, [...context.edits, ...draft.edits], tools);
    return describeFloorBreaches(coherence, minimumCoherence).join('; ') || undefined;
  };
  return config.passes
    .filter(({ enabled }) => enabled)
    .map((pass, index): PipelineStep => {
      const name = stepNames[index] ?? pass.name;
      const step =
        pass.mode === 'individual'
          ? createIndividualStep(name, pass, passParts)
          : createBatchStep(name, pass, passParts);
      return {
        ...step,
        skip: (draft) =>
          pass.execution.type === 'always'
            ? undefined
            : describeUnmetCondition(pass.execution.condition, collectConditionFacts(draft, options, budget)),
        spent: () => ({ calls: record.calls.length, cost: record.cost }),
        ...(Object.keys(minimumCoherence).length > 0 && { refuse: findRefusal }),
      };
    });
}

function collectConditionFacts(draft: Draft, options: CondensationOptions, budget: SpendingBudget): ConditionFacts {
  const { overheadTokens = 0, windowTokens, targetTokens, cacheCold } = options;
  return {
    tokens: draft.tokens,
    overheadTokens,
    windowTokens,
    targetTokens,
    cacheCold,
    toolResults: draft.exchanges.filter(({ resultMessage }) => resultMessage !== undefined).length,
    budgetLeft: budget.remainingDollars,
  };
}

function makePassDependencies(
  { context, config, options, shared, record, estimatedCalls }: SmartRunDependencies,
  budget: SpendingBudget,
  tools: ToolTable,
): PassDependencies {
  return {
    context,
    config,
    tools,
    calls: {
      ...shared,
      budget,
      counter: context.counter,
      vendor: context.vendor,
      parallelCalls: config.parallelCalls,
      conversation: context.conversation,
      signal: options.signal,
      estimatedCalls,
    },
    targetTokens: options.targetTokens,
    weights: shared.weights,
    onCall: (call) => record.calls.push(call),
    onNote: (note) => record.ownNotes.add(note),
  };
}

export const listStepNames = ({ passes }: SmartConfig): readonly string[] =>
  makeUniqueNames(passes.filter(({ enabled }) => enabled).map(({ name }) => name));

/** Edits carry their pass's name, so equal names would merge two passes. */
function makeUniqueNames(names: readonly string[]): string[] {
  const usedNames = new Set<string>();
  return names.map((name) => {
    let uniqueName = name;
    for (let suffix = 2; usedNames.has(uniqueName); suffix++) uniqueName = `${name} (${suffix})`;
    usedNames.add(uniqueName);
    return uniqueName;
  });
}
