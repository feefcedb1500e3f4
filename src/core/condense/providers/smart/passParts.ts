import type { ToolTable } from '../../../messages/tools';
import type { ConversationContext, ModelCall } from '../../types';
import type { SmartConfig } from './config';
import type { FeatureWeights } from '../../relevance/relevance';
import type { MessageCounter } from '../../../tokens/messageCounter';
import type { OutputSample } from '../../summary/expectedOutput';
import type { SentPromptMemory } from '../../summary/promptMemory';
import { NoSummarizerError, type LoadOwnModel, type SelectedSummarizer, type SummarizerModel } from '../../summarizer';
import type { EstimatedCallCollector } from './estimatedCalls';
import { explainDisallowedCost } from '../../summary/runPlan';
import { hashText, type Hash } from '../../../hash';
import type { SummaryPrompt } from '../../summary/prompt';
import { LruMap } from '../../../lruMap';

export interface PassDependencies {
  readonly context: ConversationContext;
  readonly config: SmartConfig;
  readonly tools: ToolTable;
  readonly calls: CallDependencies;
  /** o200k tokens of the messages at which a pass stops. */
  readonly targetTokens: number | undefined;
  readonly weights: FeatureWeights;
  /** Called after each call, whatever its outcome. */
  readonly onCall: (call: ModelCall) => void;
  readonly onNote: (note: string) => void;
}

export interface CallDependencies {
  readonly models: CachingModelSelector;
  readonly counter: MessageCounter;
  readonly budget: SpendingBudget;
  readonly memo: SummaryCache;
  readonly samples: (model: SummarizerModel) => readonly OutputSample[];
  readonly memory: SentPromptMemory;
  /** Vendor of the conversation's own model. */
  readonly vendor: string | undefined;
  readonly parallelCalls: number;
  /** The conversation that is charged for the calls. */
  readonly conversation: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Set for an estimate, which calls no model. */
  readonly estimatedCalls: EstimatedCallCollector | undefined;
}

export interface CostReservation {
  /** In US dollars; if the cost is unknown, the reserved amount counts. */
  settle(cost: number | undefined): void;
}

/** Money to spend on calls; parallel calls cannot spend the same money twice. */
export class SpendingBudget {
  private committedDollars = 0;

  /** @param maxCost in US dollars; undefined for no limit */
  constructor(private readonly maxCost: number | undefined) {}

  /** In US dollars; `Infinity` for no limit. */
  get remainingDollars(): number {
    return this.maxCost === undefined ? Infinity : Math.max(0, this.maxCost - this.committedDollars);
  }

  /** @returns a reason in words if the call is not allowed */
  reserveCost(expectedCost: number | undefined, model: SummarizerModel): CostReservation | string {
    const remainingLimit = this.maxCost === undefined ? undefined : this.remainingDollars;
    const refusalReason = explainDisallowedCost(expectedCost, model, remainingLimit);
    if (refusalReason !== undefined) return refusalReason;
    const reservedDollars = expectedCost ?? 0;
    this.committedDollars += reservedDollars;
    return {
      settle: (cost) => {
        this.committedDollars += (cost ?? reservedDollars) - reservedDollars;
      },
    };
  }
}

/**
 * Without a profile, selects the one for condensing, or the conversation's own model if that cannot
 * be used.
 * @throws NoSummarizerError
 */
export type SelectModel = (
  apiProfile: string | undefined,
  loadOwnModel?: LoadOwnModel,
) => SelectedSummarizer | Promise<SelectedSummarizer>;

export class CachingModelSelector {
  private readonly selections = new Map<string | undefined, Promise<SelectedSummarizer | NoSummarizerError>>();
  private readonly reportedProblems = new Set<string>();

  constructor(
    private readonly select: SelectModel,
    private readonly loadOwnModel: LoadOwnModel | undefined,
  ) {}

  selectSummarizer(apiProfile: string | undefined): Promise<SelectedSummarizer | NoSummarizerError> {
    const cachedSelection = this.selections.get(apiProfile);
    if (cachedSelection) return cachedSelection;
    const pendingSelection = this.selectModel(apiProfile);
    this.selections.set(apiProfile, pendingSelection);
    return pendingSelection;
  }

  get warnings(): readonly string[] {
    return [...this.reportedProblems];
  }

  private async selectModel(apiProfile: string | undefined): Promise<SelectedSummarizer | NoSummarizerError> {
    try {
      const selectedSummarizer = await this.select(apiProfile, this.loadOwnModel);
      if (selectedSummarizer.warning !== undefined) this.reportedProblems.add(selectedSummarizer.warning);
      return selectedSummarizer;
    } catch (error) {
      if (!(error instanceof NoSummarizerError)) throw error;
      this.reportedProblems.add(error.message);
      return error;
    }
  }
}

/** Used if no model is set up. */
export const rejectModelSelection: SelectModel = () => {
  throw new NoSummarizerError('No model for summaries is chosen. Add one, or choose one of the models in VS Code.');
};

/** Promises never reject: if the memo fails, summaries are requested again. */
export interface SummaryCache {
  get(key: Hash): Promise<string | undefined>;
  set(key: Hash, summary: string): Promise<void>;
}

/** Equal requests have equal keys, so that none is paid for twice. */
export const makeSummaryCacheKey = ({ vendor, model }: SummarizerModel, { system, prompt }: SummaryPrompt): Hash =>
  hashText([vendor, model, system, prompt].join('\n\u0000\n'));

const MAX_CACHED_SUMMARIES = 2_000;

export function createSummaryCache(): SummaryCache {
  const summaries = new LruMap<Hash, string>(MAX_CACHED_SUMMARIES);
  return {
    get: (key) => Promise.resolve(summaries.get(key)),
    set(key, summary) {
      summaries.set(key, summary);
      return Promise.resolve();
    },
  };
}
