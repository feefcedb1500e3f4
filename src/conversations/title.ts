import { blocksOf, isText, isToolResult } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';

export const UNTITLED = 'Untitled conversation';
const MAX_LENGTH = 80;

/**
 * Elements that agents put into user messages around or instead of what a person wrote: Claude Code's command wrappers,
 * reminders and shell echoes, its editor context; Roo's and Cline's environment, file contents and notices.
 */
const MACHINE_ELEMENTS = [
  'system-reminder',
  'command-name',
  'command-message',
  'command-args',
  'command-contents',
  'local-command-caveat',
  'local-command-stdout',
  'local-command-stderr',
  'bash-input',
  'bash-stdout',
  'bash-stderr',
  'user-prompt-submit-hook',
  'user-memory-input',
  'task-notification',
  'ide_opened_file',
  'ide_selection',
  'ide_diagnostics',
  'environment_details',
  'file_content',
  'folder_content',
  'url_content',
  'workspace_diagnostics',
  'explicit_instructions',
  'system_notice',
].join('|');

/** An element that isn't closed reaches to the end: the text was cut. */
const MACHINE_TEXT = new RegExp(`<(${MACHINE_ELEMENTS})(?=[\\s>])[^>]*>(?:[\\s\\S]*?</\\1>|[\\s\\S]*$)`, 'gi');

/** Texts that stand for themselves: a whole block of them was not written by a person. */
const MACHINE_BLOCK =
  /^(?:Caveat: The messages below were generated|This session is being continued from a previous conversation|\[Request interrupted by user|\[[\w-]+(?: for .*)?\] Result:|\[Sliding window truncation|\[ERROR\] )/;

/** What Roo and Cline wrap around a person's words. */
const WRAPPER = '(?:task|user_message|user_input|feedback|answer)';
const OPEN_WRAPPER = new RegExp(`^<${WRAPPER}(?: [^>]*)?>`);
const CLOSE_WRAPPER = new RegExp(`</${WRAPPER}>$`);

/** Set by the readers or by the agent on messages that no person wrote. */
const MACHINE_FLAGS = ['isMeta', 'isCompactSummary', 'isSummary', 'isTruncationMarker'];

/** A short title from the first words that a person wrote; of commands only where there is nothing else. */
export function titleOf(messages: readonly ApiMessage[]): string {
  let command: string | undefined;
  for (const message of messages) {
    if (message.role !== 'user' || MACHINE_FLAGS.some((flag) => message[flag] === true)) continue;
    const blocks = blocksOf(message);
    if (blocks.some(isToolResult)) continue;
    const texts =
      typeof message.content === 'string' ? [message.content] : blocks.filter(isText).map(({ text }) => text);
    for (const text of texts) {
      const words = tidy(personText(text));
      if (words !== '') return shorten(words);
      command ??= commandOf(text);
    }
  }
  return command === undefined ? UNTITLED : shorten(command);
}

/** What is left of a user message's text once everything is taken out that an agent put there. */
export function personText(text: string): string {
  const rest = text.replace(MACHINE_TEXT, ' ').trim();
  if (MACHINE_BLOCK.test(rest)) return '';
  return rest.replace(OPEN_WRAPPER, '').replace(CLOSE_WRAPPER, '').trim();
}

function commandOf(text: string): string | undefined {
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1];
  if (name === undefined) return undefined;
  const words = tidy(`${name} ${/<command-args>([^<]*)<\/command-args>/.exec(text)?.[1] ?? ''}`);
  return words === '' ? undefined : words;
}

/** One line without control and direction characters: a title stands in menus and lists. */
const tidy = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/\s+/g, ' ')
    .trim();

/** At most 80 UTF-16 units, never cut inside what a reader sees as one character. */
function shorten(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  let kept = '';
  // A grapheme can be as long as someone wants it to be: what is looked at is bounded.
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text.slice(0, 400))) {
    if (kept.length + segment.length > MAX_LENGTH - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
