/**
 * A condensed conversation as a new Claude Code session: a file of its own beside the old one, with ids of its own, in
 * the form that resuming a session reads: one record per message, each naming the one before it. The old file is only
 * read. Claude Code itself writes one record per block of an answer, with the same `message.id`; so does this.
 */
import { isRecord, isToolResult } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';

type Json = Readonly<Record<string, unknown>>;

export interface NewSession {
  /** UUID of the new session; its file is `<id>.jsonl`. */
  readonly sessionId: string;
  /** The title in the list of sessions. */
  readonly title: string;
  /** The messages that the model is to see. */
  readonly view: readonly ApiMessage[];
  /** Records of the old session, parsed: folder, branch and version are taken from the last that has them. */
  readonly records: readonly unknown[];
  readonly now: Date;
  /** Gives a UUID at each call. */
  readonly newId: () => string;
}

/**
 * The kind of a message's record. `isMeta` says that Claude Code wrote it: the model sees it, and the terminal and the list of prompts do
 * not show it as a person's. There are no records for system messages.
 */
const speaker = (message: ApiMessage): Json =>
  message.role === 'user' && message['isMeta'] !== true && message['addedByAgent'] !== true
    ? { type: 'user' }
    : message.role === 'assistant'
      ? { type: 'assistant' }
      : { type: 'user', isMeta: true };

/** Fields of a record that tell where the session ran; the new one runs there too. */
const KEPT = ['cwd', 'version', 'gitBranch', 'userType', 'entrypoint', 'slug'];

/** The file's text: JSON lines. */
export function newSession({ sessionId, title, view, records, now, newId }: NewSession): string {
  const kept = settingsOf(records);
  const lines: Json[] = [];
  let parentUuid: string | null = null;
  let time = now.getTime();
  // Claude Code lists its skills, agents and tools anew in each session.
  for (const message of view.filter((one) => one['isRenewed'] !== true)) {
    for (const part of partsOf(message, newId)) {
      const uuid = newId();
      lines.push({
        parentUuid,
        isSidechain: false,
        userType: 'external',
        ...kept,
        sessionId,
        ...speaker(message),
        message: part,
        uuid,
        timestamp: new Date(time++).toISOString(),
      });
      parentUuid = uuid;
    }
  }
  return [...titles(title, sessionId, parentUuid), ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/**
 * The title as Claude Code's list reads it. 2.1.330 lists a session of 326 KB that has the `summary` alone under its first words, and one
 * with a `custom-title` under that (tried with its `--resume`); 2.1.17 and before know the summary alone.
 */
const titles = (title: string, sessionId: string, leafUuid: string | null): readonly Json[] => [
  { type: 'summary', summary: title, leafUuid },
  { type: 'custom-title', customTitle: title, sessionId },
];

function settingsOf(records: readonly unknown[]): Json {
  const kept: Record<string, unknown> = {};
  for (const record of records) {
    if (!isRecord(record) || record['isSidechain'] === true) continue;
    for (const field of KEPT) if (typeof record[field] === 'string') kept[field] = record[field];
  }
  return kept;
}

/** The messages of the records that a message becomes: of an answer one for each block. */
function partsOf(message: ApiMessage, newId: () => string): readonly Json[] {
  const { content } = message;
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  if (typeof content === 'string') {
    return [role === 'assistant' ? answer(message, [{ type: 'text', text: content }], newId) : { role, content }];
  }
  if (role !== 'assistant') return groupsOf(content).map((blocks) => ({ role, content: blocks }));
  if (content.length === 0) return [];
  const whole = answer(message, content, newId);
  return content.map((block) => ({ ...whole, content: [block] }));
}

function answer(message: ApiMessage, content: readonly Block[], newId: () => string): Json {
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
    // The old figures would say that the window is as full as it was.
    usage: { ...(isRecord(usage) && { service_tier: usage['service_tier'] }), ...NO_USAGE },
  };
}

const NO_USAGE = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };

/** Of several results each has a record of its own, as parallel calls have; what the user said with them has one too. */
function groupsOf(content: readonly Block[]): readonly (readonly Block[])[] {
  const results = content.filter(isToolResult);
  if (results.length < 2) return [content];
  const rest = content.filter((block) => !isToolResult(block));
  return [...results.map((block) => [block]), ...(rest.length > 0 ? [rest] : [])];
}
