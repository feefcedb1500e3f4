/**
 * Roo, Zoo, Kilo and Cline up to 3 record requests in `ui_messages.json`, in each
 * `api_req_started`; Cline 4 in the messages (`modelInfo`, `metrics`).
 */
import { dropImplausibleUsage, type RecordedRequest, type RecordedRequests } from '../../core/account/recordedRequest';
import { findCompactionsInMessages } from '../../core/account/replay';
import type { Usage } from '../../core/cost/usage';
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage } from '../../core/messages/types';
import { type Fields, readCount, readNumber, readRecord, readString, readTime } from '../text/values';

export function readMessageRequests(messages: readonly ApiMessage[]): RecordedRequests | undefined {
  const requests = messages.flatMap((message, index): RecordedRequest[] => {
    const metrics = readRecord(message, 'metrics');
    if (message.role !== 'assistant' || !metrics) return [];
    const info = readRecord(message, 'modelInfo') ?? {};
    const timeMs = readTime(message, 'ts');
    const model = readString(info, 'id');
    const seller = readString(info, 'provider');
    const recordedCost = readNumber(metrics, 'cost');
    return [
      {
        ...(timeMs !== undefined && { at: timeMs }),
        ...(model !== undefined && { model }),
        ...(seller !== undefined && { seller }),
        ...(recordedCost !== undefined && { recordedCost }),
        message: index,
        ...createRequestKey(timeMs, metrics),
        usage: makeRooUsage(
          readCount(metrics, 'inputTokens'),
          readCount(metrics, 'outputTokens'),
          readCount(metrics, 'cacheReadTokens'),
          readCount(metrics, 'cacheWriteTokens'),
        ),
        purpose: 'answer',
      },
    ];
  });
  if (requests.length === 0) return undefined;
  return {
    requests: unifyTokenAccounting(requests),
    compactions: findCompactionsInMessages(messages),
    session: { keys: 'everywhere' },
  };
}

/**
 * @param messages the whole conversation; a request belongs to the first answer after it
 * @returns undefined if `text` has no usage
 */
export function readUiRequests(text: string, messages: readonly ApiMessage[]): RecordedRequests | undefined {
  const answersWithTime = messages.flatMap((message, index) => {
    const timeMs = readTime(message, 'ts');
    return message.role === 'assistant' && timeMs !== undefined ? [{ index, at: timeMs }] : [];
  });
  const requests = parseList(text).flatMap((uiMessage): RecordedRequest[] => {
    const fields = uiMessage['say'] === 'api_req_started' ? parseFields(readString(uiMessage, 'text')) : undefined;
    // Canceled and failed requests have no counts.
    if (!fields || readNumber(fields, 'tokensIn') === undefined) return [];
    const timeMs = readTime(uiMessage, 'ts');
    const recordedCost = readNumber(fields, 'cost');
    const answer = timeMs === undefined ? undefined : answersWithTime.find((each) => each.at >= timeMs);
    return [
      {
        ...(timeMs !== undefined && { at: timeMs }),
        ...(recordedCost !== undefined && { recordedCost }),
        ...(answer && { message: answer.index }),
        ...createRequestKey(timeMs, fields),
        usage: makeRooUsage(
          readCount(fields, 'tokensIn'),
          readCount(fields, 'tokensOut'),
          readCount(fields, 'cacheReads'),
          readCount(fields, 'cacheWrites'),
        ),
        purpose: 'answer',
      },
    ];
  });
  if (requests.length === 0) return undefined;
  return dropImplausibleUsage({
    requests: unifyTokenAccounting(requests),
    compactions: findCompactionsInMessages(messages),
    session: { keys: 'everywhere' },
  });
}

/** Time and counts identify copies, since a task's files have no id. */
const createRequestKey = (at: number | undefined, counts: Fields): Pick<RecordedRequest, 'key'> =>
  at === undefined ? {} : { key: [at, ...Object.values(counts).filter((each) => typeof each === 'number')].join(' ') };

/**
 * Newer versions count cached tokens as input; older ones on Anthropic's wire do not. All requests
 * of a task are counted alike.
 */
function unifyTokenAccounting(requests: readonly RecordedRequest[]): RecordedRequest[] {
  const excludesCachedTokens = requests.some(
    ({ usage }) => usage && usage.inputTokens < usage.cacheReadTokens + usage.cacheWriteTokens,
  );
  return requests.map((request) =>
    excludesCachedTokens && request.usage
      ? { ...request, usage: { ...request.usage, accounting: 'anthropic' } }
      : request,
  );
}

const makeRooUsage = (input: number, output: number, cacheRead: number, cacheWritten: number): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: cacheRead,
  cacheWriteTokens: cacheWritten,
});

function parseList(text: string): readonly Fields[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isRecord) : [];
  } catch {
    return [];
  }
}

function parseFields(text: string | undefined): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
