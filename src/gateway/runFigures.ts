import { computeCallCost, computeCostForOtherUsage, sumCosts } from '../core/cost/callCost';
import type { ModelPrices } from '../core/cost/prices';
import { countPromptTokens, type Usage } from '../core/cost/usage';

/** Figures of a gateway's run. Tokens are as the models count them and vendors report them. */
export interface GatewayRunSummary {
  readonly requests: number;
  /** Number of requests without plausible reported usage, which no cost includes. */
  readonly unreported: number;
  readonly condensed: number;
  /** Prompt tokens, by our own count if the vendor reported none. */
  readonly sentTokens: number;
  readonly savedTokens: number;
  /** US dollars for the reported usage; absent if a price is unknown. */
  readonly cost?: number;
  /**
   * Estimated US dollars without condensing. If the cache was warm, earlier content counts as read
   * from it. Absent if a price is unknown or the vendor reports its charge.
   */
  readonly costWithout?: number;
}

export interface AnsweredRequest {
  readonly conversation?: string;
  /** Undefined if no plausible usage was reported. */
  readonly usage: Usage | undefined;
  /** Our own count of the prompt, in the model's tokens. */
  readonly tokens: number;
  readonly prices: ModelPrices | undefined;
  readonly savedTokens: number;
  /** True for the first request with a new condensation, which changes the cached prompt. */
  readonly breaksCache: boolean;
}

export class GatewayRunFigures {
  private requests = 0;
  private unreported = 0;
  private condensed = 0;
  private sentTokens = 0;
  private savedTokens = 0;
  private readonly costs: (number | undefined)[] = [];
  private readonly costsWithout: (number | undefined)[] = [];
  /** By conversation, the tokens that its last prompt would have had without condensing. */
  private readonly tokensBeforeByConversation = new Map<string, number>();

  addRequest({ conversation = '', usage, tokens, prices, savedTokens, breaksCache }: AnsweredRequest): void {
    const sentTokens = usage ? countPromptTokens(usage) : Math.round(tokens);
    const uncondensedTokens = sentTokens + savedTokens;
    this.requests++;
    if (savedTokens > 0) this.condensed++;
    this.sentTokens += sentTokens;
    this.savedTokens += savedTokens;
    const tokensBefore = conversation === '' ? 0 : (this.tokensBeforeByConversation.get(conversation) ?? 0);
    this.tokensBeforeByConversation.set(conversation, uncondensedTokens);
    if (!usage) {
      this.unreported++;
      return;
    }
    this.costs.push(computeCallCost(usage, prices));
    const isCached = usage.cacheReadTokens > 0 || (breaksCache && usage.cacheWriteTokens > 0);
    const readTokens = isCached ? Math.min(uncondensedTokens, tokensBefore) : 0;
    const writtenTokens = usage.cacheWriteTokens > 0 ? uncondensedTokens - readTokens : 0;
    const uncondensedUsage: Usage = {
      ...usage,
      inputTokens: usage.accounting === 'openai' ? uncondensedTokens : uncondensedTokens - readTokens - writtenTokens,
      cacheReadTokens: readTokens,
      cacheWriteTokens: writtenTokens,
    };
    const isCostChanged = savedTokens > 0 || breaksCache;
    this.costsWithout.push(
      isCostChanged ? computeCostForOtherUsage(usage, uncondensedUsage, prices) : computeCallCost(usage, prices),
    );
  }

  summarizeRun(): GatewayRunSummary {
    const { requests, unreported, condensed, sentTokens, savedTokens } = this;
    const cost = this.costs.length === 0 ? undefined : sumCosts(this.costs);
    const costWithout = this.costs.length === 0 ? undefined : sumCosts(this.costsWithout);
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
