/** The cost of the chat's requests, held against the user's limits: a word at the limit, or no further request. */
import * as vscode from 'vscode';
import { errorMessage } from '../core/errors';
import { callCost } from '../core/cost/callCost';
import type { Usage } from '../core/cost/usage';
import { accountingOf } from '../core/vendors/vendors';
import type { Booking, Spending, SpendingLimits, Spent } from '../storage/spending';
import type { OfferedModel } from './offeredModels';

export interface ChatLimits extends SpendingLimits {
  /** Whether requests end at a limit, or it is only told. */
  readonly stops: boolean;
}

export interface ChatSpendingParts {
  readonly spending: Pick<Spending, 'book'>;
  /** Asked for before each request: a change counts at once. */
  readonly limits: () => ChatLimits;
  /** Shows words to the user, with a way to the setting that they are about. */
  readonly tell: (words: string, setting: string) => void;
  readonly log: Pick<vscode.LogOutputChannel, 'warn'>;
  readonly now?: () => Date;
}

/** A request that is booked and under way. */
export interface PaidRequest {
  /** Each answer that the vendor took, as it reports it. */
  readonly used: (usage: Usage | undefined) => void;
  /**
   * @param isPaid false: the vendor took nothing. True without usage: what was booked counts, since nobody says what it cost.
   */
  readonly end: (isPaid: boolean) => Promise<void>;
}

/** With a stop a person wants to know before. */
const WARN_SHARE = 0.8;

const SETTINGS = { conversation: 'agent.maxCostPerConversation', day: 'agent.maxCostPerDay' } as const;
type LimitKind = keyof typeof SETTINGS;

export class ChatSpending {
  /** Limits already told: each once for a conversation or a day. */
  private readonly told = new Set<string>();

  constructor(private readonly parts: ChatSpendingParts) {}

  /**
   * Books a request before it is sent; undefined where nothing is to be counted.
   * @param promptTokens all that is sent, in the model's tokens
   * @throws Error in words for a person, where no more is to be spent
   */
  async begin(
    model: OfferedModel,
    conversation: string | undefined,
    promptTokens: number,
  ): Promise<PaidRequest | undefined> {
    const limits = this.parts.limits();
    if (limits.perConversation <= 0 && limits.perDay <= 0) return undefined;
    const atMost = callCost(plainUsage(model, promptTokens), model.prices);
    if (atMost === undefined) {
      // A subscription pays for VS Code's own models.
      if (!model.wraps) this.tellOnce(`price ${model.id}`, unknownPrice(model), 'profiles');
      return undefined;
    }
    let booking: Booking;
    try {
      booking = await this.parts.spending.book(
        { kind: 'chat', conversation, atMost },
        limits.stops ? limits : NO_LIMITS,
      );
    } catch (error) {
      const why = errorMessage(error);
      if (limits.stops) {
        throw new Error(
          vscode.l10n.t(
            'The cost of the request could not be recorded, so it was not sent: {0} To go on without the limits, set contextCondenser.agent.atMaxCost to "warn".',
            why,
          ),
          { cause: error },
        );
      }
      this.parts.log.warn(`What a request of the chat costs could not be written down. ${why}`);
      return undefined;
    }
    if (booking.kind === 'refused') {
      const { limit, spent, allowed } = booking;
      const words = STOPPED[limit](dollars(spent), dollars(allowed), `contextCondenser.${SETTINGS[limit]}`);
      this.tellOnce(this.keyOf('stop', limit, conversation, allowed), words, SETTINGS[limit]);
      throw new Error(words);
    }
    return this.underWay(booking, model, conversation, atMost);
  }

