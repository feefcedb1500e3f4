/** What holds where others wait for the thread, as in the extension host: a text that is too long is not gone through line by line. */
import { lineCount } from './lineCount';

/** The longest text that is gone through: UTF-16 units, and lines. Some steps take a microsecond for a line. */
const LONGEST_READ = 512 * 1024;
const MOST_LINES = 20_000;

let isShared = false;

/** Says whether others wait for this thread: in the extension host, unlike in a worker or a program of our own. */
export function shareThread(is: boolean): void {
  isShared = is;
}

/**
 * Whether a text is too long to be gone through line by line on this thread: it then counts as a whole, and can be cut as one. It has
 * more than any result that an agent is shown in full.
 */
export const isTooLongHere = (text: string): boolean =>
  isShared && (text.length > LONGEST_READ || (text.length > MOST_LINES && lineCount(text) > MOST_LINES));

/** UTF-16 units of each end by which a text is judged that is too long to be gone through. */
const LOOKED_AT = 16 * 1024;

/** The part of a text by which it is judged: its two ends where it {@link isTooLongHere}, else all of it. */
export const lookedAt = (text: string): string =>
  isTooLongHere(text) ? `${text.slice(0, LOOKED_AT)}\n${text.slice(text.length - LOOKED_AT)}` : text;
