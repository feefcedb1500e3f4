/** The cost of conversations' requests, held against the user's limits: a word at the limit, or no further request. */
import { errorMessage } from '../core/errors';
import { callCost } from '../core/cost/callCost';
import type { ModelPrices } from '../core/cost/prices';
import { plausibleUsage, type Usage, type UsageAccounting } from '../core/cost/usage';
import type { Booking, Spending, SpendingLimits, SpendingReport } from '../storage/spending';

export interface ConversationLimits extends SpendingLimits {
  /** Whether requests end at a limit, or it is only told. */
  readonly stops: boolean;
}

export type LimitKind = 'conversation' | 'day';

/** VS Code's setting of each limit, without the prefix. */
export const LIMIT_SETTINGS = {
  conversation: 'agent.maxCostPerConversation',
  day: 'agent.maxCostPerDay',
} as const satisfies Readonly<Record<LimitKind, string>>;

/** Words about spending for a person. */
export interface LimitNotice {
  readonly words: string;
  /** `price`: of a model that has none. `summary`: of one that was not written. */
  readonly about: LimitKind | 'price' | 'summary';
}

/** The words for a person, in the form of where they are shown; amounts such as "$1.20". */
export interface SpendingWords {
  readonly stopped: Readonly<Record<LimitKind, (spent: string, allowed: string) => string>>;
  /** Before a limit that stops. */
  readonly near: Readonly<Record<LimitKind, (spent: string, allowed: string) => string>>;
  /** At a limit that does not. */
  readonly reached: Readonly<Record<LimitKind, (spent: string, allowed: string) => string>>;
  readonly notRecorded: (why: string) => string;
}

export interface ConversationSpendingParts {
  readonly spending: Pick<Spending, 'book'>;
  /** Asked for before each request: a change counts at once. */
  readonly limits: () => ConversationLimits;
  readonly words: SpendingWords;
  /** Shows words to the user, each once. */
  readonly tell: (notice: LimitNotice) => void;
  /** Takes notes for a log. */
  readonly warn: (note: string) => void;
  readonly now?: () => Date;
}

/** A model that is paid for. */
export interface PaidModel {
  readonly id: string;
  readonly accounting: UsageAccounting;
  readonly prices: ModelPrices | undefined;
  /** Words where its price is not known; absent: nobody has to be told. */
  readonly unknownPrice?: string;
}

/** A request that is booked and under way. */
export interface PaidRequest {
  /** Each answer that the vendor took, as it reports it. Where the report makes no sense, what was booked counts. */
  readonly used: (usage: Usage | undefined) => void;
  /**
   * @param isPaid false: the vendor took nothing. True without usage: what was booked counts, since nobody says what it cost.
   */
  readonly end: (isPaid: boolean) => Promise<void>;
}

/** With a stop a person wants to know before. */
const WARN_SHARE = 0.8;

export class ConversationSpending {
  /** Limits already told: each once for a conversation or a day. */
  private readonly told = new Set<string>();

  constructor(private readonly parts: ConversationSpendingParts) {}

  /**
   * Books a request before it is sent; undefined where nothing is to be counted.
   * @param conversation absent: the request belongs to none, and counts for the day alone
   * @param prompt all that is sent, in the model's tokens
   * @param mustRead o200k tokens that the vendor has to read at the least; absent where what it reports says nothing of the request
   * @throws Error in words for a person, where no more is to be spent
   */
  async begin(
    model: PaidModel,
    conversation: string | undefined,
    prompt: number,
    mustRead = 0,
  ): Promise<PaidRequest | undefined> {
    const { limits: limitsNow, words, spending, warn } = this.parts;
    const limits = limitsNow();
    if (limits.perConversation <= 0 && limits.perDay <= 0) return undefined;
    const atMost = callCost(plainUsage(model, prompt), model.prices);
    if (atMost === undefined) {
      if (model.unknownPrice !== undefined)
        this.tellOnce(`price ${model.id}`, { words: model.unknownPrice, about: 'price' });
      return undefined;
    }
    let booking: Booking;
    try {
      booking = await spending.book({ kind: 'chat', conversation, atMost }, limits.stops ? limits : NO_LIMITS);
    } catch (error) {
      const why = errorMessage(error);
      if (limits.stops) throw new Error(words.notRecorded(why), { cause: error });
      warn(`The cost of a request could not be recorded. ${why}`);
      return undefined;
    }
    if (booking.kind === 'refused') {
      const { limit, spent, allowed } = booking;
      const said = words.stopped[limit](dollars(spent), dollars(allowed));
      this.tellOnce(this.keyOf('stop', limit, conversation, allowed), { words: said, about: limit });
      throw new Error(said);
    }
    return this.underWay(booking, model, conversation, atMost, mustRead);
  }

  private underWay(
    { settle }: Extract<Booking, { kind: 'booked' }>,
    model: PaidModel,
    conversation: string | undefined,
    atMost: number,
    mustRead: number,
  ): PaidRequest {
    let cost: number | undefined;
    return {
      used: (usage) => {
        const plausible = plausibleUsage(usage, mustRead);
        cost = (cost ?? 0) + ((plausible && callCost(plausible, model.prices)) ?? atMost);
      },
      end: async (isPaid) => {
        try {
          this.warnNear(await settle(cost ?? (isPaid ? undefined : 0)), conversation);
        } catch (error) {
          // A booking that can't be settled counts as it was made.
          this.parts.warn(`The cost of a request could not be recorded. ${errorMessage(error)}`);
        }
      },
    };
  }

  /** Of both limits the conversation's first: it is what the user has before them. */
  private warnNear(spent: SpendingReport, conversation: string | undefined): void {
    const { words } = this.parts;
    const { perConversation, perDay, stops } = this.parts.limits();
    const limits = [
      ['conversation', perConversation],
      ['day', perDay],
    ] as const;
    for (const [limit, allowed] of limits) {
      if (allowed <= 0 || spent[limit] < allowed * (stops ? WARN_SHARE : 1)) continue;
      const said = (stops ? words.near : words.reached)[limit](dollars(spent[limit]), dollars(allowed));
      this.tellOnce(this.keyOf('warn', limit, conversation, allowed), { words: said, about: limit });
    }
  }

  private keyOf(what: string, limit: LimitKind, conversation: string | undefined, allowed: number): string {
    const { now = () => new Date() } = this.parts;
    return [what, limit, allowed, limit === 'day' ? now().toDateString() : conversation].join('\n');
  }

  private tellOnce(key: string, notice: LimitNotice): void {
    if (this.told.has(key)) return;
    this.told.add(key);
    this.parts.warn(notice.words);
    this.parts.tell(notice);
  }
}

const NO_LIMITS: SpendingLimits = { perConversation: 0, perDay: 0 };

const dollars = (value: number): string => `$${value.toFixed(2)}`;

/** The prompt alone, none of it from a cache. */
const plainUsage = ({ accounting }: PaidModel, prompt: number): Usage => ({
  accounting,
  source: 'counted',
  inputTokens: prompt,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});
