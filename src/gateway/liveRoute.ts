import * as z from 'zod';
import { explainWhyNothingRemoved } from '../core/condense/fallback';
import { getErrorMessage } from '../core/errors';
import type { OutcomeSummary } from '../core/condense';
import type { DiffTexts } from '../core/condense/report/foldedTexts';
import type { EditId } from '../core/condense/edits/edits';
import type { LiveId } from '../live/request';
import type { ConversationLimits, LimitNotice } from '../live/conversationSpending';
import type { CommandResult, LiveConversationsApi, LiveSummary, LiveView } from '../live/types';

/**
 * Milliseconds after which a request that waits for changes is answered even without any; shorter
 * than clients' timeouts.
 */
const LONG_POLL_MS = 25_000;

const liveIdSchema = z.string().transform((id) => id as LiveId);
const messageIndexSchema = z.number().int().nonnegative();
const liveQuestionSchema = z.discriminatedUnion('do', [
  /** Asks for the conversations; answered once the state's number differs from `after`. */
  z.object({ do: z.literal('list'), after: z.number().int().optional() }),
  z.object({ do: z.literal('view'), conversation: liveIdSchema }),
  z.object({ do: z.literal('compare'), conversation: liveIdSchema }),
  z.object({ do: z.literal('outline'), conversation: liveIdSchema }),
  z.object({
    do: z.literal('condense'),
    conversation: liveIdSchema,
    provider: z.string().optional(),
    config: z.unknown().optional(),
    targetPercent: z.number().optional(),
  }),
  z.object({ do: z.literal('undo'), conversation: liveIdSchema }),
  z.object({ do: z.literal('redo'), conversation: liveIdSchema }),
  z.object({
    do: z.literal('toggle'),
    conversation: liveIdSchema,
    edit: z.string().transform((id) => id as EditId),
  }),
  z.object({ do: z.literal('pin'), conversation: liveIdSchema, message: messageIndexSchema }),
  z.object({ do: z.literal('unpin'), conversation: liveIdSchema, message: messageIndexSchema }),
  z.object({
    do: z.literal('limits'),
    perConversation: z.number().nonnegative(),
    perDay: z.number().nonnegative(),
    stops: z.boolean(),
  }),
  z.object({ do: z.literal('pause'), isPaused: z.boolean() }),
  /** Ends the gateway; not allowed if the gateway was started with an agent. */
  z.object({ do: z.literal('end') }),
]);

export type LiveQuestion = z.input<typeof liveQuestionSchema>;

export interface SpendingNotices {
  readonly notices: readonly LimitNotice[];
  readonly onNotice: (listener: () => void) => void;
  readonly setLimits: (limits: ConversationLimits) => void;
}

export interface LiveAnswerByQuestion {
  readonly list: {
    readonly state: number;
    readonly conversations: readonly LiveSummary[];
    readonly told?: readonly LimitNotice[] | undefined;
    readonly isEnding: boolean;
  };
  readonly view: { readonly view?: LiveView | undefined };
  readonly compare: { readonly texts?: DiffTexts | undefined };
  readonly outline: { readonly messages?: ReturnType<LiveConversationsApi['outline']> };
  /** `kind` is absent if nothing could be condensed; `notes` then give the reasons. */
  readonly condense: { readonly kind?: OutcomeSummary['kind']; readonly notes: readonly string[] };
  readonly undo: CommandResult;
  readonly redo: CommandResult;
  readonly toggle: CommandResult;
  readonly pin: CommandResult;
  readonly unpin: CommandResult;
  readonly limits: { readonly isKnown: boolean };
  readonly pause: { readonly isPaused: boolean };
  readonly end: { readonly isEnding: true };
}

export interface LiveRouteOptions {
  readonly spending?: SpendingNotices;
  readonly pause?: (isPaused: boolean) => void;
  readonly end?: (() => void) | undefined;
}

/** Returns errors as `{ error }`. */
export function createLiveRoute(
  live: LiveConversationsApi,
  { spending, pause, end }: LiveRouteOptions = {},
): (body: unknown, signal: AbortSignal) => Promise<unknown> {
  let stateVersion = 1;
  let isEnding = false;
  const waitingRequests = new Set<() => void>();
  const notifyWaitingRequests = (): void => {
    stateVersion++;
    for (const notify of waitingRequests) notify();
    waitingRequests.clear();
  };
  live.on(notifyWaitingRequests);
  spending?.onNotice(notifyWaitingRequests);
  const waitForChange = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const stopWaiting = (): void => {
        clearTimeout(timer);
        waitingRequests.delete(stopWaiting);
        signal.removeEventListener('abort', stopWaiting);
        resolve();
      };
      const timer = setTimeout(stopWaiting, LONG_POLL_MS);
      timer.unref();
      waitingRequests.add(stopWaiting);
      signal.addEventListener('abort', stopWaiting);
    });
  return async (body, signal) => {
    const parsed = liveQuestionSchema.safeParse(body);
    if (!parsed.success) return { error: z.prettifyError(parsed.error) };
    try {
      return await answerLiveQuestion(parsed.data);
    } catch (error) {
      return { error: getErrorMessage(error) };
    }

    async function answerLiveQuestion(
      question: z.output<typeof liveQuestionSchema>,
    ): Promise<LiveAnswerByQuestion[keyof LiveAnswerByQuestion]> {
      switch (question.do) {
        case 'list':
          if (question.after === stateVersion) await waitForChange(signal);
          return { state: stateVersion, conversations: live.list(), told: spending?.notices, isEnding };
        case 'view':
          return { view: live.view(question.conversation) };
        case 'compare':
          return { texts: live.compare(question.conversation) };
        case 'outline':
          return { messages: live.outline(question.conversation) };
        case 'condense': {
          const { provider, config, targetPercent } = question;
          const options = {
            ...(provider !== undefined && { provider }),
            ...(config !== undefined && { config }),
            ...(targetPercent !== undefined && { targetPercent }),
          };
          const outcome = await live.condenseNow(question.conversation, options, signal);
          if (!outcome) return { notes: [] };
          const { kind, notes } = outcome;
          return {
            kind,
            notes: kind === 'condensed' ? notes : [...new Set([explainWhyNothingRemoved(outcome), ...notes])],
          };
        }
        case 'undo':
          return live.undo(question.conversation);
        case 'redo':
          return live.redo(question.conversation);
        case 'toggle':
          return live.toggleEdit(question.conversation, question.edit);
        case 'pin':
          return live.pin(question.conversation, question.message);
        case 'unpin':
          return live.unpin(question.conversation, question.message);
        case 'limits': {
          const { perConversation, perDay, stops } = question;
          spending?.setLimits({ perConversation, perDay, stops });
          return { isKnown: spending !== undefined };
        }
        case 'pause':
          if (!pause) throw new Error('This gateway condenses nothing, so it has nothing to pause.');
          pause(question.isPaused);
          notifyWaitingRequests();
          return { isPaused: question.isPaused };
        case 'end':
          if (!end) throw new Error('This gateway ends with its agent.');
          isEnding = true;
          notifyWaitingRequests();
          setImmediate(end);
          return { isEnding };
      }
    }
  };
}
