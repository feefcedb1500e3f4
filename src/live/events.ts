import type { ReasonToCondense } from '../core/condense/trigger/due';
import type { CondensationId } from '../core/condense/ledger/ledger';
import type { OutcomeSummary } from '../core/condense';
import type { CondensationSaving } from '../core/cost/saving';
import type { UseAfterCondensation } from '../core/condense/ledger/use';
import type { CacheState } from './cacheState';
import type { LiveId } from './request';

export interface LiveDecision {
  readonly reason: CondensationReason;
  /** Tokens of the whole request, as the model counts them. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly contextWindow: number;
  readonly cache: CacheState;
  /**
   * Limit in tokens of the dearer price tier that the request no longer reaches; absent if none.
   */
  readonly dearerAbove?: number;
  readonly saving?: CondensationSaving;
}

/**
 * `cold-cache`: a lower threshold was reached and the cache had expired. `background`: prepared
 * earlier. `too-long`: rejected by the model. `bytes`: images too large.
 */
export type CondensationReason = ReasonToCondense | 'background' | 'too-long' | 'bytes' | 'by-hand';

export type LiveEvent =
  /**
   * Sent after a request was prepared or answered, or a command ran, because displays may need an
   * update.
   */
  | { readonly kind: 'changed'; readonly conversation: LiveId }
  | {
      readonly kind: 'condensed';
      readonly conversation: LiveId;
      readonly condensation: CondensationId;
      readonly outcome: OutcomeSummary & { readonly kind: 'condensed' };
      readonly decision: LiveDecision;
    }
  | {
      readonly kind: 'not-condensed';
      readonly conversation: LiveId;
      readonly outcome: OutcomeSummary;
      readonly reason: CondensationReason;
      /**
       * Why the condensation was abandoned, without a full stop; absent if it was not abandoned.
       */
      readonly givenUp?: string;
    }
  /** The agent asked for so much removed content again that only Lossless condenses from now on. */
  | {
      readonly kind: 'careful';
      readonly conversation: LiveId;
      readonly condensation: CondensationId;
      readonly use: UseAfterCondensation;
    }
  /** Reported once: even after condensing, the request is above its threshold. */
  | { readonly kind: 'exhausted'; readonly conversation: LiveId; readonly message: string }
  | { readonly kind: 'preparing'; readonly conversation: LiveId; readonly isPreparing: boolean }
  | { readonly kind: 'pruned'; readonly message: string }
  | { readonly kind: 'problem'; readonly conversation?: LiveId; readonly message: string };
