/**
 * While a message streams, Claude Code writes it several times with growing output tokens, so the
 * last record counts.
 */
import type {
  RecordedRequest,
  RecordedRequests,
  RecordedTotal,
  RequestUsagePart,
} from '../../../core/account/recordedRequest';
import type { ServiceConditions } from '../../../core/cost/service';
import { countPromptTokens, type Usage } from '../../../core/cost/usage';
import { isRecord } from '../../../core/messages/blocks';
import { type Fields, readCount, readList, readRecord, readString, readTime } from '../../text/values';
import type { RequestCollector } from '../format';

interface CollectedRequest {
  readonly id: string | undefined;
  readonly request: RecordedRequest;
  readonly first: number | undefined;
  /** ID of the `api-request` record for the request that this record answers. */
  readonly ref: string | undefined;
  readonly session: string | undefined;
}

export class ClaudeRequests implements RequestCollector {
  /** Requests by message id and request id, or by a symbol if the record has no ids. */
  private readonly requestByKey = new Map<string | symbol, CollectedRequest>();
  private readonly totals: RecordedTotal[] = [];
  private readonly sentRequestIds = new Set<string>();
  compactions = 0;
  private session: string | undefined;
  private began: number | undefined;
  private lastAt: number | undefined;
  /**
   * True if the session starts with two titles, as sessions that we gave back do
   * (`write/claudeCode.ts`). Another session paid for their answers.
   */
  private isGivenBack = false;
  private readonly firstRecordTypes: unknown[] = [];
  /** The last record, if it contains an answer without ids; otherwise undefined. */
  private unnamedRecord:
    | { readonly uuid: string; readonly prompt: string | undefined; readonly place: string | symbol }
    | undefined;

  takeRecord(value: Fields): void {
    const timeMs = readTime(value, 'timestamp');
    this.began ??= timeMs;
    this.lastAt = timeMs ?? this.lastAt;
    this.session = readString(value, 'sessionId') ?? this.session;
    if (this.firstRecordTypes.length < 2) {
      this.firstRecordTypes.push(value['type']);
      this.isGivenBack = this.firstRecordTypes.join(' ') === 'summary custom-title';
    }
    if (value['type'] === 'user') this.unnamedRecord = undefined;
    switch (value['type']) {
      case 'assistant':
        this.addAnswer(value, timeMs);
        return;
      case 'api-request':
        this.sentRequestIds.add(readString(value, 'id') ?? '');
        return;
      case 'system':
        if (value['subtype'] === 'compact_boundary') this.compactions += 1;
        return;
      case 'cost-state':
        this.totals.push({
          ...(this.lastAt !== undefined && { at: this.lastAt }),
          after: this.requestByKey.size,
          compactions: this.compactions,
          models: convertModelTotals(readRecord(value, 'modelUsage') ?? {}),
        });
    }
  }

  /**
   * @param findMessageIndex finds a message by API id
   * @returns undefined if no record has usage, as in redacted transcripts
   */
  getResult(findMessageIndex: (id: string) => number | undefined = () => undefined): RecordedRequests | undefined {
    const requests = [...this.requestByKey.values()].map((each): RecordedRequest => {
      const message = each.id === undefined ? undefined : findMessageIndex(each.id);
      return {
        ...each.request,
        ...(this.isCopy(each) && { isCopy: true }),
        ...(message !== undefined && { message }),
      };
    });
    if (!this.isGivenBack && this.totals.length === 0 && !requests.some(({ usage }) => usage)) return undefined;
    return {
      requests,
      compactions: [],
      session: {
        keys: 'everywhere',
        ...(this.session !== undefined && { id: this.session }),
        ...(this.began !== undefined && { began: this.began }),
      },
      ...(this.totals.length > 0 && { totals: this.totals }),
      ...(this.isGivenBack && { isComplete: true }),
    };
  }

