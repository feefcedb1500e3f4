import type { CondensationOutcome, CondensationRequest } from './condensation';
import { LruMap } from '../lruMap';

/** Percent by which a request must have grown before the next automatic try. */
const NEW_SHARE_PERCENT = 13;

/** Conversations that are remembered; the oldest goes first. */
const REMEMBERED = 1_000;

/**
 * Keeps automatic condensation from trying again and again where there is nothing to gain. Per conversation, in memory.
 */
export class Cooldown {
  private readonly waiting = new LruMap<string, number>(REMEMBERED);
  private readonly reported = new LruMap<string, true>(REMEMBERED);

  /** Tokens that the conversation must grow by before the next automatic try; 0 where it may try now. */
  tokensToGo(conversation: string, tokens: number): number {
    return Math.max(0, (this.waiting.get(conversation) ?? 0) - tokens);
  }

  /** After a try that freed too little, the next one waits; after a good one it doesn't. */
  record(conversation: string, outcome: CondensationOutcome, request: CondensationRequest): void {
    if (outcome.kind === 'cancelled') return;
    this.waiting.delete(conversation);
    const tokens = outcome.kind === 'condensed' ? outcome.tokensAfter : outcome.tokensBefore;
    const reached =
      outcome.kind === 'condensed' && (request.targetTokens === undefined || tokens <= request.targetTokens);
    if (reached) return;
    const sent = tokens + (request.overheadTokens ?? 0);
    this.waiting.set(conversation, tokens + Math.ceil((sent * NEW_SHARE_PERCENT) / 100));
  }

  /** True the first time it is asked about a conversation. */
  firstTime(conversation: string): boolean {
    if (this.reported.has(conversation)) return false;
    this.reported.set(conversation, true);
    return true;
  }
}
