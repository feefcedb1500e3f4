/**
 * Texts that are not gone through line by line: each step on them would hold an extension host's thread for too long. The rule
 * depends on the text alone, so that every program makes the same edits of the same conversation.
 */
import { lineCount } from './lineCount';

/** The longest text that is gone through: UTF-16 units, and lines. Some steps take a microsecond for a line. */
const LONGEST_READ = 512 * 1024;
const MOST_LINES = 20_000;

/**
 * Whether a text is too long to be gone through line by line. It then counts as a whole, and can be cut as one. It has more than
 * any result that an agent is shown in full.
 */
export const isTooLongToRead = (text: string): boolean =>
  text.length > LONGEST_READ || (text.length > MOST_LINES && lineCount(text) > MOST_LINES);

/** UTF-16 units of each end by which a text is judged that is too long to be gone through. */
const LOOKED_AT = 16 * 1024;

/** The part of a text by which it is judged: its two ends if it {@link isTooLongToRead}, else all of it. */
export const lookedAt = (text: string): string =>
  isTooLongToRead(text) ? `${text.slice(0, LOOKED_AT)}\n${text.slice(text.length - LOOKED_AT)}` : text;
