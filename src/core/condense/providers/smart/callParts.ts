import type { MessageCounter } from '../../../tokens/messageCounter';
import type { OutputSample } from '../../summary/expectedOutput';
import type { PromptMemory } from '../../summary/promptMemory';
import type { SummarizerModel } from '../../summary/summarizer';
import type { Budget } from './budget';
import type { Forecast } from './forecast';
import type { Models } from './models';
import type { SummaryMemo } from './summaryMemo';

/** What the calls of a condensation need to know and may use. */
export interface CallParts {
  readonly models: Models;
  readonly counter: MessageCounter;
  readonly budget: Budget;
  readonly memo: SummaryMemo;
  /** What earlier calls of a model taught about the length of its replies. */
  readonly samples: (model: SummarizerModel) => readonly OutputSample[];
  readonly memory: PromptMemory;
  /** Who the conversation's own model belongs to. */
  readonly vendor: string | undefined;
  readonly parallelCalls: number;
  readonly signal: AbortSignal | undefined;
  /** Set while the condensation is only estimated: no model is called, and nothing else differs. */
  readonly forecast: Forecast | undefined;
}
