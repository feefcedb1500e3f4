import { promptTokens, type Usage } from '../core/cost/usage';
import { thresholdPoint } from '../core/condense/trigger/automatic';
import { allowedTokens, reservedOutput } from '../core/condense/trigger/thresholds';
import type { Overflow } from '../api/tooLong';
import type { UpstreamModel } from './request';

/** No tokenizer is further from o200k than this; a report that says so is wrong. */
const FACTOR_BOUNDS = { least: 0.5, most: 5 } as const;
/** Weight of the newest answer; the content of a conversation changes slowly. */
const WEIGHT = 0.3;
/** Shorter requests say little: what is fixed weighs too much. */
const MIN_TOKENS = 500;
/** Of a request that was refused as too long, the share that is tried again. */
const REFUSED_SHARE = 0.9;

/** Tokens that are kept free for an answer when it is decided what fits. */
export const reservedOf = ({
  contextWindow,
  threshold,
  maxOutputTokens,
  reservedOutput: wanted,
}: UpstreamModel): number =>
  reservedOutput({
    contextWindow,
    threshold: thresholdPoint(threshold),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(wanted !== undefined && { wanted }),
  });

const bounded = (factor: number): number => Math.min(FACTOR_BOUNDS.most, Math.max(FACTOR_BOUNDS.least, factor));

interface Learned {
  factor?: number;
  /** The window that a refusal named, where it is smaller than was believed. */
  window?: number;
  /** O200k tokens of the shortest request that was refused as too long. */
  refused?: number;
}

/** What models' answers taught about their tokens, by the model's key. */
export class TokenLearning {
  private readonly models = new Map<string, Learned>();

  /** The model's tokens for one o200k token. */
  factor({ key, tokenFactor = 1 }: UpstreamModel): number {
    return this.models.get(key)?.factor ?? tokenFactor;
  }

  /** O200k tokens that a request may have, all that is sent counted. */
  fitting(model: UpstreamModel): number {
    const allowed = Math.floor(allowedTokens(model.contextWindow, reservedOf(model)) / this.factor(model));
    const refused = this.models.get(model.key)?.refused;
    return Math.max(0, refused === undefined ? allowed : Math.min(allowed, Math.floor(refused * REFUSED_SHARE)));
  }

  /** @param counted o200k tokens of the request that was answered. */
  answered(model: UpstreamModel, counted: number, usage: Usage): void {
    const learned = this.of(model);
    if (learned.refused !== undefined && counted >= learned.refused) delete learned.refused;
    const reported = promptTokens(usage);
    if (usage.source !== 'reported' || counted < MIN_TOKENS || reported <= 0) return;
    const sample = bounded(reported / counted);
    learned.factor = learned.factor === undefined ? sample : learned.factor + WEIGHT * (sample - learned.factor);
  }

  /** @param overflow what the vendor said of the request's length. */
  refused(model: UpstreamModel, counted: number, { tokens, limit }: Overflow = {}): void {
    const learned = this.of(model);
    if (limit !== undefined && limit < model.contextWindow) learned.window = limit;
    // Exact: nothing is left to be guessed from the refusal.
    if (tokens !== undefined && counted >= MIN_TOKENS) learned.factor = bounded(tokens / counted);
    else learned.refused = Math.min(counted, learned.refused ?? counted);
  }

  /** The model as its refusals showed it. */
  known<Model extends UpstreamModel>(model: Model): Model {
    const window = this.models.get(model.key)?.window;
    return window === undefined || window >= model.contextWindow ? model : { ...model, contextWindow: window };
  }

  private of({ key }: UpstreamModel): Learned {
    const known = this.models.get(key);
    if (known) return known;
    const learned: Learned = {};
    this.models.set(key, learned);
    return learned;
  }
}
