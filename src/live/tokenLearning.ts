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
 * Model tokens per o200k token. If a reported count is outside these limits, it is wrong or the
 * server did not read everything.
 */
const TOKEN_FACTOR_BOUNDS = { least: 0.7, most: 5 } as const;
/** Two reported sizes count as equal if they differ by no more than this share. */
const EQUAL_REPORT_SHARE = 0.01;
/** Weight of the newest answer in the learned factor; low, because content changes slowly. */
const NEWEST_ANSWER_WEIGHT = 0.3;
/** Nothing is learned from shorter requests, in which the fixed parts dominate. */
const MIN_LEARNED_TOKENS = 500;
/** Share of the shortest request rejected as too long that is assumed to fit. */
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
   * The longest time after which the cache still had a prompt, and the shortest after which it no
   * longer had it.
   */
  warmMs?: number;
  coldMs?: number;
  /** Last request per conversation that the server seems to have truncated silently. */
  readonly truncations: Map<LiveId, ServerTruncation>;
  /** Window that truncations implied; deleted once the server reads more. */
  impliedWindow?: number;
  /**
   * The most tokens of a single request that the server has read, recorded since an implied window
   * proved too small.
   */
  largestRead?: number;
  /** Window that a rejection named, if smaller than the assumed one. */
  window?: number;
  /** o200k tokens of the shortest request rejected as too long. */
  refusedTokens?: number;
  exceededBodyLimits?: ExceededBodyLimits;
}

/** A request of which the server read fewer tokens than every server has to read. */
interface ServerTruncation {
  /** Tokens that the server reported, as the model counts them. */
  readonly reportedTokens: number;
  /** Tokens that the server must read, in o200k tokens. */
  readonly minReadTokens: number;
}

/** True if no tokenizer could produce so few tokens. */
const isTruncatedByServer = ({ reportedTokens: reported, minReadTokens }: ServerTruncation): boolean =>
  minReadTokens >= MIN_LEARNED_TOKENS && reported < minReadTokens * TOKEN_FACTOR_BOUNDS.least;

const getLearnedWindow = ({ window = Infinity, impliedWindow = Infinity }: LearnedLimits): number =>
  Math.min(window, impliedWindow);

export type AnsweredRequest = Pick<PreparedRequest, 'conversation' | 'model' | 'countedTokens' | 'minReadTokens'>;

