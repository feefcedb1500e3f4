/** The record in a replacement's folder: which files, with which content before and after, and how far it came. */
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { Files } from '../storage/files';
import { statusIfThere } from '../storage/fileTools';
import { readBytes, writeNew } from './fileBytes';
import { GiveBackError } from './giveBackError';

export const RECORD = 'record.json';
export const NOTHING_UNDONE = 'Nothing was undone.';

const fileSchema = z.object({
  path: z.string().min(1),
  before: z.string().nullable(),
  after: z.string(),
});
const recordSchema = z.object({
  version: z.literal(1),
  conversation: z.string(),
  /** ISO 8601 time. */
  at: z.string(),
  files: z.array(fileSchema).min(1),
});
export type RecordedFile = z.infer<typeof fileSchema>;
export type ReplacementRecord = z.infer<typeof recordSchema>;

/** @throws GiveBackError where there is no record that this version reads. */
export async function readRecord(files: Files, folder: string): Promise<ReplacementRecord> {
  const path = join(folder, RECORD);
  const bytes = await readBytes(files, path);
  const parsed = recordSchema.safeParse(bytes && jsonIn(bytes));
  if (parsed.success) return parsed.data;
  throw new GiveBackError({
    trouble: bytes ? 'newer-version' : 'missing',
    path,
    happened: bytes ? 'This record is not one that this version of Context Condenser writes.' : 'There is no record.',
    notDone: NOTHING_UNDONE,
    advice: 'The original bytes are next to it, in files that end in .before.',
  });
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Writes the record whole or not at all; returns once it is on the disk. */
export async function writeRecord(files: Files, folder: string, record: ReplacementRecord): Promise<void> {
  const temporary = join(folder, `${RECORD}.new`);
  await writeNew(files, temporary, new TextEncoder().encode(`${JSON.stringify(record)}\n`));
  await files.rename(temporary, join(folder, RECORD));
  await files.syncFolder(folder);
  await files.syncFolder(dirname(folder));
}

/** The name of a replacement's folder: its time, and a number of its own. */
export const isReplacementName = (name: string): boolean => /^\d{4}-\d\d-\d\dT[\d-]+\.\d{3}Z-[0-9a-f]{8}$/.test(name);

const OWN = /^(?:\d+\.(?:before|after)|record\.json(?:\.new)?|done|undoing|undone|expired)$/;

/** Removes a replacement's folder with its files, the record last; one that holds somebody's own file stays. */
export async function removeReplacement(files: Files, folder: string): Promise<void> {
  const names = await files.list(folder);
  for (const name of names) {
    if (!OWN.test(name) || (await statusIfThere(files, join(folder, name)))?.kind !== 'file') return;
  }
  const last = (name: string): number => (name === RECORD ? 1 : 0);
  for (const name of names.toSorted((a, b) => last(a) - last(b))) await files.removeFile(join(folder, name));
  await files.removeEmptyFolder(folder);
}

export type ReplacementState = 'done' | 'undone';

/**
 * How far a replacement came; undefined where it was begun and not finished.
 * @param folder the replacement's own
 */
export async function stateOf(files: Files, folder: string): Promise<ReplacementState | undefined> {
  if (await statusIfThere(files, join(folder, 'undone'))) return 'undone';
  return (await statusIfThere(files, join(folder, 'done'))) ? 'done' : undefined;
}

/** Notes how far it came. */
export async function mark(files: Files, folder: string, name: 'done' | 'undoing' | 'undone'): Promise<void> {
  await writeNew(files, join(folder, name), new Uint8Array());
  await files.syncFolder(folder);
}
