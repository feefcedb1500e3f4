/** What a failure may lead to, and what must fit. */
import { allowedTokens } from './trigger/thresholds';

/** The window that the conversation must fit into. */
export interface WindowLimits {
  /** The model's tokens. */
  readonly contextWindow: number;
  /** Reserved for the reply, in the model's tokens. */
  readonly maxOutputTokens?: number;
  /** The model's tokens for one o200k token. Default 1. */
  readonly tokenFactor?: number;
}

export interface FallbackPolicy {
  /** True where the user has set up a condensing profile and a budget: only then may a failure lead to a paid call. */
  readonly mayUseNative: boolean;
  /** Where it is known, truncation keeps the request under it, and only there. */
  readonly window?: WindowLimits;
  /** O200k tokens that the messages may have, in place of what the window allows. */
  readonly limitTokens?: number;
  /** O200k tokens that are left free where the request didn't fit, so that the next one does. Default 0. */
  readonly roomTokens?: number;
  /**
   * O200k tokens of the messages down to which truncation and floor go once they have to; default: until they fit, with
   * the room. The prompt cache is broken anyway: one that goes far costs less than many that hardly suffice.
   */
  readonly truncateTo?: number;
  /** True where the request must fit: then the floor follows on truncation. Default false. */
  readonly hasFloor?: boolean;
  /** Configurations of the fallbacks, by provider; absent: their defaults. */
  readonly configs?: Readonly<Record<string, unknown>>;
}

/** o200k tokens that the messages may have so that the request fits. */
export const fittingTokens = (
  { contextWindow, maxOutputTokens, tokenFactor = 1 }: WindowLimits,
  overheadTokens = 0,
): number => Math.floor(allowedTokens(contextWindow, maxOutputTokens) / tokenFactor) - overheadTokens;
