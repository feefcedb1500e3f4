/**
 * Writes a prompt with which another agent can continue. Secrets are masked, because prompts get
 * pasted anywhere.
 */
import { getBlocks, isText } from '../../core/messages/blocks';
import { maskMessage } from '../../core/secrets/maskMessages';
import { maskSecrets } from '../../core/secrets/maskSecrets';
import { DEFAULT_TOOLS } from '../../core/messages/tools';
import { isAddedByAgent } from '../../core/messages/task';
import type { ApiMessage } from '../../core/messages/types';
import { collectConversationFacts, renderFactSheet } from '../../core/condense/summary/factSheet';
import { toOneLine, addQuotePrefixToLines, QUOTING_RULE } from '../../core/condense/summary/quoting';
import {
  cutMiddle,
  createTranscriptTurns,
  addTurnHeaders,
  type TranscriptTurn,
} from '../../core/condense/summary/transcript';
import type { MessageCounter } from '../../core/tokens/messageCounter';
import type { ExportLosses } from './losses';
import type { ConversationToExport } from './types';

const MAX_HANDOVER_TOKENS = 12_000;

const SECTION_TOKEN_SHARES = { facts: 0.35, end: 0.4 } as const;

const TRANSCRIPT_LIMITS = { resultChars: 2_000, parameterChars: 1_000 };

const MAX_SUMMARY_CHARS = 10_000;

/** @param budget maximum size in o200k tokens */
export function renderHandover(
  { title, messages: originalMessages }: ConversationToExport,
  counter: MessageCounter,
  losses: ExportLosses,
  budget = MAX_HANDOVER_TOKENS,
): string {
  // Masking comes before truncation because half a key is not recognized.
  const messages = originalMessages.map(maskMessage);
  const summary = messages.findLast((message) => message['isSummary'] === true || message['isCompactSummary'] === true);
  const facts = renderFactSheet(
    collectConversationFacts(messages, DEFAULT_TOOLS),
    counter,
    Math.floor(budget * SECTION_TOKEN_SHARES.facts),
  );
  // Listings and reminders of one agent are useless to another.
  const ownMessages = messages.filter((message) => !isAddedByAgent(message));
  const { texts, leftOut } = selectNewestMessages(ownMessages, counter, Math.floor(budget * SECTION_TOKEN_SHARES.end));
  const text = [
    'You are taking over a task from another coding agent. Its conversation ended here; nothing of it is in your context except what follows. Files may have changed since then: look before you rely on what is said about them. Do not redo what is reported as done. ' +
      QUOTING_RULE,
    `## The conversation\n${toOneLine(title)}`,
    ...(summary
      ? [
          `## Summary of what came before\n${addQuotePrefixToLines(cutMiddle(extractProse(summary), MAX_SUMMARY_CHARS))}`,
        ]
      : []),
    ...(facts === '' ? [] : [`## What is known\n${facts}`]),
    `## The end of the conversation, word for word${leftOut > 0 ? ` (${leftOut} earlier messages are left out)` : ''}\n${texts.join('\n\n')}`,
    '## What to do now\nContinue with what the user asked for last. If that is done, say so and wait.',
  ].join('\n\n');
  losses.addLoss('message', 'covered only by the facts, not word for word', leftOut);
  const maskedText = maskSecrets(text);
  if (maskedText !== text || messages.some((message, index) => message !== originalMessages[index]))
    losses.addLoss('prompt', 'what looks like a key is masked in it');
  return `${maskedText}\n`;
}

/** Always includes the last message. */
function selectNewestMessages(
  messages: readonly ApiMessage[],
  counter: MessageCounter,
  budget: number,
): { texts: string[]; leftOut: number } {
  const turns: TranscriptTurn[] = [];
  let tokens = 0;
  let firstSelectedIndex = messages.length;
  while (firstSelectedIndex > 0) {
    const [turn] = createTranscriptTurns(
      messages,
      { start: firstSelectedIndex - 1, end: firstSelectedIndex },
      TRANSCRIPT_LIMITS,
    );
    if (turn !== undefined) {
      tokens += counter.countText(turn.body) + HEADER_TOKENS;
      if (tokens > budget && turns.length > 0) break;
      turns.unshift(turn);
    }
    firstSelectedIndex -= 1;
  }
  return { texts: addTurnHeaders(turns), leftOut: firstSelectedIndex };
}

const HEADER_TOKENS = 10;

const extractProse = (message: ApiMessage): string =>
  typeof message.content === 'string'
    ? message.content
    : getBlocks(message)
        .filter(isText)
        .map(({ text }) => text)
        .join('\n');
