import type { ToolTable } from '../../../messages/tools';
import type { ConversationContext, ModelCall } from '../../types';
import type { SmartConfig } from './config';
import type { Weights } from '../../relevance/relevance';
import type { MessageCounter } from '../../../tokens/messageCounter';
import type { OutputSample } from '../../summary/expectedOutput';
import type { PromptMemory } from '../../summary/promptMemory';
import { NoSummarizerError, type LoadOwnModel, type SelectedSummarizer, type SummarizerModel } from '../../summarizer';
import type { EstimatedCalls } from './estimatedCalls';
import { explainRefusal } from '../../summary/runPlan';
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
  /** Weights that predict how likely a block is to be needed. */
  readonly weights: Weights;
  /** Called after each call, whatever its outcome. */
  readonly onCall: (call: ModelCall) => void;
  /** Reports what a person should know about a pass. */
  readonly onNote: (note: string) => void;
}

export interface CallDependencies {
  readonly models: ModelSelector;
  readonly counter: MessageCounter;
  readonly budget: Budget;
  readonly memo: SummaryMemo;
  /** Lengths of a model's earlier replies. */
  readonly samples: (model: SummarizerModel) => readonly OutputSample[];
  readonly memory: PromptMemory;
  /** Vendor of the conversation's own model. */
  readonly vendor: string | undefined;
  readonly parallelCalls: number;
  /** The conversation that is charged. */
  readonly conversation: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Set if the condensation is only estimated: no model is called, and the rest is the same. */
  readonly estimatedCalls: EstimatedCalls | undefined;
}

/** Money reserved for one call. */
export interface Reservation {
  /**
   * The call's actual US dollars; undefined if unknown, in which case the reserved amount counts.
   */
  settle(cost: number | undefined): void;
}

/** The budget of a condensation. Parallel calls can't spend the same money twice. */
export class Budget {
  private committed = 0;

  /** @param maxCost in US dollars; undefined for no limit */
  constructor(private readonly maxCost: number | undefined) {}

  /** In US dollars; `Infinity` for no limit. */
  get left(): number {
    return this.maxCost === undefined ? Infinity : Math.max(0, this.maxCost - this.committed);
  }

  /**
   * Reserves the expected cost of a call.
   * @returns a reason in words if it is not allowed
   */
  reserve(expected: number | undefined, model: SummarizerModel): Reservation | string {
    const limit = this.maxCost === undefined ? undefined : this.left;
    const over = explainRefusal(expected, model, limit);
    if (over !== undefined) return over;
    const held = expected ?? 0;
    this.committed += held;
    return {
      settle: (cost) => {
        this.committed += (cost ?? held) - held;
      },
    };
  }
}

/**
 * Selects a profile's model; without a profile the one for condensing, or the conversation's own if
 * that can't be used.
 * @throws NoSummarizerError
 */
export type SelectModel = (
  apiProfile: string | undefined,
  own?: LoadOwnModel,
) => SelectedSummarizer | Promise<SelectedSummarizer>;

/** The models of one condensation; each profile is selected once. */
export class ModelSelector {
  private readonly asked = new Map<string | undefined, Promise<SelectedSummarizer | NoSummarizerError>>();
  private readonly reported = new Set<string>();

  /** @param own the conversation's own model */
  constructor(
    private readonly select: SelectModel,
    private readonly own: LoadOwnModel | undefined,
  ) {}

  /** The model of a profile, or why there is none. */
  selectSummarizer(apiProfile: string | undefined): Promise<SelectedSummarizer | NoSummarizerError> {
    const known = this.asked.get(apiProfile);
    if (known) return known;
    const asking = this.selectModel(apiProfile);
    this.asked.set(apiProfile, asking);
    return asking;
  }

  /** Notes for a person about the selected models. */
  get warnings(): readonly string[] {
    return [...this.reported];
  }

  private async selectModel(apiProfile: string | undefined): Promise<SelectedSummarizer | NoSummarizerError> {
    try {
      const selected = await this.select(apiProfile, this.own);
      if (selected.warning !== undefined) this.reported.add(selected.warning);
      return selected;
    } catch (error) {
      if (!(error instanceof NoSummarizerError)) throw error;
      this.reported.add(error.message);
      return error;
    }
  }
}

/** Used if no model is set up: every pass does what it can without one. */
export const rejectModelSelection: SelectModel = () => {
  throw new NoSummarizerError(
    'No model is set up for condensing. Add an API profile, or choose one of the models in VS Code.',
  );
};

/**
 * Paid summaries by their inputs. Promises never reject: without a memo, summaries are requested
 * again.
 */
export interface SummaryMemo {
  get(key: Hash): Promise<string | undefined>;
  set(key: Hash, summary: string): Promise<void>;
}

/** Identifies a request to a model, so that it is not paid for twice. */
export const getMemoKey = ({ vendor, model }: SummarizerModel, { system, prompt }: SummaryPrompt): Hash =>
  hashText([vendor, model, system, prompt].join('\n\u0000\n'));

const MAX_CACHED_SUMMARIES = 2_000;

/** Remembers within the process; drops the oldest when full. */
export function createMemo(): SummaryMemo {
  const known = new LruMap<Hash, string>(MAX_CACHED_SUMMARIES);
  return {
    get: (key) => Promise.resolve(known.get(key)),
    set(key, summary) {
      known.set(key, summary);
      return Promise.resolve();
    },
  };
}
