import { countPromptTokens, type Usage } from '../core/cost/usage';
import {
  computeMaxPromptTokens,
  computeDueTokens,
  computeReservedOutput,
  type DueTokensAndReason,
  type ReservedOutputInput,
} from '../core/condense/trigger/thresholds';
import type { OverflowReport, ExceededBodyLimits } from '../api/tooLong';
import type { CacheLifespan } from '../core/vendors/caches';
import { MIN_CACHED_TOKENS } from './cacheState';
import type { LiveId, PreparedRequest, UpstreamModel } from './request';
import { areSingleImagesTooLarge, type BodyLimits } from './weight';

/**
 * No tokenizer differs more from o200k; a report outside is wrong, or the server did not read
 * everything.
 */
const TOKEN_FACTOR_BOUNDS = { least: 0.7, most: 5 } as const;
/** Reports this close together count as equal. */
const EQUAL_REPORT_SHARE = 0.01;
/** Low, because a conversation's content changes slowly. */
const NEWEST_ANSWER_WEIGHT = 0.3;
/** In shorter requests the fixed parts dominate. */
const MIN_LEARNED_TOKENS = 500;
/** Share of a rejected request that is tried next. */
const RETRY_SIZE_SHARE = 0.9;

const makeReservedOutputInput = ({
  contextWindow,
  threshold,
  maxOutputTokens,
  reservedOutput: requested,
}: UpstreamModel): ReservedOutputInput => ({
  contextWindow,
  threshold,
  ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  ...(requested !== undefined && { wanted: requested }),
});

export const getReservedTokens = (model: UpstreamModel): number =>
  computeReservedOutput(makeReservedOutputInput(model));

export const computeDueTokensOfModel = (model: UpstreamModel): DueTokensAndReason =>
  computeDueTokens(makeReservedOutputInput(model));

const clampFactor = (factor: number): number =>
  Math.min(TOKEN_FACTOR_BOUNDS.most, Math.max(TOKEN_FACTOR_BOUNDS.least, factor));

interface LearnedLimits {
  factor?: number;
  /**
   * The longest age at which the cache still had the prompt, and the shortest at which it had not.
   */
  warmMs?: number;
  coldMs?: number;
  /** Requests that the server seems to have truncated silently. */
  readonly truncations: Map<LiveId, ServerTruncation>;
  /** The window that truncations implied, until a server reads more. */
  impliedWindow?: number;
  /** The most tokens read of a request after truncations implied a smaller window. */
  largestRead?: number;
  /** The window that a rejection named, if smaller than assumed. */
  window?: number;
  /** o200k tokens of the shortest request rejected as too long. */
  refused?: number;
  weight?: ExceededBodyLimits;
}

/** A request of which the server read less than it must. */
interface ServerTruncation {
  /** In the model's tokens. */
  readonly reported: number;
  /** In o200k tokens. */
  readonly minReadTokens: number;
}

/** True if no tokenizer could produce so few tokens. */
const isTruncatedByServer = ({ reported, minReadTokens }: ServerTruncation): boolean =>
  minReadTokens >= MIN_LEARNED_TOKENS && reported < minReadTokens * TOKEN_FACTOR_BOUNDS.least;

const getLearnedWindow = ({ window = Infinity, impliedWindow = Infinity }: LearnedLimits): number =>
  Math.min(window, impliedWindow);

export type AnsweredRequest = Pick<PreparedRequest, 'conversation' | 'model' | 'countedTokens' | 'minReadTokens'>;

/** Learns by model key how many tokens requests have. */
export class TokenLearning {
  private readonly models = new Map<string, LearnedLimits>();

  /** Model tokens per o200k token. */
  getTokenFactor({ key, tokenFactor = 1 }: UpstreamModel): number {
    return this.models.get(key)?.factor ?? tokenFactor;
  }

  isCalibrated({ key }: UpstreamModel): boolean {
    return this.models.get(key)?.factor !== undefined;
  }

  /** Maximum o200k tokens of a whole request. */
  computeFittingTokens(model: UpstreamModel): number {
    const allowed = Math.floor(
      computeMaxPromptTokens(model.contextWindow, getReservedTokens(model)) / this.getTokenFactor(model),
    );
    const refused = this.models.get(model.key)?.refused;
    return Math.max(0, refused === undefined ? allowed : Math.min(allowed, Math.floor(refused * RETRY_SIZE_SHARE)));
  }

  /**
   * @returns the tokens that the server read if it truncated the request; each size is reported
   * once
   */
  learnFromAnswer(
    { conversation, model, countedTokens, minReadTokens }: AnsweredRequest,
    usage: Usage,
  ): number | undefined {
    const learned = this.getLearnedLimits(model);
    if (learned.refused !== undefined && countedTokens >= learned.refused) delete learned.refused;
    const reported = countPromptTokens(usage);
    if (usage.source !== 'reported' || reported <= 0) return undefined;
    this.reviseAssumedTruncation(learned, reported);
    if (minReadTokens === undefined || countedTokens < MIN_LEARNED_TOKENS) return undefined;
    if (reported < countedTokens * TOKEN_FACTOR_BOUNDS.least) {
      return isTruncatedByServer({ reported, minReadTokens })
        ? this.learnFromTruncation(model, conversation, { reported, minReadTokens })
        : undefined;
    }
    const sample = clampFactor(reported / countedTokens);
    learned.factor =
      learned.factor === undefined ? sample : learned.factor + NEWEST_ANSWER_WEIGHT * (sample - learned.factor);
    return undefined;
  }

