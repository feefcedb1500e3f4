import { computeWebSearchCost, type ServiceConditions } from '../cost/service';
import { isPlausibleUsage, MAX_CALL_TOKENS, MAX_CALL_USD, countPromptTokens, type Usage } from '../cost/usage';

export interface RecordedRequest {
  /** Milliseconds since the epoch. */
  readonly at?: number;
  readonly model?: string;
  /** The agent's name for the model's vendor, such as `openrouter`. */
  readonly seller?: string;
  /**
   * Absent if not recorded. If the vendor needed several steps, this is the last step's usage,
   * which shows how full the window is.
   */
  readonly usage?: Usage;
  readonly isOdd?: true;
  /** Usage of earlier steps and of other models, charged in addition to `usage`. */
  readonly parts?: readonly RequestUsagePart[];
  readonly service?: ServiceConditions;
  /** Equal in all records of one request; see `RecordedSession.keys`. */
  readonly key?: string;
  readonly isCopy?: boolean;
  /** Output tokens, if the agent recorded no other counts. */
  readonly outputTokens?: number;
  /** US dollars, as computed by the agent. */
  readonly recordedCost?: number;
  readonly window?: number;
  /** Index of the answer in the whole history; absent if it was rewound or is a subagent's. */
  readonly message?: number;
  readonly purpose: 'answer' | 'compaction';
}

export interface RequestUsagePart {
  readonly model?: string;
  readonly usage: Usage;
}

export interface RecordedTotal {
  readonly at?: number;
  /** Number of the session's requests before the total. */
  readonly after: number;
  readonly compactions: number;
  /** Number of answers included, if the agent records only totals. */
  readonly answers?: number;
  readonly models: readonly ModelTotal[];
}

/** What the vendor has charged for the session so far, for everything that the agent requested. */
export interface RecordedCharge {
  readonly at?: number;
  /**
   * `answers` counts the conversation's answers, `sideAnswers` those of subagents by message ID.
   */
  readonly answers: number;
  readonly sideAnswers?: Readonly<Record<string, number>>;
  readonly dollars: number;
}

export interface ModelTotal {
  readonly model?: string;
  readonly usage: Usage;
  readonly requests?: number;
  readonly webSearches?: number;
}

export interface RecordedSession {
  readonly id?: string;
  /** Start of the file in milliseconds since the epoch. Everything earlier is a copy. */
  readonly began?: number;
  /** ID of the session that this one was forked from, or whose records it starts with. */
  readonly forkOf?: string;
  /** Further ancestors, in case the origin's file is gone. */
  readonly furtherOrigins?: readonly string[];
  /**
   * Whether keys are unique in all of the agent's sessions, or only in a session and its ancestors.
   */
  readonly keys: 'everywhere' | 'in-lineage';
}

export interface RecordedCompaction {
  /** Index in the whole history of the first message sent after the compaction. */
  readonly message: number;
  readonly at?: number;
  readonly tokensBefore?: number;
}

export interface RecordedRequests {
  readonly requests: readonly RecordedRequest[];
  readonly compactions: readonly RecordedCompaction[];
  readonly session?: RecordedSession;
  /**
   * True if requests for compactions are included. Default: true if any request has the purpose
   * `compaction`.
   */
  readonly hasCompactions?: boolean;
  /** Each total includes the previous ones and, in a fork, the origin's cost. */
  readonly totals?: readonly RecordedTotal[];
  readonly charged?: RecordedCharge;
  /**
   * Index of this session's first own message; earlier messages come from the session that it
   * continues.
   */
  readonly ownFrom?: number;
  /**
   * True if every paid request is recorded; another session paid for answers without a recorded
   * request.
   */
  readonly isComplete?: boolean;
}

export type LastRequest = Omit<RecordedRequest, 'message'> & {
  /** Number of messages after the answer; undefined if the answer is missing or compacted. */
  readonly messagesSince?: number;
};

/** Only `all` returns all requests, because they refer to messages of the whole history. */
export function selectRecordedRequests(
  history: 'active' | 'all' | undefined,
  recorded: RecordedRequests | undefined,
  count: number,
): { readonly recorded?: RecordedRequests; readonly lastRequest?: LastRequest } {
  if (!recorded) return {};
  const plausibleRequests = dropImplausibleUsage(recorded);
  if (history === 'all') return { recorded: plausibleRequests };
  const lastRequest = findLastRequestInHistory(plausibleRequests, count);
  return lastRequest ? { lastRequest } : {};
}

export function findLastRequestInHistory(recorded: RecordedRequests, count: number): LastRequest | undefined {
  const lastAnswer = findLastAnswer(recorded);
  if (!lastAnswer) return undefined;
  const { message, ...rest } = lastAnswer;
  // A compaction can keep the last answers, which were requested before it.
  const isCompacted = recorded.compactions.some(
    (compaction) =>
      message === undefined || compaction.message > message || (compaction.at ?? 0) > (lastAnswer.at ?? Infinity),
  );
  return { ...rest, ...(message !== undefined && !isCompacted && { messagesSince: count - 1 - message }) };
}

const MAX_RECORDED_REQUESTS = 100_000;

/** A rejected request, or one whose server reports no usage. */
const isEmptyUsage = (usage: Usage, parts: readonly RequestUsagePart[] = []): boolean =>
  countPromptTokens(usage) === 0 && usage.outputTokens === 0 && usage.costUsd === undefined && parts.length === 0;

export function dropImplausibleUsage<T extends RecordedRequests>(recorded: T): T {
  const isTokens = (value: number): boolean => value >= 0 && value <= MAX_CALL_TOKENS;
  const isDollars = (value: number): boolean => value >= 0 && value <= MAX_CALL_USD;
  return {
    ...recorded,
    requests: recorded.requests.map(
      ({ usage, parts, service, outputTokens, recordedCost, window, ...request }): RecordedRequest => {
        const isPlausible =
          isDollars(computeWebSearchCost(service ?? {})) &&
          (usage === undefined || isPlausibleUsage(usage)) &&
          (parts ?? []).every((part) => isPlausibleUsage(part.usage));
        return {
          ...request,
          ...(isPlausible
            ? {
                ...(usage && !isEmptyUsage(usage, parts) && { usage }),
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
        models: total.models.filter(({ usage }) => isPlausibleUsage(usage, MAX_RECORDED_REQUESTS)),
      })),
    }),
    compactions: recorded.compactions.map(({ tokensBefore, ...compaction }) => ({
      ...compaction,
      ...(tokensBefore !== undefined && isTokens(tokensBefore) && { tokensBefore }),
    })),
  };
}

export function findLastAnswer({ requests }: Pick<RecordedRequests, 'requests'>): RecordedRequest | undefined {
  const answers = requests.filter(({ purpose, usage }) => purpose === 'answer' && usage);
  return answers.findLast(({ message }) => message !== undefined) ?? answers.at(-1);
}
