/**
 * The Roo family's record of its requests: Roo, Zoo, Kilo and Cline up to 3 in `ui_messages.json` beside the conversation, the
 * text of each `api_req_started`; Cline 4 in the messages themselves (`modelInfo`, `metrics`).
 */
import { withoutOddNumbers, type RecordedRequest, type RecordedRequests } from '../../core/account/recordedRequest';
import { markedCompactions } from '../../core/account/replay';
import type { Usage } from '../../core/cost/usage';
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage } from '../../core/messages/types';
import { type Fields, countIn, numberIn, recordIn, stringIn, timeIn } from '../text/values';

/** The requests that Cline 4 wrote into its messages; nothing where there are none. */
export function requestsInMessages(messages: readonly ApiMessage[]): RecordedRequests | undefined {
  const requests = messages.flatMap((message, index): RecordedRequest[] => {
    const metrics = recordIn(message, 'metrics');
    if (message.role !== 'assistant' || !metrics) return [];
    const info = recordIn(message, 'modelInfo') ?? {};
    const at = timeIn(message, 'ts');
    const model = stringIn(info, 'id');
    const seller = stringIn(info, 'provider');
    const recordedCost = numberIn(metrics, 'cost');
    return [
      {
        ...(at !== undefined && { at }),
        ...(model !== undefined && { model }),
        ...(seller !== undefined && { seller }),
        ...(recordedCost !== undefined && { recordedCost }),
        message: index,
        ...keyOf(at, metrics),
        usage: usageOf(
          countIn(metrics, 'inputTokens'),
          countIn(metrics, 'outputTokens'),
          countIn(metrics, 'cacheReadTokens'),
          countIn(metrics, 'cacheWriteTokens'),
        ),
        purpose: 'answer',
      },
    ];
  });
  if (requests.length === 0) return undefined;
  return { requests: inOneWay(requests), compactions: markedCompactions(messages), session: { keys: 'everywhere' } };
}

/**
 * The requests in the text of `ui_messages.json`.
 * @param messages the whole conversation: a request belongs to the first answer that was written down after it
 * @returns undefined where the text is none of it, or tells of no usage
 */
export function requestsInUiMessages(text: string, messages: readonly ApiMessage[]): RecordedRequests | undefined {
  const answers = messages.flatMap((message, index) => {
    const at = timeIn(message, 'ts');
    return message.role === 'assistant' && at !== undefined ? [{ index, at }] : [];
  });
  const requests = listOf(text).flatMap((entry): RecordedRequest[] => {
    const fields = entry['say'] === 'api_req_started' ? fieldsIn(stringIn(entry, 'text')) : undefined;
    // One that was cancelled or failed has no counts.
    if (!fields || numberIn(fields, 'tokensIn') === undefined) return [];
    const at = timeIn(entry, 'ts');
    const recordedCost = numberIn(fields, 'cost');
    const answer = at === undefined ? undefined : answers.find((each) => each.at >= at);
    return [
      {
        ...(at !== undefined && { at }),
        ...(recordedCost !== undefined && { recordedCost }),
        ...(answer && { message: answer.index }),
        ...keyOf(at, fields),
        usage: usageOf(
          countIn(fields, 'tokensIn'),
          countIn(fields, 'tokensOut'),
          countIn(fields, 'cacheReads'),
          countIn(fields, 'cacheWrites'),
        ),
        purpose: 'answer',
      },
    ];
  });
  if (requests.length === 0) return undefined;
  return withoutOddNumbers({
    requests: inOneWay(requests),
    compactions: markedCompactions(messages),
    session: { keys: 'everywhere' },
  });
}

/** A task has no id of its own in its files, and is found again where another home or product has a copy of it. */
const keyOf = (at: number | undefined, counts: Fields): Pick<RecordedRequest, 'key'> =>
  at === undefined ? {} : { key: [at, ...Object.values(counts).filter((each) => typeof each === 'number')].join(' ') };

/**
 * Newer versions count cached tokens among the input, older ones with Anthropic's wire beside it: there it may be less, which tells for
 * all requests of a task.
 */
function inOneWay(requests: readonly RecordedRequest[]): RecordedRequest[] {
  const isBeside = requests.some(
    ({ usage }) => usage && usage.inputTokens < usage.cacheReadTokens + usage.cacheWriteTokens,
  );
  return requests.map((request) =>
    isBeside && request.usage ? { ...request, usage: { ...request.usage, accounting: 'anthropic' } } : request,
  );
}

const usageOf = (input: number, output: number, read: number, written: number): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: read,
  cacheWriteTokens: written,
});

function listOf(text: string): readonly Fields[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isRecord) : [];
  } catch {
    return [];
  }
}

function fieldsIn(text: string | undefined): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
