import { computeCallCost } from '../core/cost/callCost';
import type { Usage } from '../core/cost/usage';
import { makeLastAnsweredRequest, type LastAnsweredRequest } from './cacheState';
import type { PreparedRequest } from './request';
import type { TokenLearning } from './tokenLearning';

export class AnsweredRequests {
  private readonly lastByModel = new Map<string, LastAnsweredRequest>();
  private lastMessages = 0;
  private cost: number | undefined = 0;

  get byModel(): ReadonlyMap<string, LastAnsweredRequest> {
    return this.lastByModel;
  }

  /** Number of messages in the view that was last answered. */
  get lastSent(): number {
    return this.lastMessages;
  }

  /** US dollars of all answers; undefined after an answer of unknown cost. */
  get spent(): number | undefined {
    return this.cost;
  }

  /** Adds a request's cost, even if the answer was cut off. */
  recordCost({ model }: PreparedRequest, usage: Usage | undefined): void {
    const cost = usage && computeCallCost(usage, model.prices);
    this.cost = this.cost === undefined || cost === undefined ? undefined : this.cost + cost;
  }

  recordAnswered(
    { began, model, messages, outcome }: PreparedRequest,
    usage: Usage | undefined,
    learning: TokenLearning,
  ): void {
    // A cache's lifetime counts from the start of the request.
    const previousRequest = this.lastByModel.get(model.key);
    const ageMs = previousRequest && !outcome ? began - previousRequest.began : undefined;
    const isWarm = ageMs !== undefined && ageMs < (learning.getCacheLifespan(model)?.warmMs ?? 0);
    if (usage && ageMs !== undefined) learning.learnCacheLifespan(model, ageMs, usage);
    this.lastByModel.set(model.key, makeLastAnsweredRequest(began, usage, isWarm));
    this.lastMessages = messages.length;
  }
}
