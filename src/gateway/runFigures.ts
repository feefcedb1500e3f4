/** The figures of a run of the gateway. */
import { callCost, costWithTokens, sumOfCosts } from '../core/cost/callCost';
import type { ModelPrices } from '../core/cost/prices';
import { promptTokens, type Usage } from '../core/cost/usage';

/** A run in figures. Tokens are the models', as the vendors reported them. */
export interface RunSummary {
  /** Requests that were read and answered. */
  readonly requests: number;
  /** Those of them for which the vendor reported no usage, or none that makes sense: they are in no cost. */
  readonly unreported: number;
  /** Those of them that went out shorter than they came. */
  readonly condensed: number;
  /** Prompt tokens of all requests, and those that were left out; by our own count where none were reported. */
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
  /** Absent for a request of no conversation. */
  readonly conversation?: string;
  /** Undefined where the vendor reported none that makes sense. */
  readonly usage: Usage | undefined;
  /** The prompt as it was sent, by our own count, in the model's tokens. */
  readonly tokens: number;
  readonly prices: ModelPrices | undefined;
  /** Tokens of the model that were left out. */
  readonly savedTokens: number;
  /** True where this request was the first with a new condensation. */
  readonly breaksCache: boolean;
}

/** Adds up what was answered. */
export class RunFigures {
  private requests = 0;
  private unreported = 0;
  private condensed = 0;
  private sentTokens = 0;
  private savedTokens = 0;
  private readonly costs: (number | undefined)[] = [];
  private readonly costsWithout: (number | undefined)[] = [];
  /** Tokens of each conversation's last prompt, had it been sent whole. */
  private readonly before = new Map<string, number>();

  add({ conversation = '', usage, tokens, prices, savedTokens, breaksCache }: AnsweredRequest): void {
    const sent = usage ? promptTokens(usage) : Math.round(tokens);
    const whole = sent + savedTokens;
    this.requests++;
    if (savedTokens > 0) this.condensed++;
    this.sentTokens += sent;
    this.savedTokens += savedTokens;
    const before = conversation === '' ? 0 : (this.before.get(conversation) ?? 0);
    this.before.set(conversation, whole);
    if (!usage) {
      this.unreported++;
      return;
    }
    this.costs.push(callCost(usage, prices));
    const isCached = usage.cacheReadTokens > 0 || (breaksCache && usage.cacheWriteTokens > 0);
    const read = isCached ? Math.min(whole, before) : 0;
    const written = usage.cacheWriteTokens > 0 ? whole - read : 0;
    const without: Usage = {
      ...usage,
      inputTokens: usage.accounting === 'openai' ? whole : whole - read - written,
      cacheReadTokens: read,
      cacheWriteTokens: written,
    };
    const changed = savedTokens > 0 || breaksCache;
    this.costsWithout.push(changed ? costWithTokens(usage, without, prices) : callCost(usage, prices));
  }

  summary(): RunSummary {
    const { requests, unreported, condensed, sentTokens, savedTokens } = this;
    // Of no request at all nothing is known, and not that it was free.
    const cost = this.costs.length === 0 ? undefined : sumOfCosts(this.costs);
    const costWithout = this.costs.length === 0 ? undefined : sumOfCosts(this.costsWithout);
    return {
      requests,
      unreported,
      condensed,
      sentTokens,
      savedTokens,
      ...(cost !== undefined && { cost }),
      ...(costWithout !== undefined && { costWithout }),
    };
  }
}
