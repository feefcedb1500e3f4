import type { CondensationOutcome, CondensationRequest } from './condensation';
import { LruMap } from '../lruMap';

/** Percentage by which a request must grow before the next automatic attempt. */
const REQUIRED_GROWTH_PERCENT = 13;

/** Number of conversations to remember; the oldest is dropped. */
const MAX_TRACKED_CONVERSATIONS = 1_000;

/** Spaces automatic attempts after one that gained too little, or was undone. Per conversation, in memory. */
export class Cooldown {
  private readonly waiting = new LruMap<string, number>(MAX_TRACKED_CONVERSATIONS);
  private readonly reported = new LruMap<string, true>(MAX_TRACKED_CONVERSATIONS);

  /**
   * Tokens that the conversation must grow by before the next automatic attempt; 0 if it may run
   * now.
   */
  countTokensToGo(conversation: string, tokens: number): number {
    return Math.max(0, (this.waiting.get(conversation) ?? 0) - tokens);
  }

  /** An attempt that freed too little starts a cool-down, a good one ends it. */
  recordOutcome(conversation: string, outcome: CondensationOutcome, request: CondensationRequest): void {
    if (outcome.kind === 'cancelled') return;
    this.end(conversation);
    const tokens = outcome.kind === 'condensed' ? outcome.tokensAfter : outcome.tokensBefore;
    const reached =
      outcome.kind === 'condensed' && (request.targetTokens === undefined || tokens <= request.targetTokens);
    if (reached) return;
    this.start(conversation, tokens, request.overheadTokens);
  }

  /** Waits until the conversation has grown. @param overheadTokens sent with its messages */
  start(conversation: string, tokens: number, overheadTokens = 0): void {
    const growth = Math.ceil(((tokens + overheadTokens) * REQUIRED_GROWTH_PERCENT) / 100);
    this.waiting.set(conversation, tokens + growth);
  }

  end(conversation: string): void {
    this.waiting.delete(conversation);
  }

  /** True for the first call with a conversation. */
  isFirstReport(conversation: string): boolean {
    if (this.reported.has(conversation)) return false;
    this.reported.set(conversation, true);
    return true;
  }
}
