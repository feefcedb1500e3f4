/**
 * A `ui_telemetry` record reports every response, even of subagents and compressions; the answers
 * repeat their counts. Sources: QwenLM/qwen-code 0.24 (loggers.ts `logApiResponse`,
 * sessionService.ts `forkSession`, internalPromptIds.ts: suggestions and side queries are not
 * recorded), recorded sessions.
 */
import type { RecordedRequest, RecordedRequests } from '../../core/account/recordedRequest';
import type { Usage } from '../../core/cost/usage';
import type { RequestCollector } from './format';
import { type Fields, readCount, readNumber, readRecord, readString, readTime } from '../text/values';

const ANSWER_USAGE_FIELDS = {
  input: 'promptTokenCount',
  output: 'candidatesTokenCount',
  thoughts: 'thoughtsTokenCount',
  cached: 'cachedContentTokenCount',
  total: 'totalTokenCount',
} as const;
const RESPONSE_USAGE_FIELDS: Readonly<Record<keyof typeof ANSWER_USAGE_FIELDS, string>> = {
  input: 'input_token_count',
  output: 'output_token_count',
  thoughts: 'thoughts_token_count',
  cached: 'cached_content_token_count',
  total: 'total_token_count',
};

type UsageSource = 'answer' | 'response';

/** Includes requests on abandoned branches, which were also paid for. */
export class QwenRequests implements RequestCollector {
  compactions = 0;
  private readonly found: RecordedRequest[] = [];
  /**
   * Requests for which only one of the two records (response or answer) was found so far, by kind
   * of record and counts.
   */
  private readonly unpairedIndexes = new Map<string, number[]>();
  private readonly seenIds = new Set<string>();
  private hasResponses = false;
  private id: string | undefined;
  private began: number | undefined;
  private forkOf: string | undefined;

  takeRecord(value: Fields, message?: number): void {
    const timeMs = readTime(value, 'timestamp');
    const fork = readRecord(value, 'forkedFrom');
    this.id = readString(value, 'sessionId') ?? this.id;
    if (fork) this.forkOf = readString(fork, 'sessionId') ?? this.forkOf;
    else this.began ??= timeMs;
    if (value['subtype'] === 'chat_compression') this.compactions += 1;
    const responseEvent =
      value['subtype'] === 'ui_telemetry' ? readRecord(readRecord(value, 'systemPayload') ?? {}, 'uiEvent') : {};
    if (responseEvent?.['event.name'] === 'qwen-code.api_response') {
      this.hasResponses = true;
      this.addUsage(
        'response',
        value,
        convertQwenUsage(responseEvent, RESPONSE_USAGE_FIELDS),
        readString(responseEvent, 'model'),
        timeMs,
        undefined,
      );
    }
    const usageFields = value['type'] === 'assistant' ? readRecord(value, 'usageMetadata') : undefined;
    if (usageFields)
      this.addUsage(
        'answer',
        value,
        convertQwenUsage(usageFields, ANSWER_USAGE_FIELDS),
        readString(value, 'model'),
        timeMs,
        message,
      );
  }

  getResult(): RecordedRequests | undefined {
    if (this.found.length === 0) return undefined;
    return {
      requests: this.found,
      compactions: [],
      hasCompactions: this.hasResponses,
      session: {
        keys: 'everywhere',
        ...(this.id !== undefined && { id: this.id }),
        ...(this.began !== undefined && { began: this.began }),
        ...(this.forkOf !== undefined && this.forkOf !== this.id && { forkOf: this.forkOf }),
      },
    };
  }

  private addUsage(
    source: UsageSource,
    value: Fields,
    usage: Usage,
    model: string | undefined,
    at: number | undefined,
    message: number | undefined,
  ): void {
    // A fork keeps the ids of copied records.
    const id = readString(value, 'uuid');
    if (id !== undefined && this.seenIds.has(id)) return;
    if (id !== undefined) this.seenIds.add(id);
    const window = readNumber(value, 'contextWindowSize');
    const windowAndMessage = { ...(window !== undefined && { window }), ...(message !== undefined && { message }) };
    const countsKey = [model, usage.inputTokens, usage.outputTokens, usage.cacheReadTokens].join(' ');
    const unpairedIndex = this.unpairedIndexes
      .get(`${source === 'answer' ? 'response' : 'answer'} ${countsKey}`)
      ?.shift();
    const existingRequest = unpairedIndex === undefined ? undefined : this.found[unpairedIndex];
    if (unpairedIndex !== undefined && existingRequest) {
      this.found[unpairedIndex] = { ...existingRequest, ...windowAndMessage };
      return;
    }
    const pairKey = `${source} ${countsKey}`;
    this.unpairedIndexes.set(pairKey, [...(this.unpairedIndexes.get(pairKey) ?? []), this.found.length]);
    this.found.push({
      ...(at !== undefined && { at }),
      ...(model !== undefined && { model }),
      ...windowAndMessage,
      ...(id !== undefined && { key: id }),
      ...(readRecord(value, 'forkedFrom') && { isCopy: true }),
      usage,
      purpose: 'answer',
    });
  }
}

/**
 * Google counts cached tokens as input, and thoughts separately or within output; the total shows
 * which.
 */
function convertQwenUsage(counts: Fields, names: Readonly<Record<keyof typeof ANSWER_USAGE_FIELDS, string>>): Usage {
  const thoughtTokens = readCount(counts, names.thoughts);
  const inputTokens = readCount(counts, names.input);
  const totalTokens = readCount(counts, names.total);
  return {
    accounting: 'openai',
    source: 'reported',
    inputTokens,
    outputTokens:
      totalTokens > inputTokens ? totalTokens - inputTokens : readCount(counts, names.output) + thoughtTokens,
    cacheReadTokens: readCount(counts, names.cached),
    cacheWriteTokens: 0,
    reasoningTokens: thoughtTokens,
  };
}
