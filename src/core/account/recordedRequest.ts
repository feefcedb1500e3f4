import { computeToolCost, type ServiceConditions } from '../cost/service';
import { isSoundUsage, MAX_CALL_TOKENS, MAX_CALL_USD, countPromptTokens, type Usage } from '../cost/usage';

/** Plain data, passed between workers. */
export interface RecordedRequest {
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** Model ID as the agent spells it. */
  readonly model?: string;
  /** Who offers the model, as the agent names it, such as `openrouter`. */
  readonly seller?: string;
  /**
   * Absent if the agent recorded a request without its size. If the vendor served it in several
   * steps, this is the last one, which shows how full the window is; the others are in `parts`.
   */
  readonly usage?: Usage;
  readonly isOdd?: true;
  /** Charged in addition to `usage`: earlier steps and other models involved. */
  readonly parts?: readonly RequestPart[];
  readonly service?: ServiceConditions;
  /** Equal in all records of one request; see `RecordedSession.keys`. */
  readonly key?: string;
  /** True if the record is known to repeat a request of another session. */
  readonly isCopy?: boolean;
  /** Length of the answer in tokens, if nothing else is recorded. */
  readonly outputTokens?: number;
  /** US dollars as computed by the agent. */
  readonly recordedCost?: number;
  /** The model's window in tokens, if recorded. */
  readonly window?: number;
  /** Index of the answer in the whole history; absent if rewound or a subagent's. */
  readonly message?: number;
  readonly purpose: 'answer' | 'compaction';
}

export interface RequestPart {
  /** Default: the request's model. */
  readonly model?: string;
  readonly usage: Usage;
}

export interface RecordedTotal {
  /** Milliseconds since the epoch, if the surrounding records give a time. */
  readonly at?: number;
  /** Number of the session's requests recorded before it. */
  readonly after: number;
  /** Number of compactions recorded before it. */
  readonly compactions: number;
  /** Number of answers included, if the agent records only totals. */
  readonly answers?: number;
  readonly models: readonly ModelTotal[];
}

/** The vendor's charge for a session so far, including everything the agent requested. */
export interface RecordedCharge {
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** Number of answers included, for the conversation and, by message ID, for each subagent. */
  readonly answers: number;
  readonly sideAnswers?: Readonly<Record<string, number>>;
  readonly dollars: number;
}

export interface ModelTotal {
  readonly model?: string;
  readonly usage: Usage;
  readonly requests?: number;
  /** Searches by the vendor's tool, including those of its requests. */
  readonly webSearches?: number;
}

export interface RecordedSession {
  readonly id?: string;
  /** When the file was started, in milliseconds since the epoch; anything earlier is a copy. */
  readonly began?: number;
  /** ID of the session it was forked from, or whose records it starts with. */
  readonly forkOf?: string;
  /** Further ancestors according to the copied records; the origin's file may be gone. */
  readonly furtherOrigins?: readonly string[];
  /** Scope of request keys: all sessions of the agent, or only a session and its ancestors. */
  readonly keys: 'everywhere' | 'in-lineage';
}

export interface RecordedCompaction {
  /** Index in the whole history of the first message sent after it. */
  readonly message: number;
  /** Milliseconds since the epoch. */
  readonly at?: number;
  /** Context tokens before it, if recorded. */
  readonly tokensBefore?: number;
}

export interface RecordedRequests {
  readonly requests: readonly RecordedRequest[];
  readonly compactions: readonly RecordedCompaction[];
  readonly session?: RecordedSession;
  /** True if compaction requests are included. Default: if any request is marked as one. */
  readonly hasCompactions?: boolean;
  /** In file order. Each includes the previous ones and the origin's cost at the time of a fork. */
  readonly totals?: readonly RecordedTotal[];
  /** The vendor's charge so far, if nothing else is recorded. */
  readonly charged?: RecordedCharge;
  /** Index of the first message of this session, as opposed to the one it continues. Default 0. */
  readonly ownFrom?: number;
  /** True if answers without a request were paid in another session. Default false. */
  readonly isComplete?: boolean;
}

/** The last answer of a conversation read without what precedes its compactions. */
export type LastRequest = Omit<RecordedRequest, 'message'> & {
  /**
   * Number of messages after its answer; undefined if the answer is not in the conversation or was
   * compacted.
   */
  readonly messagesSince?: number;
};

/**
 * What of it a reading of a conversation has: all with the whole history, whose messages it names; else the last answer.
 * @param count of the messages of the whole history
 */
export function selectRecordedRequests(
  history: 'active' | 'all' | undefined,
  recorded: RecordedRequests | undefined,
  count: number,
): { readonly recorded?: RecordedRequests; readonly lastRequest?: LastRequest } {
  if (!recorded) return {};
  const sound = withoutOddNumbers(recorded);
  if (history === 'all') return { recorded: sound };
  const lastRequest = findLastRequest(sound, count);
  return lastRequest ? { lastRequest } : {};
}

/** The same for a conversation read with its whole history. */
export function findLastRequest(recorded: RecordedRequests, count: number): LastRequest | undefined {
  const last = findLastAnswer(recorded);
  if (!last) return undefined;
  const { message, ...rest } = last;
  // A compaction can keep the last answers, which then follow it although they were requested before.
  const isCompacted = recorded.compactions.some(
    (compaction) =>
      message === undefined || compaction.message > message || (compaction.at ?? 0) > (last.at ?? Infinity),
  );
  return { ...rest, ...(message !== undefined && !isCompacted && { messagesSince: count - 1 - message }) };
}

/** More requests than any session has. */
const MAX_REQUESTS = 100_000;

/** A rejected request, or one whose server reports no usage: unknown size and no cost. */
const isNothing = (usage: Usage, parts: readonly RequestPart[] = []): boolean =>
  countPromptTokens(usage) === 0 && usage.outputTokens === 0 && usage.costUsd === undefined && parts.length === 0;

/** Removes impossible numbers, which would corrupt every sum. */
export function withoutOddNumbers<T extends RecordedRequests>(recorded: T): T {
  const isTokens = (value: number): boolean => value >= 0 && value <= MAX_CALL_TOKENS;
  const isDollars = (value: number): boolean => value >= 0 && value <= MAX_CALL_USD;
  return {
    ...recorded,
    requests: recorded.requests.map(
      ({ usage, parts, service, outputTokens, recordedCost, window, ...request }): RecordedRequest => {
        const isSound =
          isDollars(computeToolCost(service ?? {})) &&
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
        models: total.models.filter(({ usage }) => isSoundUsage(usage, MAX_REQUESTS)),
      })),
    }),
    compactions: recorded.compactions.map(({ tokensBefore, ...compaction }) => ({
      ...compaction,
      ...(tokensBefore !== undefined && isTokens(tokensBefore) && { tokensBefore }),
    })),
  };
}

/** The last answer of known size, preferring the conversation's own over a subagent's. */
export function findLastAnswer({ requests }: Pick<RecordedRequests, 'requests'>): RecordedRequest | undefined {
  const answers = requests.filter(({ purpose, usage }) => purpose === 'answer' && usage);
  return answers.findLast(({ message }) => message !== undefined) ?? answers.at(-1);
}
