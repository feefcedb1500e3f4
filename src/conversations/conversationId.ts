import { createHash } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import type { InputSource } from './types';

/**
 * A UUID (Roo, Zoo, Kilo) or milliseconds since the epoch (Cline, older Roo) names a task's folder.
 */
const TASK_ID = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{13})$/i;

export const getSourceName = (source: InputSource): string => ('path' in source ? source.path : source.name);

const makeShortHash = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16);

/**
 * Identifies a conversation without an ID by its file's path, or by a hash of its content if there
 * is no file.
 */
export function makeSourceId(source: InputSource, input: string | Uint8Array): string {
  if (!('path' in source)) return `text:${makeShortHash(input)}`;
  return `file:${makeShortHash(lowercaseDriveLetter(resolve(source.path)))}`;
}

/** VS Code writes `c:\…` and a shell `C:\…` for the same file. */
export const lowercaseDriveLetter = (path: string): string =>
  path.replace(/^[A-Z]:(?=[\\/])/, (drive) => drive.toLowerCase());

export function getTaskId(source: InputSource): string | undefined {
  if (!('path' in source)) return undefined;
  const folder = basename(dirname(resolve(source.path)));
  return TASK_ID.test(folder) ? folder.toLowerCase() : undefined;
}
