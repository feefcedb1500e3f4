/**
 * From records to messages of the API. Claude Code writes one record per content block, so one API message stands on
 * several lines that repeat its `message.id`; and with parallel calls each result comes as a user record of its own,
 * linked to the record of its call, so that the path from the newest record up to the root misses most of them.
 */
import { blocksOf, isToolResult, isToolUse } from '../../../core/messages/blocks';
import type { ApiMessage, Block } from '../../../core/messages/types';
import type { ClaudeCodeRecord } from './record';
import { withAdditions } from './additions';

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
  const onBranch = new Set(sent);
  const beside = withoutCopiesOf(sent, thread).filter((record) => !onBranch.has(record));
  const siblings = siblingsBeside(sent, beside);
  const answered = new Set(sent.flatMap(resultIds));
  const elsewhere = new Map<string, MessageRecord>();
  for (const record of beside) for (const id of resultIds(record)) elsewhere.set(id, record);

  const messages: ApiMessage[] = [];
  /** The message that each record became part of. */
  const used = new Map<ClaudeCodeRecord, number>();
  const emit = (records: readonly MessageRecord[]): ApiMessage => {
    for (const record of records) used.set(record, messages.length);
    return joinMessages(records.map(({ message }) => message));
  };
  sent.forEach((record, index) => {
    if (used.has(record)) return;
    if (!isAssistant(record)) {
      messages.push(emit([record]));
      return;
    }
    const parts = inFileOrder(partsFrom(sent, index, siblings));
    messages.push(emit(parts));
    const calls = new Set(parts.flatMap(callIds));
    const missedResults = [...calls].filter((id) => !answered.has(id)).map((id) => elsewhere.get(id));
    const found = [...resultsBelow(sent, index, calls), ...missedResults.filter((result) => result !== undefined)];
    const results = inFileOrder([...new Set(found)].filter((result) => !used.has(result)));
    if (results.length > 0) messages.push(resultsFirst(emit(results), results.length));
  });
  return {
    messages: withAdditions(messages, (record) => used.get(record), withAttachmentsBeside(branch, used, thread)),
    used: new Set(used.keys()),
  };
}

/**
 * A result hangs at its call's record, so what hooks said before the call ran, or behind another parallel result, hangs beside the path.
 * @param used what became part of the messages, with the place of its message
 */
function withAttachmentsBeside(
  branch: readonly ClaudeCodeRecord[],
  used: ReadonlyMap<ClaudeCodeRecord, number>,
  thread: readonly ClaudeCodeRecord[],
): readonly ClaudeCodeRecord[] {
  const onBranch = new Set(branch);
  const places = new Map<string, number>();
  for (const [{ uuid, message }, place] of used) {
    if (uuid !== undefined && message && blocksOf(message).some((block) => isToolUse(block) || isToolResult(block))) {
      places.set(uuid, place);
    }
  }
  const beside: { readonly record: ClaudeCodeRecord; readonly place: number }[] = [];
  for (const record of thread) {
    const place = record.attachment && !onBranch.has(record) ? places.get(record.parent ?? '') : undefined;
    if (place === undefined) continue;
    // Attachments hang at one another.
    if (record.uuid !== undefined) places.set(record.uuid, place);
    beside.push({ record, place });
  }
  if (beside.length === 0) return branch;
  const byOwner = Map.groupBy(beside, ({ place }) =>
    branch.findLast((record) => (used.get(record) ?? Infinity) <= place),
  );
  return branch.flatMap((record) => [record, ...(byOwner.get(record) ?? []).map((each) => each.record)]);
}

const inFileOrder = (records: readonly MessageRecord[]): readonly MessageRecord[] =>
  [...records].sort((a, b) => a.line - b.line);

const callIds = ({ message }: MessageRecord): readonly string[] =>
  blocksOf(message)
    .filter(isToolUse)
    .map(({ id }) => id);

type Siblings = ReadonlyMap<MessageRecord, readonly MessageRecord[]>;

/** Records of the path's messages that hang beside it, each with the record of its message that it was written after. */
function siblingsBeside(sent: readonly MessageRecord[], beside: readonly MessageRecord[]): Siblings {
  const onPath = Map.groupBy(sent.filter(isAssistant), messageId);
  return Map.groupBy(
    beside.filter((record) => isAssistant(record) && onPath.has(messageId(record))),
    (record) => {
      const own = onPath.get(messageId(record)) ?? [];
      return own.findLast(({ line }) => line <= record.line) ?? own[0] ?? record;
    },
  );
}

/**
 * The records of one API message: those that follow on the path with nothing between them but answers to the message's own
 * calls, which are given while it is still being streamed; and their siblings beside the path.
 */
function partsFrom(sent: readonly MessageRecord[], index: number, siblings: Siblings): MessageRecord[] {
  const first = sent[index];
  if (!first) return [];
  const parts: MessageRecord[] = [];
  const calls = new Set<string>();
  const take = (record: MessageRecord): void => {
    for (const part of [record, ...(siblings.get(record) ?? [])]) {
      parts.push(part);
      for (const id of callIds(part)) calls.add(id);
    }
  };
  take(first);
  for (let at = index + 1; at < sent.length; at += 1) {
    const record = sent[at];
    if (!record) break;
    if (isAssistant(record)) {
      if (messageId(record) !== messageId(first)) break;
      take(record);
    } else if (!resultIds(record).some((id) => calls.has(id))) break;
  }
  return parts;
}

/** Messages without an id stand alone: their record is its own key. */
const messageId = (record: MessageRecord): unknown => record.message['id'] ?? record;

/** A compaction can write messages again under their old uuid: of those only what is on the branch counts. */
function withoutCopiesOf(
  sent: readonly MessageRecord[],
  thread: readonly ClaudeCodeRecord[],
): readonly MessageRecord[] {
  const chosen = new Map(sent.map((record) => [record.uuid, record]));
  return thread.filter(isSent).filter((record) => (chosen.get(record.uuid) ?? record) === record);
}

/**
 * The records that answer the calls, up to the next assistant message: a result beyond that stays where it is. Only where
 * others of the message's calls were answered before it, the results that follow that message at once are fetched too:
 * with the first answers in between they would no longer count.
 */
function resultsBelow(
  sent: readonly MessageRecord[],
  index: number,
  calls: ReadonlySet<string>,
): readonly MessageRecord[] {
  const own = sent[index];
  const found: MessageRecord[] = [];
  const taken = new Set<string>();
  let beyond: 'no' | 'assistant' | 'results' = 'no';
  for (let at = index + 1; at < sent.length; at += 1) {
    const record = sent[at];
    if (!own || !record) break;
    if (isAssistant(record)) {
      if (beyond === 'no' && messageId(record) === messageId(own)) continue;
      if (beyond === 'results' || found.length === 0) break;
      beyond = 'assistant';
      continue;
    }
    if (beyond === 'assistant') beyond = 'results';
    const open = resultIds(record).filter((id) => calls.has(id) && !taken.has(id));
    // Said meanwhile, or a second answer to the same call: one message must not hold both.
    if (open.length === 0) continue;
    for (const id of open) taken.add(id);
    found.push(record);
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
