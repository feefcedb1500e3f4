/** Stands in for the models while a condensation is only estimated. */
import { computeCallCost, sumCosts } from '../../../cost/callCost';
import { sumTokensByKind, type Usage } from '../../../cost/usage';
import type { Hash } from '../../../hash';
import { samplesLike, type OutputSample } from '../../summary/expectedOutput';
import type { SummarizerModel } from '../../summarizer';
import type { Confidence, CondensationEstimate, CostRange } from '../../types';

/** A call that would be made. */
interface EstimatedCall {
  readonly model: SummarizerModel;
  readonly usage: Usage;
  /** The reply's tokens at most, in the model's. */
  readonly limit: number;
  /** How many replies of the kind have been seen. */
  readonly samples: number;
}

/** From so many replies on an estimate is sure. */
const MANY_SAMPLES = 5;
/** By how much replies may differ from what is expected, before and after many were seen. */
const SPREAD = { unsure: { least: 0.4, most: Infinity }, sure: { least: 0.7, most: 1.4 } } as const;

export class EstimatedCalls {
  /** Placeholders given so far, by request: the run would not ask for the same summary again. */
  readonly summaries = new Map<Hash, string>();
  private readonly calls: EstimatedCall[] = [];
  private isStopped = false;

  /** @param maxCost US dollars that may be spent; undefined: no limit */
  constructor(private readonly maxCost?: number) {}

  /** @param askedTokens set for a single content's summary. */
  note(
    model: SummarizerModel,
    usage: Usage,
    limit: number,
    samples: readonly OutputSample[],
    askedTokens?: number,
  ): void {
    this.calls.push({ model, usage, limit, samples: samplesLike(samples, askedTokens).length });
  }

  /** Notes that the limit of the cost keeps a call from being made; it may be made after all if earlier ones cost less. */
  noteStop(): void {
    this.isStopped = true;
  }

  /** Tokens and cost of the calls, and how sure they are, as an estimate tells them. */
  get figures(): Pick<CondensationEstimate, 'callTokens' | 'costRange' | 'confidence'> {
    if (this.calls.length === 0) return {};
    const { confidence } = this;
    const spread = confidence === 'high' ? SPREAD.sure : SPREAD.unsure;
    const least = this.costWith(({ usage }) => usage.outputTokens * spread.least);
    const most = this.costWith(({ usage, limit }) =>
      // What may be infinitely longer than nothing is as long as the limit.
      spread.most === Infinity ? limit : Math.min(limit, usage.outputTokens * spread.most),
    );
    const callTokens = sumTokensByKind(this.calls.map(({ usage }) => usage));
    const isKnown = least !== undefined && most !== undefined;
    return { confidence, callTokens, ...(isKnown && { costRange: this.withinLimit({ least, most }) }) };
  }

  /**
   * The range up to the limit, at which the run stops. (A call begins if its expected cost still fits, so longer replies of the calls then
   * under way can take the cost a little above it.)
   */
  private withinLimit({ least, most }: CostRange): CostRange {
    const { maxCost, isStopped } = this;
    // No limit keeps a model from being called whose calls are paid for already.
    if (maxCost === undefined || this.calls.some(({ model }) => model.billing === 'included')) return { least, most };
    if (most <= maxCost && !isStopped) return { least, most };
    return { least: Math.min(least, maxCost), most: maxCost, endsAtLimit: true };
  }

  private get confidence(): Confidence {
    const fewest = Math.min(...this.calls.map(({ samples }) => samples));
    return fewest === 0 ? 'low' : fewest < MANY_SAMPLES ? 'medium' : 'high';
  }

  private costWith(outputTokens: (call: EstimatedCall) => number): number | undefined {
    return sumCosts(
      this.calls.map((call) => computeCallCost({ ...call.usage, outputTokens: outputTokens(call) }, call.model.prices)),
    );
  }
}
