/** One condensation by the Smart provider: Lossless, then the passes, as steps of one pipeline. */
import type { Weights } from '../../relevance/relevance';
import { sumCosts } from '../../../cost/callCost';
import { makeToolTable, type ToolTable } from '../../../messages/tools';
import { coherenceFloorIn, coherenceOf, floorBreaches } from '../../coherence/coherence';
import { whyNotMet, type ConditionFacts } from '../../trigger/condition';
import { Draft } from '../../draft/draft';
import { watchReferences } from '../../lossless/integrity';
import { losslessSteps, runLossless } from '../../lossless/run';
import { runPipeline } from '../../pipeline';
import type { Step } from '../../draft/steps';
import type { CondensationOptions, ConversationContext, ModelCall, StepReport } from '../../types';
import { batchStep } from './batch';
import { Budget, type CallParts, type Models, type PassParts } from './passParts';
import type { SmartConfig } from './config';
import type { EstimatedCalls } from './estimatedCalls';
import { individualStep } from './individual';
import { oldBlockSteps } from './oldBlocks';

/** The parts that a run shares with those before it. */
export type Shared = Pick<CallParts, 'memo' | 'memory' | 'samples'> & {
  readonly models: Models;
  /** The model that tells how likely a block is to be needed. */
  readonly weights: Weights;
};

/** What a run has done, spent and noted so far; also if it fails. */
export class SmartRecord {
  readonly calls: ModelCall[] = [];
  readonly steps: StepReport[] = [];
  readonly ownNotes = new Set<string>();

  constructor(private readonly models: Models) {}

  /** US dollars; undefined if a price is unknown. */
  get cost(): number | undefined {
    return sumCosts(this.calls.map(({ cost }) => cost));
  }

  get notes(): readonly string[] {
    // A note on missing summaries gives the reason, too.
    const isIncluded = (warning: string): boolean => [...this.ownNotes].some((note) => note.includes(warning));
    return [...this.models.warnings.filter((warning) => !isIncluded(warning)), ...this.ownNotes];
  }
}

/** What a run works with. */
interface RunParts {
  readonly context: ConversationContext;
  readonly config: SmartConfig;
  readonly options: CondensationOptions;
  readonly shared: Shared;
  readonly record: SmartRecord;
  /** Set if nothing is done but estimated. */
  readonly estimatedCalls?: EstimatedCalls;
}

/** @throws the signal's reason if it was aborted. */
export async function runSmart(parts: RunParts): Promise<Draft> {
  const { context, config, options, record } = parts;
  const { enabled, operations } = config.losslessPrelude;
  const { messages, counter, edits, pinned } = context;
  const tools = makeToolTable(operations.tools);
  const { draft, steps } = enabled
    ? await runLossless(context, operations, options)
    : { draft: new Draft(messages, counter, edits), steps: [] };
  record.steps.push(...steps);
  const { restoredTokens } = draft;
  const { edits: made } = draft;
  // A pass may remove the copy that a reference points to, whose text is then back in place. It may repeat something else now, and
  // be what an earlier pass would have taken: a second condensation would find both.
  const afterPasses = losslessSteps(operations).map((step): Step => ({
    ...step,
    isRepeat: true,
    skip: () => (draft.edits === made ? 'the passes changed nothing' : undefined),
  }));
  const list = [
    ...oldBlockSteps(config, pinned ?? new Set()),
    ...passSteps(parts, tools),
    ...(enabled ? afterPasses : []),
  ];
  await runPipeline(draft, list, {
    ...options,
    watch: watchReferences(tools, options.signal),
    again: () => enabled && draft.restoredTokens !== restoredTokens,
    reports: record.steps,
  });
  draft.remember();
  return draft;
}

/** The passes that are switched on, each with its condition, its budget, and the floor that it must not break. */
function passSteps(parts: RunParts, tools: ToolTable): Step[] {
  const { config, options, context, record } = parts;
  const budget = new Budget(options.maxCost);
  const names = stepNames(config);
  const floor = coherenceFloorIn(config.coherenceFloor);
  const refuse = (draft: Draft): string | undefined => {
    const report = coherenceOf(draft.original, [...context.edits, ...draft.edits], tools);
    return floorBreaches(report, floor).join('; ') || undefined;
  };
  return config.passes
    .filter(({ enabled }) => enabled)
    .map((pass, index): Step => {
      const name = names[index] ?? pass.name;
      const passParts = makePassParts(name, parts, budget, tools);
      const step =
        pass.mode === 'individual' ? individualStep(name, pass, passParts) : batchStep(name, pass, passParts);
      return {
        ...step,
        skip: (draft) =>
          pass.execution.type === 'always'
            ? undefined
            : whyNotMet(pass.execution.condition, collectFacts(draft, options, budget)),
        spent: () => ({ calls: record.calls.length, cost: record.cost }),
        // The next pass may remove other facts.
        ...(Object.keys(floor).length > 0 && { refuse }),
      };
    });
}

function collectFacts(draft: Draft, options: CondensationOptions, budget: Budget): ConditionFacts {
  const { overheadTokens = 0, windowTokens, targetTokens, cacheCold } = options;
  return {
    tokens: draft.tokens,
    overheadTokens,
    windowTokens,
    targetTokens,
    cacheCold,
    toolResults: draft.exchanges.filter(({ resultMessage }) => resultMessage !== undefined).length,
    budgetLeft: budget.left,
  };
}

function makePassParts(
  name: string,
  { context, config, options, shared, record, estimatedCalls }: RunParts,
  budget: Budget,
  tools: ToolTable,
): PassParts {
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
    onProgress: (doing) => {
      const done = config.passes.findIndex((pass) => pass.name === name);
      options.onProgress?.({ step: `${name}: ${doing}`, done: Math.max(0, done), total: config.passes.length });
    },
    onCall: (call) => record.calls.push(call),
    onNote: (note) => record.ownNotes.add(note),
  };
}

/** The names under which the passes that are switched on run, in their order. */
export const stepNames = ({ passes }: SmartConfig): readonly string[] =>
  uniqueNames(passes.filter(({ enabled }) => enabled).map(({ name }) => name));

/** Edits carry the name of their pass: two passes of one name would look like one. */
function uniqueNames(names: readonly string[]): string[] {
  const used = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let count = 2; used.has(unique); count++) unique = `${name} (${count})`;
    used.add(unique);
    return unique;
  });
}
