/**
 * Where a conversation is: a file's path, and behind a `#` which of several in it: a session of a database, or a subagent's
 * inside its parent's file. A path may hold a `#` of its own: only what names no file is taken apart.
 */
import { existsSync } from 'node:fs';

export interface Location {
  readonly file: string;
  /** Which conversation of the file; undefined for the file's own. */
  readonly part: string | undefined;
}

const PART = /^(.+)#([\w.:-]+)$/s;

/** The location of one conversation of a file: {@link splitLocation} takes it apart. */
export const locationOf = (file: string, part: string): string => `${file}#${part}`;

/** @param exists tells of a path whether something is there */
export function splitLocation(location: string, exists: (path: string) => boolean = existsSync): Location {
  const [, file, part] = PART.exec(location) ?? [];
  if (file === undefined || part === undefined || exists(location)) return { file: location, part: undefined };
  return { file, part };
}
