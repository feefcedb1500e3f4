import { createHash } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import type { Source } from './types';

/** A task's folder: a UUID (Roo, Zoo, Kilo), or the epoch in milliseconds (Cline, older Roo). */
const TASK_ID = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{13})$/i;

/** The source of a conversation, for messages to a person. */
export const sourceName = (source: Source): string => ('path' in source ? source.path : source.name);

const digest = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16);

/** For conversations that carry no id: the file's path, or the content where there is no file. */
export function sourceId(source: Source, input: string | Uint8Array): string {
  if (!('path' in source)) return `text:${digest(input)}`;
  return `file:${digest(withLowerDrive(resolve(source.path)))}`;
}

/** VS Code writes `c:\…` where a shell writes `C:\…`: the same file has one id. */
export const withLowerDrive = (path: string): string =>
  path.replace(/^[A-Z]:(?=[\\/])/, (drive) => drive.toLowerCase());

/** Roo and its relatives keep a task in a folder that is named by its id. */
export function taskIdOf(source: Source): string | undefined {
  if (!('path' in source)) return undefined;
  const folder = basename(dirname(resolve(source.path)));
  return TASK_ID.test(folder) ? folder.toLowerCase() : undefined;
}
