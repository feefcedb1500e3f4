/**
 * Writes a session that Claude Code can resume: each record names the previous one, and an answer
 * has one record per block with the same `message.id`.
 */
import { isRecord, isToolResult } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';

type Json = Readonly<Record<string, unknown>>;

export interface NewClaudeSession {
  /** UUID of the new session, whose file is `<id>.jsonl`. */
  readonly sessionId: string;
  readonly title: string;
  readonly view: readonly ApiMessage[];
  /** Folder, branch and version come from the last of the old session's records that has them. */
  readonly records: readonly unknown[];
  readonly now: Date;
  readonly newId: () => string;
}

/**
 * Claude Code's terminal and its list of prompts hide text with `isMeta`. System messages have no
 * records.
 */
const makeRoleFields = (message: ApiMessage): Json =>
  message.role === 'user' && message['isMeta'] !== true && message['addedByAgent'] !== true
    ? { type: 'user' }
    : message.role === 'assistant'
      ? { type: 'assistant' }
      : { type: 'user', isMeta: true };

const COPIED_FIELDS = ['cwd', 'version', 'gitBranch', 'userType', 'entrypoint', 'slug'];

/** Leaves out skills, agents and tools, which Claude Code lists again in each session. */
export const selectWrittenMessages = (view: readonly ApiMessage[]): readonly ApiMessage[] =>
  view.filter((message) => message['isRenewed'] !== true);

export function renderClaudeSession({ sessionId, title, view, records, now, newId }: NewClaudeSession): string {
  const copiedFields = collectCopiedFields(records);
  const sessionRecords: Json[] = [];
  let parentUuid: string | null = null;
  let time = now.getTime();
  for (const message of selectWrittenMessages(view)) {
    for (const partOfMessage of splitMessageIntoRecords(message, newId)) {
      const uuid = newId();
      sessionRecords.push({
        parentUuid,
        isSidechain: false,
        userType: 'external',
        ...copiedFields,
        sessionId,
        ...makeRoleFields(message),
        message: partOfMessage,
        uuid,
        timestamp: new Date(time++).toISOString(),
      });
      parentUuid = uuid;
    }
  }
  return [...makeTitleRecords(title, sessionId, parentUuid), ...sessionRecords]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

/**
 * 2.1.17 and earlier know only the `summary`. 2.1.330 uses the `custom-title`; it ignored the
 * `summary` of a session of 326 KB.
 */
const makeTitleRecords = (title: string, sessionId: string, leafUuid: string | null): readonly Json[] => [
  { type: 'summary', summary: title, leafUuid },
  { type: 'custom-title', customTitle: title, sessionId },
];

function collectCopiedFields(records: readonly unknown[]): Json {
  const copiedFields: Record<string, unknown> = {};
  for (const record of records) {
    if (!isRecord(record) || record['isSidechain'] === true) continue;
    for (const field of COPIED_FIELDS) if (typeof record[field] === 'string') copiedFields[field] = record[field];
  }
  return copiedFields;
}

function splitMessageIntoRecords(message: ApiMessage, newId: () => string): readonly Json[] {
  const { content } = message;
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  if (typeof content === 'string') {
    return [role === 'assistant' ? renderAnswer(message, [{ type: 'text', text: content }], newId) : { role, content }];
  }
  if (role !== 'assistant') return groupResults(content).map((blocks) => ({ role, content: blocks }));
  if (content.length === 0) return [];
  const record = renderAnswer(message, content, newId);
  return content.map((block) => ({ ...record, content: [block] }));
}

function renderAnswer(message: ApiMessage, content: readonly Block[], newId: () => string): Json {
  const { id, model, usage } = message;
  const hasCall = content.some(({ type }) => type === 'tool_use');
  return {
    id: typeof id === 'string' ? id : `msg_${newId().replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    model: typeof model === 'string' ? model : '<synthetic>',
    content,
    stop_reason: hasCall ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    // With the old token counts, the window would appear as full as before.
    usage: { ...(isRecord(usage) && { service_tier: usage['service_tier'] }), ...ZERO_USAGE },
  };
}

const ZERO_USAGE = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };

/**
 * Like Claude Code, writes one record for each result and one for the user's text in the same
 * message.
 */
function groupResults(content: readonly Block[]): readonly (readonly Block[])[] {
  const results = content.filter(isToolResult);
  if (results.length < 2) return [content];
  const otherBlocks = content.filter((block) => !isToolResult(block));
  return [...results.map((block) => [block]), ...(otherBlocks.length > 0 ? [otherBlocks] : [])];
}