  private addAnswer(value: Fields, at: number | undefined): void {
    const message = readRecord(value, 'message');
    if (message?.['role'] !== 'assistant' || value['isApiErrorMessage'] === true) return;
    const model = readString(message, 'model');
    if (model === '<synthetic>') return;
    const reportedUsage = readRecord(message, 'usage');
    // Zeros mean that the usage is unknown: some servers report none, and sessions that we wrote
    // contain zeros.
    const usage = reportedUsage && !isWithoutUsage(readUsageAndParts(reportedUsage)) ? reportedUsage : undefined;
    if (reportedUsage && !usage && this.isGivenBack) return;
    const id = readString(message, 'id');
    const requestId = readString(value, 'requestId');
    const ref = readString(value, 'requestRef');
    const uuid = readString(value, 'uuid');
    // A self-hosted server may reuse message ids.
    const recordedIds = [id, requestId, ref].filter((name) => name !== undefined);
    const parent = readString(value, 'parentUuid');
    const promptCounts = usage && PROMPT_COUNT_FIELDS.map((field) => readUsage(usage)[field]).join('/');
    // Consecutive records without ids belong to one request if their prompt tokens are equal.
    const unnamedKey =
      this.unnamedRecord?.uuid === parent && this.unnamedRecord?.prompt === promptCounts
        ? this.unnamedRecord?.place
        : undefined;
    const requestKey = recordedIds.length > 0 ? [id, requestId, ref].join(' ') : (unnamedKey ?? Symbol());
    this.unnamedRecord =
      recordedIds.length === 0 && uuid !== undefined ? { uuid, prompt: promptCounts, place: requestKey } : undefined;
    const seenRequest = this.requestByKey.get(requestKey);
    const firstSeenAt = seenRequest?.first ?? at;
    const usageAndParts = usage && readUsageAndParts(usage);
    // Some versions write blocks before the answer ends, and out of order, so the record with the
    // most output tokens counts.
    const isLarger =
      usageAndParts && (!seenRequest?.request.usage || sumOutput(usageAndParts) >= sumOutput(seenRequest.request));
    // Copied records keep their ids and prompt tokens, but not always the time or the whole answer.
    const key =
      recordedIds.length > 0
        ? [id, requestId, ref ?? (requestId === undefined ? (promptCounts ?? firstSeenAt) : undefined)].join(' ')
        : uuid;
    this.requestByKey.set(requestKey, {
      id,
      request: {
        ...(at !== undefined && { at }),
        ...(model !== undefined && { model }),
        ...(isLarger ? usageAndParts : seenRequest && listUsageParts(seenRequest.request)),
        ...((seenRequest?.request.key ?? key) !== undefined && { key: seenRequest?.request.key ?? key ?? '' }),
        purpose: 'answer',
      },
      first: firstSeenAt,
      ref,
      session: readString(readRecord(value, 'forkedFrom') ?? value, 'sessionId'),
    });
  }

  /**
   * A resumed or forked session can begin with another session's records. They name that session
   * (before 2.0, and by `/branch`), are older than the file (2.1.332, `--fork-session`), or answer
   * requests that are not in the file although it records requests.
   */
  private isCopy({ request: { at }, ref, session }: CollectedRequest): boolean {
    return (
      (session !== undefined && session !== this.session) ||
      (at !== undefined && this.began !== undefined && at < this.began) ||
      (ref !== undefined && this.sentRequestIds.size > 0 && !this.sentRequestIds.has(ref))
    );
  }
}

const listUsageParts = ({
  usage,
  parts,
  service,
}: RecordedRequest): Pick<RecordedRequest, 'usage' | 'parts' | 'service'> => ({
  ...(usage && { usage }),
  ...(parts && { parts }),
  ...(service && { service }),
});

const sumOutput = ({ usage, parts = [] }: Pick<RecordedRequest, 'usage' | 'parts'>): number =>
  (usage?.outputTokens ?? 0) + parts.reduce((sum, part) => sum + part.usage.outputTokens, 0);

const isWithoutUsage = ({ usage, parts = [] }: Pick<RecordedRequest, 'usage' | 'parts'>): boolean =>
  (usage === undefined || isEmptyUsage(usage)) && parts.length === 0;

const isEmptyUsage = (usage: Usage): boolean => countPromptTokens(usage) === 0 && usage.outputTokens === 0;

/**
 * The top-level sums omit the tokens of an advisor and of a server-side compaction, and each step
 * has its own price. Sources: API guides "Advisor tool" and "Compaction"; Claude Code's own
 * calculation.
 */
