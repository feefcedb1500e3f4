import type { CondensationOutcome, CondensationRequest } from './condensation';
import { LruMap } from '../lruMap';

const REQUIRED_GROWTH_PERCENT = 13;

const MAX_TRACKED_CONVERSATIONS = 1_000;

/** Delays automatic attempts after a condensation that gained too little or was undone. */
export class CondensationCooldown {
  private readonly tokensAtEnd = new LruMap<string, number>(MAX_TRACKED_CONVERSATIONS);
  private readonly reportedConversations = new LruMap<string, true>(MAX_TRACKED_CONVERSATIONS);

  /** Tokens by which the conversation must still grow; 0 if an attempt may run now. */
  countTokensUntilEnd(conversation: string, tokens: number): number {
    return Math.max(0, (this.tokensAtEnd.get(conversation) ?? 0) - tokens);
  }

  recordOutcome(conversation: string, outcome: CondensationOutcome, request: CondensationRequest): void {
    if (outcome.kind === 'cancelled') return;
    this.endCooldown(conversation);
    const tokens = outcome.kind === 'condensed' ? outcome.tokensAfter : outcome.tokensBefore;
    const isTargetReached =
      outcome.kind === 'condensed' && (request.targetTokens === undefined || tokens <= request.targetTokens);
    if (isTargetReached) return;
    this.startCooldown(conversation, tokens, request.overheadTokens);
  }

  startCooldown(conversation: string, tokens: number, overheadTokens = 0): void {
    const growth = Math.ceil(((tokens + overheadTokens) * REQUIRED_GROWTH_PERCENT) / 100);
    this.tokensAtEnd.set(conversation, tokens + growth);
  }

  endCooldown(conversation: string): void {
    this.tokensAtEnd.delete(conversation);
  }

  isFirstReport(conversation: string): boolean {
    if (this.reportedConversations.has(conversation)) return false;
    this.reportedConversations.set(conversation, true);
    return true;
  }
}
