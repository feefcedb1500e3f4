/**
 * Replaces files of another program, all or none. A replacement's folder has `0.before`, `0.after`,
 * `1.before`, …, `record.json`, written before the first file is touched, and empty files `done`,
 * `undoing`, `undone` for its state. After a crash, recovery completes or reverts the replacement.
 * The user can undo it while the files are unchanged.
 */
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Hash } from '../core/hash';
import type { Files } from '../storage/files';
import { ignoreMissingFile, readStatusIfPresent, writeNewFile } from '../storage/fileTools';
import { toStorageError } from '../storage/storageError';
import { filterLockedByAgent, withAgentLocks } from './agentLock';
import { hashBytes, hashFileIfPresent, readFileBytesIfPresent } from './fileBytes';
import { createContinuedError, createFileChangedError, GiveBackError, createFileMissingError } from './giveBackError';
import {
  NO_WRITE_GUARD,
  rejectSymbolicLink,
  replaceFilesInOrder,
  getTemporaryPath,
  type FileReplacement,
  type WriteGuard,
  type FileChangedAction,
} from './replaceFile';
import {
  markReplacementState,
  NOTHING_UNDONE_TEXT,
  readReplacementRecord,
  removeReplacement,
  RECORD_FILE_NAME,
  readReplacementState,
  writeReplacementRecord,
  type RecordedFile,
  type ReplacementRecord,
  type ReplacementState,
} from './replacementRecord';

export interface NewFileContent {
  readonly path: string;
  /** Hash of the bytes that the new content was made from; undefined if there is no file yet. */
  readonly before: Hash | undefined;
  readonly bytes: Uint8Array;
}

/**
 * @returns the replacement's folder
 * @throws GiveBackError `changed` if a file differs from what the content was made from;
 * StorageError
 */
export async function replaceFiles(
  files: Files,
  root: string,
  replacedConversation: Pick<ReplacementRecord, 'conversation' | 'source'>,
  contents: readonly NewFileContent[],
  now: Date,
  guard: WriteGuard = NO_WRITE_GUARD,
): Promise<string> {
  const folder = join(root, `${now.toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}`);
  await withStorageErrors(folder, 'The conversation was not changed.', async () => {
    await files.makeFolder(folder);
    const recordedFiles: RecordedFile[] = [];
    for (const [index, { path, before, bytes }] of contents.entries()) {
      await rejectSymbolicLink(files, path);
      const currentBytes = await readFileBytesIfPresent(files, path);
      if ((currentBytes && hashBytes(currentBytes)) !== before) throw createFileChangedError(path);
      if (currentBytes) await writeNewFile(files, join(folder, `${index}.before`), currentBytes);
      await writeNewFile(files, join(folder, `${index}.after`), bytes);
      recordedFiles.push({ path, before: before ?? null, after: hashBytes(bytes) });
    }
    await writeReplacementRecord(files, folder, {
      version: 1,
      ...replacedConversation,
      at: now.toISOString(),
      files: recordedFiles,
    });
  });
  const record = await readReplacementRecord(files, folder);
  try {
    await completeReplacement(files, folder, record, guard, 'refuse');
  } catch (error) {
    // If this fails too, the next start reverts the replacement.
    await markReplacementState(files, folder, 'undoing')
      .then(() => revertReplacement(files, folder, record, NO_WRITE_GUARD))
      .catch(() => undefined);
    const partialStateText = await describePartialReplacement(files, record);
    if (!(error instanceof GiveBackError)) throw toStorageError(error, folder, partialStateText ?? UNCHANGED_TEXT);
    throw partialStateText === undefined
      ? error
      : new GiveBackError({ ...error.data, notDone: partialStateText }, { cause: error });
  }
  return folder;
}

const UNCHANGED_TEXT = 'The conversation was left as it was.';
const NEXT_START_TEXT =
  'The next start of the extension completes this or takes it back; until then, do not continue the conversation.';

/** Reverting may have failed too, so this looks at the disk. */
async function describePartialReplacement(files: Files, record: ReplacementRecord): Promise<string | undefined> {
  const changedNames: string[] = [];
  try {
    for (const { path, after } of record.files) {
      if ((await hashFileIfPresent(files, path)) === after) changedNames.push(basename(path));
    }
  } catch {
    return `It is not known whether the conversation has changed: its files can no longer be read. ${NEXT_START_TEXT}`;
  }
  if (changedNames.length === 0) return undefined;
  const names = changedNames.join(' and ');
  return changedNames.length === record.files.length
    ? `The condensed conversation is already in place (${names}). ${NEXT_START_TEXT}`
    : `The conversation is replaced in part (${names}). ${NEXT_START_TEXT}`;
}