  /**
   * Some servers silently truncate long requests (Ollama to half of `num_ctx`:
   * ollama/ollama#17427). They show it by reporting the same size for two requests of a
   * conversation that differ in length.
   */
  private learnFromTruncation(model: UpstreamModel, conversation: LiveId, cut: ServerTruncation): number | undefined {
    const learned = this.getLearnedLimits(model);
    const before = learned.truncations.get(conversation);
    const { reported, minReadTokens } = cut;
    const tolerance = reported * EQUAL_REPORT_SHARE;
    if (before === undefined || Math.abs(before.reported - reported) > tolerance) {
      learned.truncations.set(conversation, cut);
      return undefined;
    }
    if (Math.abs(before.minReadTokens - minReadTokens) * TOKEN_FACTOR_BOUNDS.least <= tolerance) return undefined;
    // A server that cuts long prompts to half of its window may have read longer ones that fitted.
    const window = Math.min(model.contextWindow, Math.max(reported, learned.largestRead ?? 0));
    if (getLearnedWindow(learned) <= window) return undefined;
    learned.impliedWindow = window;
    return reported;
  }

  private reviseAssumedTruncation(learned: LearnedLimits, reported: number): void {
    const { impliedWindow, largestRead } = learned;
    const isTooSmall = impliedWindow !== undefined && reported > impliedWindow * (1 + EQUAL_REPORT_SHARE);
    if (isTooSmall) delete learned.impliedWindow;
    if (isTooSmall || largestRead !== undefined) learned.largestRead = Math.max(largestRead ?? 0, reported);
  }

  getCacheLifespan({ key, cacheSpan }: UpstreamModel): CacheLifespan | undefined {
    const { warmMs = 0, coldMs = Infinity } = this.models.get(key) ?? {};
    // Without a stated lifetime, answers only show how long a prompt was kept.
    if (!cacheSpan || cacheSpan === 'none') return warmMs > 0 ? { warmMs, coldMs: Infinity } : undefined;
    const warm = Math.min(Math.max(cacheSpan.warmMs, warmMs), coldMs);
    return { warmMs: warm, coldMs: Math.max(warm, Math.min(cacheSpan.coldMs, coldMs)) };
  }

  /**
   * @param ageMs milliseconds between the starts of two requests of a conversation, the second of
   * which was answered
   */
  learnCacheLifespan(model: UpstreamModel, ageMs: number, usage: Usage): void {
    const { cacheSpan } = model;
    const tokens = countPromptTokens(usage);
    if (usage.source !== 'reported' || tokens < MIN_CACHED_TOKENS) return;
    const promised = cacheSpan === undefined || cacheSpan === 'none' ? undefined : cacheSpan.warmMs;
    if (promised !== undefined && ageMs < promised) return;
    const learned = this.getLearnedLimits(model);
    if (usage.cacheReadTokens > tokens / 2) learned.warmMs = Math.max(learned.warmMs ?? 0, ageMs);
    // Within the promised lifetime, or without one, a miss has other causes.
    else if (promised !== undefined && usage.cacheReadTokens < tokens / 10)
      learned.coldMs = Math.min(learned.coldMs ?? Infinity, ageMs);
  }

  learnFromRejection(model: UpstreamModel, counted: number, { tokens, limit }: OverflowReport = {}): void {
    const learned = this.getLearnedLimits(model);
    if (limit !== undefined && limit < model.contextWindow) learned.window = limit;
    if (tokens !== undefined && counted >= MIN_LEARNED_TOKENS) learned.factor = clampFactor(tokens / counted);
    else learned.refused = Math.min(counted, learned.refused ?? counted);
  }

  learnBodyLimits(model: UpstreamModel, bytes: number, reported: ExceededBodyLimits): void {
    const learned = this.getLearnedLimits(model);
    const limit = areSingleImagesTooLarge(reported)
      ? undefined
      : Math.min(reported.bytes ?? Infinity, bytes * RETRY_SIZE_SHARE);
    learned.weight = { ...learned.weight, ...reported, ...(limit !== undefined && { bytes: Math.floor(limit) }) };
  }

  getBodyLimits({ key, limits }: UpstreamModel): BodyLimits {
    return { ...limits, ...this.models.get(key)?.weight };
  }

  applyLearnedLimits<Model extends UpstreamModel>(model: Model): Model {
    const learned = this.models.get(model.key);
    const window = learned ? getLearnedWindow(learned) : Infinity;
    return window >= model.contextWindow ? model : { ...model, contextWindow: window };
  }

  private getLearnedLimits({ key }: UpstreamModel): LearnedLimits {
    const existing = this.models.get(key);
    if (existing) return existing;
    const learned: LearnedLimits = { truncations: new Map() };
    this.models.set(key, learned);
    return learned;
  }
}
