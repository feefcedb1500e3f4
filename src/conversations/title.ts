import { getBlocks, isText, isToolResult } from '../core/messages/blocks';
import { isMachineMessage, extractPersonTexts } from '../core/messages/personText';
import type { ApiMessage } from '../core/messages/types';
import { maskSecrets } from '../core/secrets/maskSecrets';

export const UNTITLED = 'Untitled conversation';
const MAX_TITLE_CHARS = 80;
/** Created on first use, because creating it takes longer than reading a title. */
let graphemeSegmenter: Intl.Segmenter | undefined;

/**
 * Prefers the user's first words or first command with an argument. Without these, uses a command
 * without an argument or a program's text.
 */
export function makeConversationTitle(messages: readonly ApiMessage[]): string {
  let command: string | undefined;
  let wrappedText: string | undefined;
  for (const message of messages) {
    if (message.role !== 'user' || isMachineMessage(message)) continue;
    const blocks = getBlocks(message);
    if (blocks.some(isToolResult)) continue;
    const promptTexts =
      typeof message.content === 'string' ? [message.content] : blocks.filter(isText).map(({ text }) => text);
    const userTexts = extractPersonTexts(promptTexts);
    for (const [index, text] of promptTexts.entries()) {
      const { userText, wrapped } = stripSurroundingXmlTags(userTexts[index] ?? '');
      if (userText !== '' && !BARE_SLASH_COMMAND.test(userText)) return shortenTitle(userText);
      const slashCommand = readSlashCommand(text);
      if (slashCommand?.includes(' ')) return shortenTitle(slashCommand);
      if (!HOUSEKEEPING_COMMAND.test(slashCommand ?? userText))
        command ??= slashCommand ?? (userText === '' ? undefined : userText);
      wrappedText ??= wrapped;
    }
  }
  const titleText = command ?? wrappedText;
  return titleText === undefined ? UNTITLED : shortenTitle(titleText);
}

/** A command without an argument says nothing about the conversation. */
const BARE_SLASH_COMMAND = /^\/[a-z][\w:-]*$/i;

/** These commands are about the program, not the task. */
const HOUSEKEEPING_COMMAND =
  /^\/?(?:clear|compact|config|cost|exit|help|init|login|logout|mcp|model|new|quit|resume|status)?$/i;

/**
 * Programs wrap their own instructions in elements with compound names, such as
 * `<system_instruction>`.
 */
const TEXT_IN_XML_TAGS = /^\s*<([a-z]+(?:[_-][a-z]+)+)(?:\s[^<>]*)?>([\s\S]*?)<\/\1>/i;

/** Claude Code's prompt that carries out a plan; the plan's heading is the better title. */
const PLAN_PROMPT = /^\s*Implement the following plan:\s*#*\s*/i;

/**
 * Returns the user's words after elements that a program added, and the content of the first such
 * element.
 */
function stripSurroundingXmlTags(text: string): { userText: string; wrapped: string | undefined } {
  let remainingText = text;
  let wrappedText: string | undefined;
  for (let match = TEXT_IN_XML_TAGS.exec(remainingText); match; match = TEXT_IN_XML_TAGS.exec(remainingText)) {
    const userText = toSafeOneLine(match[2] ?? '');
    if (userText !== '') wrappedText ??= userText;
    remainingText = remainingText.slice(match[0].length);
  }
  const plan = PLAN_PROMPT.exec(remainingText);
  return {
    userText: toSafeOneLine(plan ? (remainingText.slice(plan[0].length).split('\n', 1)[0] ?? '') : remainingText),
    wrapped: wrappedText,
  };
}

export function normalizeTitle(title: string | undefined): string | undefined {
  const titleText = toSafeOneLine(title ?? '');
  return titleText === '' ? undefined : shortenTitle(titleText);
}

/**
 * Shortens only the title, never the suffix. A title that already ends with the suffix is
 * unchanged.
 */
export const appendToTitle = (title: string, suffix: string): string =>
  title.endsWith(` ${suffix}`) ? title : `${shortenTitle(title, MAX_TITLE_CHARS - suffix.length - 1)} ${suffix}`;

function readSlashCommand(text: string): string | undefined {
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1];
  if (name === undefined) return undefined;
  const commandText = toSafeOneLine(`${name} ${/<command-args>([^<]*)<\/command-args>/.exec(text)?.[1] ?? ''}`);
  return commandText === '' ? undefined : commandText;
}

/** One line without control and direction characters is safe for menus and lists. */
const toSafeOneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/\s+/g, ' ')
    .trim();

/** Only this much of a text is examined, because graphemes and keys can be arbitrarily long. */
const MAX_SEARCHED_CHARS = 1_600;

/** A link leads to an address or a path; `handlers[name](event)` is code. */
const isLinkTarget = (target: string): boolean => /[/:.#]/.test(target);

/** `*.ts` and `__init__` are no emphasis, so single stars and underscores stay. */
const MARKDOWN_REPLACEMENTS: readonly (readonly [pattern: RegExp, replacement: (...groups: string[]) => string])[] = [
  // Links and images, even if the agent cut the title off within one.
  [
    /(?<![\p{L}\p{N}_])!?\[([^[\]]*)\]\(((?:[^()]|\([^()]*\))*)(?:\)|$)/gu,
    (fullText = '', words = '', target = '') => (isLinkTarget(target) ? words.trim() || target : fullText),
  ],
  [/<((?:https?|mailto):[^<>\s]+)>/g, (_, address = '') => address],
  [/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g, (_, _signs, code = '') => code],
  [/(?<![\p{L}\p{N}*])\*\*(?=[\p{L}\p{N}])([^*]*[^\s*])\*\*(?![\p{L}\p{N}*])/gu, (_, words = '') => words],
  // A heading, a quote or an item of a list
  [/^(?:#{1,6}|[>*+-])\s+(?=\S)/, () => ''],
  // `https://www.` would fill a narrow row.
  [/\bhttps?:\/\/(?:www\.)?(?=[\p{L}\p{N}])/gu, () => ''],
];

/** Rows, menus and notifications do not render Markdown. */
export function removeMarkdown(text: string): string {
  let result = text;
  // Repeats because code may contain a link, and a link may contain code. Each repetition shortens
  // the text, so the loop ends.
  for (let previousResult = ''; result !== previousResult;) {
    previousResult = result;
    for (const [pattern, replacement] of MARKDOWN_REPLACEMENTS) result = result.replace(pattern, replacement);
    result = result.trim();
  }
  return result === '' ? text : result;
}

/**
 * Masks secret keys before cutting, because half a key would not be recognized. Never cuts a
 * grapheme (a visible character) in two.
 * @param length in UTF-16 units
 */
function shortenTitle(fullText: string, length = MAX_TITLE_CHARS): string {
  // Masks again, because removing Markdown may reveal a key.
  const text = maskSecrets(removeMarkdown(maskSecrets(fullText.slice(0, MAX_SEARCHED_CHARS))));
  if (text.length <= length && fullText.length <= MAX_SEARCHED_CHARS) return text;
  let shortTitle = '';
  graphemeSegmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of graphemeSegmenter.segment(text)) {
    if (shortTitle.length + segment.length > length - 1) break;
    shortTitle += segment;
  }
  return `${shortTitle.trimEnd()}…`;
}
