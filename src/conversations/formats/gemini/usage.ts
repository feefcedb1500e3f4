/**
 * Each record of a model's answer contains the token counts of its request
 * (chatRecordingService.ts).
 */
import type { RecordedRequest, RecordedRequests } from '../../../core/account/recordedRequest';
import { isRecord } from '../../../core/messages/blocks';
import type { RequestCollector } from '../format';
import { type Fields, readCount, readList, readRecord, readString, readTime } from '../../text/values';
import { isModelAnswer } from './messages';

/** Includes rewound requests, which were also paid for. */
export class GeminiRequests implements RequestCollector {
  /** Gemini CLI does not record compactions. */
  readonly compactions = 0;
  /** Requests by record id, because Gemini CLI writes a record again when it grows. */
  private readonly requestByKey = new Map<
    string | symbol,
    { readonly record: Fields; readonly request: RecordedRequest }
  >();
  private id: string | undefined;
  private began: number | undefined;

  takeRecord(value: Fields): void {
    const changedFields = readRecord(value, '$set') ?? value;
    this.id = readString(changedFields, 'sessionId') ?? this.id;
    this.began = readTime(changedFields, 'startTime') ?? this.began;
    for (const record of [value, ...readList(changedFields, 'messages').filter(isRecord)])
      this.recordMessageUsage(record);
  }

  getResult(messageByRecord: ReadonlyMap<Fields, number> = new Map()): RecordedRequests | undefined {
    if (this.requestByKey.size === 0) return undefined;
    return {
      requests: [...this.requestByKey.values()].map(({ record, request }) => {
        const message = messageByRecord.get(record);
        const isCopy = this.began !== undefined && request.at !== undefined && request.at < this.began;
        return { ...request, ...(isCopy && { isCopy }), ...(message !== undefined && { message }) };
      }),
      compactions: [],
      session: {
        keys: 'everywhere',
        ...(this.id !== undefined && { id: this.id }),
        ...(this.began !== undefined && { began: this.began }),
      },
    };
  }

  /** Google counts cached tokens as input and thoughts separately from output. */
  private recordMessageUsage(record: Fields): void {
    const tokens = isModelAnswer(record) ? readRecord(record, 'tokens') : undefined;
    if (!tokens) return;
    const id = readString(record, 'id');
    const timeMs = readTime(record, 'timestamp');
    const model = readString(record, 'model');
    const thoughtTokens = readCount(tokens, 'thoughts');
    const key = id ?? (timeMs === undefined ? undefined : `${timeMs} ${JSON.stringify(tokens)}`);
    this.requestByKey.set(key ?? Symbol(), {
      record,
      request: {
        ...(timeMs !== undefined && { at: timeMs }),
        ...(model !== undefined && { model }),
        ...(key !== undefined && { key }),
        usage: {
          accounting: 'openai',
          source: 'reported',
          inputTokens: readCount(tokens, 'input') + readCount(tokens, 'tool'),
          outputTokens: readCount(tokens, 'output') + thoughtTokens,
          cacheReadTokens: readCount(tokens, 'cached'),
          cacheWriteTokens: 0,
          reasoningTokens: thoughtTokens,
        },
        purpose: 'answer',
      },
    });
  }
}
