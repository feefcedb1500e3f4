/**
 * `token_count` events and, since 0.15x, `token_usage_record` (which names the answer) contain the
 * thread's running sum. Sources: codex-rs/protocol (TokenUsageInfo), sessions of 0.171.
 */
import type { RecordedRequest, RecordedRequests, RecordedSession } from '../../../core/account/recordedRequest';
import type { Usage } from '../../../core/cost/usage';
import type { RequestCollector } from '../format';
import { type Fields, readCount, readNumber, readRecord, readString, readTime } from '../../text/values';

export class CodexRequests implements RequestCollector {
  compactions = 0;
  private readonly foundRequests: RecordedRequest[] = [];
  private readonly indexByKey = new Map<string, number>();
  private readonly indexByResponse = new Map<string, number>();
  private header: Fields | undefined;
  private readonly threadIds = new Set<string>();
  private began: number | undefined;
  private lastTotal: Fields = {};
  private lastCounts: string | undefined;
  private tokenSum = 0;
  private resetCount = 0;
  private model: string | undefined;
  private seller: string | undefined;
  private searchCount = 0;
  /** True if the model said something since the last counted request. */
  private hasSpoken = false;
  /** True if no output item came before the last request's token counts. */
  private isSilent = false;

  get requests(): readonly RecordedRequest[] {
    return this.foundRequests;
  }

  /**
   * True if the counts include server-side compactions: seen in 0.171, not in 0.118 to 0.146;
   * assumed from 0.150 on.
   */
  get hasCompactions(): boolean {
    const [major = 0, minor = 0] = (readString(this.header ?? {}, 'cli_version') ?? '').split('.').map(Number);
    return major > 0 || minor >= 150;
  }

  get session(): RecordedSession {
    const header = this.header ?? {};
    const id = readString(header, 'id');
    const forkOf = findParentThread(header);
    const furtherOrigins = [...this.threadIds].filter((thread) => thread !== '' && thread !== id && thread !== forkOf);
    return {
      keys: 'in-lineage',
      ...(id !== undefined && { id }),
      ...(this.began !== undefined && { began: this.began }),
      ...(forkOf !== undefined && { forkOf }),
      ...(forkOf !== undefined && furtherOrigins.length > 0 && { furtherOrigins }),
    };
  }

  getResult(): RecordedRequests | undefined {
    if (this.foundRequests.length === 0) return undefined;
    const { foundRequests: requests, session, hasCompactions } = this;
    return { requests, compactions: [], session, hasCompactions };
  }

  takeRecord(value: Fields): void {
    const payload = readRecord(value, 'payload');
    const timeMs = readTime(value, 'timestamp');
    if (!payload) return;
    switch (value['type']) {
      case 'session_meta':
        // A file to which its own content was appended starts again with the same sums.
        if (this.header && readString(payload, 'id') === readString(this.header, 'id'))
          [this.tokenSum, this.resetCount] = [0, 0];
        // A forked session repeats its origin's header after its own.
        this.header ??= payload;
        this.threadIds.add(readString(payload, 'id') ?? '');
        this.began ??= timeMs ?? readTime(payload, 'timestamp');
        this.seller = readString(payload, 'model_provider') ?? this.seller;
        return;
      case 'turn_context':
        this.model = readString(payload, 'model') ?? this.model;
        return;
      case 'response_item':
        if (payload['role'] !== 'user' && payload['role'] !== 'developer') this.hasSpoken = true;
        if (isWebSearch(payload)) this.searchCount += 1;
        return;
      case 'token_usage_record':
        this.addCounts(payload, readRecord(payload, 'usage'), readRecord(payload, 'thread_token_usage'), timeMs);
        return;
      case 'event_msg': {
        const info = payload['type'] === 'token_count' ? readRecord(payload, 'info') : undefined;
        if (info)
          this.addCounts(info, readRecord(info, 'last_token_usage'), readRecord(info, 'total_token_usage'), timeMs);
        return;
      }
      case 'compacted':
        this.recordCompaction(readString(payload, 'compaction_response_id'));
    }
  }

