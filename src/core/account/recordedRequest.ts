/** Agents' records of their requests to models. */
import { isSoundUsage, MAX_CALL_TOKENS, MAX_CALL_USD, type Usage } from '../cost/usage';

/** A request as its agent recorded it. Plain data: it crosses worker boundaries. */
export interface RecordedRequest {
  /** When it was made, in milliseconds since the epoch. */
  readonly at?: number;
  /** The model's id, as the agent spells it. */
  readonly model?: string;
  /** Who offers the model, in the agent's word, such as `openrouter`. */
  readonly seller?: string;
  /** Absent where the agent wrote down that there was a request and not how large it was. */
  readonly usage?: Usage;
  /** The agent wrote numbers down that no request can have: its size is not known. */
  readonly isOdd?: true;
  /** The answer's length in tokens, where the agent records no more than that. */
  readonly outputTokens?: number;
  /** US dollars, by the agent's own reckoning. */
  readonly recordedCost?: number;
  /** The model's window in tokens, where the agent says. */
  readonly window?: number;
  /** Index of the message that it was answered with, in the whole history; absent off it: rewound, or a subagent's. */
  readonly message?: number;
  readonly purpose: 'answer' | 'compaction';
}

/** A compaction by the agent itself. */
export interface RecordedCompaction {
  /** Index, in the whole history, of the first message that was sent after it. */
  readonly message: number;
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** Tokens of the context before, where the agent says. */
  readonly tokensBefore?: number;
}

/** A session file's record of its requests, beside the messages. */
export interface RecordedRequests {
  /** In the order in which they were made. */
  readonly requests: readonly RecordedRequest[];
  readonly compactions: readonly RecordedCompaction[];
  /** Answers without a request were paid for in another session: where there is no request, nothing was paid in this one. Default false. */
  readonly isComplete?: boolean;
}

/** What of it a reading of a conversation has: all with the whole history, whose messages it names; else the last answer. */
export function recordedWith(
  history: 'active' | 'all' | undefined,
  recorded: RecordedRequests | undefined,
): { readonly recorded?: RecordedRequests; readonly lastRequest?: RecordedRequest } {
  if (!recorded) return {};
  const sound = withoutOddNumbers(recorded);
  if (history === 'all') return { recorded: sound };
  const last = lastAnswer(sound);
  if (!last) return {};
  const { message: _, ...lastRequest } = last;
  return { lastRequest };
}

/** A record without the numbers that no request can have: one of them would spoil every sum. */
export function withoutOddNumbers<T extends RecordedRequests>(recorded: T): T {
  const isTokens = (value: number): boolean => value >= 0 && value <= MAX_CALL_TOKENS;
  const isDollars = (value: number): boolean => value >= 0 && value <= MAX_CALL_USD;
  return {
    ...recorded,
    requests: recorded.requests.map(({ usage, outputTokens, recordedCost, window, ...request }): RecordedRequest => {
      const isSound = usage === undefined || isSoundUsage(usage);
      return {
        ...request,
        ...(isSound ? usage && { usage } : { isOdd: true }),
        ...(outputTokens !== undefined && isTokens(outputTokens) && { outputTokens }),
        ...(recordedCost !== undefined && isDollars(recordedCost) && { recordedCost }),
        ...(window !== undefined && isTokens(window) && { window }),
      };
    }),
    compactions: recorded.compactions.map(({ tokensBefore, ...compaction }) => ({
      ...compaction,
      ...(tokensBefore !== undefined && isTokens(tokensBefore) && { tokensBefore }),
    })),
  };
}

/** The last answer whose size is known; one of the conversation itself, where there is any, before one of a subagent. */
export function lastAnswer({ requests }: Pick<RecordedRequests, 'requests'>): RecordedRequest | undefined {
  const answers = requests.filter(({ purpose, usage }) => purpose === 'answer' && usage);
  return answers.findLast(({ message }) => message !== undefined) ?? answers.at(-1);
}
