import * as vscode from 'vscode';
import { getAccounting } from '../core/vendors/vendors';
import {
  ConversationSpending,
  LIMIT_SETTINGS,
  type ConversationSpendingDependencies,
  type LimitKind,
  type LimitNotice,
  type PaidRequest,
  type SpendingMessages,
} from '../live/conversationSpending';
import type { OfferedModel } from './offeredModels';

export interface ChatSpendingDependencies extends Pick<
  ConversationSpendingDependencies,
  'spending' | 'limits' | 'now'
> {
  readonly tell: (text: string, setting: string) => void;
  readonly log: Pick<vscode.LogOutputChannel, 'warn'>;
}

export class ChatSpending {
  private readonly spending: ConversationSpending;

  constructor({ tell, log, ...parts }: ChatSpendingDependencies) {
    this.spending = new ConversationSpending({
      ...parts,
      messages: SPENDING_MESSAGES,
      tell: ({ words: text, about }) => {
        tell(text, getSettingNameForLimit(about));
      },
      warn: (note) => {
        log.warn(note);
      },
    });
  }

  /** @see ConversationSpending.beginRequest */
  beginRequest(
    model: OfferedModel,
    conversation: string | undefined,
    prompt: number,
    minReadTokens?: number,
  ): Promise<PaidRequest | undefined> {
    const { id, prices, wrappedModel, profile } = model;
    const accounting = getAccounting(profile.vendor, profile.model);
    // Gives no warning about the unknown price of one of VS Code's own models, because a
    // subscription pays for it.
    const priceMessage = wrappedModel ? {} : { unknownPrice: describeUnknownPrice(model) };
    return this.spending.beginRequest({ id, accounting, prices, ...priceMessage }, conversation, prompt, minReadTokens);
  }
}

export const getSettingNameForLimit = (about: LimitNotice['about']): string =>
  about === 'price' ? 'profiles' : about === 'summary' ? 'provider' : LIMIT_SETTINGS[about];

const getSettingName = (limit: LimitKind): string => `contextCondenser.${LIMIT_SETTINGS[limit]}`;

const SPENDING_MESSAGES: SpendingMessages = {
  stopped: {
    conversation: (...parts) =>
      vscode.l10n.t(
        'This conversation has cost {0} and reached your limit of {1}: the request was not sent. To continue, raise {2} (0: no limit) and send it again, or start a new conversation.',
        ...parts,
        getSettingName('conversation'),
      ),
    day: (...parts) =>
      vscode.l10n.t(
        'Today’s conversations have cost {0} and reached your limit of {1}: the request was not sent. To continue, raise {2} (0: no limit) and send it again, or wait until tomorrow.',
        ...parts,
        getSettingName('day'),
      ),
  },
  near: {
    conversation: (...parts) =>
      vscode.l10n.t(
        'This conversation has cost {0}. At your limit of {1} no more requests are sent; to continue then, raise {2} or start a new conversation.',
        ...parts,
        getSettingName('conversation'),
      ),
    day: (...parts) =>
      vscode.l10n.t(
        'Today’s conversations have cost {0}. At your limit of {1} no more requests are sent; to continue then, raise {2} or wait until tomorrow.',
        ...parts,
        getSettingName('day'),
      ),
  },
  reached: {
    conversation: (...parts) =>
      vscode.l10n.t(
        'This conversation has cost {0} and reached your limit of {1} ({2}). It continues. Condensing it makes the next requests cheaper.',
        ...parts,
        getSettingName('conversation'),
      ),
    day: (...parts) =>
      vscode.l10n.t(
        'Today’s conversations have cost {0} and reached your limit of {1} ({2}). They continue. Condensing a long one makes its next requests cheaper.',
        ...parts,
        getSettingName('day'),
      ),
  },
  notRecorded: (reason) =>
    vscode.l10n.t(
      'The cost of the request could not be recorded, so it was not sent: {0} To continue without the limits, set contextCondenser.agent.atMaxCost to “warn”.',
      reason,
    ),
};

const describeUnknownPrice = ({ profile: { name, model } }: OfferedModel): string =>
  vscode.l10n.t(
    'The price of {0} is not known, so its requests do not count toward any spending limit. Set the prices of “{1}” in the settings (0 if it costs nothing).',
    model,
    name,
  );
