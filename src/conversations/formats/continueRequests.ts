/**
 * A session's `usage` includes compactions and subagents. Continue's costs are ignored: for unknown
 * models it invents $1 and $2 per million. Sources: continuedev/continue, extensions/cli 1.5
 * (streamChatResponse.ts, session.ts `trackUsage`, `startNewSession`), packages/openai-adapters
 * (Anthropic.ts, vercelStreamConverter.ts, openaiResponses.ts).
 */
import type { RecordedRequest, RecordedRequests, RecordedTotal } from '../../core/account/recordedRequest';
import { countPromptTokens, type Usage } from '../../core/cost/usage';
import { hashText } from '../../core/hash';
import { isRecord } from '../../core/messages/blocks';
import { type Fields, readCount, readList, readRecord, readString } from '../text/values';

export function readContinueRequests(
  session: Fields,
  messageIndexByItem: ReadonlyMap<Fields, number>,
): RecordedRequests | undefined {
  const recordedAnswers: { readonly usage: Fields; readonly key: string; readonly message: number | undefined }[] = [];
  // A fork repeats its origin's history without ids or times, so a hash of the words identifies
  // copies.
  let historyHash = '';
  for (const item of readList(session, 'history').filter(isRecord)) {
    const message = readRecord(item, 'message') ?? {};
    const { role, content, toolCalls, usage, id } = message;
    historyHash = hashText(JSON.stringify([historyHash, role, content, toolCalls, usage, id]));
    const answerUsage = role === 'assistant' && isRecord(usage) ? usage : undefined;
    if (answerUsage)
      recordedAnswers.push({ usage: answerUsage, key: historyHash, message: messageIndexByItem.get(item) });
  }
  const accounting = detectAccounting(recordedAnswers.map(({ usage }) => usage));
  const requests = recordedAnswers.map(({ usage, key, message }): RecordedRequest => {
    const model = readString(usage, 'model');
    return {
      ...(model !== undefined && { model }),
      ...(message !== undefined && { message }),
      key,
      usage: convertContinueUsage(usage, accounting),
      purpose: 'answer',
    };
  });
  const id = readString(session, 'sessionId');
  const totals = readSessionTotals(
    session,
    recordedAnswers.map(({ usage }) => usage),
    requests,
  );
  if (requests.length + totals.length === 0) return undefined;
  return {
    requests,
    compactions: [],
    ...(totals.length > 0 && { totals, hasCompactions: true }),
    session: { keys: 'everywhere', ...(id !== undefined && { id }) },
  };
}

const isCompactionItem = (item: Fields): boolean => readString(item, 'conversationSummary') !== undefined;

/**
 * Continue's adapter for Anthropic does not count cached tokens as input. The AI SDK (model
 * `vendor/model`) and OpenAI's APIs do. Only the AI SDK shares the adapter's field names.
 */
function detectAccounting(usages: readonly Fields[]): Usage['accounting'] {
  const isAnthropic = usages.some((usage) => {
    const { prompt, read, written } = readTokenCounts(usage);
    if (prompt < read + written) return true;
    return 'cache_read_tokens' in getPromptTokenDetails(usage) && readString(usage, 'model')?.includes('/') !== true;
  });
  return isAnthropic ? 'anthropic' : 'openai';
}

const getPromptTokenDetails = (usage: Fields): Fields =>
  readRecord(usage, 'prompt_tokens_details') ?? readRecord(usage, 'promptTokensDetails') ?? {};

interface ContinueTokenCounts {
  readonly prompt: number;
  readonly output: number;
  readonly read: number;
  readonly written: number;
}

/** Session totals and the extension's messages use other field names for the same counts. */
function readTokenCounts(usage: Fields): ContinueTokenCounts {
  const details = getPromptTokenDetails(usage);
  const cacheReadField = ['cache_read_tokens', 'cached_tokens', 'cachedTokens'].find((field) => field in details);
  const cacheWriteField = ['cache_write_tokens', 'cacheWriteTokens'].find((field) => field in details);
  return {
    prompt: readCount(usage, 'promptTokens' in usage ? 'promptTokens' : 'prompt_tokens'),
    output: readCount(usage, 'completionTokens' in usage ? 'completionTokens' : 'completion_tokens'),
    read: cacheReadField === undefined ? 0 : readCount(details, cacheReadField),
    written: cacheWriteField === undefined ? 0 : readCount(details, cacheWriteField),
  };
}

function convertContinueUsage(usage: Fields, accounting: Usage['accounting']): Usage {
  const { prompt, output, read, written } = readTokenCounts(usage);
  return {
    ...{ accounting, source: 'reported', inputTokens: prompt, outputTokens: output },
    ...{ cacheReadTokens: read, cacheWriteTokens: written },
  };
}

/**
 * After a compaction, only the session's total covers the earlier answers. It includes cache reads
 * only with Anthropic's API, so we add only what exceeds the answers' usage.
 */
function readSessionTotals(
  session: Fields,
  usages: readonly Fields[],
  requests: readonly RecordedRequest[],
): RecordedTotal[] {
  const sessionUsage = readRecord(session, 'usage');
  const models = new Set(requests.map(({ model }) => model));
  const [model] = models;
  if (!sessionUsage || models.size > 1) return [];
  const sessionCounts = readTokenCounts(sessionUsage);
  const countsPerAnswer = usages.map((usage) => ({
    ...readTokenCounts(usage),
    read: readCount(getPromptTokenDetails(usage), 'cache_read_tokens'),
  }));
  const isCached = sessionCounts.read + sessionCounts.written > 0;
  const accounting = requests[0]?.usage?.accounting ?? (isCached ? 'anthropic' : 'openai');
  const readTotal = (field: keyof ContinueTokenCounts, usageField: keyof Usage): number =>
    requests.reduce((all, { usage }) => all + Number(usage?.[usageField] ?? 0), 0) +
    Math.max(0, sessionCounts[field] - countsPerAnswer.reduce((all, each) => all + each[field], 0));
  const usage: Usage = {
    ...{ accounting, source: 'reported' },
    inputTokens: readTotal('prompt', 'inputTokens'),
    outputTokens: readTotal('output', 'outputTokens'),
    cacheReadTokens: readTotal('read', 'cacheReadTokens'),
    cacheWriteTokens: readTotal('written', 'cacheWriteTokens'),
  };
  if (countPromptTokens(usage) === 0) return [];
  const items = readList(session, 'history').filter(isRecord);
  const answers = items.filter((item) => readRecord(item, 'message')?.['role'] === 'assistant').length;
  const compactions = items.filter(isCompactionItem).length;
  return [{ after: requests.length, compactions, answers, models: [{ ...(model !== undefined && { model }), usage }] }];
}
