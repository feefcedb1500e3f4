import { LIMIT_SETTINGS, type LimitKind, type SpendingMessages } from '../../live/conversationSpending';

const LIMIT_OPTIONS: Readonly<Record<LimitKind, string>> = {
  conversation: '--max-cost-per-conversation',
  day: '--max-cost-per-day',
};
const getSettingName = (limit: LimitKind): string => `contextCondenser.${LIMIT_SETTINGS[limit]}`;

const LIMIT_ALTERNATIVES: Readonly<Record<LimitKind, string>> = {
  conversation: 'start a new conversation',
  day: 'wait until tomorrow',
};
const LIMIT_SUBJECTS: Readonly<Record<LimitKind, string>> = {
  conversation: 'This conversation has',
  day: 'Today’s conversations have',
};

/**
 * Agents show these messages as the vendor's error. If they said that the request was too large,
 * agents would compact the conversation and send it again.
 */
export function createLimitMessages(isInVsCode: boolean): SpendingMessages {
  const explainHowToRaise = (limit: LimitKind): string =>
    isInVsCode
      ? `raise ${getSettingName(limit)} in VS Code’s settings (0: none) and ask the agent to continue`
      : `start the agent again with a higher ${LIMIT_OPTIONS[limit]} (0: none) and resume this session`;
  const forEachLimit = (makeMessage: (limit: LimitKind, spent: string, allowed: string) => string) => ({
    conversation: (spent: string, allowed: string) => makeMessage('conversation', spent, allowed),
    day: (spent: string, allowed: string) => makeMessage('day', spent, allowed),
  });
  return {
    stopped: forEachLimit(
      (limit, spent, allowed) =>
        `${LIMIT_SUBJECTS[limit]} cost ${spent} and used up your budget of ${allowed}: the request was not sent. To continue, ${explainHowToRaise(limit)}, or ${LIMIT_ALTERNATIVES[limit]}.`,
    ),
    near: forEachLimit(
      (limit, spent, allowed) =>
        `${LIMIT_SUBJECTS[limit]} cost ${spent}. Once your budget of ${allowed} is used up, no more requests are sent; to continue then, ${explainHowToRaise(limit)}, or ${LIMIT_ALTERNATIVES[limit]}.`,
    ),
    reached: forEachLimit(
      (limit, spent, allowed) =>
        `${LIMIT_SUBJECTS[limit]} cost ${spent} and used up your budget of ${allowed} (${isInVsCode ? getSettingName(limit) : LIMIT_OPTIONS[limit]}). Requests continue.`,
    ),
    notRecorded: (why) =>
      `The cost of the request could not be recorded, so it was not sent: ${why} To continue without the budget, ${isInVsCode ? 'set contextCondenser.agent.atMaxCost to "warn"' : 'leave out --at-max-cost stop'}.`,
  };
}
