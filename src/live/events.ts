/** The events of live conversations, with their reasons. */
import type { CondensationId } from '../core/condense/ledger/ledger';
import type { OutcomeSummary } from '../core/condense';
import type { Saving } from '../core/cost/saving';
import type { UseAfter } from '../core/condense/ledger/use';
import type { CacheState } from './cacheState';
import type { LiveId } from './request';

/** Why a condensation was made, and what it is worth. Logged and shown. */
export interface LiveDecision {
  readonly reason: CondensationReason;
  /** All that is sent, in the model's tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly contextWindow: number;
  /** The vendor's cache as it was just before. */
  readonly cache: CacheState;
  /** Tokens of a prompt from which on the model's prices are higher; only where the request was above them and no longer is. */
  readonly dearerAbove?: number;
  /** Absent where the model's prices or the state of the cache are not known. */
  readonly saving?: Saving;
}

/**
 * `threshold`: it was reached. `window`: the request would not have fitted. `cold-cache`: a lower threshold was reached and
 * the cache had gone anyway. `background`: prepared in the background before. `too-long`: the model refused the request.
 * `bytes`: its images weighed too much. `by-hand`: a person asked for it.
 */
export type CondensationReason =
  | 'threshold'
  | 'window'
  | 'cold-cache'
  | 'background'
  | 'too-long'
  | 'bytes'
  | 'by-hand';

export type LiveEvent =
  /** A request was prepared or answered, a command was done: what a status bar shows may have changed. */
  | { readonly kind: 'changed'; readonly conversation: LiveId }
  /** A condensation is in the view from now on. */
  | {
      readonly kind: 'condensed';
      readonly conversation: LiveId;
      readonly condensation: CondensationId;
      readonly outcome: OutcomeSummary & { readonly kind: 'condensed' };
      readonly decision: LiveDecision;
    }
  /** One was tried and came to nothing that is worth telling: it failed or was refused. */
  | {
      readonly kind: 'not-condensed';
      readonly conversation: LiveId;
      readonly outcome: OutcomeSummary;
      readonly reason: CondensationReason;
      /** Why it was given up, in words without a full stop; absent where it came to its end. */
      readonly givenUp?: string;
    }
  /** The agent asked again for so much of what was taken out that Lossless condenses the conversation from now on. */
  | {
      readonly kind: 'careful';
      readonly conversation: LiveId;
      readonly condensation: CondensationId;
      readonly use: UseAfter;
    }
  /** Condensing leaves the request above its threshold: told once, in sentences. */
  | { readonly kind: 'exhausted'; readonly conversation: LiveId; readonly message: string }
  /** A model works on a condensation, or no longer does. */
  | { readonly kind: 'preparing'; readonly conversation: LiveId; readonly isPreparing: boolean }
  /** Ledgers that were not used for long were set aside or removed; in sentences. */
  | { readonly kind: 'pruned'; readonly message: string }
  /** Something went wrong that costs the task nothing but should be known. */
  | { readonly kind: 'problem'; readonly conversation?: LiveId; readonly message: string };
