/** Stands in for the models while a condensation is only estimated. */
import { callCost, sumOfCosts } from '../../../cost/callCost';
import type { Usage } from '../../../cost/usage';
import type { Hash } from '../../../hash';
import { samplesLike, type OutputSample } from '../../summary/expectedOutput';
import type { SummarizerModel } from '../../summary/summarizer';
import type { Confidence, CondensationEstimate } from '../../types';

/** A call that would be made. */
interface ForecastCall {
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

export class Forecast {
  /** Placeholders given so far, by request: the run would not ask for the same summary again. */
  readonly summaries = new Map<Hash, string>();
  private readonly calls: ForecastCall[] = [];

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

  /** Range of the cost and confidence, as an estimate tells them. */
  get outlook(): Pick<CondensationEstimate, 'costRange' | 'confidence'> {
    if (this.calls.length === 0) return {};
    const { confidence } = this;
    const spread = confidence === 'high' ? SPREAD.sure : SPREAD.unsure;
    const least = this.costWith(({ usage }) => usage.outputTokens * spread.least);
    const most = this.costWith(({ usage, limit }) => Math.min(limit, usage.outputTokens * spread.most));
    return { confidence, ...(least !== undefined && most !== undefined && { costRange: { least, most } }) };
  }

  private get confidence(): Confidence {
    const fewest = Math.min(...this.calls.map(({ samples }) => samples));
    return fewest === 0 ? 'low' : fewest < MANY_SAMPLES ? 'medium' : 'high';
  }

  private costWith(outputTokens: (call: ForecastCall) => number): number | undefined {
    return sumOfCosts(
      this.calls.map((call) => callCost({ ...call.usage, outputTokens: outputTokens(call) }, call.model.prices)),
    );
  }
}
