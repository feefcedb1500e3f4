/** One condensation by the Smart provider: the lossless prelude, then the passes in order until the target is met. */
import type { Weights } from '../../relevance/relevance';
import { sumOfCosts } from '../../../cost/callCost';
import { toolTable, type ToolTable } from '../../../messages/tools';
import { coherenceFloorIn, coherenceOf, floorBreaches } from '../../coherence/coherence';
import { judge, missingFacts, type ConditionFacts } from '../../trigger/condition';
import { Draft } from '../../draft/draft';
import { exchangesOf } from '../../draft/exchanges';
import { keepingReferencesOfPass } from '../../lossless/integrity';
import { runSteps } from '../../pipeline';
import type { DraftStep, StepSpending } from '../../draft/steps';
import type { CondensationOptions, ConversationContext, LosslessRun, ModelCall, StepReport } from '../../types';
import { betweenSteps } from '../../../betweenSteps';
import { batchStep } from './batch';
import { Budget, type CallParts, type Models, type PassParts } from './passParts';
import type { SmartConfig } from './config';
import type { Pass } from './passSchema';
import type { EstimatedCalls } from './estimatedCalls';
import { individualStep } from './individual';
import { oldBlockSteps } from './oldBlocks';
import { losslessSteps, runLossless } from '../../lossless/run';

/** The parts that a run shares with those before it. */
export type Shared = Pick<CallParts, 'memo' | 'memory' | 'samples'> & {
  readonly models: Models;
  /** The model that tells how likely a block is to be needed. */
  readonly weights: Weights;
};

export class SmartRun {
  readonly calls: ModelCall[] = [];
  /** The steps reported so far. */
  steps: readonly StepReport[] = [];
  private readonly reported = new Set<string>();
  private readonly budget: Budget;
  private readonly tools: ToolTable;

  /** @param estimatedCalls set where nothing is done but estimated. */
  constructor(
    private readonly context: ConversationContext,
    private readonly config: SmartConfig,
    private readonly options: CondensationOptions,
    private readonly shared: Shared,
    private readonly estimatedCalls?: EstimatedCalls,
  ) {
    this.budget = new Budget(options.maxCost);
    this.tools = toolTable(config.losslessPrelude.operations.tools);
  }

  /** @throws the signal's reason where it was aborted. */
  async run(): Promise<Draft> {
    const { context, config, options } = this;
    const { draft, steps } = await this.prelude();
    this.steps = steps;
    const blocks = oldBlockSteps(config, context.pinned ?? new Set());
    const passes = this.passSteps();
    const { steps: first } = await runSteps(draft, [...blocks, ...passes], options);
    this.steps = [...steps, ...first];
    if (!config.losslessPrelude.enabled || first.every(({ edits }) => edits === 0)) return draft;
    let restored = 0;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await this.more(draft, [this.preludeAgain()]);
      if (draft.restoredTokens === restored) break;
      restored = draft.restoredTokens;
      await this.more(draft, passes);
    }
    return draft;
  }

  private async prelude(): Promise<LosslessRun> {
    const { context, options } = this;
    const { enabled, operations } = this.config.losslessPrelude;
    if (enabled) return runLossless(context, operations, options);
    return { draft: new Draft(context.messages, context.counter, context.edits), steps: [] };
  }

  /** Runs steps once more; those that do nothing are not told again. */
  private async more(draft: Draft, again: readonly DraftStep[]): Promise<void> {
    const { steps } = await runSteps(draft, again, this.options);
    const reported = steps.filter(
      (step) => step.edits > 0 || step.calls !== undefined || step.outcome.kind === 'failed',
    );
    this.steps = [...this.steps, ...reported];
  }

  /** US dollars; undefined where a price is not known. */
  get cost(): number | undefined {
    return sumOfCosts(this.calls.map(({ cost }) => cost));
  }

  get notes(): readonly string[] {
    // A note on missing summaries gives the reason, too.
    const isTold = (warning: string): boolean => [...this.reported].some((note) => note.includes(warning));
    return [...this.shared.models.warnings.filter((warning) => !isTold(warning)), ...this.reported];
  }

  /**
   * A pass may take out the copy that a reference pointed to: the text behind the reference then stands there again.
   * It may repeat something else now, and be what an earlier pass would have taken: a second condensation would find both.
   */
  private preludeAgain(): DraftStep {
    const { operations } = this.config.losslessPrelude;
    return {
      name: 'Lossless, on what the passes left',
      async run(draft, signal) {
        for (const step of losslessSteps(operations)) {
          await betweenSteps(signal);
          await step.run(draft, signal);
        }
      },
    };
  }

  private passSteps(): DraftStep[] {
    const passes = this.config.passes.filter(({ enabled }) => enabled);
    const names = stepNames(this.config);
    return passes.map((pass, index) =>
      this.aboveFloor(keepingReferencesOfPass(this.passStep(names[index] ?? pass.name, pass), this.tools)),
    );
  }

  /** A pass after which too few facts would stand in the view is dropped whole; the next one may take out others. */
  private aboveFloor(step: DraftStep): DraftStep {
    const floor = coherenceFloorIn(this.config.coherenceFloor);
    if (Object.keys(floor).length === 0) return step;
    return {
      ...step,
      run: async (draft, signal) => {
        await step.run(draft, signal);
        await betweenSteps(signal);
        const report = coherenceOf(draft.original, [...this.context.edits, ...draft.edits], this.tools);
        const breaches = floorBreaches(report, floor);
        if (breaches.length > 0) throw new Error(breaches.join('; '));
      },
    };
  }

  private passStep(name: string, pass: Pass): DraftStep {
    const parts = this.passParts(name);
    const step = pass.mode === 'individual' ? individualStep(name, pass, parts) : batchStep(name, pass, parts);
    return {
      ...step,
      skip: (draft) => this.skip(pass, draft),
      spent: (): StepSpending => ({ calls: this.calls.length, cost: this.cost }),
    };
  }

  private skip({ execution }: Pass, draft: Draft): string | undefined {
    if (execution.type === 'always') return undefined;
    const { condition } = execution;
    const facts = this.factsOf(draft);
    const verdict = judge(condition, facts);
    if (verdict === 'holds') return undefined;
    return verdict === 'fails' ? 'condition not met' : missingFacts(condition, facts);
  }

  private factsOf(draft: Draft): ConditionFacts {
    const { overheadTokens = 0, windowTokens, targetTokens, cacheCold } = this.options;
    return {
      tokens: draft.tokens,
      overheadTokens,
      windowTokens,
      targetTokens,
      cacheCold,
      toolResults: exchangesOf(draft).filter(({ resultMessage }) => resultMessage !== undefined).length,
      budgetLeft: this.budget.left,
    };
  }

  private passParts(name: string): PassParts {
    const { context, config, options, shared, budget, tools } = this;
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
        estimatedCalls: this.estimatedCalls,
      },
      targetTokens: options.targetTokens,
      weights: shared.weights,
      onProgress: (doing) => {
        const done = config.passes.findIndex((pass) => pass.name === name);
        options.onProgress?.({ step: `${name}: ${doing}`, done: Math.max(0, done), total: config.passes.length });
      },
      onCall: (call) => this.calls.push(call),
      onNote: (note) => this.reported.add(note),
    };
  }
}

/** How often the passes run again, at most, on what was restored. */
const MAX_ROUNDS = 3;

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
