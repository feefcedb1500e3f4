import { getBlocks, isToolResult } from '../../../core/messages/blocks';
import { isMachineReport, extractPersonText } from '../../../core/messages/personText';
import type { ApiMessage } from '../../../core/messages/types';
import type { ActiveBranch } from './branch';
import type { ClaudeCodeRecord } from './record';

export function resolveRecords(records: readonly ClaudeCodeRecord[]): readonly ClaudeCodeRecord[] {
  const replacements = new Map(records.flatMap(({ replacements: pairs }) => [...(pairs ?? [])]));
  const renderingVersions = new Set(
    records.flatMap(({ attachment, version }) => (attachment && !attachment.isUnrendered ? [version] : [])),
  );
  const queuedTexts = matchQueuedPrompts(records);
  return records.map((record) => {
    const { attachment, message, version } = record;
    // This version stores what it sends, so it sent nothing for this attachment.
    if (attachment?.isUnrendered && attachment.sending.kind !== 'person' && renderingVersions.has(version)) {
      return { ...record, attachment: { ...attachment, sending: { kind: 'not-sent' } } };
    }
    if (message && replacements.size > 0) return { ...record, message: applyReplacements(message, replacements) };
    const text = queuedTexts.get(record);
    if (text === undefined) return record;
    const sending = { kind: 'person', content: [{ type: 'text', text }] } as const;
    return { ...record, attachment: { name: record.type, isUnrendered: true, sending } };
  });
}

/** Claude Code sent a preview of oversized results (2.1.332, records `content-replacement`). */
function applyReplacements(message: ApiMessage, replacements: ReadonlyMap<string, string>): ApiMessage {
  if (!getBlocks(message).some((block) => isToolResult(block) && replacements.has(block.tool_use_id))) return message;
  const content = getBlocks(message).map((block) => {
    const text = isToolResult(block) ? replacements.get(block.tool_use_id) : undefined;
    return text === undefined ? block : { ...block, content: text };
  });
  return { ...message, content };
}

/**
 * Before about 2.1.100 only the queue has the words of prompts that a running turn took from it:
 * `remove` puts a prompt into the running turn, `dequeue` starts a turn (sessions of 2.0.76 to
 * 2.1.232).
 */
function matchQueuedPrompts(records: readonly ClaudeCodeRecord[]): ReadonlyMap<ClaudeCodeRecord, string> {
  const queuedPrompts: QueuedPrompt[] = [];
  const removedPrompts = new Map<ClaudeCodeRecord, QueuedPrompt>();
  for (const record of records) {
    const { operation, content } = record.queue ?? {};
    switch (operation) {
      case 'enqueue':
        if (content !== undefined) queuedPrompts.push({ text: content, line: record.line });
        break;
      case 'dequeue':
        queuedPrompts.shift();
        break;
      case 'remove': {
        const queueIndex = content === undefined ? 0 : queuedPrompts.findIndex(({ text }) => text === content);
        const [queuedPrompt] = queueIndex === -1 ? [] : queuedPrompts.splice(queueIndex, 1);
        // A file can begin after the record that queued a prompt.
        const prompt = queuedPrompt ?? (content === undefined ? undefined : { text: content, line: 0 });
        if (prompt && isTypedByPerson(prompt.text)) removedPrompts.set(record, prompt);
        break;
      }
      case 'popAll':
        queuedPrompts.length = 0;
        break;
      default:
    }
  }
  if (removedPrompts.size === 0) return new Map();
  const lastLineByText = new Map(
    records.flatMap((record) => collectUserTexts(record).map((text) => [text, record.line] as const)),
  );
  // The same text sent earlier, such as "continue", is another prompt.
  const isRepeatedLater = ({ text, line }: QueuedPrompt): boolean => (lastLineByText.get(text.trim()) ?? -1) > line;
  return new Map(
    [...removedPrompts].flatMap(([record, prompt]) => (isRepeatedLater(prompt) ? [] : [[record, prompt.text]])),
  );
}

interface QueuedPrompt {
  readonly text: string;
  readonly line: number;
}

/** Tasks also report through the queue, in older versions as JSON. */
const isTypedByPerson = (text: string): boolean =>
  extractPersonText(text) !== '' && !isMachineReport(text) && !/^\s*\{"task_id"/.test(text);

function collectUserTexts({ message, attachment }: ClaudeCodeRecord): readonly string[] {
  if (message && message.role !== 'user') return [];
  if (typeof message?.content === 'string') return [message.content.trim()];
  const sending = attachment?.sending;
  const content = message?.content ?? (sending && 'content' in sending ? sending.content : []);
  return content.flatMap((block) => (typeof block['text'] === 'string' ? [block['text'].trim()] : []));
}

export function addQueuedPrompts(branch: ActiveBranch, records: readonly ClaudeCodeRecord[]): ActiveBranch {
  const recordsFromQueue = records.filter(({ queue, attachment }) => queue && attachment);
  if (recordsFromQueue.length === 0) return branch;
  const answerKeys = new Set(
    branch.records.flatMap(({ message }) => (message?.role === 'assistant' ? [getMessageKey(message)] : [])),
  );
  // The turn that received the prompts may have been rewound.
  const queuedRecords = recordsFromQueue.filter(({ line }) => {
    const lastAnswer = records.findLast(
      (record) => record.line < line && record.message?.role === 'assistant',
    )?.message;
    return lastAnswer === undefined || answerKeys.has(getMessageKey(lastAnswer));
  });
  const branchRecords = [...branch.records];
  let { skippedCount } = branch;
  for (const record of queuedRecords) {
    const insertIndex = branchRecords.findLastIndex(({ line }) => line < record.line) + 1;
    branchRecords.splice(insertIndex, 0, record);
    if (insertIndex < skippedCount) skippedCount += 1;
  }
  return { ...branch, records: branchRecords, skippedCount };
}

/** One answer has several records, and some of them can be off the branch. */
const getMessageKey = (message: ApiMessage): unknown => message['id'] ?? message;
