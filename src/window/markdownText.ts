import { plainWords } from './notifications';

/** What Markdown reads as more than a sign; with the dot, the colon and the at sign nothing becomes a link or a list by itself. */
const SIGNS = /[!#$&()*+\-.:<>@[\\\]_`{|}~]/g;

/**
 * Markdown that shows a text as it is, on one line that breaks between words. `MarkdownString.appendText` joins the words by spaces at
 * which nothing breaks, so that a narrow chat or tooltip cuts words and numbers.
 */
export const asMarkdown = (text: string): string => text.trim().replace(/\s+/g, ' ').replace(SIGNS, '\\$&');

/** Characters of a title in a notification. */
const TITLE_CHARS = 60;

/** A title for a notification, a dialog or progress. */
export function asTitle(text: string): string {
  const plain = plainWords(text);
  return plain.length > TITLE_CHARS ? `${plain.slice(0, TITLE_CHARS)}…` : plain;
}
