/** Replaces the models while a condensation is only estimated. */
import { computeCallCost, sumCosts } from '../../../cost/callCost';
import { sumTokensByKind, type Usage } from '../../../cost/usage';
import type { Hash } from '../../../hash';
import { selectSimilarSamples, type OutputSample } from '../../summary/expectedOutput';
import type { SummarizerModel } from '../../summarizer';
import type { Confidence, CondensationEstimate, CostRange } from '../../types';

interface EstimatedCall {
  readonly model: SummarizerModel;
  readonly usage: Usage;
  /** Limit of the reply, in the model's tokens. */
  readonly limit: number;
  readonly samples: number;
}

/** An estimate based on this many replies is reliable. */
const MIN_SAMPLES_FOR_SURE_LENGTH = 5;
/** Bounds of a reply's length relative to the expected one. */
const REPLY_LENGTH_SPREAD = { unsure: { least: 0.4, most: Infinity }, sure: { least: 0.7, most: 1.4 } } as const;

export class EstimatedCallCollector {
  /** Texts that stand in for summaries; the same request gets the same text. */
  readonly summaries = new Map<Hash, string>();
  private readonly calls: EstimatedCall[] = [];
  private isStopped = false;

  /** @param maxCost in US dollars; undefined for no limit */
  constructor(private readonly maxCost?: number) {}

  /**
   * @param askedTokens limit in o200k tokens of a single content's summary; absent for a
   *   conversation's summary
   */
  addCall(
    model: SummarizerModel,
    usage: Usage,
    limit: number,
    samples: readonly OutputSample[],
    askedTokens?: number,
  ): void {
    this.calls.push({ model, usage, limit, samples: selectSimilarSamples(samples, askedTokens).length });
  }

  /**
   * Call this if the cost limit prevents a call. The call may still happen if earlier ones cost
   * less.
   */
  stopCounting(): void {
    this.isStopped = true;
  }

  get figures(): Pick<CondensationEstimate, 'callTokens' | 'costRange' | 'confidence'> {
    if (this.calls.length === 0) return {};
    const { confidence } = this;
    const lengthSpread = confidence === 'high' ? REPLY_LENGTH_SPREAD.sure : REPLY_LENGTH_SPREAD.unsure;
    const lowestCost = this.getCost(({ usage }) => usage.outputTokens * lengthSpread.least);
    const highestCost = this.getCost(({ usage, limit }) =>
      lengthSpread.most === Infinity ? limit : Math.min(limit, usage.outputTokens * lengthSpread.most),
    );
    const callTokens = sumTokensByKind(this.calls.map(({ usage }) => usage));
    const isCostKnown = lowestCost !== undefined && highestCost !== undefined;
    return {
      confidence,
      callTokens,
      ...(isCostKnown && { costRange: this.capAtCostLimit({ least: lowestCost, most: highestCost }) }),
    };
  }

  /** The run may end a little above the limit: a call begins if its expected cost still fits. */
  private capAtCostLimit({ least: lowest, most: highest }: CostRange): CostRange {
    const { maxCost, isStopped } = this;
    // Cost limits do not stop calls that are not paid by the token.
    if (maxCost === undefined || this.calls.some(({ model }) => model.billing === 'included'))
      return { least: lowest, most: highest };
    if (highest <= maxCost && !isStopped) return { least: lowest, most: highest };
    return { least: Math.min(lowest, maxCost), most: maxCost, endsAtLimit: true };
  }

  private get confidence(): Confidence {
    const fewestSamples = Math.min(...this.calls.map(({ samples }) => samples));
    return fewestSamples === 0 ? 'low' : fewestSamples < MIN_SAMPLES_FOR_SURE_LENGTH ? 'medium' : 'high';
  }

  private getCost(outputTokens: (call: EstimatedCall) => number): number | undefined {
    return sumCosts(
      this.calls.map((call) => computeCallCost({ ...call.usage, outputTokens: outputTokens(call) }, call.model.prices)),
    );
  }
}
