/**
 * Writes a condensed conversation in place (Roo, Zoo), as a sidecar (Cline 4), or as a new session
 * (Claude Code). The output comes from the file as read under the lock and the ledger's edits, so
 * it includes newer messages, and a diverged history is rejected.
 */
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { parseJson } from '../conversations/text/json';
import { readConversation } from '../conversations/read';
import { keepCalls } from '../conversations/rawText';
import type { AgentName } from '../core/agents';
import type { Conversation } from '../conversations/types';
import { renderSession, selectWritten } from '../conversations/write/claudeCode';
import { createSidecar, applySidecar } from '../conversations/write/clineCompaction';
import { renderCondensedTask, type CondensationRow } from '../conversations/write/roo';
import { selectEffectiveHistory } from '../conversations/formats/roo';
import { applyEdits } from '../core/condense/edits/applyEdits';
import type { Edit } from '../core/condense/edits/edits';
import { editJson } from '../core/json/editJson';
import { getJsonAt, rewriteJson } from '../core/json/rewriteJson';
import { appendToTitle } from '../conversations/title';
import { isRecord, toBlocks } from '../core/messages/blocks';
import { findNewViolations } from '../core/messages/firewall';
import type { ApiMessage } from '../core/messages/types';
import type { Files } from '../storage/files';
import { readStatusIfPresent } from '../storage/fileTools';
import { convertFileErrors } from '../storage/storageError';
import { withAgentLocks } from './agentLock';
import { hashBytes, readBytes } from './fileBytes';
import { GiveBackError, NOTHING_WRITTEN_TEXT, createChangedError, createMissingError } from './giveBackError';
import { replaceFiles, type NewContent } from './replacement';
import type { Guard } from './replaceFile';
import { refuseRunning } from './runningTask';
import type { GiveBackTarget } from '../core/agents/types';
import { requireTarget } from './target';

export interface GiveBackRequest {
  readonly path: string;
  readonly agent?: AgentName;
  readonly edits: readonly Edit[];
  readonly row: Omit<CondensationRow, 'condenseId'>;
}

export interface GiveBackParts {
  readonly files: Files;
  /** Folder of all replacements. */
  readonly root: string;
  readonly now: () => Date;
}

export interface GiveBackResult {
  readonly target: GiveBackTarget;
  readonly replacement: string;
  /** The file that the agent continues with. */
  readonly path: string;
}

interface Preparation {
  readonly conversation: string;
  readonly contents: readonly NewContent[];
  readonly path: string;
}

const PREPARE: Readonly<
  Record<GiveBackTarget, (request: GiveBackRequest, parts: GiveBackParts) => Promise<Preparation>>
> = {
  'roo-task': prepareTask,
  'cline-sidecar': prepareSidecar,
  'claude-code-session': prepareSession,
};

/** @throws GiveBackError, ConversationReadError, StorageError; nothing has been written then */
export async function giveBack(request: GiveBackRequest, parts: GiveBackParts): Promise<GiveBackResult> {
  const target = requireTarget(request.path, request.agent);
  const write = async (guard?: Guard): Promise<GiveBackResult> => {
    const { conversation, contents, path } = await PREPARE[target](request, parts);
    guard?.();
    return {
      target,
      path,
      replacement: await replaceFiles(parts.files, parts.root, conversation, contents, parts.now(), guard),
    };
  };
  if (target !== 'roo-task') return write();
  await refuseRunning(parts.files, request.path, parts.now().getTime());
  return withAgentLocks([request.path, getRowsPath(request.path)], (held) => write(held.confirm));
}

/**
 * Checks whether a conversation can be given back, so that the user isn't asked to agree to what
 * would then be refused. Doesn't write the conversation's files.
 * @throws as {@link giveBack}, except what only writing finds
 */
export async function checkGiveBack(request: GiveBackRequest, parts: GiveBackParts): Promise<void> {
  const target = requireTarget(request.path, request.agent);
  if (target === 'roo-task') await refuseRunning(parts.files, request.path, parts.now().getTime());
  await PREPARE[target](request, parts);
}

const getRowsPath = (path: string): string => join(dirname(path), 'ui_messages.json');

async function prepareTask({ path, edits, row }: GiveBackRequest, { files }: GiveBackParts): Promise<Preparation> {
  const rowsPath = getRowsPath(path);
  const history = await readDocument(files, path);
  const rows = await readDocument(files, rowsPath);
  if (!Array.isArray(history.value) || !Array.isArray(rows.value))
    throw createShapeError(path, 'Its files contain no lists.');
  const { read, view } = createView(path, history.bytes, edits);
  const made = renderCondensedTask({ history: history.value, rows: rows.value }, read.messages, view, {
    ...row,
    condenseId: randomUUID(),
  });
  refuseDifference(path, view, readSentMessages(made.history, path));
  return {
    conversation: read.id,
    contents: [
      { path, before: hashBytes(history.bytes), bytes: encodeUtf8(rewriteJson(history.text, made.history)) },
      { path: rowsPath, before: hashBytes(rows.bytes), bytes: encodeUtf8(rewriteJson(rows.text, made.rows)) },
    ],
    path,
  };
}

