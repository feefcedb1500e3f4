/**
 * Cline 4's sidecar `<session>.compaction.json` replaces the first N messages. Cline ignores a
 * sidecar whose hash doesn't match; deleting one is always safe. Source: cline/cline,
 * `sdk/packages/core/src/session/models/session-compaction.ts`, hash v2.
 */
import { createHash } from 'node:crypto';
import type { ApiMessage } from '../../core/messages/types';
import { isRecord, toBlocks } from '../../core/messages/blocks';
import { stripClineWrappers } from './clineInput';

type Json = Readonly<Record<string, unknown>>;

export interface CompactionSource {
  readonly session: Json;
  readonly view: readonly ApiMessage[];
  readonly now: Date;
}

export function createCompactionSidecar({ session, view, now }: CompactionSource): Json {
  const sourceMessages = getSessionMessages(session);
  const lastMessage = sourceMessages.at(-1);
  const { sessionId, agent } = session;
  return {
    version: 1,
    updated_at: now.toISOString(),
    ...(typeof agent === 'string' && { agent }),
    ...(typeof sessionId === 'string' && { sessionId, conversation_id: sessionId }),
    source_message_count: sourceMessages.length,
    source_prefix_hash: hashSummarizedMessages(sourceMessages),
    ...(lastMessage && { source_last_message_key: getBoundaryKey(lastMessage) }),
    messages: view.map(toStoredMessage),
    ...(typeof session['system_prompt'] === 'string' && { system_prompt: session['system_prompt'] }),
  };
}

/** Returns what Cline sends with this sidecar; undefined if Cline ignores it. */
export function applyCompactionSidecar(sidecar: Json, session: Json): readonly unknown[] | undefined {
  const source = getSessionMessages(session);
  const { source_message_count: count, source_prefix_hash: hash, messages } = sidecar;
  if (typeof count !== 'number' || count > source.length || !Array.isArray(messages)) return undefined;
  if (typeof hash !== 'string' || hashSummarizedMessages(source.slice(0, count)) !== hash) return undefined;
  return [...(messages as readonly unknown[]), ...source.slice(count)];
}

/** Excludes ids and times, which may change whenever messages are written. */
function hashSummarizedMessages(messages: readonly Json[]): string {
  const hash = createHash('sha256');
  hash.update(`cline-session-compaction-source-v2\n${messages.length}\n`);
  for (const message of messages) hash.update(`${JSON.stringify(toHashInput(message))}\n`);
  return `sha256:${hash.digest('hex')}`;
}

const HASHED_FIELDS = ['agent', 'sessionId', 'metadata', 'modelInfo', 'metrics'];

function toHashInput(message: Json): readonly (readonly [string, unknown])[] {
  return [
    ['role', message['role']],
    ['content', toComparableContent(message)],
    ...HASHED_FIELDS.map((field): readonly [string, unknown] => [field, message[field] ?? null]),
  ];
}

/** Reduces the user's text to what the chat shows, without surrounding tags. */
function toComparableContent({ role, content }: Json): unknown {
  if (role !== 'user') return content;
  if (typeof content === 'string') return stripClineWrappers(content);
  if (!Array.isArray(content)) return content;
  return (content as readonly unknown[]).map((part) =>
    isRecord(part) && part['type'] === 'text' && typeof part['text'] === 'string'
      ? { ...part, text: stripClineWrappers(part['text']) }
      : part,
  );
}

function getBoundaryKey(message: Json): string {
  const { id, ts, role } = message;
  if (typeof id === 'string' && id.trim() !== '') return `id:${id.trim()}`;
  if (typeof ts === 'number' && Number.isFinite(ts)) return `ts:${String(role)}:${ts}`;
  return `content:${String(role)}:${JSON.stringify(toComparableContent(message))}`;
}

function getSessionMessages({ messages }: Json): readonly Json[] {
  return Array.isArray(messages) ? (messages as readonly unknown[]).filter(isRecord) : [];
}

/**
 * Restores Cline's form: content is an array, and results that were converted to text are objects
 * again.
 */
function toStoredMessage(message: ApiMessage): Json {
  const { content, ...rest } = message;
  return { ...rest, content: toBlocks({ content }).map((block) => toStoredBlock(block)) };
}

function toStoredBlock(block: Json): Json {
  if (isRecord(block['clineFile'])) return toStoredFile(block, block['clineFile']);
  if (block['type'] !== 'tool_result' || !Array.isArray(block['content'])) return block;
  return { ...block, content: (block['content'] as readonly unknown[]).map(toStoredPart) };
}

function toStoredFile({ text }: Json, file: Json): Json {
  const { path, content } = file;
  const expectedText = `<file_content path="${String(path)}">\n${String(content)}\n</file_content>`;
  return text === expectedText ? file : { type: 'text', text };
}

/** Condensed text may no longer be JSON; then it stays text, which Cline also stores. */
function toStoredPart(part: unknown): unknown {
  if (!isRecord(part) || part['clineJson'] !== true || typeof part['text'] !== 'string') return part;
  try {
    const value: unknown = JSON.parse(part['text']);
    if (isRecord(value)) return value;
  } catch {
    // Text that is not JSON is returned below.
  }
  return { type: 'text', text: part['text'] };
}