function readUsageAndParts(usage: Fields): Pick<RecordedRequest, 'usage' | 'parts' | 'service'> {
  const topLevelUsage = readUsage(usage);
  if (!('iterations' in usage)) return { usage: topLevelUsage, ...readServiceConditions(usage) };
  const iterations = readList(usage, 'iterations').filter(isRecord);
  const isOwnStep = ({ type }: Fields): boolean => type === 'message' || type === 'fallback_message';
  const ownSteps = iterations.filter(isOwnStep).map(toRequestPart);
  const otherSteps = iterations.filter((each) => !isOwnStep(each)).map(toRequestPart);
  const lastStep = ownSteps.at(-1);
  const isSumOfSteps =
    lastStep && TOKEN_COUNT_FIELDS.every((field) => sumCounts(ownSteps, field) === topLevelUsage[field]);
  const parts = (isSumOfSteps ? [...ownSteps.slice(0, -1), ...otherSteps] : otherSteps).filter(
    (part) => !isEmptyUsage(part.usage),
  );
  return {
    // Some versions split cache writes by lifetime only in the top-level usage, so a single step
    // uses that.
    usage: isSumOfSteps && ownSteps.length > 1 ? lastStep.usage : topLevelUsage,
    ...(parts.length > 0 && { parts }),
    ...readServiceConditions(usage),
  };
}

const TOKEN_COUNT_FIELDS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

const PROMPT_COUNT_FIELDS = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

const sumCounts = (parts: readonly RequestUsagePart[], field: (typeof TOKEN_COUNT_FIELDS)[number]): number =>
  parts.reduce((sum, { usage }) => sum + usage[field], 0);

function toRequestPart(iteration: Fields): RequestUsagePart {
  const model = readString(iteration, 'model');
  return { ...(model !== undefined && { model }), usage: readUsage(iteration) };
}

function readServiceConditions(usage: Fields): { service?: ServiceConditions } {
  const speed = readString(usage, 'speed');
  const tier = readString(usage, 'service_tier');
  const region = readString(usage, 'inference_geo');
  const webSearches = readCount(readRecord(usage, 'server_tool_use') ?? {}, 'web_search_requests');
  const service = {
    ...(speed !== undefined && speed !== 'standard' && { speed }),
    ...(tier !== undefined && tier !== 'standard' && { tier }),
    ...(region !== undefined && region !== '' && { region }),
    ...(webSearches > 0 && { webSearches }),
  };
  return Object.keys(service).length > 0 ? { service } : {};
}

function readUsage(usage: Fields): Usage {
  const creation = readRecord(usage, 'cache_creation') ?? {};
  const longCacheWriteTokens = readCount(creation, 'ephemeral_1h_input_tokens');
  const cacheWriteTokens = longCacheWriteTokens + readCount(creation, 'ephemeral_5m_input_tokens');
  return {
    accounting: 'anthropic',
    source: 'reported',
    inputTokens: readCount(usage, 'input_tokens'),
    outputTokens: readCount(usage, 'output_tokens'),
    cacheReadTokens: readCount(usage, 'cache_read_input_tokens'),
    // Old versions record only the sum of cache writes, some gateways only the split by lifetime.
    cacheWriteTokens: readCount(usage, 'cache_creation_input_tokens') || cacheWriteTokens,
    ...(longCacheWriteTokens > 0 && { longCacheWriteTokens }),
  };
}

/**
 * A `cost-state` record contains what Claude Code has paid so far for each model; a resumed session
 * continues these sums (2.1.332).
 */
const convertModelTotals = (models: Fields): RecordedTotal['models'] =>
  Object.entries(models).flatMap(([model, modelSums]) => {
    if (!isRecord(modelSums)) return [];
    const longCacheWriteTokens = readCount(modelSums, 'cacheCreationEphemeral1hInputTokens');
    const usage: Usage = {
      accounting: 'anthropic',
      source: 'reported',
      inputTokens: readCount(modelSums, 'inputTokens'),
      outputTokens: readCount(modelSums, 'outputTokens'),
      cacheReadTokens: readCount(modelSums, 'cacheReadInputTokens'),
      cacheWriteTokens: readCount(modelSums, 'cacheCreationInputTokens'),
      ...(longCacheWriteTokens > 0 && { longCacheWriteTokens }),
    };
    const webSearches = readCount(modelSums, 'webSearchRequests');
    return isEmptyUsage(usage) ? [] : [{ model, usage, ...(webSearches > 0 && { webSearches }) }];
  });