async function prepareSidecar({ path, edits }: GiveBackRequest, { files, now }: GiveBackParts): Promise<Preparation> {
  const session = await readDocument(files, path);
  if (!isRecord(session.value)) throw createShapeError(path, 'It contains no session.');
  const { read, view } = createView(path, session.bytes, edits);
  const content = createSidecar({ session: session.value, view, now: now() });
  const sent = applySidecar(content, session.value);
  if (!sent) throw createShapeError(path, 'The sidecar would not be accepted.');
  const sidecar = join(dirname(path), `${basename(path, '.messages.json')}.compaction.json`);
  const earlier = await readBytes(files, sidecar);
  const bytes = encodeUtf8(renderSidecar(content, session.text));
  return {
    conversation: read.id,
    contents: [{ path: sidecar, before: earlier && hashBytes(earlier), bytes }],
    path: sidecar,
  };
}

async function prepareSession({ path, edits }: GiveBackRequest, { files, now }: GiveBackParts): Promise<Preparation> {
  const bytes = await readExisting(files, path);
  const { read, view } = createView(path, bytes, edits);
  const records = new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => parseLine(line));
  const sessionId = randomUUID();
  const title = appendToTitle(read.title, '(condensed)');
  const written = renderSession({ sessionId, title, view, records, now: now(), newId: randomUUID });
  const text = keepCalls(written, new TextDecoder().decode(bytes));
  const target = join(dirname(path), `${sessionId}.jsonl`);
  refuseDifference(path, selectWritten(view), readConversation(text, { path: target }).messages);
  return {
    conversation: read.id,
    contents: [{ path: target, before: undefined, bytes: encodeUtf8(text) }],
    path: target,
  };
}

function renderSidecar(content: Readonly<Record<string, unknown>>, session: string): string {
  const messages = getJsonAt(session, ['messages']) ?? '[]';
  return editJson(JSON.stringify(content), [{ path: ['messages'], json: rewriteJson(messages, content['messages']) }]);
}

/** Ignores a line that the agent is still writing. */
function parseLine(line: string): unknown[] {
  try {
    return [parseJson(line)];
  } catch {
    return [];
  }
}

/** @throws GiveBackError if the history diverged or the result would be invalid */
function createView(
  path: string,
  bytes: Uint8Array,
  edits: readonly Edit[],
): { readonly read: Conversation; readonly view: readonly ApiMessage[] } {
  const read = readConversation(bytes, { path });
  const { messages: view, origins, stale } = applyEdits(read.messages, edits);
  if (stale.length > 0) throw createChangedError(path);
  const [violation] = findNewViolations(read.messages, view, { origins });
  if (violation) throw createShapeError(path, `The result would not be a valid conversation (${violation.rule}).`);
  return { read, view };
}

function refuseDifference(path: string, view: readonly ApiMessage[], sent: readonly ApiMessage[]): void {
  if (toComparable(view) !== toComparable(sent))
    throw createShapeError(
      path,
      'Read back as its agent reads it, what would be written is not exactly the condensed conversation.',
    );
}

/** The API treats consecutive messages of one role as one. */
function toComparable(messages: readonly ApiMessage[]): string {
  const merged: { readonly role: string; readonly content: unknown[] }[] = [];
  for (const { role, content } of messages) {
    const blocks = toBlocks({ content });
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else merged.push({ role, content: [...blocks] });
  }
  return JSON.stringify(merged);
}

const readSentMessages = (history: readonly unknown[], path: string): readonly ApiMessage[] =>
  selectEffectiveHistory(readConversation(encodeJson(history), { path }, { history: 'all' }).messages);

interface AgentDocument {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly value: unknown;
}

async function readDocument(files: Files, path: string): Promise<AgentDocument> {
  const bytes = await readExisting(files, path);
  try {
    const text = new TextDecoder().decode(bytes);
    return { bytes, text, value: parseJson(text) };
  } catch (error) {
    throw createShapeError(path, 'It is not JSON; the agent may be writing it.', error);
  }
}

async function readExisting(files: Files, path: string): Promise<Uint8Array> {
  const status = await readStatusIfPresent(files, path);
  const bytes = status && (await convertFileErrors(path, NOTHING_WRITTEN_TEXT, () => readBytes(files, path)));
  if (bytes) return bytes;
  throw createMissingError(path);
}

const createShapeError = (path: string, happened: string, cause?: unknown): GiveBackError =>
  new GiveBackError(
    {
      trouble: 'unexpected-shape',
      path,
      happened,
      notDone: NOTHING_WRITTEN_TEXT,
      advice: 'Export the condensed conversation instead.',
    },
    { cause },
  );

const encodeJson = (value: unknown): Uint8Array => encodeUtf8(JSON.stringify(value));

const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
