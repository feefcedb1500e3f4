import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { Files } from '../storage/files';
import { readStatusIfPresent, writeFileAtomically, writeNewFile } from '../storage/fileTools';
import { readFileBytesIfPresent } from './fileBytes';
import { GiveBackError } from './giveBackError';

export const RECORD_FILE_NAME = 'record.json';
export const NOTHING_UNDONE_TEXT = 'Nothing was undone.';

const recordedFileSchema = z.object({
  path: z.string().min(1),
  before: z.string().nullable(),
  after: z.string(),
});
const replacementRecordSchema = z.object({
  version: z.literal(1),
  conversation: z.string(),
  /** The conversation's file; absent in records of earlier versions. */
  source: z.string().optional(),
  /** ISO 8601. */
  at: z.string(),
  files: z.array(recordedFileSchema).min(1),
});
export type RecordedFile = z.infer<typeof recordedFileSchema>;
export type ReplacementRecord = z.infer<typeof replacementRecordSchema>;

/** @throws GiveBackError if there is no record that this version can read */
export async function readReplacementRecord(files: Files, folder: string): Promise<ReplacementRecord> {
  const path = join(folder, RECORD_FILE_NAME);
  const bytes = await readFileBytesIfPresent(files, path);
  const parsed = replacementRecordSchema.safeParse(bytes && parseJson(bytes));
  if (parsed.success) return parsed.data;
  throw new GiveBackError({
    kind: bytes ? 'newer-version' : 'missing',
    path,
    happened: bytes ? 'This record is not one that this version of Context Condenser writes.' : 'There is no record.',
    notDone: NOTHING_UNDONE_TEXT,
    advice: 'The original bytes are next to it, in files that end in .before.',
  });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

export async function writeReplacementRecord(files: Files, folder: string, record: ReplacementRecord): Promise<void> {
  const bytes = new TextEncoder().encode(`${JSON.stringify(record)}\n`);
  await writeFileAtomically(files, join(folder, RECORD_FILE_NAME), bytes, {
    temporary: join(folder, `${RECORD_FILE_NAME}.new`),
  });
  await files.syncFolder(folder);
  await files.syncFolder(dirname(folder));
}

export const isReplacementName = (name: string): boolean => /^\d{4}-\d\d-\d\dT[\d-]+\.\d{3}Z-[0-9a-f]{8}$/.test(name);

const OWN_FILE_NAME = /^(?:\d+\.(?:before|after)|record\.json(?:\.new)?|done|undoing|undone|expired)$/;

/** Removes the record last. A folder that contains other files is kept. */
export async function removeReplacement(files: Files, folder: string): Promise<void> {
  const names = await files.list(folder);
  for (const name of names) {
    if (!OWN_FILE_NAME.test(name) || (await readStatusIfPresent(files, join(folder, name)))?.kind !== 'file') return;
  }
  const rankForRemoval = (name: string): number => (name === RECORD_FILE_NAME ? 1 : 0);
  for (const name of names.toSorted((a, b) => rankForRemoval(a) - rankForRemoval(b)))
    await files.removeFile(join(folder, name));
  await files.removeEmptyFolder(folder);
}

export type ReplacementState = 'done' | 'undone';

/** Undefined if the replacement began but did not finish. */
export async function readReplacementState(files: Files, folder: string): Promise<ReplacementState | undefined> {
  if (await readStatusIfPresent(files, join(folder, 'undone'))) return 'undone';
  return (await readStatusIfPresent(files, join(folder, 'done'))) ? 'done' : undefined;
}

export async function markReplacementState(
  files: Files,
  folder: string,
  name: 'done' | 'undoing' | 'undone',
): Promise<void> {
  await writeNewFile(files, join(folder, name), new Uint8Array());
  await files.syncFolder(folder);
}
