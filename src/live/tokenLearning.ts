import { promptTokens, type Usage } from '../core/cost/usage';
import {
  allowedTokens,
  duePoint,
  reservedOutput,
  type DuePoint,
  type ReservedOutputInput,
} from '../core/condense/trigger/thresholds';
import type { Overflow, OverWeight } from '../api/tooLong';
import type { CacheSpan } from '../core/vendors/caches';
import { MIN_CACHED_TOKENS } from './cacheState';
import type { LiveId, PreparedRequest, UpstreamModel } from './request';
import { isOfImages, type WeightLimits } from './weight';

/** No tokenizer is further from o200k than this: a report that says so is wrong, or the server has not read everything. */
const FACTOR_BOUNDS = { least: 0.7, most: 5 } as const;
/** Reports this close together are the same. */
const SAME_SHARE = 0.01;
/** Weight of the newest answer; the content of a conversation changes slowly. */
const WEIGHT = 0.3;
/** Shorter requests say little: what is fixed weighs too much. */
const MIN_TOKENS = 500;
/** Of a request that was refused as too long, the share that is tried again. */
const REFUSED_SHARE = 0.9;

const roomOf = ({
  contextWindow,
  threshold,
  maxOutputTokens,
  reservedOutput: wanted,
}: UpstreamModel): ReservedOutputInput => ({
  contextWindow,
  threshold,
  ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  ...(wanted !== undefined && { wanted }),
});

/** Tokens that are kept free for an answer when it is decided what fits. */
export const reservedOf = (model: UpstreamModel): number => reservedOutput(roomOf(model));

/** Where conversations with a model are due. */
export const duePointOf = (model: UpstreamModel): DuePoint => duePoint(roomOf(model));

const bounded = (factor: number): number => Math.min(FACTOR_BOUNDS.most, Math.max(FACTOR_BOUNDS.least, factor));

interface Learned {
  factor?: number;
  /** The longest age at which the cache still had the prompt, and the shortest at which it had not. */
  warmMs?: number;
  coldMs?: number;
  /** Of each conversation the request that was seemingly cut without a word. */
  readonly cuts: Map<LiveId, Cut>;
  /** The window that cuts named, until more than that is read. */
  cutTo?: number;
  /** The most tokens that were read of a request since cuts had named a window which was too small. */
  readBeyond?: number;
  /** The window that a refusal named, where it is smaller than was believed. */
  window?: number;
  /** O200k tokens of the shortest request that was refused as too long. */
  refused?: number;
  /** Limits of bytes and images, learnt from refusals. */
  weight?: OverWeight;
}

/** A request of which fewer tokens were read than it must have. */
interface Cut {
  /** The model's tokens. */
  readonly reported: number;
  /** O200k tokens that had to be read. */
  readonly mustRead: number;
}

/** Whether no tokenizer makes so few tokens of what had to be read. */
const isCut = ({ reported, mustRead }: Cut): boolean =>
  mustRead >= MIN_TOKENS && reported < mustRead * FACTOR_BOUNDS.least;

/** The window in the model's tokens, as far as anything was learned of it. */
const windowOf = ({ window = Infinity, cutTo = Infinity }: Learned): number => Math.min(window, cutTo);

/** What is learned from of a request that was answered. */
export type AnsweredRequest = Pick<PreparedRequest, 'conversation' | 'model' | 'countedTokens' | 'mustRead'>;

/** The facts learned from models' answers about their tokens, by the model's key. */
export class TokenLearning {
  private readonly models = new Map<string, Learned>();

  /** The model's tokens for one o200k token. */
  factor({ key, tokenFactor = 1 }: UpstreamModel): number {
    return this.models.get(key)?.factor ?? tokenFactor;
  }

  /** Whether the model's answers or refusals have told its tokens. */
  isCalibrated({ key }: UpstreamModel): boolean {
    return this.models.get(key)?.factor !== undefined;
  }

  /** O200k tokens that a request may have, all that is sent counted. */
  fitting(model: UpstreamModel): number {
    const allowed = Math.floor(allowedTokens(model.contextWindow, reservedOf(model)) / this.factor(model));
    const refused = this.models.get(model.key)?.refused;
    return Math.max(0, refused === undefined ? allowed : Math.min(allowed, Math.floor(refused * REFUSED_SHARE)));
  }

  /** @returns the tokens that the server has read where it has cut the request; each size is told once. */
  answered({ conversation, model, countedTokens, mustRead }: AnsweredRequest, usage: Usage): number | undefined {
    const learned = this.of(model);
    if (learned.refused !== undefined && countedTokens >= learned.refused) delete learned.refused;
    const reported = promptTokens(usage);
    if (usage.source !== 'reported' || reported <= 0) return undefined;
    this.readMore(learned, reported);
    if (mustRead === undefined || countedTokens < MIN_TOKENS) return undefined;
    if (reported < countedTokens * FACTOR_BOUNDS.least) {
      return isCut({ reported, mustRead }) ? this.cut(model, conversation, { reported, mustRead }) : undefined;
    }
    const sample = bounded(reported / countedTokens);
    learned.factor = learned.factor === undefined ? sample : learned.factor + WEIGHT * (sample - learned.factor);
    return undefined;
  }

