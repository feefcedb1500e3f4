/**
 * A Codex rollout's record of its requests: `token_count` events, and since 0.15x a `token_usage_record` for each answer, which comes
 * before them and names the answer. Both tell the thread's sum so far. Sources: codex-rs/protocol (TokenUsageInfo), sessions of 0.171.
 */
import type { RecordedRequest, RecordedRequests, RecordedSession } from '../../../core/account/recordedRequest';
import type { Usage } from '../../../core/cost/usage';
import type { RequestCollector } from '../format';
import { type Fields, countIn, numberIn, recordIn, stringIn, timeIn } from '../../text/values';

/** Collects the requests of a rollout, record by record. */
export class CodexRequests implements RequestCollector {
  compactions = 0;
  private readonly found: RecordedRequest[] = [];
  /** Place of a request by its key. */
  private readonly byKey = new Map<string, number>();
  private readonly byResponse = new Map<string, number>();
  private header: Fields | undefined;
  /** Of the threads whose headers stand among the records. */
  private readonly threads = new Set<string>();
  private began: number | undefined;
  private total: Fields = {};
  /** The counts that came last. */
  private told: string | undefined;
  /** The thread's sum of tokens so far, and how often it was begun anew: then it comes to what it was before. */
  private sum = 0;
  private resets = 0;
  private model: string | undefined;
  private seller: string | undefined;
  /** Since the last request that was counted. */
  private searches = 0;
  /** Whether the model said something since the last request that was counted. */
  private hasSpoken = false;
  /** Whether the last request was counted without a word of the model's. */
  private isSilent = false;

  get requests(): readonly RecordedRequest[] {
    return this.found;
  }

  /**
   * Whether compactions on the server are among the requests: seen in 0.171, and not in 0.118 to 0.146 (the thread's sum does not grow by
   * them there). Taken to be so since 0.150, as the records of each answer are.
   */
  get hasCompactions(): boolean {
    const [major = 0, minor = 0] = (stringIn(this.header ?? {}, 'cli_version') ?? '').split('.').map(Number);
    return major > 0 || minor >= 150;
  }

  get session(): RecordedSession {
    const header = this.header ?? {};
    const id = stringIn(header, 'id');
    const forkOf = originOf(header);
    const further = [...this.threads].filter((thread) => thread !== '' && thread !== id && thread !== forkOf);
    return {
      keys: 'in-lineage',
      ...(id !== undefined && { id }),
      ...(this.began !== undefined && { began: this.began }),
      ...(forkOf !== undefined && { forkOf }),
      ...(forkOf !== undefined && further.length > 0 && { furtherOrigins: further }),
    };
  }

  result(): RecordedRequests | undefined {
    if (this.found.length === 0) return undefined;
    const { found: requests, session, hasCompactions } = this;
    return { requests, compactions: [], session, hasCompactions };
  }

  /** @param value a record as it was read */
  take(value: Fields): void {
    const payload = recordIn(value, 'payload');
    const at = timeIn(value, 'timestamp');
    if (!payload) return;
    switch (value['type']) {
      case 'session_meta':
        // A file that was appended to itself begins with the same sums.
        if (this.header && stringIn(payload, 'id') === stringIn(this.header, 'id')) [this.sum, this.resets] = [0, 0];
        // A forked session repeats the header of the one that it came from: the first is its own.
        this.header ??= payload;
        this.threads.add(stringIn(payload, 'id') ?? '');
        this.began ??= at ?? timeIn(payload, 'timestamp');
        this.seller = stringIn(payload, 'model_provider') ?? this.seller;
        return;
      case 'turn_context':
        this.model = stringIn(payload, 'model') ?? this.model;
        return;
      case 'response_item':
        if (payload['role'] !== 'user' && payload['role'] !== 'developer') this.hasSpoken = true;
        if (isSearch(payload)) this.searches += 1;
        return;
      case 'token_usage_record':
        this.count(payload, recordIn(payload, 'usage'), recordIn(payload, 'thread_token_usage'), at);
        return;
      case 'event_msg': {
        const info = payload['type'] === 'token_count' ? recordIn(payload, 'info') : undefined;
        if (info) this.count(info, recordIn(info, 'last_token_usage'), recordIn(info, 'total_token_usage'), at);
        return;
      }
      case 'compacted':
        this.compacted(stringIn(payload, 'compaction_response_id'));
    }
  }

