import { blocksOf, isText, isToolResult } from '../core/messages/blocks';
import { isMachineMessage, personText } from '../core/messages/personText';
import type { ApiMessage } from '../core/messages/types';
import { maskSecrets } from '../core/secrets/maskSecrets';

export const UNTITLED = 'Untitled conversation';
const MAX_LENGTH = 80;

/** A short title from the first words that a person wrote; of commands only where there is nothing else. */
export function titleOf(messages: readonly ApiMessage[]): string {
  let command: string | undefined;
  for (const message of messages) {
    if (message.role !== 'user' || isMachineMessage(message)) continue;
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

/** A title that an agent or a user gave; undefined where nothing stands in it. */
export function tidyTitle(title: string | undefined): string | undefined {
  const words = tidy(title ?? '');
  return words === '' ? undefined : shorten(words);
}

/** A title with words behind it that tell it from the one that it comes from: the title itself is what is cut. */
export const titleWith = (title: string, words: string): string =>
  `${shorten(title, MAX_LENGTH - words.length - 1)} ${words}`;

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

/** A grapheme can be as long as someone wants it to be, and so can a key: what is looked at is bounded. */
const MAX_LOOK = 1_600;

/** At most so many UTF-16 units, 80 if not told, never cut inside what a reader sees as one character, nor inside a key: of a part nobody could tell that it is one. */
function shorten(whole: string, length = MAX_LENGTH): string {
  if (whole.length <= length) return whole;
  const text = maskSecrets(whole.slice(0, MAX_LOOK));
  if (text.length <= length && whole.length <= MAX_LOOK) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)) {
    if (kept.length + segment.length > length - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
