/** A file's path, plus `#` and a part if the file has several conversations. */
import { existsSync } from 'node:fs';

export interface ConversationLocation {
  readonly file: string;
  /** ID of a conversation in the file; undefined for the file's own conversation. */
  readonly part: string | undefined;
}

const LOCATION_WITH_PART = /^(.+)#([\w.:-]+)$/s;

/** Inverse of {@link splitLocation}. */
export const formatLocation = (file: string, part: string): string => `${file}#${part}`;

export function splitLocation(location: string, exists: (path: string) => boolean = existsSync): ConversationLocation {
  const [, file, part] = LOCATION_WITH_PART.exec(location) ?? [];
  if (file === undefined || part === undefined || exists(location)) return { file: location, part: undefined };
  return { file, part };
}
