import { extractBetween } from '../../between';
import { copyWithoutSpareCapacity } from '../../keptList';
import type { ToolExchange } from '../../messages/exchanges';
import { isMachineMessage, listTextsWrittenByPerson, type TextWrittenByPerson } from '../../messages/personText';
import type { ApiMessage } from '../../messages/types';
import { memoizeByObject } from '../../memoizeByObject';
import { compareStart, type Slice } from '../../slice';
import type { MessageCounter } from '../../tokens/messageCounter';
import { findSafeBoundary } from '../operations/truncate';

/** The user's words to the agent, verbatim. */
export interface Instruction {
  readonly message: number;
  readonly text: string;
}

/** The slice includes the text that frames the user's words. */
interface UserTextSlice extends Slice {
  readonly userText: string;
}

/**
 * The user's answers to questions in Claude Code and OpenCode, and the words with which the user
 * rejected a call in Claude Code.
 */
const FEEDBACK_TEXTS: readonly RegExp[] = [
  /the user said:\n([\s\S]+?)(?:\n\nNote: The user's next message|$)/g,
  /^(?:User has answered your questions|Your questions have been answered): ([\s\S]+?)(?:\. You can now continue|$)/g,
];
/** Roo and Cline put the user's words into these elements. */
const FEEDBACK_TAG_START = /<(?:feedback|answer|user_message)>/g;
const FEEDBACK_TAG_END = /<\/(?:feedback|answer|user_message)>/g;

function* findTextsWrittenByPerson(result: string): Generator<UserTextSlice> {
  for (const pattern of FEEDBACK_TEXTS) {
    for (const { index, 0: match, 1: userText = '' } of result.matchAll(pattern)) {
      yield { start: index, end: index + match.length, userText: userText.trim() };
    }
  }
  yield* findFeedbackElements(result);
}

/** A regular expression would scan the rest of the text for each element that is not closed. */
function* findFeedbackElements(result: string): Generator<UserTextSlice> {
  const openingTag = new RegExp(FEEDBACK_TAG_START);
  const closingTag = new RegExp(FEEDBACK_TAG_END);
  for (let openingMatch = openingTag.exec(result); openingMatch; openingMatch = openingTag.exec(result)) {
    closingTag.lastIndex = openingTag.lastIndex;
    const closingMatch = closingTag.exec(result);
    if (!closingMatch) return;
    const userText = result.slice(openingTag.lastIndex, closingMatch.index).trim();
    yield { start: openingMatch.index, end: closingTag.lastIndex, userText };
    openingTag.lastIndex = closingTag.lastIndex;
  }
}

export const findSlicesWrittenByPerson = (result: string, exchange: ToolExchange | undefined): Slice[] =>
  exchange?.isUserAnswer ? [...findTextsWrittenByPerson(result)].sort(compareStart) : [];

const getFeedbackOfPerson = memoizeByObject((exchange: ToolExchange): string => {
  if (!exchange.isUserAnswer) return '';
  for (const { userText } of findTextsWrittenByPerson(exchange.resultText)) if (userText !== '') return userText;
  return '';
});

const COMMAND_NAME_TAG = /<command-name>\s*([^<\s]+)\s*<\/command-name>/;

/** Commands without arguments, such as `/clear`, contain no instruction. */
function getSlashCommandName(text: string): string {
  const name = COMMAND_NAME_TAG.exec(text)?.[1];
  const commandArguments = extractBetween(text, '<command-args>', '</command-args>')?.trim();
  return name === undefined || !commandArguments ? '' : `${name} ${commandArguments}`;
}

/** The texts of a user message that contain the user's words or command, with these words. */
export const listInstructions = memoizeByObject((message: ApiMessage): readonly TextWrittenByPerson[] =>
  copyWithoutSpareCapacity(
    listTextsWrittenByPerson(message)
      .map(({ content, userText }) => ({ content, userText: userText || getSlashCommandName(content.text) }))
      .filter(({ userText }) => userText !== ''),
  ),
);

/** Oldest first; repetitions without an answer in between count once. */
export function collectInstructions(
  messages: readonly ApiMessage[],
  exchanges: readonly ToolExchange[],
): Instruction[] {
  const instructions: Instruction[] = [];
  messages.forEach((message, index) => {
    if (message.role !== 'user' || isMachineMessage(message)) return;
    for (const { userText } of listInstructions(message)) instructions.push({ message: index, text: userText });
  });
  for (const exchange of exchanges) {
    const { resultMessage } = exchange;
    if (resultMessage !== undefined) instructions.push({ message: resultMessage, text: getFeedbackOfPerson(exchange) });
  }
  const isAnswered = (from: number, to: number): boolean =>
    messages.slice(from, to).some(({ role }) => role === 'assistant');
  return instructions
    .filter(({ text }) => text !== '')
    .toSorted((a, b) => a.message - b.message)
    .filter(({ text, message }, index, all) => {
      const previousInstruction = all[index - 1];
      return previousInstruction?.text !== text || isAnswered(previousInstruction.message, message);
    });
}

/** Old instructions are shortened to these tokens before any is omitted. */
const SHORTENED_INSTRUCTION_TOKENS = [120, 30] as const;

export interface FittedInstructions {
  readonly texts: readonly string[];
  /** Number of the oldest instructions that were omitted. */
  readonly leftOut: number;
}

/** Shortens the oldest first, and omits any only if that is not enough. */
export function fitInstructions(
  instructions: readonly Instruction[],
  budget: number,
  counter: MessageCounter,
): FittedInstructions {
  const instructionTexts = instructions.map(({ text }) => text);
  const tokenCounts = instructionTexts.map((text) => counter.countText(text));
  let totalTokens = tokenCounts.reduce((sum, count) => sum + count, 0);
  const shortenInstruction = (index: number, limit: number): void => {
    instructionTexts[index] = shortenTextToTokens(instructionTexts[index] ?? '', limit, counter);
    const tokensNow = counter.countText(instructionTexts[index]);
    totalTokens += tokensNow - (tokenCounts[index] ?? 0);
    tokenCounts[index] = tokensNow;
  };
  for (const limit of SHORTENED_INSTRUCTION_TOKENS) {
    for (let index = 0; index < instructionTexts.length - 1 && totalTokens > budget; index++)
      shortenInstruction(index, limit);
  }
  let omittedCount = 0;
  for (; omittedCount < instructionTexts.length - 1 && totalTokens > budget; omittedCount++)
    totalTokens -= tokenCounts[omittedCount] ?? 0;
  const lastIndex = instructionTexts.length - 1;
  if (totalTokens > budget && lastIndex >= 0) shortenInstruction(lastIndex, budget);
  return { texts: instructionTexts.slice(omittedCount), leftOut: omittedCount };
}

const OMISSION_MARK = ' […] ';

/**
 * Keeps twice as much of the beginning as of the end.
 * @param limit in tokens
 */
export function shortenTextToTokens(text: string, limit: number, counter: MessageCounter): string {
  let chars = text.length;
  let shortenedText = text;
  while (chars > 0) {
    const tokens = counter.countText(shortenedText);
    if (tokens <= limit) return shortenedText;
    chars = Math.floor(Math.min(chars * 0.9, (chars * limit) / tokens));
    const headEnd = findSafeBoundary(text, Math.ceil((chars * 2) / 3));
    const tailStart = findSafeBoundary(text, text.length - Math.floor(chars / 3));
    shortenedText =
      `${text.slice(0, headEnd).trimEnd()}${OMISSION_MARK}${text.slice(Math.max(headEnd, tailStart)).trimStart()}`.trim();
  }
  return '';
}
