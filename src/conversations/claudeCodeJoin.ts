/**
 * From records to messages of the API. Claude Code writes one record per content block, so one API message stands on
 * several lines that repeat its `message.id`; and with parallel calls each result comes as a user record of its own,
 * linked to the record of its call, so that the path from the newest record up to the root misses most of them.
 */
import { blocksOf, isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import type { ClaudeCodeRecord } from './claudeCodeRecord';
import { groupBy } from './groupBy';

export interface Joined {
  readonly messages: readonly ApiMessage[];
  /** The records that went into the messages. */
  readonly used: ReadonlySet<ClaudeCodeRecord>;
}

type MessageRecord = ClaudeCodeRecord & { readonly message: ApiMessage };

/** An error that Claude Code shows as an assistant's message is never sent. */
const isSent = (record: ClaudeCodeRecord): record is MessageRecord =>
  record.message !== undefined && !record.isApiError;

const isAssistant = ({ message }: MessageRecord): boolean => message.role === 'assistant';

const resultIds = ({ message }: MessageRecord): readonly string[] =>
  blocksOf(message)
    .filter(isToolResult)
    .map((block) => block.tool_use_id);

/**
 * @param branch records in the order of the conversation
 * @param thread all records of the thread in the order of the file: there the missed siblings and results are found
 */
export function joinRecords(branch: readonly ClaudeCodeRecord[], thread: readonly ClaudeCodeRecord[]): Joined {
  const sent = branch.filter(isSent);
  const all = withCopiesOf(sent, thread);
  const onBranch = new Set(sent);
  const siblings = groupBy(all.filter(isAssistant), messageId);
  const answered = new Set(sent.flatMap(resultIds));
  const elsewhere = new Map<string, MessageRecord>();
  for (const record of all) if (!onBranch.has(record)) for (const id of resultIds(record)) elsewhere.set(id, record);

  const messages: ApiMessage[] = [];
  const used = new Set<ClaudeCodeRecord>();
  sent.forEach((record, index) => {
    if (used.has(record)) return;
    const parts = isAssistant(record) ? (siblings.get(messageId(record)) ?? [record]) : [record];
    for (const part of parts) used.add(part);
    messages.push(joinMessages(parts.map(({ message }) => message)));
    if (!isAssistant(record)) return;

    const calls = parts.flatMap(({ message }) =>
      blocksOf(message)
        .filter(isToolUse)
        .map(({ id }) => id),
    );
    const missed = calls.filter((id) => !answered.has(id)).map((id) => elsewhere.get(id));
    const results = new Set([
      ...resultsBelow(sent, index, new Set(calls)),
      ...missed.filter((found) => found !== undefined),
    ]);
    for (const result of used) results.delete(result as MessageRecord);
    if (results.size === 0) return;
    for (const result of results) used.add(result);
    messages.push(resultsFirst(joinMessages([...results].map(({ message }) => message)), results.size));
  });
  return { messages, used };
}

/** Messages without an id stand alone: their record is its own key. */
const messageId = (record: MessageRecord): unknown => record.message['id'] ?? record;

/** A compaction can write messages again under their old uuid: of those only what is on the branch counts. */
function withCopiesOf(sent: readonly MessageRecord[], thread: readonly ClaudeCodeRecord[]): readonly MessageRecord[] {
  const chosen = new Map(sent.map((record) => [record.uuid, record]));
  return thread.filter(isSent).filter((record) => (chosen.get(record.uuid) ?? record) === record);
}

/** The records that answer the calls, up to the next assistant message: a result beyond that stays where it is. */
function resultsBelow(
  sent: readonly MessageRecord[],
  index: number,
  calls: ReadonlySet<string>,
): readonly MessageRecord[] {
  const own = sent[index];
  const found: MessageRecord[] = [];
  for (let at = index + 1; at < sent.length; at += 1) {
    const record = sent[at];
    if (!own || !record) break;
    if (isAssistant(record)) {
      if (messageId(record) === messageId(own)) continue;
      break;
    }
    if (resultIds(record).some((id) => calls.has(id))) found.push(record);
  }
  return found;
}

/** One message with the content of all, and of other fields the last word (`usage` and `stop_reason` grow). */
function joinMessages(messages: readonly ApiMessage[]): ApiMessage {
  const [first, ...rest] = messages;
  if (!first || rest.length === 0) return first ?? { role: 'user', content: [] };
  let joined = first;
  for (const next of rest) joined = { ...joined, ...next, content: [...asBlocks(joined), ...asBlocks(next)] };
  return joined;
}

const asBlocks = ({ content }: ApiMessage): readonly Block[] => {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
};

/** The API wants results before all else; a message that stood like that in one record is not touched. */
function resultsFirst(message: ApiMessage, records: number): ApiMessage {
  if (records === 1) return message;
  const blocks = blocksOf(message);
  const isOther = (block: Block): boolean => !isToolResult(block);
  return { ...message, content: [...blocks.filter(isToolResult), ...blocks.filter(isOther)] };
}
