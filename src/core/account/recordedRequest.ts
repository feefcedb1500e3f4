/** Agents' records of their requests to models. */
import { toolCost, type Service } from '../cost/service';
import { isSoundUsage, MAX_CALL_TOKENS, MAX_CALL_USD, promptTokens, type Usage } from '../cost/usage';

/** A request as its agent recorded it. Plain data: it crosses worker boundaries. */
export interface RecordedRequest {
  /** When it was made, in milliseconds since the epoch. */
  readonly at?: number;
  /** The model's id, as the agent spells it. */
  readonly model?: string;
  /** Who offers the model, in the agent's word, such as `openrouter`. */
  readonly seller?: string;
  /**
   * Absent where the agent wrote down that there was a request and not how large it was. Of a request that the vendor served in several
   * steps it is the last one's, which tells how full the window is; the others are in `parts`.
   */
  readonly usage?: Usage;
  /** The agent wrote numbers down that no request can have: its size is not known. */
  readonly isOdd?: true;
  /** What was charged for the same request beside `usage`: earlier steps, and other models that were asked on the way. */
  readonly parts?: readonly RequestPart[];
  /** How the vendor served it; absent: in the plain way. */
  readonly service?: Service;
  /** Equal in all records of one request; see `RecordedSession.keys`. */
  readonly key?: string;
  /** The record is known to repeat a request that was made in another session. */
  readonly isCopy?: boolean;
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

/** A part of a request that is charged by itself. */
export interface RequestPart {
  /** Absent: the request's own. */
  readonly model?: string;
  readonly usage: Usage;
}

/** The agent's own sum of what a session cost so far. */
export interface RecordedTotal {
  /** When it was written, as far as the records around it tell. Milliseconds since the epoch. */
  readonly at?: number;
  /** How many of the session's requests were recorded before it. */
  readonly after: number;
  /** How many compactions were. */
  readonly compactions: number;
  /** How many answers of the conversation it includes, where the agent records sums alone. */
  readonly answers?: number;
  readonly models: readonly ModelTotal[];
}

/** A vendor's own charge for a session so far, with all that its agent asked for. */
export interface RecordedCharge {
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** How many answers of the conversation it includes, and of each of its subagents, by the id of its messages. */
  readonly answers: number;
  readonly sideAnswers?: Readonly<Record<string, number>>;
  readonly dollars: number;
}

/** The part of a sum that is one model's. */
export interface ModelTotal {
  /** Absent where no record names it. */
  readonly model?: string;
  readonly usage: Usage;
  /** Undefined where the agent does not count them. */
  readonly requests?: number;
  /** Searches by the vendor's own tool, those of its requests among them. */
  readonly webSearches?: number;
}

/** A session as its agent knows it, beside its requests. */
export interface RecordedSession {
  /** The agent's own id. */
  readonly id?: string;
  /** When its file was begun, in milliseconds since the epoch: what was made before was copied. */
  readonly began?: number;
  /** The agent's id of the session that it was forked from, or whose records it begins with. */
  readonly forkOf?: string;
  /** Those that the origin goes back to in turn, as far as the copied records tell: the origin's own file may be gone. */
  readonly furtherOrigins?: readonly string[];
  /**
   * Where a key tells requests apart: in all sessions of the agent, or only between a session and those that it was forked from, one
   * after the other.
   */
  readonly keys: 'everywhere' | 'in-lineage';
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
  readonly session?: RecordedSession;
  /** Whether the requests that made the compactions are among them. Default: where any is told to be one. */
  readonly hasCompactions?: boolean;
  /** In the order of the file; each includes the ones before, and what a forked session's origin had cost until then. */
  readonly totals?: readonly RecordedTotal[];
  /** What the vendor charged for the session until then, where only that is recorded of it. */
  readonly charged?: RecordedCharge;
  /** Index of the first message that was not said in the session that this one goes on from. Default 0. */
  readonly ownFrom?: number;
  /** Answers without a request were paid for in another session: where there is no request, nothing was paid in this one. Default false. */
  readonly isComplete?: boolean;
}

/** The last answer of a conversation that was read without what stands before its compactions. */
export type LastRequest = Omit<RecordedRequest, 'message'> & {
  /** How many messages stand behind its answer; undefined where the answer is none of the conversation's, or was compacted since. */
  readonly messagesSince?: number;
};

/**
 * What of it a reading of a conversation has: all with the whole history, whose messages it names; else the last answer.
 * @param count of the messages of the whole history
 */
export function recordedWith(
  history: 'active' | 'all' | undefined,
  recorded: RecordedRequests | undefined,
  count: number,
): { readonly recorded?: RecordedRequests; readonly lastRequest?: LastRequest } {
  if (!recorded) return {};
  const sound = withoutOddNumbers(recorded);
  if (history === 'all') return { recorded: sound };
  const lastRequest = lastRequestIn(sound, count);
  return lastRequest ? { lastRequest } : {};
}

/** The same of a conversation that was read with its whole history. */
export function lastRequestIn(recorded: RecordedRequests, count: number): LastRequest | undefined {
  const last = lastAnswer(recorded);
  if (!last) return undefined;
  const { message, ...rest } = last;
  const isCompacted = recorded.compactions.some((compaction) => message === undefined || compaction.message > message);
  return { ...rest, ...(message !== undefined && !isCompacted && { messagesSince: count - 1 - message }) };
}

/** More requests than a session can have. */
const MAX_CALLS = 100_000;

/** A request that was refused, or whose server counts nothing: its size is not known, and nobody has paid for it. */
const isNothing = (usage: Usage, parts: readonly RequestPart[] = []): boolean =>
  promptTokens(usage) === 0 && usage.outputTokens === 0 && usage.costUsd === undefined && parts.length === 0;

/** A record without the numbers that no request can have: one of them would spoil every sum. */
export function withoutOddNumbers<T extends RecordedRequests>(recorded: T): T {
  const isTokens = (value: number): boolean => value >= 0 && value <= MAX_CALL_TOKENS;
  const isDollars = (value: number): boolean => value >= 0 && value <= MAX_CALL_USD;
  return {
    ...recorded,
    requests: recorded.requests.map(
      ({ usage, parts, service, outputTokens, recordedCost, window, ...request }): RecordedRequest => {
        const isSound =
          isDollars(toolCost(service ?? {})) &&
          (usage === undefined || isSoundUsage(usage)) &&
          (parts ?? []).every((part) => isSoundUsage(part.usage));
        return {
          ...request,
          ...(isSound
            ? {
                ...(usage && !isNothing(usage, parts) && { usage }),
                ...(parts && { parts }),
                ...(service && { service }),
              }
            : { isOdd: true }),
          ...(outputTokens !== undefined && isTokens(outputTokens) && { outputTokens }),
          ...(recordedCost !== undefined && isDollars(recordedCost) && { recordedCost }),
          ...(window !== undefined && isTokens(window) && { window }),
        };
      },
    ),
    ...(recorded.totals && {
      totals: recorded.totals.map((total) => ({
        ...total,
        models: total.models.filter(({ usage }) => isSoundUsage(usage, MAX_CALLS)),
      })),
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
