/** The answers to a conversation's requests: what they show of the model's cache, and what they cost. */
import { callCost } from '../core/cost/callCost';
import type { Usage } from '../core/cost/usage';
import { answeredLast, type AnsweredLast } from './cacheState';
import type { PreparedRequest } from './request';
import type { TokenLearning } from './tokenLearning';

export class AnsweredRequests {
  /** The last answered request, by the model's key. */
  private readonly last = new Map<string, AnsweredLast>();
  private lastMessages = 0;
  private cost: number | undefined = 0;

  get byModel(): ReadonlyMap<string, AnsweredLast> {
    return this.last;
  }

  /** Messages of the view that the model last answered. */
  get lastSent(): number {
    return this.lastMessages;
  }

  /** US dollars; undefined once an answer's cost was not known. */
  get spent(): number | undefined {
    return this.cost;
  }

  /** A request was paid for, also one that broke off. */
  paid({ model }: PreparedRequest, usage: Usage | undefined): void {
    const cost = usage && callCost(usage, model.prices);
    this.cost = this.cost === undefined || cost === undefined ? undefined : this.cost + cost;
  }

  /** The model answered a request. */
  answered(
    { began, model, messages, outcome }: PreparedRequest,
    usage: Usage | undefined,
    learning: TokenLearning,
  ): void {
    // A cache's time counts from the request's beginning, where it was read or written.
    const before = this.last.get(model.key);
    const ageMs = before && !outcome ? began - before.began : undefined;
    const isWarm = ageMs !== undefined && ageMs < (learning.cacheSpan(model)?.warmMs ?? 0);
    if (usage && ageMs !== undefined) learning.cacheAnswered(model, ageMs, usage);
    this.last.set(model.key, answeredLast(began, usage, isWarm));
    this.lastMessages = messages.length;
  }
}
