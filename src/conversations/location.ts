/**
 * Location of a conversation: a file's path, plus `#` and the part if the file has several (a
 * session of a database, or a subagent inside its parent's file). A path may contain `#`; it is
 * only split if no such file exists.
 */
import { existsSync } from 'node:fs';

export interface Location {
  readonly file: string;
  /** The conversation within the file; undefined for the file's own. */
  readonly part: string | undefined;
}

const LOCATION_WITH_PART = /^(.+)#([\w.:-]+)$/s;

/** Inverse of {@link splitLocation}. */
export const formatLocation = (file: string, part: string): string => `${file}#${part}`;

/** @param exists true if there is a file at the path */
export function splitLocation(location: string, exists: (path: string) => boolean = existsSync): Location {
  const [, file, part] = LOCATION_WITH_PART.exec(location) ?? [];
  if (file === undefined || part === undefined || exists(location)) return { file: location, part: undefined };
  return { file, part };
}