/**
 * @throws GiveBackError `changed` or `missing` if a file is not as the replacement left it; nothing
 * is undone then
 */
export async function undoReplacement(files: Files, folder: string): Promise<void> {
  const record = await readReplacementRecord(files, folder);
  await runWithAgentLocks(files, record, async (guard) => {
    if ((await readReplacementState(files, folder)) === 'undone') return;
    for (const { path, before, after } of record.files) {
      const currentHash = (await hashFileIfPresent(files, path)) ?? null;
      // An interrupted undo restored the file, or a new file was deleted.
      if (currentHash === before || currentHash === after) continue;
      throw currentHash === null ? createFileMissingError(path, NOTHING_UNDONE_TEXT) : createContinuedError(path);
    }
    await withStorageErrors(folder, 'It may be undone in part; the rest is done at the next start.', async () => {
      await markReplacementState(files, folder, 'undoing');
      await revertReplacement(files, folder, record, guard);
    });
  });
}

/**
 * Leaves files alone that changed after the replacement.
 * @returns undefined if the replacement had not begun
 * @throws GiveBackError `locked` if the agent is writing the files
 */
export async function recoverReplacement(files: Files, folder: string): Promise<ReplacementState | undefined> {
  if (!(await readStatusIfPresent(files, join(folder, RECORD_FILE_NAME)))) {
    await removeReplacement(files, folder);
    return undefined;
  }
  const state = await readReplacementState(files, folder);
  const isUndoing = (await readStatusIfPresent(files, join(folder, 'undoing'))) !== undefined;
  if (state === 'undone' || (state === 'done' && !isUndoing)) return state;
  const record = await readReplacementRecord(files, folder);
  return runWithAgentLocks(files, record, (guard) => finishReplacement(files, folder, record, isUndoing, guard));
}

async function finishReplacement(
  files: Files,
  folder: string,
  record: ReplacementRecord,
  isUndoing: boolean,
  guard: WriteGuard,
): Promise<ReplacementState> {
  if (isUndoing) {
    await revertReplacement(files, folder, record, guard);
    return 'undone';
  }
  const firstFile = record.files[0];
  // Nothing was replaced yet, or the agent continued from the old state.
  if (firstFile && (await hashFileIfPresent(files, firstFile.path)) !== firstFile.after) {
    await removeTemporaryFiles(files, folder, record);
    await markReplacementState(files, folder, 'undone');
    return 'undone';
  }
  await completeReplacement(files, folder, record, guard, 'leave');
  return 'done';
}

/** A task whose folder is gone can't be locked, nor can its agent write to it. */
async function runWithAgentLocks<T>(
  files: Files,
  record: ReplacementRecord,
  action: (guard: WriteGuard) => Promise<T>,
): Promise<T> {
  const paths: string[] = [];
  for (const path of filterLockedByAgent(record.files.map((file) => file.path))) {
    if (await readStatusIfPresent(files, dirname(path))) paths.push(path);
  }
  return withAgentLocks(paths, ({ confirm }) => action(confirm));
}

async function withStorageErrors(path: string, notDone: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw error instanceof GiveBackError ? error : toStorageError(error, path, notDone);
  }
}

async function completeReplacement(
  files: Files,
  folder: string,
  record: ReplacementRecord,
  guard: WriteGuard,
  whenChanged: FileChangedAction,
): Promise<void> {
  const replacements = record.files.map(({ path, before, after }, index) => ({
    ...{ path, hashBefore: before, keptFile: join(folder, `${index}.after`), hashAfter: after, whenChanged },
    temporary: getTemporaryPath(folder, path),
  }));
  await replaceFilesInOrder(files, replacements, guard);
  await markReplacementState(files, folder, 'done');
}

async function revertReplacement(
  files: Files,
  folder: string,
  record: ReplacementRecord,
  guard: WriteGuard,
): Promise<void> {
  const replacements = record.files.map(({ path, before, after }, index): FileReplacement => {
    const keptFile = before === null ? undefined : join(folder, `${index}.before`);
    return {
      path,
      hashBefore: after,
      keptFile,
      hashAfter: before,
      whenChanged: 'leave',
      temporary: getTemporaryPath(folder, path),
    };
  });
  await replaceFilesInOrder(files, replacements.reverse(), guard);
  await removeTemporaryFiles(files, folder, record);
  await markReplacementState(files, folder, 'undone');
}

async function removeTemporaryFiles(files: Files, folder: string, record: ReplacementRecord): Promise<void> {
  for (const { path } of record.files) await ignoreMissingFile(files.removeFile(getTemporaryPath(folder, path)));
}