  /**
   * Codex writes the same token counts again when it checks limits or resumes, and empty counts
   * after a compaction.
   */
  private addCounts(
    payload: Fields,
    lastCounts: Fields | undefined,
    totalCounts: Fields | undefined,
    at: number | undefined,
  ): void {
    const previousTotal = this.lastTotal;
    this.lastTotal = totalCounts ?? this.lastTotal;
    // If only the thread's sum is known, its increase is the request's usage.
    lastCounts ??= totalCounts && subtractCounts(totalCounts, previousTotal);
    if (!lastCounts || readCount(lastCounts, 'input_tokens') === 0) return;
    if (totalCounts) this.updateTotal(readCount(totalCounts, 'total_tokens'));
    const countsKey = createUsageKey(totalCounts ?? {}, lastCounts);
    // If the thread's sum is missing, equal counts are repetitions unless the model has produced
    // output since.
    if (!totalCounts && !this.hasSpoken && countsKey === this.lastCounts) return;
    this.lastCounts = countsKey;
    const keySuffixes = totalCounts
      ? this.resetCount > 0
        ? [this.resetCount]
        : []
      : [`at ${this.foundRequests.length}`];
    const key = [countsKey, ...keySuffixes].join(' ');
    const window = readNumber(payload, 'model_context_window');
    const knownIndex = this.indexByKey.get(key);
    if (knownIndex !== undefined) {
      const request = this.foundRequests[knownIndex];
      if (request && window !== undefined) this.foundRequests[knownIndex] = { ...request, window };
      return;
    }
    this.indexByKey.set(key, this.foundRequests.length);
    const response = readString(payload, 'response_id');
    if (response !== undefined) this.indexByResponse.set(response, this.foundRequests.length);
    this.foundRequests.push({
      ...(at !== undefined && { at }),
      ...(this.model !== undefined && { model: this.model }),
      ...(this.seller !== undefined && { seller: this.seller }),
      ...(window !== undefined && { window }),
      key,
      usage: convertCodexUsage(lastCounts),
      ...(this.searchCount > 0 && { service: { webSearches: this.searchCount } }),
      purpose: 'answer',
    });
    this.searchCount = 0;
    this.isSilent = !this.hasSpoken;
    this.hasSpoken = false;
  }

  /** A smaller sum after new output means a reset, not a repetition. */
  private updateTotal(sum: number): void {
    if (sum < this.tokenSum && this.hasSpoken) this.resetCount += 1;
    this.tokenSum = sum;
  }

  /**
   * Since 0.15x the record names the request that produced the summary. In older versions, no
   * output item precedes that request's counts.
   */
  private recordCompaction(response: string | undefined): void {
    this.compactions += 1;
    const index =
      response === undefined && this.isSilent
        ? this.foundRequests.length - 1
        : this.indexByResponse.get(response ?? '');
    const request = index === undefined ? undefined : this.foundRequests[index];
    if (index !== undefined && request) this.foundRequests[index] = { ...request, purpose: 'compaction' };
    this.isSilent = false;
  }
}

/**
 * A subagent names its parent in the header or in its source. Depending on the version (0.1xx), it
 * starts with the parent's token counts or with none.
 */
function findParentThread(header: Fields): string | undefined {
  const spawn = readRecord(readRecord(readRecord(header, 'source') ?? {}, 'subagent') ?? {}, 'thread_spawn') ?? {};
  return (
    readString(header, 'forked_from_id') ??
    readString(header, 'parent_thread_id') ??
    readString(spawn, 'parent_thread_id') ??
    readString(readRecord(header, 'history_base') ?? {}, 'thread_id')
  );
}

/**
 * A thread's sum grows with each request, and copied records keep it, so it identifies a request.
 */
const createUsageKey = (total: Fields, last: Fields): string =>
  [total, last].map((usage) => listCounts(usage).join('/')).join(' ');

/**
 * OpenAI charges separately for searches, but not for opened pages (guide "Web search", output and
 * citations).
 */
function isWebSearch(item: Fields): boolean {
  const action = readString(readRecord(item, 'action') ?? {}, 'type') ?? 'search';
  return item['type'] === 'web_search_call' && action === 'search';
}

/** If the sum is smaller than the previous one, it was reset and is counted from zero. */
function subtractCounts(total: Fields, previousTotal: Fields): Fields {
  const hasRestarted = readCount(total, 'total_tokens') < readCount(previousTotal, 'total_tokens');
  return Object.fromEntries(
    Object.keys(total).map((field) => [
      field,
      readCount(total, field) - (hasRestarted ? 0 : readCount(previousTotal, field)),
    ]),
  );
}

const listCounts = (usage: Fields): readonly number[] =>
  ['input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens'].map((field) => readCount(usage, field));

/** OpenAI counts cache reads and writes as input. */
const convertCodexUsage = (counts: Fields): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens: readCount(counts, 'input_tokens'),
  outputTokens: readCount(counts, 'output_tokens'),
  cacheReadTokens: readCount(counts, 'cached_input_tokens'),
  cacheWriteTokens: readCount(counts, 'cache_write_input_tokens'),
  reasoningTokens: readCount(counts, 'reasoning_output_tokens'),
});
