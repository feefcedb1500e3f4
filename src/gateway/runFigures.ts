/** The figures of a run of the gateway. */
import { callCost, costWithTokens, sumOfCosts } from '../core/cost/callCost';
import type { ModelPrices } from '../core/cost/prices';
import { promptTokens, type Usage } from '../core/cost/usage';

/** A run in figures. Tokens are the models', as the vendors reported them. */
export interface RunSummary {
  /** Steps of an agent's task that were answered. */
  readonly requests: number;
  /** Those of them that went out shorter than they came. */
  readonly condensed: number;
  /** Prompt tokens of all requests, and those that were left out. */
  readonly sentTokens: number;
  readonly savedTokens: number;
  /** US dollars, by the reported usage; absent where a price is not known. */
  readonly cost?: number;
  /**
   * US dollars that the same requests would have cost uncondensed: what was sent before read from the cache, as far as the
   * vendor's cache was warm, and what is new paid as the vendor's report shows it. Absent where the price of what was left out is not
   * known, also where the vendor says what it charged.
   */
  readonly costWithout?: number;
}

/** An answered request. */
export interface AnsweredRequest {
  readonly conversation: string;
  readonly usage: Usage;
  readonly prices: ModelPrices | undefined;
  /** Tokens of the model that were left out. */
  readonly savedTokens: number;
  /** True where this request was the first with a new condensation. */
  readonly breaksCache: boolean;
}

/** Adds up what was answered. */
export class RunFigures {
  private requests = 0;
  private condensed = 0;
  private sentTokens = 0;
  private savedTokens = 0;
  private readonly costs: (number | undefined)[] = [];
  private readonly costsWithout: (number | undefined)[] = [];
  /** Tokens of each conversation's last prompt, had it been sent whole. */
  private readonly before = new Map<string, number>();

  add({ conversation, usage, prices, savedTokens, breaksCache }: AnsweredRequest): void {
    const sent = promptTokens(usage);
    const whole = sent + savedTokens;
    this.requests++;
    if (savedTokens > 0) this.condensed++;
    this.sentTokens += sent;
    this.savedTokens += savedTokens;
    this.costs.push(callCost(usage, prices));
    const isCached = usage.cacheReadTokens > 0 || (breaksCache && usage.cacheWriteTokens > 0);
    const read = isCached ? Math.min(whole, this.before.get(conversation) ?? 0) : 0;
    const written = usage.cacheWriteTokens > 0 ? whole - read : 0;
    const without: Usage = {
      ...usage,
      inputTokens: usage.accounting === 'openai' ? whole : whole - read - written,
      cacheReadTokens: read,
      cacheWriteTokens: written,
    };
    const changed = savedTokens > 0 || breaksCache;
    this.costsWithout.push(changed ? costWithTokens(usage, without, prices) : callCost(usage, prices));
    this.before.set(conversation, whole);
  }

  summary(): RunSummary {
    const { requests, condensed, sentTokens, savedTokens } = this;
    const cost = sumOfCosts(this.costs);
    const costWithout = sumOfCosts(this.costsWithout);
    return {
      requests,
      condensed,
      sentTokens,
      savedTokens,
      ...(cost !== undefined && { cost }),
      ...(costWithout !== undefined && { costWithout }),
    };
  }
}
