/** A model for summaries whose calls stay within what may be spent on a conversation and in a day. */
import { callCost } from '../core/cost/callCost';
import {
  limitNamesIn,
  type Summarizer,
  type SummarizerModel,
  type SummaryReply,
  type SummaryRequest,
} from '../core/condense/summarizer';
import { errorMessage } from '../core/errors';
import type { Booking, Spending, SpendingLimits } from './spending';

export interface LimitedBy {
  readonly spending: Pick<Spending, 'book'>;
  /** Asked for before each call: a change counts at once. */
  readonly limits: () => SpendingLimits;
  /** o200k tokens of a text. */
  readonly count: (text: string) => number;
}

/**
 * Books each call at what it may cost at most: its whole prompt at the dearest price, and the longest answer that it allows. What a
 * limit has no room for is not asked, and costs nothing.
 */
export function limitedSummarizer(summarizer: Summarizer, { spending, limits, count }: LimitedBy): Summarizer {
  const { model } = summarizer;
  if (model.billing === 'included') return summarizer;
  return {
    model,
    async summarize(request, options = {}) {
      const allowed = limits();
      const isLimited = allowed.perConversation > 0 || allowed.perDay > 0;
      const atMost = highestCost(request, model, count);
      if (isLimited && atMost === undefined) return refused(unknownPrice(model));
      let booking: Booking | undefined;
      try {
        booking = await spending.book(
          { kind: 'own', conversation: options.conversation, atMost: atMost ?? 0 },
          allowed,
        );
      } catch (error) {
        if (isLimited) return refused(`Spending could not be recorded, so nothing was spent. ${errorMessage(error)}`);
      }
      if (booking?.kind === 'refused') return refused(limitWords(booking, model));
      const reply = await summarizer.summarize(request, options);
      // Where the price is not known, nothing is: 0 was booked. A booking that can't be settled counts as it was made.
      await booking?.settle(reply.cost).catch(() => undefined);
      return reply;
    },
  };
}

/** US dollars that a call may cost at most; undefined where the price is not known. @param count o200k tokens of a text */
export function highestCost(
  { system, prompt, messages, maxOutputTokens }: SummaryRequest,
  { prices, accounting, tokenFactor, cacheLifetime }: SummarizerModel,
  count: (text: string) => number,
): number | undefined {
  const input = Math.ceil(count(system + prompt + toText(messages)) * tokenFactor * COUNT_MARGIN);
  const isWritten = accounting === 'anthropic' && cacheLifetime !== 'none';
  return callCost(
    {
      accounting,
      source: 'counted',
      inputTokens: isWritten ? 0 : input,
      outputTokens: maxOutputTokens,
      cacheReadTokens: 0,
      cacheWriteTokens: isWritten ? input : 0,
      ...(isWritten && cacheLifetime === '1h' && { longCacheWriteTokens: input }),
    },
    prices,
  );
}

const toText = (messages: SummaryRequest['messages']): string => (messages ? JSON.stringify(messages) : '');

/** Our count of another tokenizer's tokens may be too low by this. */
const COUNT_MARGIN = 1.1;

const unknownPrice = (model: SummarizerModel): string =>
  `The price of ${model.model} is not known, and a spending limit is set. ${limitNamesIn(model).unknownPrice}`;

/** The limit that stopped a call, and how to go on. US dollars. */
const limitWords = ({ limit, spent, allowed }: Extract<Booking, { kind: 'refused' }>, model: SummarizerModel): string =>
  `$${spent.toFixed(2)} of $${allowed.toFixed(2)} has been spent on condensing ${limit === 'day' ? 'today' : 'this conversation'}, and the call might cost more than what is left. Raise ${limitNamesIn(model)[limit]}, condense without a model, or ${limit === 'day' ? 'wait until tomorrow' : 'start a new conversation'}.`;

const refused = (message: string): SummaryReply => ({
  kind: 'failed',
  message,
  usage: undefined,
  cost: 0,
  timeMs: 0,
  canRetry: false,
  offerOtherProfile: false,
});
