/**
 * The part that ends a step contains the token counts of the step's request; older versions record
 * counts per message.
 */
import type { RecordedCompaction, RecordedRequest, RecordedRequests } from '../../../core/account/recordedRequest';
import type { ApiMessage } from '../../../core/messages/types';
import { type Fields, readCount, readNumber, readRecord, readString, readTime } from '../../text/values';
import type { OpenCodeMessage } from './history';

/**
 * A fork copies messages under new ids (session.ts, `fork`), so time, model and counts identify a
 * request. Kilo's copies cost nothing.
 * @param owners the reply to which a part or a message's `info` belongs
 */
export function readRecordedRequests(
  info: Fields,
  messages: readonly OpenCodeMessage[],
  allMessages: readonly ApiMessage[],
  owners: ReadonlyMap<Fields, ApiMessage>,
): RecordedRequests | undefined {
  const indexByMessage = new Map(allMessages.map((message, index) => [message, index]));
  const requests: RecordedRequest[] = [];
  const compactions: RecordedCompaction[] = [];
  const sessionStart = readTime(readRecord(info, 'time') ?? {}, 'created');
  const id = readString(info, 'id');
  for (const { info: ownInfo, parts } of messages) {
    const isCheckpoint = ownInfo['checkpoint'] === true;
    if (ownInfo['role'] !== 'assistant' && !isCheckpoint) continue;
    const isCompaction = ownInfo['summary'] === true || isCheckpoint;
    const timeMs = readTime(readRecord(ownInfo, 'time') ?? {}, 'created');
    const steps = parts.filter((part) => part['type'] === 'step-finish' && readRecord(part, 'tokens'));
    for (const [stepIndex, step] of (steps.length > 0 ? steps : [ownInfo]).entries()) {
      const tokens = readRecord(step, 'tokens');
      const input = tokens && readInputTokens(tokens);
      // A step that failed before any output has no counts.
      if (!tokens || !input || input.inputTokens + input.cacheReadTokens + input.cacheWriteTokens === 0) continue;
      const owner = owners.get(step);
      const message = owner && indexByMessage.get(owner);
      const recordedCost = readNumber(step, 'cost');
      const reasoningTokens = readCount(tokens, 'reasoning');
      requests.push({
        ...(timeMs !== undefined && { at: timeMs }),
        ...readModelNames(ownInfo),
        ...(timeMs !== undefined && { key: [timeMs, stepIndex, ownInfo['modelID'], JSON.stringify(tokens)].join(' ') }),
        ...(timeMs !== undefined && sessionStart !== undefined && timeMs < sessionStart && { isCopy: true }),
        ...(recordedCost !== undefined && { recordedCost }),
        ...(message !== undefined && !isCheckpoint && { message }),
        usage: {
          accounting: 'anthropic',
          source: 'reported',
          ...input,
          // OpenCode counts reasoning separately from output (session.ts, getUsage).
          outputTokens: readCount(tokens, 'output') + reasoningTokens,
          reasoningTokens,
        },
        purpose: isCompaction ? 'compaction' : 'answer',
      });
      if (isCompaction && message !== undefined) {
        const tokensBefore = input.inputTokens + input.cacheReadTokens + input.cacheWriteTokens;
        compactions.push({ message, ...(timeMs !== undefined && { at: timeMs }), tokensBefore });
      }
    }
  }
  if (requests.length === 0) return undefined;
  return {
    requests,
    compactions,
    session: {
      keys: 'everywhere',
      ...(id !== undefined && { id }),
      ...(sessionStart !== undefined && { began: sessionStart }),
    },
  };
}

function readModelNames(info: Fields): Pick<RecordedRequest, 'model' | 'seller'> {
  const model = readString(info, 'modelID');
  const seller = readString(info, 'providerID');
  return { ...(model !== undefined && { model }), ...(seller !== undefined && { seller }) };
}

function readInputTokens(tokens: Fields): { inputTokens: number; cacheReadTokens: number; cacheWriteTokens: number } {
  const cache = readRecord(tokens, 'cache') ?? {};
  return {
    inputTokens: readCount(tokens, 'input'),
    cacheReadTokens: readCount(cache, 'read'),
    cacheWriteTokens: readCount(cache, 'write'),
  };
}