/**
 * Learns from answers and rejections, by model key, how many tokens requests have and what fits.
 */
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
    const allowedTokens = Math.floor(
      computeMaxPromptTokens(model.contextWindow, getReservedTokens(model)) / this.getTokenFactor(model),
    );
    const refusedTokens = this.models.get(model.key)?.refusedTokens;
    return Math.max(
      0,
      refusedTokens === undefined
        ? allowedTokens
        : Math.min(allowedTokens, Math.floor(refusedTokens * RETRY_SIZE_SHARE)),
    );
  }

  /**
   * @returns the number of tokens that the server read, if it truncated the request; each number is
   *   returned only once
   */
  learnFromAnswer(
    { conversation, model, countedTokens, minReadTokens }: AnsweredRequest,
    usage: Usage,
  ): number | undefined {
    const learnedLimits = this.getLearnedLimits(model);
    if (learnedLimits.refusedTokens !== undefined && countedTokens >= learnedLimits.refusedTokens)
      delete learnedLimits.refusedTokens;
    const reportedTokens = countPromptTokens(usage);
    if (usage.source !== 'reported' || reportedTokens <= 0) return undefined;
    this.reviseAssumedTruncation(learnedLimits, reportedTokens);
    if (minReadTokens === undefined || countedTokens < MIN_LEARNED_TOKENS) return undefined;
    if (reportedTokens < countedTokens * TOKEN_FACTOR_BOUNDS.least) {
      return isTruncatedByServer({ reportedTokens, minReadTokens })
        ? this.learnFromTruncation(model, conversation, { reportedTokens, minReadTokens })
        : undefined;
    }
    const sampleFactor = clampFactor(reportedTokens / countedTokens);
    learnedLimits.factor =
      learnedLimits.factor === undefined
        ? sampleFactor
        : learnedLimits.factor + NEWEST_ANSWER_WEIGHT * (sampleFactor - learnedLimits.factor);
    return undefined;
  }

  /**
   * Some servers silently truncate long requests (Ollama to half of `num_ctx`:
   * ollama/ollama#17427). They then report the same size for two requests of different lengths.
   */
  private learnFromTruncation(model: UpstreamModel, conversation: LiveId, cut: ServerTruncation): number | undefined {
    const learnedLimits = this.getLearnedLimits(model);
    const previousTruncation = learnedLimits.truncations.get(conversation);
    const { reportedTokens: reported, minReadTokens } = cut;
    const toleranceTokens = reported * EQUAL_REPORT_SHARE;
    if (previousTruncation === undefined || Math.abs(previousTruncation.reportedTokens - reported) > toleranceTokens) {
      learnedLimits.truncations.set(conversation, cut);
      return undefined;
    }
    if (Math.abs(previousTruncation.minReadTokens - minReadTokens) * TOKEN_FACTOR_BOUNDS.least <= toleranceTokens)
      return undefined;
    // A server that cuts long prompts to half of its window may have read longer prompts that
    // fitted.
    const windowTokens = Math.min(model.contextWindow, Math.max(reported, learnedLimits.largestRead ?? 0));
    if (getLearnedWindow(learnedLimits) <= windowTokens) return undefined;
    learnedLimits.impliedWindow = windowTokens;
    return reported;
  }

  private reviseAssumedTruncation(learnedLimits: LearnedLimits, reportedTokens: number): void {
    const { impliedWindow, largestRead } = learnedLimits;
    const isTooSmall = impliedWindow !== undefined && reportedTokens > impliedWindow * (1 + EQUAL_REPORT_SHARE);
    if (isTooSmall) delete learnedLimits.impliedWindow;
    if (isTooSmall || largestRead !== undefined) learnedLimits.largestRead = Math.max(largestRead ?? 0, reportedTokens);
  }

  getCacheLifespan({ key, cacheSpan }: UpstreamModel): CacheLifespan | undefined {
    const { warmMs = 0, coldMs = Infinity } = this.models.get(key) ?? {};
    // If the vendor states no lifetime, answers only show how long a prompt stayed in the cache.
    if (!cacheSpan || cacheSpan === 'none') return warmMs > 0 ? { warmMs, coldMs: Infinity } : undefined;
    const learnedWarmMs = Math.min(Math.max(cacheSpan.warmMs, warmMs), coldMs);
    return { warmMs: learnedWarmMs, coldMs: Math.max(learnedWarmMs, Math.min(cacheSpan.coldMs, coldMs)) };
  }

  /**
   * @param ageMs milliseconds between the starts of two requests of a conversation, the second of
   * which was answered
   */
  learnCacheLifespan(model: UpstreamModel, ageMs: number, usage: Usage): void {
    const { cacheSpan } = model;
    const tokens = countPromptTokens(usage);
    if (usage.source !== 'reported' || tokens < MIN_CACHED_TOKENS) return;
    const promisedMs = cacheSpan === undefined || cacheSpan === 'none' ? undefined : cacheSpan.warmMs;
    if (promisedMs !== undefined && ageMs < promisedMs) return;
    const learnedLimits = this.getLearnedLimits(model);
    if (usage.cacheReadTokens > tokens / 2) learnedLimits.warmMs = Math.max(learnedLimits.warmMs ?? 0, ageMs);
    // A cache miss within the promised lifetime, or if none is promised, has other causes than
    // expiry.
    else if (promisedMs !== undefined && usage.cacheReadTokens < tokens / 10)
      learnedLimits.coldMs = Math.min(learnedLimits.coldMs ?? Infinity, ageMs);
  }

  learnFromRejection(model: UpstreamModel, countedTokens: number, { tokens, limit }: OverflowReport = {}): void {
    const learnedLimits = this.getLearnedLimits(model);
    if (limit !== undefined && limit < model.contextWindow) learnedLimits.window = limit;
    if (tokens !== undefined && countedTokens >= MIN_LEARNED_TOKENS)
      learnedLimits.factor = clampFactor(tokens / countedTokens);
    else learnedLimits.refusedTokens = Math.min(countedTokens, learnedLimits.refusedTokens ?? countedTokens);
  }

  learnBodyLimits(model: UpstreamModel, bytes: number, reportedLimits: ExceededBodyLimits): void {
    const learnedLimits = this.getLearnedLimits(model);
    const limit = areSingleImagesTooLarge(reportedLimits)
      ? undefined
      : Math.min(reportedLimits.bytes ?? Infinity, bytes * RETRY_SIZE_SHARE);
    learnedLimits.exceededBodyLimits = {
      ...learnedLimits.exceededBodyLimits,
      ...reportedLimits,
      ...(limit !== undefined && { bytes: Math.floor(limit) }),
    };
  }

  getBodyLimits({ key, limits }: UpstreamModel): BodyLimits {
    return { ...limits, ...this.models.get(key)?.exceededBodyLimits };
  }

  applyLearnedLimits<Model extends UpstreamModel>(model: Model): Model {
    const learnedLimits = this.models.get(model.key);
    const learnedWindow = learnedLimits ? getLearnedWindow(learnedLimits) : Infinity;
    return learnedWindow >= model.contextWindow ? model : { ...model, contextWindow: learnedWindow };
  }

  private getLearnedLimits({ key }: UpstreamModel): LearnedLimits {
    const knownLimits = this.models.get(key);
    if (knownLimits) return knownLimits;
    const newLimits: LearnedLimits = { truncations: new Map() };
    this.models.set(key, newLimits);
    return newLimits;
  }
}