  private underWay(
    { settle }: Extract<Booking, { kind: 'booked' }>,
    model: OfferedModel,
    conversation: string | undefined,
    atMost: number,
  ): PaidRequest {
    let cost: number | undefined;
    return {
      used: (usage) => {
        cost = (cost ?? 0) + ((usage && callCost(usage, model.prices)) ?? atMost);
      },
      end: async (isPaid) => {
        try {
          this.warn(await settle(cost ?? (isPaid ? undefined : 0)), conversation);
        } catch (error) {
          // A booking that can't be settled counts as it was made.
          this.parts.log.warn(`What a request of the chat cost could not be written down. ${errorMessage(error)}`);
        }
      },
    };
  }

  /** Of both limits the conversation's first: it is what the user has before them. */
  private warn(spent: Spent, conversation: string | undefined): void {
    const { perConversation, perDay, stops } = this.parts.limits();
    const limits = [
      ['conversation', perConversation],
      ['day', perDay],
    ] as const;
    for (const [limit, allowed] of limits) {
      if (allowed <= 0 || spent[limit] < allowed * (stops ? WARN_SHARE : 1)) continue;
      const words = (stops ? NEAR : REACHED)[limit](
        dollars(spent[limit]),
        dollars(allowed),
        `contextCondenser.${SETTINGS[limit]}`,
      );
      this.tellOnce(this.keyOf('warn', limit, conversation, allowed), words, SETTINGS[limit]);
    }
  }

  private keyOf(what: string, limit: LimitKind, conversation: string | undefined, allowed: number): string {
    const { now = () => new Date() } = this.parts;
    return [what, limit, allowed, limit === 'day' ? now().toDateString() : conversation].join('\n');
  }

  private tellOnce(key: string, words: string, setting: string): void {
    if (this.told.has(key)) return;
    this.told.add(key);
    this.parts.log.warn(words);
    this.parts.tell(words, setting);
  }
}

const NO_LIMITS: SpendingLimits = { perConversation: 0, perDay: 0 };

const dollars = (value: number): string => `$${value.toFixed(2)}`;

/** The prompt alone, none of it from a cache. */
const plainUsage = ({ profile: { vendor, model } }: OfferedModel, promptTokens: number): Usage => ({
  accounting: accountingOf(vendor, model),
  source: 'counted',
  inputTokens: promptTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});

type Words = (spent: string, allowed: string, setting: string) => string;

const STOPPED: Readonly<Record<LimitKind, Words>> = {
  conversation: (...parts) =>
    vscode.l10n.t(
      'This conversation has cost {0} and reached your limit of {1}: the request was not sent. To go on, raise {2} (0: no limit) and send it again, or start a new conversation.',
      ...parts,
    ),
  day: (...parts) =>
    vscode.l10n.t(
      'Today’s conversations have cost {0} and reached your limit of {1}: the request was not sent. To go on, raise {2} (0: no limit) and send it again, or wait until tomorrow.',
      ...parts,
    ),
};

const NEAR: Readonly<Record<LimitKind, Words>> = {
  conversation: (...parts) =>
    vscode.l10n.t(
      'This conversation has cost {0}. At your limit of {1} no more requests are sent; to go on then, raise {2} or start a new conversation.',
      ...parts,
    ),
  day: (...parts) =>
    vscode.l10n.t(
      'Today’s conversations have cost {0}. At your limit of {1} no more requests are sent; to go on then, raise {2} or wait until tomorrow.',
      ...parts,
    ),
};

const REACHED: Readonly<Record<LimitKind, Words>> = {
  conversation: (...parts) =>
    vscode.l10n.t(
      'This conversation has cost {0} and reached your limit of {1} ({2}). It goes on. Condensing it makes the next requests cheaper.',
      ...parts,
    ),
  day: (...parts) =>
    vscode.l10n.t(
      'Today’s conversations have cost {0} and reached your limit of {1} ({2}). They go on. Condensing a long one makes its next requests cheaper.',
      ...parts,
    ),
};

const unknownPrice = ({ profile: { name, model } }: OfferedModel): string =>
  vscode.l10n.t(
    'The price of {0} is not known, so its requests count towards no spending limit. Set its prices in the profile "{1}"; 0 where it costs nothing.',
    model,
    name,
  );
