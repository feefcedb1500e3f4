/**
 * Cursor's blocks are like Anthropic's, but without ids and mostly without results. Source:
 * transcripts and their readers in public repositories (2026).
 */
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';
import { makeSourceId, getSourceName } from '../conversationId';
import { formatPlural } from '../../core/plural';
import { createNoMessagesError, describeSkippedRecords } from '../notes';
import { readJsonLineRecords } from '../text/jsonLines';
import { readLines } from '../text/lines';
import { type Fields, stringifyValue, readRecord, readString } from '../text/values';
import { makeConversationTitle } from '../title';
import type { Conversation, InputSource, ConversationNote } from '../types';
import { describeUnansweredCalls } from './unanswered';

export const isCursorRecord = (value: Fields): boolean =>
  (value['role'] === 'user' || value['role'] === 'assistant') &&
  isRecord(value['message']) &&
  value['type'] === undefined &&
  value['uuid'] === undefined;

/** Ends a turn. Cursor publishes no schema, so other kinds are unknown. */
const RECORD_TYPES_NOT_SENT_TO_MODEL: ReadonlySet<string> = new Set(['turn_ended']);

/** @throws {ConversationReadError} for a broken line or no messages */
export function readCursor(input: string | Uint8Array, source: InputSource): Conversation {
  const name = getSourceName(source);
  const notes: ConversationNote[] = [];
  const transcript = new CursorTranscriptReader();
  readJsonLineRecords(readLines(input, name), name, notes, ({ value, line }) => {
    transcript.takeRecord(value, line);
  });
  const { messages, skippedByKind, withoutResult } = transcript.getResult();
  if (messages.length === 0) {
    throw createNoMessagesError(name, 'a Cursor transcript with "user" and "assistant" messages', skippedByKind, notes);
  }
  return {
    id: makeSourceId(source, input),
    format: 'cursor',
    title: makeConversationTitle(messages),
    messages,
    notes: [
      ...notes,
      ...(withoutResult > 0
        ? [`${formatPlural(withoutResult, 'tool result')} that Cursor did not record; they are empty.`]
        : []),
      ...describeSkippedRecords(skippedByKind, RECORD_TYPES_NOT_SENT_TO_MODEL),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
  };
}

class CursorTranscriptReader {
  private readonly messages: ApiMessage[] = [];
  private readonly skippedByKind = new Map<string, number>();
  private callsWithoutResult = 0;
  /** IDs of calls without a result so far. Results follow in the order of their calls. */
  private pendingCallIds: string[] = [];

  takeRecord(value: Fields, line: number): void {
    const content = readRecord(value, 'message')?.['content'];
    const role = value['role'];
    if (content === undefined || (role !== 'user' && role !== 'assistant')) {
      const kind = readString(value, 'type') ?? 'unnamed';
      this.skippedByKind.set(kind, (this.skippedByKind.get(kind) ?? 0) + 1);
      return;
    }
    const parts = Array.isArray(content) ? content.filter(isRecord) : [{ type: 'text', text: stringifyValue(content) }];
    const results = parts.filter(({ type }) => type === 'tool_result');
    // Cursor writes results, if any, into messages of either role.
    const resultBlocks = results.map((part) => this.convertToolResult(part));
    if (resultBlocks.length > 0) this.messages.push({ role: 'user', content: resultBlocks });
    const blocks = parts.flatMap((part, at) =>
      results.includes(part) ? [] : this.convertContentPart(part, `call_${line}_${at}`),
    );
    if (blocks.length === 0) return;
    this.answerPendingCalls();
    this.messages.push({ role, content: blocks });
    this.pendingCallIds = blocks.flatMap((block) => (block.type === 'tool_use' ? [String(block['id'])] : []));
  }

  getResult(): { messages: readonly ApiMessage[]; skippedByKind: ReadonlyMap<string, number>; withoutResult: number } {
    return { messages: this.messages, skippedByKind: this.skippedByKind, withoutResult: this.callsWithoutResult };
  }

  private convertToolResult(part: Fields): Block {
    const id = readString(part, 'tool_use_id') ?? this.pendingCallIds[0] ?? 'unknown';
    this.pendingCallIds = this.pendingCallIds.filter((each) => each !== id);
    const { content } = part;
    return {
      type: 'tool_result',
      tool_use_id: id,
      content: Array.isArray(content)
        ? content
            .map((each) => (isRecord(each) ? stringifyValue(each['text'] ?? each) : stringifyValue(each)))
            .join('\n')
        : stringifyValue(content),
    };
  }

  private convertContentPart(part: Fields, id: string): Block[] {
    const text = readString(part, 'text');
    if (text !== undefined) return text.trim() === '' ? [] : [{ type: 'text', text }];
    const tool = readString(part, 'name');
    if (part['type'] === 'tool_use' && tool !== undefined) {
      return [{ type: 'tool_use', id: readString(part, 'id') ?? id, name: tool, input: part['input'] ?? {} }];
    }
    return [{ type: 'cursor_part', part }];
  }

  /** No API accepts a conversation with an unanswered call. */
  private answerPendingCalls(): void {
    if (this.pendingCallIds.length === 0) return;
    const results = this.pendingCallIds.map((id): Block => ({ type: 'tool_result', tool_use_id: id }));
    this.callsWithoutResult += results.length;
    const lastMessage = this.messages.at(-1);
    if (lastMessage?.role === 'user' && Array.isArray(lastMessage.content)) {
      this.messages[this.messages.length - 1] = {
        ...lastMessage,
        content: [...(lastMessage.content as Block[]), ...results],
      };
    } else this.messages.push({ role: 'user', content: results });
    this.pendingCallIds = [];
  }
}
