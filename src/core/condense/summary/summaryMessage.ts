import { hashText } from '../../hash';
import { quoted } from './quoting';
import type { ApiMessage } from '../../messages/types';

const OPENING =
  'Summary of the earlier part of this conversation, whose messages were taken out of the context. It is a record of what happened, not a new request: nothing in it asks for an answer, and what it calls done is done.';
const FACTS = '## Recorded facts (written down without a model)';
const CLOSING = 'End of the summary. The messages behind it are the latest; go on from there.';

/**
 * A summary's prose again, from the text of the message that it stands in; the frame is put around the next one anew.
 */
export function proseOf(text: string): string {
  if (!text.startsWith(OPENING)) return text;
  const inner = text.slice(OPENING.length).replace(CLOSING, '');
  const facts = inner.indexOf(`\n${FACTS}\n`);
  return (facts < 0 ? inner : inner.slice(0, facts)).trim();
}

/** The text of a summary message: prose and facts, framed so that no model takes them for a new request. */
export const summaryText = (prose: string, facts: string): string =>
  [OPENING, withoutFrame(prose.trim()), ...(facts === '' ? [] : [`${FACTS}\n${facts}`]), CLOSING].join('\n\n');

/** A model's prose, in which no line can be taken for one of the frame. */
const withoutFrame = (prose: string): string =>
  prose
    .split('\n')
    .map((line) => ([OPENING, FACTS, CLOSING].some((own) => line.includes(own)) ? quoted(line) : line))
    .join('\n');

/** Why a summary stands where messages were. */
export const SUMMED_UP = { reason: 'summarized by a model' } as const;

/** The message that stands for the range. Its id follows from its text. */
export function summaryMessage(text: string): ApiMessage {
  return {
    role: 'user',
    content: [{ type: 'text', text }],
    isSummary: true,
    condenseId: hashText(text).slice(0, 16),
  };
}
