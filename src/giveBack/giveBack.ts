/**
 * Writes a condensed conversation in place (Roo, Zoo), as a sidecar (Cline 4), or as a new session
 * (Claude Code). Applies the ledger's edits to the file as read under the lock, so newer messages
 * are included and a diverged history is rejected.
 */
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { parseJson } from '../conversations/text/json';
import { readConversation } from '../conversations/read';
import { copyOriginalCallJson } from '../conversations/rawText';
import type { AgentName } from '../core/agents';
import type { Conversation } from '../conversations/types';
import { renderClaudeSession, selectWrittenMessages } from '../conversations/write/claudeCode';
import { createCompactionSidecar, applyCompactionSidecar } from '../conversations/write/clineCompaction';
import { renderCondensedTask, type CondensationUiRow } from '../conversations/write/roo';
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
import { hashBytes, readFileBytesIfPresent } from './fileBytes';
import { GiveBackError, NOTHING_WRITTEN_TEXT, createFileChangedError, createFileMissingError } from './giveBackError';
import { replaceFiles, type NewFileContent } from './replacement';
import type { WriteGuard } from './replaceFile';
import { rejectRunningTask } from './runningTask';
import type { GiveBackTarget } from '../core/agents/types';
import { requireGiveBackTarget } from './target';

export interface GiveBackRequest {
  readonly path: string;
  readonly agent?: AgentName;
  readonly edits: readonly Edit[];
  readonly row: Omit<CondensationUiRow, 'condenseId'>;
}

export interface GiveBackDependencies {
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

interface PreparedGiveBack {
  readonly conversation: string;
  readonly contents: readonly NewFileContent[];
  readonly path: string;
}

const PREPARE_BY_TARGET: Readonly<
  Record<GiveBackTarget, (request: GiveBackRequest, dependencies: GiveBackDependencies) => Promise<PreparedGiveBack>>
> = {
  'roo-task': prepareRooTask,
  'cline-sidecar': prepareClineSidecar,
  'claude-code-session': prepareClaudeSession,
};

/** @throws GiveBackError, ConversationReadError, StorageError; nothing has been written then */
export async function giveBackConversation(
  request: GiveBackRequest,
  dependencies: GiveBackDependencies,
): Promise<GiveBackResult> {
  const target = requireGiveBackTarget(request.path, request.agent);
  const writeFiles = async (guard?: WriteGuard): Promise<GiveBackResult> => {
    const { conversation, contents, path } = await PREPARE_BY_TARGET[target](request, dependencies);
    guard?.();
    return {
      target,
      path,
      replacement: await replaceFiles(
        dependencies.files,
        dependencies.root,
        { conversation, source: request.path },
        contents,
        dependencies.now(),
        guard,
      ),
    };
  };
  if (target !== 'roo-task') return writeFiles();
  await rejectRunningTask(dependencies.files, request.path, dependencies.now().getTime());
  return withAgentLocks([request.path, getUiMessagesPath(request.path)], (locks) => writeFiles(locks.confirm));
}

/**
 * Called before the user is asked to agree. Doesn't write the conversation's files.
 * @throws as {@link giveBackConversation}, except errors that only writing can reveal
 */
export async function checkGiveBack(request: GiveBackRequest, dependencies: GiveBackDependencies): Promise<void> {
  const target = requireGiveBackTarget(request.path, request.agent);
  if (target === 'roo-task') await rejectRunningTask(dependencies.files, request.path, dependencies.now().getTime());
  await PREPARE_BY_TARGET[target](request, dependencies);
}

const getUiMessagesPath = (path: string): string => join(dirname(path), 'ui_messages.json');

async function prepareRooTask(
  { path, edits, row }: GiveBackRequest,
  { files }: GiveBackDependencies,
): Promise<PreparedGiveBack> {
  const rowsPath = getUiMessagesPath(path);
  const historyFile = await readJsonFile(files, path);
  const rowsFile = await readJsonFile(files, rowsPath);
  if (!Array.isArray(historyFile.value) || !Array.isArray(rowsFile.value))
    throw createShapeError(path, 'Its files contain no lists.');
  const { read, view } = createGivenBackView(path, historyFile.bytes, edits);
  const condensedTask = renderCondensedTask({ history: historyFile.value, rows: rowsFile.value }, read.messages, view, {
    ...row,
    condenseId: randomUUID(),
  });
  rejectDifferentMessages(path, view, readSentMessages(condensedTask.history, path));
  return {
    conversation: read.id,
    contents: [
      {
        path,
        before: hashBytes(historyFile.bytes),
        bytes: encodeUtf8(rewriteJson(historyFile.text, condensedTask.history)),
      },
      {
        path: rowsPath,
        before: hashBytes(rowsFile.bytes),
        bytes: encodeUtf8(rewriteJson(rowsFile.text, condensedTask.rows)),
      },
    ],
    path,
  };
}

async function prepareClineSidecar(
  { path, edits }: GiveBackRequest,
  { files, now }: GiveBackDependencies,
): Promise<PreparedGiveBack> {
  const sessionFile = await readJsonFile(files, path);
  if (!isRecord(sessionFile.value)) throw createShapeError(path, 'It contains no session.');
  const { read: conversation, view } = createGivenBackView(path, sessionFile.bytes, edits);
  const content = createCompactionSidecar({ session: sessionFile.value, view, now: now() });
  const sentMessages = applyCompactionSidecar(content, sessionFile.value);
  if (!sentMessages) throw createShapeError(path, 'The sidecar would not be accepted.');
  const sidecarPath = join(dirname(path), `${basename(path, '.messages.json')}.compaction.json`);
  const earlierSidecar = await readFileBytesIfPresent(files, sidecarPath);
  const bytes = encodeUtf8(renderClineSidecar(content, sessionFile.text));
  return {
    conversation: conversation.id,
    contents: [{ path: sidecarPath, before: earlierSidecar && hashBytes(earlierSidecar), bytes }],
    path: sidecarPath,
  };
}

async function prepareClaudeSession(
  { path, edits }: GiveBackRequest,
  { files, now }: GiveBackDependencies,
): Promise<PreparedGiveBack> {
  const bytes = await readExistingFile(files, path);
  const { read: conversation, view } = createGivenBackView(path, bytes, edits);
  const records = new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => parseJsonLine(line));
  const sessionId = randomUUID();
  const title = appendToTitle(conversation.title, '(condensed)');
  const renderedSession = renderClaudeSession({ sessionId, title, view, records, now: now(), newId: randomUUID });
  const text = copyOriginalCallJson(renderedSession, new TextDecoder().decode(bytes));
  const newPath = join(dirname(path), `${sessionId}.jsonl`);
  rejectDifferentMessages(path, selectWrittenMessages(view), readConversation(text, { path: newPath }).messages);
  return {
    conversation: conversation.id,
    contents: [{ path: newPath, before: undefined, bytes: encodeUtf8(text) }],
    path: newPath,
  };
}

