/** Stands in for the models while a condensation is only estimated. */
import { callCost, sumOfCosts } from '../../../cost/callCost';
import { tokensByKind, type Usage } from '../../../cost/usage';
import type { Hash } from '../../../hash';
import { samplesLike, type OutputSample } from '../../summary/expectedOutput';
import type { SummarizerModel } from '../../summarizer';
import type { Confidence, CondensationEstimate } from '../../types';

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

/** What ends a run early. */
interface RunLimits {
  /** US dollars that may be spent; undefined: no limit. */
  readonly maxCost: number | undefined;
  /** Calls that may be under way at the same time. */
  readonly parallelCalls: number;
}

export class EstimatedCalls {
  /** Placeholders given so far, by request: the run would not ask for the same summary again. */
  readonly summaries = new Map<Hash, string>();
  private readonly calls: EstimatedCall[] = [];
  private isStopped = false;

  constructor(private readonly limits: RunLimits = { maxCost: undefined, parallelCalls: 1 }) {}

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
    const most = this.mostWith(({ usage, limit }) =>
      // What may be infinitely longer than nothing is as long as the limit.
      spread.most === Infinity ? limit : Math.min(limit, usage.outputTokens * spread.most),
    );
    const callTokens = tokensByKind(this.calls.map(({ usage }) => usage));
    return { confidence, callTokens, ...(least !== undefined && most !== undefined && { costRange: { least, most } }) };
  }

  /**
   * The most that a run can cost. A call begins only if its expected cost fits into what is left of the limit, so the limit can
   * be exceeded by no more than what the calls then under way cost above their expectation.
   */
  private mostWith(outputTokens: (call: EstimatedCall) => number): number | undefined {
    const all = this.costWith(outputTokens);
    const { maxCost, parallelCalls } = this.limits;
    if (all === undefined || maxCost === undefined) return all;
    // No limit keeps a model from being called whose calls are paid for already.
    if (this.calls.some(({ model }) => model.billing === 'included')) return all;
    const excess = this.calls
      .map((call) => costOf(call, outputTokens(call)) - costOf(call, call.usage.outputTokens))
      .toSorted((a, b) => b - a)
      .slice(0, parallelCalls)
      .reduce((sum, each) => sum + Math.max(0, each), 0);
    return this.isStopped ? maxCost + excess : Math.min(all, maxCost + excess);
  }

  private get confidence(): Confidence {
    const fewest = Math.min(...this.calls.map(({ samples }) => samples));
    return fewest === 0 ? 'low' : fewest < MANY_SAMPLES ? 'medium' : 'high';
  }

  private costWith(outputTokens: (call: EstimatedCall) => number): number | undefined {
    return sumOfCosts(
      this.calls.map((call) => callCost({ ...call.usage, outputTokens: outputTokens(call) }, call.model.prices)),
    );
  }
}

/** US dollars of a call with a known price. */
const costOf = ({ usage, model }: EstimatedCall, outputTokens: number): number =>
  callCost({ ...usage, outputTokens }, model.prices) ?? 0;
