import { contentsOf } from '../../messages/content';
import type { ToolExchange } from '../../messages/exchanges';
import { isMachineMessage, personText } from '../../messages/personText';
import type { ApiMessage } from '../../messages/types';
import { byStart, type Slice } from '../../slice';
import type { MessageCounter } from '../../tokens/messageCounter';
import { safeBoundary } from '../truncate';

/** Something that a person told the agent, word for word. */
export interface Instruction {
  /** Index of the message. */
  readonly message: number;
  readonly text: string;
}

/**
 * Where agents put a person's words into a tool's result: Claude Code behind a call that was refused, and the answers to
 * its questions; Roo and Cline in elements.
 */
const WORDS_IN_RESULTS: readonly RegExp[] = [
  /the user said:\n([\s\S]+?)(?:\n\nNote: The user's next message|$)/g,
  /^User has answered your questions: ([\s\S]+?)(?:\. You can now continue|$)/g,
  /<(?:feedback|answer|user_message)>\n?([\s\S]*?)\n?<\/(?:feedback|answer|user_message)>/g,
];

/** The slices of a tool's result in which a person speaks, in order; what stands around their words is in them. */
export const personSlices = (result: string): Slice[] =>
  WORDS_IN_RESULTS.flatMap((pattern) =>
    [...result.matchAll(pattern)].map(({ index, 0: whole }) => ({ start: index, end: index + whole.length })),
  ).sort(byStart);

function wordsIn(result: string): string {
  for (const pattern of WORDS_IN_RESULTS) {
    const words = result.matchAll(pattern).next().value?.[1]?.trim();
    if (words) return words;
  }
  return '';
}

const COMMAND = /<command-name>\s*([^<\s]+)\s*<\/command-name>/;
const ARGUMENTS = /<command-args>([\s\S]*?)<\/command-args>/;

/** A command that a person gave with something to work on, such as `/review 12`; `/clear` and its like tell nothing. */
function commandIn(text: string): string {
  const name = COMMAND.exec(text)?.[1];
  const words = ARGUMENTS.exec(text)?.[1]?.trim();
  return name === undefined || !words ? '' : `${name} ${words}`;
}

/** What a person wrote in a text of a user's message; empty where an agent put all of it there. */
export const wordsOf = (text: string): string => personText(text) || commandIn(text);

/** Everything that a person wrote, oldest first; what stands twice in a row is told once. */
export function instructionsOf(messages: readonly ApiMessage[], exchanges: readonly ToolExchange[]): Instruction[] {
  const found: Instruction[] = [];
  messages.forEach((message, index) => {
    if (message.role !== 'user' || isMachineMessage(message)) return;
    for (const content of contentsOf(message)) {
      if (content.type !== 'messageText') continue;
      found.push({ message: index, text: wordsOf(content.text) });
    }
  });
  for (const { resultMessage, resultText } of exchanges) {
    if (resultMessage !== undefined) found.push({ message: resultMessage, text: wordsIn(resultText) });
  }
  return found
    .filter(({ text }) => text !== '')
    .toSorted((a, b) => a.message - b.message)
    .filter(({ text }, index, all) => text !== all[index - 1]?.text);
}

/** Tokens down to which old instructions are shortened before any is left out: first to the one, then to the other. */
const SHORT_TOKENS = [120, 30] as const;

export interface FittedInstructions {
  readonly texts: readonly string[];
  /** How many of the oldest were left out. */
  readonly leftOut: number;
}

/** The instructions within a budget of tokens: the oldest are shortened first, the newest last, and none is lost early. */
export function fitInstructions(
  instructions: readonly Instruction[],
  budget: number,
  counter: MessageCounter,
): FittedInstructions {
  const texts = instructions.map(({ text }) => text);
  const tokens = texts.map((text) => counter.text(text));
  let total = tokens.reduce((sum, count) => sum + count, 0);
  const shortenTo = (index: number, limit: number): void => {
    texts[index] = shortened(texts[index] ?? '', limit, counter);
    const now = counter.text(texts[index]);
    total += now - (tokens[index] ?? 0);
    tokens[index] = now;
  };
  for (const limit of SHORT_TOKENS) {
    for (let index = 0; index < texts.length - 1 && total > budget; index++) shortenTo(index, limit);
  }
  let leftOut = 0;
  for (; leftOut < texts.length - 1 && total > budget; leftOut++) total -= tokens[leftOut] ?? 0;
  const last = texts.length - 1;
  if (total > budget && last >= 0) shortenTo(last, budget);
  return { texts: texts.slice(leftOut), leftOut };
}

const GAP = ' […] ';

/** Head and tail of a text, two to one, within so many tokens; the text itself where it fits. */
export function shortened(text: string, limit: number, counter: MessageCounter): string {
  let chars = text.length;
  let cut = text;
  while (chars > 0) {
    const tokens = counter.text(cut);
    if (tokens <= limit) return cut;
    chars = Math.floor(Math.min(chars * 0.9, (chars * limit) / tokens));
    const head = safeBoundary(text, Math.ceil((chars * 2) / 3));
    const tail = safeBoundary(text, text.length - Math.floor(chars / 3));
    cut = `${text.slice(0, head).trimEnd()}${GAP}${text.slice(Math.max(head, tail)).trimStart()}`.trim();
  }
  return '';
}
