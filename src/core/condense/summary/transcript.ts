import { getBlocks, isRecord, isText, isToolResult, isToolUse } from '../../messages/blocks';
import { listContents } from '../../messages/content';
import { isAddedByAgent } from '../../messages/task';
import { isResultReadByProgram } from '../../messages/programs';
import type { ApiMessage, Block } from '../../messages/types';
import type { MessageRange } from '../../messages/messageRange';
import { findSafeBoundary } from '../operations/truncate';
import { isOneLine, createUnusedNonce, toOneLine, QUOTE_PREFIX, addQuotePrefixToLines } from './quoting';

export interface TranscriptLimits {
  readonly resultChars: number;
  readonly parameterChars: number;
}

export interface TranscriptTurn {
  readonly message: number;
  readonly speaker: string;
  readonly body: string;
}

export const createTranscript = (
  messages: readonly ApiMessage[],
  range: MessageRange,
  limits: TranscriptLimits,
): string[] => addTurnHeaders(createTranscriptTurns(messages, range, limits));

/** Headers share a word that no turn contains, so that no turn can imitate one. */
export function addTurnHeaders(turns: readonly TranscriptTurn[]): string[] {
  const nonce = createUnusedNonce(turns.map(({ body }) => body));
  return turns.map(({ message, speaker, body }) => `[${message + 1} ${nonce}] ${speaker}:\n${body}`);
}

export function createTranscriptTurns(
  messages: readonly ApiMessage[],
  { start, end }: MessageRange,
  limits: TranscriptLimits,
): TranscriptTurn[] {
  const nameByCallId = new Map<string, string>();
  for (const message of messages) {
    for (const block of getBlocks(message)) if (isToolUse(block)) nameByCallId.set(block.id, block.name);
  }
  return messages.slice(start, end).flatMap((message, index) => {
    const parts =
      typeof message.content === 'string'
        ? [renderText(message, undefined, message.content, limits)]
        : message.content.map((block, at) => renderBlock(message, block, at, limits, nameByCallId));
    const nonemptyParts = parts.filter((part) => part !== '');
    const speaker = isAddedByAgent(message) ? `${message.role} (added by the agent)` : message.role;
    return nonemptyParts.length === 0 ? [] : [{ message: start + index, speaker, body: nonemptyParts.join('\n') }];
  });
}

function renderBlock(
  message: ApiMessage,
  block: Block,
  blockIndex: number,
  limits: TranscriptLimits,
  nameByCallId: ReadonlyMap<string, string>,
): string {
  if (isText(block)) return renderText(message, blockIndex, block.text, limits);
  if (isToolUse(block)) return `→ ${toOneLine(block.name)}${renderParameters(block.input, limits)}`;
  if (isToolResult(block)) {
    const resultHeading = `${block.is_error === true ? '← error of' : '← result of'} ${toOneLine(nameByCallId.get(block.tool_use_id) ?? 'a tool')}`;
    if (isResultReadByProgram(block)) return `${resultHeading}: (read by a program)`;
    const text = renderResult(block.content);
    return text.trim() === ''
      ? `${resultHeading}: (nothing)`
      : `${resultHeading}:\n${addQuotePrefixToLines(cutMiddle(text, limits.resultChars))}`;
  }
  // A model's thinking is not part of the conversation for other models.
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return '';
  return `(${toOneLine(block.type)})`;
}

/** Also truncates results and parameters that XML-era agents wrote inside prose. */
function renderText(
  message: ApiMessage,
  blockIndex: number | undefined,
  text: string,
  limits: TranscriptLimits,
): string {
  let shortenedText = '';
  let copiedEnd = 0;
  for (const content of listContents(message)) {
    if (content.path[1] !== blockIndex || content.type === 'messageText') continue;
    const limit = content.type === 'toolResults' ? limits.resultChars : limits.parameterChars;
    shortenedText += text.slice(copiedEnd, content.start) + cutMiddle(content.text, limit);
    copiedEnd = content.end;
  }
  const shownText = (shortenedText + text.slice(copiedEnd)).trim();
  return shownText === '' ? '' : addQuotePrefixToLines(shownText);
}

function renderParameters(input: unknown, limits: TranscriptLimits): string {
  if (!isRecord(input))
    return ` ${toOneLine(cutMiddle(JSON.stringify(input ?? null), limits.parameterChars), Infinity)}`;
  const texts = Object.entries(input).map(([name, value]) => {
    const text = cutMiddle(typeof value === 'string' ? value : JSON.stringify(value), limits.parameterChars);
    const oneLineName = toOneLine(name);
    return isOneLine(text) ? ` ${oneLineName}=${text}` : `\n  ${oneLineName}:\n${addQuotePrefixToLines(text)}`;
  });
  return texts.reduce(
    (all, next, index) => (isOneLine(texts[index - 1] ?? '') || !isOneLine(next) ? all + next : `${all}\n ${next}`),
    '',
  );
}

function renderResult(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as readonly unknown[])
    .map((part) => {
      if (!isRecord(part)) return '';
      const text = part['text'] ?? part['result'];
      return typeof text === 'string' ? text : `(${typeof part['type'] === 'string' ? part['type'] : 'data'})`;
    })
    .join('\n');
}

export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const headEnd = findSafeBoundary(text, Math.ceil(limit * 0.6));
  const tailStart = findSafeBoundary(text, text.length - Math.floor(limit * 0.4));
  return `${text.slice(0, headEnd)}\n… (${tailStart - headEnd} characters left out) …\n${text.slice(tailStart)}`;
}

/**
 * Splits texts that are too long, if possible at line ends; quoted lines stay quoted.
 * @param countTokens the counts of a text's parts must add up to at least that of the whole text
 */
export function packTextsIntoChunks(
  texts: readonly string[],
  budget: number,
  countTokens: (text: string) => number,
): string[] {
  const chunks: string[] = [];
  let openTexts: string[] = [];
  let tokens = 0;
  const closeChunk = (): void => {
    if (openTexts.length > 0) chunks.push(openTexts.join('\n\n'));
    openTexts = [];
    tokens = 0;
  };
  for (const text of texts.flatMap((long) => splitTextToBudget(long, budget, countTokens))) {
    // Includes the blank line between two texts.
    const textTokens = countTokens(text) + 1;
    if (tokens + textTokens > budget) closeChunk();
    openTexts.push(text);
    tokens += textTokens;
  }
  closeChunk();
  return chunks;
}

function splitTextToBudget(text: string, budget: number, countTokens: (text: string) => number): string[] {
  const textParts: string[] = [];
  let remainingText = text;
  while (remainingText.length > QUOTE_PREFIX.length + 1 && countTokens(remainingText) + 1 > budget) {
    let chars = Math.max(2, Math.floor((remainingText.length * budget) / (countTokens(remainingText) + 1)));
    while (chars > 2 && countTokens(remainingText.slice(0, chars)) + 1 > budget) chars = Math.floor(chars * 0.8);
    const lastLineStart = remainingText.lastIndexOf('\n', chars) + 1;
    const splitOffset = Math.max(
      QUOTE_PREFIX.length + 1,
      lastLineStart > chars / 2 ? lastLineStart : findSafeBoundary(remainingText, chars),
    );
    textParts.push(remainingText.slice(0, splitOffset));
    const isQuoted =
      remainingText.startsWith(QUOTE_PREFIX, remainingText.lastIndexOf('\n', splitOffset - 1) + 1) &&
      remainingText[splitOffset - 1] !== '\n';
    remainingText = (isQuoted ? QUOTE_PREFIX : '') + remainingText.slice(splitOffset);
  }
  return [...textParts, remainingText];
}
