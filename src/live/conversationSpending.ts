import { getErrorMessage } from '../core/errors';
import { computeCallCost } from '../core/cost/callCost';
import type { ModelPrices } from '../core/cost/prices';
import { rejectImplausibleUsage, type Usage, type UsageAccounting } from '../core/cost/usage';
import type { BookingResult, Spending, SpendingLimits, SpendingReport } from '../storage/spending';

export interface ConversationLimits extends SpendingLimits {
  readonly stops: boolean;
}

export type LimitKind = 'conversation' | 'day';

/** Names of the VS Code settings for each limit, without the extension's prefix. */
export const LIMIT_SETTINGS = {
  conversation: 'agent.maxCostPerConversation',
  day: 'agent.maxCostPerDay',
} as const satisfies Readonly<Record<LimitKind, string>>;

export interface LimitNotice {
  readonly words: string;
  /**
   * The limit that was reached or is near. `price`: the model has no price. `summary`: no summary
   * was written.
   */
  readonly about: LimitKind | 'price' | 'summary';
}

/** Amounts are formatted, such as "$1.20". */
export interface SpendingMessages {
  readonly stopped: Readonly<Record<LimitKind, (spent: string, allowed: string) => string>>;
  /** Shown before a limit that stops requests. */
  readonly near: Readonly<Record<LimitKind, (spent: string, allowed: string) => string>>;
  /** Shown at a limit that doesn't stop requests. */
  readonly reached: Readonly<Record<LimitKind, (spent: string, allowed: string) => string>>;
  readonly notRecorded: (reason: string) => string;
}

export interface ConversationSpendingDependencies {
  readonly spending: Pick<Spending, 'bookSpending'>;
  readonly limits: () => ConversationLimits;
  readonly messages: SpendingMessages;
  readonly tell: (notice: LimitNotice) => void;
  readonly warn: (note: string) => void;
  readonly now?: () => Date;
}

export interface PaidModel {
  readonly id: string;
  readonly accounting: UsageAccounting;
  readonly prices: ModelPrices | undefined;
  readonly unknownPrice?: string;
}

export interface PaidRequest {
  /**
   * Called for each answer that the vendor accepted. If the reported usage is implausible, the
   * booked amount counts.
   */
  readonly addUsage: (usage: Usage | undefined) => void;
  /**
   * @param isPaid false if the vendor accepted nothing. If true and no usage was added, the booked
   * amount counts.
   */
  readonly end: (isPaid: boolean) => Promise<void>;
}

const WARN_AT_LIMIT_SHARE = 0.8;

export class ConversationSpending {
  /** Keys of limits already reported, so that each is reported once per conversation or day. */
  private readonly reportedKeys = new Set<string>();

  constructor(private readonly dependencies: ConversationSpendingDependencies) {}

  /**
   * Books a request's cost before it is sent.
   * @param conversation absent: the cost counts only for the day
   * @param prompt the whole request, in the model's tokens
   * @param minReadTokens o200k tokens that the vendor must read; absent if its report says nothing
   *   about the request
   * @returns undefined without a limit or a price, or if booking failed
   * @throws Error for the user if the limit is reached
   */
  async beginRequest(
    model: PaidModel,
    conversation: string | undefined,
    prompt: number,
    minReadTokens = 0,
  ): Promise<PaidRequest | undefined> {
    const { limits: limitsNow, messages, spending, warn } = this.dependencies;
    const limits = limitsNow();
    if (limits.perConversation <= 0 && limits.perDay <= 0) return undefined;
    const maxPromptCost = computeCallCost(createPromptUsage(model, prompt), model.prices);
    if (maxPromptCost === undefined) {
      if (model.unknownPrice !== undefined)
        this.notifyOnce(`price ${model.id}`, { words: model.unknownPrice, about: 'price' });
      return undefined;
    }
    let booking: BookingResult;
    try {
      booking = await spending.bookSpending(
        { kind: 'chat', conversation, atMost: maxPromptCost },
        limits.stops ? limits : NO_LIMITS,
      );
    } catch (error) {
      const reason = getErrorMessage(error);
      if (limits.stops) throw new Error(messages.notRecorded(reason), { cause: error });
      warn(`The cost of a request could not be recorded. ${reason}`);
      return undefined;
    }
    if (booking.kind === 'refused') {
      const { limit, spent, allowed } = booking;
      const message = messages.stopped[limit](formatDollars(spent), formatDollars(allowed));
      this.notifyOnce(this.makeWarningKey('stop', limit, conversation, allowed), { words: message, about: limit });
      throw new Error(message);
    }
    return this.trackBooking(booking, model, conversation, maxPromptCost, minReadTokens);
  }

  private trackBooking(
    { settle }: Extract<BookingResult, { kind: 'booked' }>,
    model: PaidModel,
    conversation: string | undefined,
    atMost: number,
    minReadTokens: number,
  ): PaidRequest {
    let cost: number | undefined;
    return {
      addUsage: (usage) => {
        const plausibleUsage = rejectImplausibleUsage(usage, minReadTokens);
        cost = (cost ?? 0) + ((plausibleUsage && computeCallCost(plausibleUsage, model.prices)) ?? atMost);
      },
      end: async (isPaid) => {
        try {
          this.warnNearLimit(await settle(cost ?? (isPaid ? undefined : 0)), conversation);
        } catch (error) {
          this.dependencies.warn(`The cost of a request could not be recorded. ${getErrorMessage(error)}`);
        }
      },
    };
  }

  /**
   * Checks the conversation's limit before the day's, because the user is looking at the
   * conversation.
   */
  private warnNearLimit(spent: SpendingReport, conversation: string | undefined): void {
    const { messages } = this.dependencies;
    const { perConversation, perDay, stops } = this.dependencies.limits();
    const limits = [
      ['conversation', perConversation],
      ['day', perDay],
    ] as const;
    for (const [limit, allowedCost] of limits) {
      if (allowedCost <= 0 || spent[limit] < allowedCost * (stops ? WARN_AT_LIMIT_SHARE : 1)) continue;
      const message = (stops ? messages.near : messages.reached)[limit](
        formatDollars(spent[limit]),
        formatDollars(allowedCost),
      );
      this.notifyOnce(this.makeWarningKey('warn', limit, conversation, allowedCost), { words: message, about: limit });
    }
  }

  private makeWarningKey(kind: string, limit: LimitKind, conversation: string | undefined, allowed: number): string {
    const { now = () => new Date() } = this.dependencies;
    return [kind, limit, allowed, limit === 'day' ? now().toDateString() : conversation].join('\n');
  }

  private notifyOnce(key: string, notice: LimitNotice): void {
    if (this.reportedKeys.has(key)) return;
    this.reportedKeys.add(key);
    this.dependencies.warn(notice.words);
    this.dependencies.tell(notice);
  }
}

const NO_LIMITS: SpendingLimits = { perConversation: 0, perDay: 0 };

const formatDollars = (value: number): string => `$${value.toFixed(2)}`;

const createPromptUsage = ({ accounting }: PaidModel, prompt: number): Usage => ({
  accounting,
  source: 'counted',
  inputTokens: prompt,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});