function renderClineSidecar(content: Readonly<Record<string, unknown>>, session: string): string {
  const messages = getJsonAt(session, ['messages']) ?? '[]';
  return editJson(JSON.stringify(content), [{ path: ['messages'], json: rewriteJson(messages, content['messages']) }]);
}

/** Ignores a line that the agent is still writing. */
function parseJsonLine(line: string): unknown[] {
  try {
    return [parseJson(line)];
  } catch {
    return [];
  }
}

/** @throws GiveBackError if the history diverged or the result would be invalid */
function createGivenBackView(
  path: string,
  bytes: Uint8Array,
  edits: readonly Edit[],
): { readonly read: Conversation; readonly view: readonly ApiMessage[] } {
  const conversation = readConversation(bytes, { path });
  const { messages: view, origins, stale } = applyEdits(conversation.messages, edits);
  if (stale.length > 0) throw createFileChangedError(path);
  const [violation] = findNewViolations(conversation.messages, view, { origins });
  if (violation) throw createShapeError(path, `The result would not be a valid conversation (${violation.rule}).`);
  return { read: conversation, view };
}

function rejectDifferentMessages(path: string, view: readonly ApiMessage[], sentMessages: readonly ApiMessage[]): void {
  if (toComparable(view) !== toComparable(sentMessages))
    throw createShapeError(
      path,
      'Read back as its agent reads it, what would be written is not exactly the condensed conversation.',
    );
}

/** The API treats consecutive messages of one role as one. */
function toComparable(messages: readonly ApiMessage[]): string {
  const mergedMessages: { readonly role: string; readonly content: unknown[] }[] = [];
  for (const { role, content } of messages) {
    const blocks = toBlocks({ content });
    const lastMessage = mergedMessages.at(-1);
    if (lastMessage?.role === role) lastMessage.content.push(...blocks);
    else mergedMessages.push({ role, content: [...blocks] });
  }
  return JSON.stringify(mergedMessages);
}

const readSentMessages = (history: readonly unknown[], path: string): readonly ApiMessage[] =>
  selectEffectiveHistory(readConversation(encodeJson(history), { path }, { history: 'all' }).messages);

interface ParsedAgentFile {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly value: unknown;
}

async function readJsonFile(files: Files, path: string): Promise<ParsedAgentFile> {
  const bytes = await readExistingFile(files, path);
  try {
    const text = new TextDecoder().decode(bytes);
    return { bytes, text, value: parseJson(text) };
  } catch (error) {
    throw createShapeError(path, 'It is not JSON; the agent may be writing it.', error);
  }
}

async function readExistingFile(files: Files, path: string): Promise<Uint8Array> {
  const status = await readStatusIfPresent(files, path);
  const bytes =
    status && (await convertFileErrors(path, NOTHING_WRITTEN_TEXT, () => readFileBytesIfPresent(files, path)));
  if (bytes) return bytes;
  throw createFileMissingError(path);
}

const createShapeError = (path: string, whatHappened: string, cause?: unknown): GiveBackError =>
  new GiveBackError(
    {
      kind: 'unexpected-shape',
      path,
      happened: whatHappened,
      notDone: NOTHING_WRITTEN_TEXT,
      advice: 'Export the condensed conversation instead.',
    },
    { cause },
  );

const encodeJson = (value: unknown): Uint8Array => encodeUtf8(JSON.stringify(value));

const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
