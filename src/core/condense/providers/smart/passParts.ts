import type { ToolTable } from '../../../messages/tools';
import type { ConversationContext, ModelCall } from '../../types';
import type { SmartConfig } from './config';
import type { Weights } from '../../relevance/relevance';
import type { MessageCounter } from '../../../tokens/messageCounter';
import type { OutputSample } from '../../summary/expectedOutput';
import type { PromptMemory } from '../../summary/promptMemory';
import { NoSummarizerError, type OwnModel, type SelectedSummarizer, type SummarizerModel } from '../../summarizer';
import type { EstimatedCalls } from './estimatedCalls';
import { overBudget } from '../../summary/runPlan';
import { hashText, type Hash } from '../../../hash';
import type { Prompt } from '../../summary/prompt';
import { LruMap } from '../../../lruMap';

/** The parts of a pass, beside the draft. */
export interface PassParts {
  readonly context: ConversationContext;
  readonly config: SmartConfig;
  readonly tools: ToolTable;
  readonly calls: CallParts;
  /** o200k tokens of the messages at which a pass stops. */
  readonly targetTokens: number | undefined;
  /** The model that tells how likely a block is to be needed. */
  readonly weights: Weights;
  /** Told what a pass is doing, in words. */
  readonly onProgress: (doing: string) => void;
  /** Told after each call, whatever came of it. */
  readonly onCall: (call: ModelCall) => void;
  /** Told what a person should know of a pass. */
  readonly onNote: (note: string) => void;
}

/** The parts of a condensation's calls. */
export interface CallParts {
  readonly models: Models;
  readonly counter: MessageCounter;
  readonly budget: Budget;
  readonly memo: SummaryMemo;
  /** Lengths of the replies in earlier calls of a model. */
  readonly samples: (model: SummarizerModel) => readonly OutputSample[];
  readonly memory: PromptMemory;
  /** Who the conversation's own model belongs to. */
  readonly vendor: string | undefined;
  readonly parallelCalls: number;
  /** Whose costs the calls are. */
  readonly conversation: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Set while the condensation is only estimated: no model is called, and nothing else differs. */
  readonly estimatedCalls: EstimatedCalls | undefined;
}

/** Money set aside for one call. */
export interface Reservation {
  /** US dollars that the call cost in the end; undefined where that is not known: then what was set aside counts. */
  settle(cost: number | undefined): void;
}

/** The budget of a condensation. Calls that run at the same time can't spend the same dollar twice. */
export class Budget {
  private committed = 0;

  /** @param maxCost US dollars; undefined: no limit. */
  constructor(private readonly maxCost: number | undefined) {}

  /** US dollars; `Infinity` where there is no limit. */
  get left(): number {
    return this.maxCost === undefined ? Infinity : Math.max(0, this.maxCost - this.committed);
  }

  /**
   * Sets the expected cost of a call aside.
   * @returns why it is not allowed, in words, where it isn't.
   */
  reserve(expected: number | undefined, model: SummarizerModel): Reservation | string {
    const limit = this.maxCost === undefined ? undefined : this.left;
    const over = overBudget(expected, model, limit);
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
 * The model of a profile; of none the one that is chosen for condensing, and where that can't be used the conversation's own.
 * @throws NoSummarizerError
 */
export type SelectModel = (
  apiProfile: string | undefined,
  own?: OwnModel,
) => SelectedSummarizer | Promise<SelectedSummarizer>;

/** The models of one condensation: each profile is asked for once. */
export class Models {
  private readonly asked = new Map<string | undefined, Promise<SelectedSummarizer | NoSummarizerError>>();
  private readonly reported = new Set<string>();

  /** @param own the conversation's own model. */
  constructor(
    private readonly select: SelectModel,
    private readonly own: OwnModel | undefined,
  ) {}

  /** The model of a profile, or why there is none. */
  of(apiProfile: string | undefined): Promise<SelectedSummarizer | NoSummarizerError> {
    const known = this.asked.get(apiProfile);
    if (known) return known;
    const asking = this.ask(apiProfile);
    this.asked.set(apiProfile, asking);
    return asking;
  }

  /** Notes for a person about the chosen models. */
  get warnings(): readonly string[] {
    return [...this.reported];
  }

  private async ask(apiProfile: string | undefined): Promise<SelectedSummarizer | NoSummarizerError> {
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

/** Used where no model is set up: every pass does what it can without one. */
export const noModel: SelectModel = () => {
  throw new NoSummarizerError(
    'No model is set up for condensing. Add an API profile, or choose one of the models in VS Code.',
  );
};

/**
 * Summaries that were paid for, by what they were made from. Neither rejects: without a memo a summary is asked for
 * anew.
 */
export interface SummaryMemo {
  get(key: Hash): Promise<string | undefined>;
  set(key: Hash, summary: string): Promise<void>;
}

/** The same request to the same model is not paid for twice. */
export const memoKey = ({ vendor, model }: SummarizerModel, { system, prompt }: Prompt): Hash =>
  hashText([vendor, model, system, prompt].join('\n\u0000\n'));

const REMEMBERED = 2_000;

/** Remembers as long as the process lives; the oldest goes when it is full. */
export function memoryMemo(): SummaryMemo {
  const known = new LruMap<Hash, string>(REMEMBERED);
  return {
    get: (key) => Promise.resolve(known.get(key)),
    set(key, summary) {
      known.set(key, summary);
      return Promise.resolve();
    },
  };
}
