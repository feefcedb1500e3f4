import { hashText } from '../../hash';
import { addQuotePrefixToLines } from './quoting';
import type { ApiMessage } from '../../messages/types';

const SUMMARY_OPENING =
  'Summary of the earlier part of this conversation, whose messages were taken out of the context. It is a record of what happened, not a new request: nothing in it asks for an answer, and what it calls done is done.';
const FACTS_HEADING = '## Recorded facts (written down without a model)';
const SUMMARY_CLOSING = 'End of the summary. The messages behind it are the latest; go on from there.';

/** Removes the frame, because the next summary gets a new one. */
export function extractSummaryProse(text: string): string {
  if (!text.startsWith(SUMMARY_OPENING)) return text;
  const innerText = text.slice(SUMMARY_OPENING.length).replace(SUMMARY_CLOSING, '');
  const factsStart = innerText.indexOf(`\n${FACTS_HEADING}\n`);
  return (factsStart < 0 ? innerText : innerText.slice(0, factsStart)).trim();
}

/** Puts prose and facts in a frame, so that models do not take them for a new request. */
export const formatSummaryText = (prose: string, facts: string): string =>
  [
    SUMMARY_OPENING,
    escapeSummaryFrame(prose.trim()),
    ...(facts === '' ? [] : [`${FACTS_HEADING}\n${facts}`]),
    SUMMARY_CLOSING,
  ].join('\n\n');

/** Keeps lines of the prose from looking like lines of the frame. */
const escapeSummaryFrame = (prose: string): string =>
  prose
    .split('\n')
    .map((line) =>
      [SUMMARY_OPENING, FACTS_HEADING, SUMMARY_CLOSING].some((own) => line.includes(own))
        ? addQuotePrefixToLines(line)
        : line,
    )
    .join('\n');

export const SUMMARY_EDIT_INFO = { reason: 'summarized by a model' } as const;

export function createSummaryMessage(text: string): ApiMessage {
  return {
    role: 'user',
    content: [{ type: 'text', text }],
    isSummary: true,
    condenseId: hashText(text).slice(0, 16),
  };
}