  /** The counts come again with each look at the limits, when a session is resumed, and with nothing in them behind a compaction. */
  private count(payload: Fields, last: Fields | undefined, total: Fields | undefined, at: number | undefined): void {
    const before = this.total;
    this.total = total ?? this.total;
    // Where the thread's sum stands alone, what it grew by tells.
    last ??= total && difference(total, before);
    if (!last || countIn(last, 'input_tokens') === 0) return;
    if (total) this.sumTo(countIn(total, 'total_tokens'));
    const told = keyOf(total ?? {}, last);
    // Without a sum, equal counts are a repetition where the model has not spoken since.
    if (!total && !this.hasSpoken && told === this.told) return;
    this.told = told;
    const place = total ? (this.resets > 0 ? [this.resets] : []) : [`at ${this.found.length}`];
    const key = [told, ...place].join(' ');
    const window = numberIn(payload, 'model_context_window');
    const known = this.byKey.get(key);
    if (known !== undefined) {
      const request = this.found[known];
      if (request && window !== undefined) this.found[known] = { ...request, window };
      return;
    }
    this.byKey.set(key, this.found.length);
    const response = stringIn(payload, 'response_id');
    if (response !== undefined) this.byResponse.set(response, this.found.length);
    this.found.push({
      ...(at !== undefined && { at }),
      ...(this.model !== undefined && { model: this.model }),
      ...(this.seller !== undefined && { seller: this.seller }),
      ...(window !== undefined && { window }),
      key,
      usage: usageOf(last),
      ...(this.searches > 0 && { service: { webSearches: this.searches } }),
      purpose: 'answer',
    });
    this.searches = 0;
    this.isSilent = !this.hasSpoken;
    this.hasSpoken = false;
  }

  /** A smaller sum behind the model's words is no repetition of an earlier one. */
  private sumTo(sum: number): void {
    if (sum < this.sum && this.hasSpoken) this.resets += 1;
    this.sum = sum;
  }

  /**
   * The request that made the summary: the record names it since 0.15x; before, its answer stands in no item. Of a compaction on the
   * server, older versions count none.
   */
  private compacted(response: string | undefined): void {
    this.compactions += 1;
    const index = response === undefined && this.isSilent ? this.found.length - 1 : this.byResponse.get(response ?? '');
    const request = index === undefined ? undefined : this.found[index];
    if (index !== undefined && request) this.found[index] = { ...request, purpose: 'compaction' };
    this.isSilent = false;
  }
}

/**
 * The thread that a rollout begins with: by `forked_from_id` for a fork. A subagent's names its parent beside it or in its source; it
 * begins with the parent's counts in some versions (0.1xx) and with none in others, which comparing the two shows.
 */
function originOf(header: Fields): string | undefined {
  const spawn = recordIn(recordIn(recordIn(header, 'source') ?? {}, 'subagent') ?? {}, 'thread_spawn') ?? {};
  return (
    stringIn(header, 'forked_from_id') ??
    stringIn(header, 'parent_thread_id') ??
    stringIn(spawn, 'parent_thread_id') ??
    stringIn(recordIn(header, 'history_base') ?? {}, 'thread_id')
  );
}

/** A thread's sum grows with each request, and is copied with its records. */
const keyOf = (total: Fields, last: Fields): string =>
  [total, last].map((usage) => countsOf(usage).join('/')).join(' ');

/** OpenAI's own tool: searching has a price of its own, looking at a page has none (guide "Web search", output and citations). */
function isSearch(item: Fields): boolean {
  const action = stringIn(recordIn(item, 'action') ?? {}, 'type') ?? 'search';
  return item['type'] === 'web_search_call' && action === 'search';
}

/** A sum that has become smaller was begun anew. */
function difference(total: Fields, before: Fields): Fields {
  const isAnew = countIn(total, 'total_tokens') < countIn(before, 'total_tokens');
  return Object.fromEntries(
    Object.keys(total).map((field) => [field, countIn(total, field) - (isAnew ? 0 : countIn(before, field))]),
  );
}

const countsOf = (usage: Fields): readonly number[] =>
  ['input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens'].map((field) => countIn(usage, field));

/** OpenAI counts what was read from the cache and written to it among the input. */
const usageOf = (last: Fields): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens: countIn(last, 'input_tokens'),
  outputTokens: countIn(last, 'output_tokens'),
  cacheReadTokens: countIn(last, 'cached_input_tokens'),
  cacheWriteTokens: countIn(last, 'cache_write_input_tokens'),
  reasoningTokens: countIn(last, 'reasoning_output_tokens'),
});
