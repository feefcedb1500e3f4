/** A Gemini CLI session's record of its requests: the tokens of each record of the model's (chatRecordingService.ts). */
import type { RecordedRequest, RecordedRequests } from '../../../core/account/recordedRequest';
import { isRecord } from '../../../core/messages/blocks';
import type { RequestCollector } from '../format';
import { type Fields, countIn, listIn, recordIn, stringIn, timeIn } from '../../text/values';

/** Collects the requests of a session, record by record: those that were rewound were paid for, too. */
export class GeminiRequests implements RequestCollector {
  /** They are not recorded. */
  readonly compactions = 0;
  /** By the record's id, under which it is written again as it grows. */
  private readonly known = new Map<string | symbol, { readonly record: Fields; readonly request: RecordedRequest }>();
  private id: string | undefined;
  private began: number | undefined;

  /** @param value a line as it was read, or a document of a whole session */
  take(value: Fields): void {
    const set = recordIn(value, '$set') ?? value;
    this.id = stringIn(set, 'sessionId') ?? this.id;
    this.began = timeIn(set, 'startTime') ?? this.began;
    for (const record of [value, ...listIn(set, 'messages').filter(isRecord)]) this.record(record);
  }

  /** @param places index of the message that each record made, where the conversation was read, too */
  result(places: ReadonlyMap<Fields, number> = new Map()): RecordedRequests | undefined {
    if (this.known.size === 0) return undefined;
    return {
      requests: [...this.known.values()].map(({ record, request }) => {
        const message = places.get(record);
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

  /** Google counts cached tokens among the input, and thoughts beside the output. */
  private record(record: Fields): void {
    const tokens = record['type'] === 'gemini' ? recordIn(record, 'tokens') : undefined;
    if (!tokens) return;
    const id = stringIn(record, 'id');
    const at = timeIn(record, 'timestamp');
    const model = stringIn(record, 'model');
    const thoughts = countIn(tokens, 'thoughts');
    const key = id ?? (at === undefined ? undefined : `${at} ${JSON.stringify(tokens)}`);
    this.known.set(key ?? Symbol(), {
      record,
      request: {
        ...(at !== undefined && { at }),
        ...(model !== undefined && { model }),
        ...(key !== undefined && { key }),
        usage: {
          accounting: 'openai',
          source: 'reported',
          inputTokens: countIn(tokens, 'input') + countIn(tokens, 'tool'),
          outputTokens: countIn(tokens, 'output') + thoughts,
          cacheReadTokens: countIn(tokens, 'cached'),
          cacheWriteTokens: 0,
          reasoningTokens: thoughts,
        },
        purpose: 'answer',
      },
    });
  }
}