  /**
   * Fewer tokens than the request can have: some servers cut what is longer than their context, without a word (Ollama to
   * half of `num_ctx`: ollama/ollama#17427). Two requests of a conversation that were cut to the same size name it, where they differ by
   * more than the sizes do: whoever reads all of both reports as much more or less.
   */
  private cut(model: UpstreamModel, conversation: LiveId, cut: Cut): number | undefined {
    const learned = this.of(model);
    const before = learned.cuts.get(conversation);
    const { reported, mustRead } = cut;
    const same = reported * SAME_SHARE;
    if (before === undefined || Math.abs(before.reported - reported) > same) {
      learned.cuts.set(conversation, cut);
      return undefined;
    }
    if (Math.abs(before.mustRead - mustRead) * FACTOR_BOUNDS.least <= same) return undefined;
    // A server that leaves half of a prompt that is too long reads more of one that fits.
    const window = Math.min(model.contextWindow, Math.max(reported, learned.readBeyond ?? 0));
    if (windowOf(learned) <= window) return undefined;
    learned.cutTo = window;
    return reported;
  }

  /** A server that reads more than the window that its cuts named does not cut there. */
  private readMore(learned: Learned, reported: number): void {
    const { cutTo, readBeyond } = learned;
    const isWrong = cutTo !== undefined && reported > cutTo * (1 + SAME_SHARE);
    if (isWrong) delete learned.cutTo;
    if (isWrong || readBeyond !== undefined) learned.readBeyond = Math.max(readBeyond ?? 0, reported);
  }

  /** How long the model's cache keeps a prompt: what the vendor says, as far as answers have not shown it. */
  cacheSpan({ key, cacheSpan }: UpstreamModel): CacheSpan | undefined {
    const { warmMs = 0, coldMs = Infinity } = this.models.get(key) ?? {};
    // Of a cache that nobody names a time for, answers only show how long it kept a prompt.
    if (!cacheSpan || cacheSpan === 'none') return warmMs > 0 ? { warmMs, coldMs: Infinity } : undefined;
    const warm = Math.min(Math.max(cacheSpan.warmMs, warmMs), coldMs);
    return { warmMs: warm, coldMs: Math.max(warm, Math.min(cacheSpan.coldMs, coldMs)) };
  }

  /** @param ageMs milliseconds between the beginnings of two requests of a conversation, the second of which was answered. */
  cacheAnswered(model: UpstreamModel, ageMs: number, usage: Usage): void {
    const { cacheSpan } = model;
    const tokens = promptTokens(usage);
    if (usage.source !== 'reported' || tokens < MIN_CACHED_TOKENS) return;
    const promised = cacheSpan === undefined || cacheSpan === 'none' ? undefined : cacheSpan.warmMs;
    if (promised !== undefined && ageMs < promised) return;
    const learned = this.of(model);
    if (usage.cacheReadTokens > tokens / 2) learned.warmMs = Math.max(learned.warmMs ?? 0, ageMs);
    // Within the promised time, or where none is, a miss has other reasons.
    else if (promised !== undefined && usage.cacheReadTokens < tokens / 10)
      learned.coldMs = Math.min(learned.coldMs ?? Infinity, ageMs);
  }

  /** @param overflow what the vendor said of the request's length. */
  refused(model: UpstreamModel, counted: number, { tokens, limit }: Overflow = {}): void {
    const learned = this.of(model);
    if (limit !== undefined && limit < model.contextWindow) learned.window = limit;
    // Exact: nothing is left to be guessed from the refusal.
    if (tokens !== undefined && counted >= MIN_TOKENS) learned.factor = bounded(tokens / counted);
    else learned.refused = Math.min(counted, learned.refused ?? counted);
  }

  /**
   * A request was refused for its bytes or images.
   * @param bytes those that it had, about.
   */
  tooHeavy(model: UpstreamModel, bytes: number, said: OverWeight): void {
    const learned = this.of(model);
    // Counts may differ a little from what was sent; a limit that was named is the vendor's word.
    const limit = isOfImages(said) ? undefined : Math.min(said.bytes ?? Infinity, bytes * REFUSED_SHARE);
    learned.weight = { ...learned.weight, ...said, ...(limit !== undefined && { bytes: Math.floor(limit) }) };
  }

  /** The limits of the model's requests. */
  limits({ key, limits }: UpstreamModel): WeightLimits {
    return { ...limits, ...this.models.get(key)?.weight };
  }

  /** The model as its refusals and cuts showed it. */
  known<Model extends UpstreamModel>(model: Model): Model {
    const learned = this.models.get(model.key);
    const window = learned ? windowOf(learned) : Infinity;
    return window >= model.contextWindow ? model : { ...model, contextWindow: window };
  }

  private of({ key }: UpstreamModel): Learned {
    const known = this.models.get(key);
    if (known) return known;
    const learned: Learned = { cuts: new Map() };
    this.models.set(key, learned);
    return learned;
  }
}
