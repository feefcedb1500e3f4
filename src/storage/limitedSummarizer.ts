import { computeCallCost } from '../core/cost/callCost';
import {
  getSpendingLimitNames,
  type Summarizer,
  type SummarizerModel,
  type SummaryReply,
  type SummaryRequest,
} from '../core/condense/summarizer';
import { getErrorMessage } from '../core/errors';
import type { BookingResult, Spending, SpendingLimits } from './spending';

export interface SummarizerLimits {
  readonly spending: Pick<Spending, 'bookSpending'>;
  /** Returns the current limits; called before each call, so that changes apply immediately. */
  readonly limits: () => SpendingLimits;
  /** Returns the number of o200k tokens of a text. */
  readonly count: (text: string) => number;
}

/**
 * Limits a summarizer: reserves each call's maximum cost, which is the whole prompt at the highest
 * price and the longest answer.
 */
export function createLimitedSummarizer(
  summarizer: Summarizer,
  { spending, limits, count }: SummarizerLimits,
): Summarizer {
  const { model } = summarizer;
  if (model.billing === 'included') return summarizer;
  return {
    model,
    async summarize(request, options = {}) {
      const currentLimits = limits();
      const isLimited = currentLimits.perConversation > 0 || currentLimits.perDay > 0;
      const highestCost = computeHighestCost(request, model, count);
      if (isLimited && highestCost === undefined) return makeRefusedReply(describeUnknownPrice(model));
      let booking: BookingResult | undefined;
      try {
        booking = await spending.bookSpending(
          { kind: 'own', conversation: options.conversation, atMost: highestCost ?? 0 },
          currentLimits,
        );
      } catch (error) {
        if (isLimited)
          return makeRefusedReply(`Spending could not be recorded, so nothing was spent. ${getErrorMessage(error)}`);
      }
      if (booking?.kind === 'refused') return makeRefusedReply(formatReachedLimit(booking, model));
      const reply = await summarizer.summarize(request, options);
      // If a reservation can't be settled, it stays; for unknown prices it is 0.
      await booking?.settle(reply.cost).catch(() => undefined);
      return reply;
    },
  };
}

/**
 * Returns US dollars; undefined if the price is unknown.
 * @param count returns a text's o200k tokens
 */
export function computeHighestCost(
  { system, prompt, messages, maxOutputTokens }: SummaryRequest,
  { prices, accounting, tokenFactor, cacheLifetime }: SummarizerModel,
  count: (text: string) => number,
): number | undefined {
  const input = Math.ceil(count(system + prompt + stringifyMessages(messages)) * tokenFactor * COUNT_MARGIN_FACTOR);
  const isWritten = accounting === 'anthropic' && cacheLifetime !== 'none';
  return computeCallCost(
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

const stringifyMessages = (messages: SummaryRequest['messages']): string => (messages ? JSON.stringify(messages) : '');

/** Our token count may be too low by this factor. */
const COUNT_MARGIN_FACTOR = 1.1;

const describeUnknownPrice = (model: SummarizerModel): string =>
  `The price of ${model.model} is not known, and a spending limit is set. ${getSpendingLimitNames(model).unknownPrice}`;

const formatReachedLimit = (
  { limit, spent, allowed }: Extract<BookingResult, { kind: 'refused' }>,
  model: SummarizerModel,
): string =>
  `$${spent.toFixed(2)} of $${allowed.toFixed(2)} has been spent on condensing ${limit === 'day' ? 'today' : 'this conversation'}, and the call might cost more than what is left. Raise ${getSpendingLimitNames(model)[limit]}, condense without a model, or ${limit === 'day' ? 'wait until tomorrow' : 'start a new conversation'}.`;

const makeRefusedReply = (message: string): SummaryReply => ({
  kind: 'failed',
  message,
  usage: undefined,
  cost: 0,
  timeMs: 0,
  canRetry: false,
  offerOtherProfile: false,
});
