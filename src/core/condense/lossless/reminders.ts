import { contentsOf, type Content } from '../../messages/content';
import { placeOf, type PlacedContent } from '../../messages/exchanges';
import type { ApiMessage } from '../../messages/types';
import { perObject } from '../../perObject';
import type { CutRequest } from '../draft';
import type { DraftStep } from '../steps';
import type { Keep } from './lineIndex';
import { protectedFrom } from './protect';

const OPENING = '<system-reminder>';
const CLOSING = '</system-reminder>';

/** Offsets in a content, the blank lines before the reminder included. */
interface Slice {
  readonly start: number;
  readonly end: number;
}

interface Reminder extends Slice {
  readonly content: PlacedContent;
}

/**
 * Reminders that an agent's program puts into results and behind what the user wrote, again and again: of equal ones one
 * stays. They speak of the conversation, not of the place where they stand, so that no marker is needed.
 */
export const repeatedReminders = (keep: Keep): DraftStep => {
  const name = 'Repeated reminders';
  return {
    name,
    async run(draft, pace) {
      const byText = new Map<string, Reminder[]>();
      for (const [index, message] of draft.messages.entries()) {
        for (const { content, reminders } of remindersOf(message)) {
          const placed: PlacedContent = { ...content, message: index };
          if (protectedFrom(draft, placed)) continue;
          for (const { text, ...slice } of reminders) {
            const same = byText.get(text);
            if (same) same.push({ content: placed, ...slice });
            else byText.set(text, [{ content: placed, ...slice }]);
          }
        }
        await pace.breathe();
      }
      for (const [content, requests] of cutsByContent([...byText.values()], keep)) {
        draft.cut(name, placeOf(content), requests, {
          contentType: content.type,
          reason: 'the same reminder stands elsewhere',
          strict: true,
        });
        await pace.breathe();
      }
    },
  };
};

/** Reminders in a message, each with its text. Results only hold them at their end; a file may hold the words, too. */
const remindersOf = perObject((message: ApiMessage) =>
  message.role === 'user'
    ? contentsOf(message)
        .filter(({ text }) => text.includes(OPENING))
        .map((content) => ({ content, reminders: remindersIn(content) }))
    : [],
);

function remindersIn({ text }: Content): (Slice & { readonly text: string })[] {
  const found = [];
  let end = text.length;
  // From the back, as long as one ends where the text does.
  for (;;) {
    const trimmed = trimmedEnd(text, end);
    if (!text.endsWith(CLOSING, trimmed)) break;
    const start = text.lastIndexOf(OPENING, trimmed);
    if (start < 0 || (start > 0 && text[start - 1] !== '\n')) break;
    const from = trimmedEnd(text, start);
    found.push({ start: from, end: trimmed, text: text.slice(from, trimmed).trim() });
    end = from;
  }
  return found;
}

function trimmedEnd(text: string, end: number): number {
  let at = end;
  while (at > 0 && (text[at - 1] === '\n' || text[at - 1] === ' ')) at--;
  return at;
}

function cutsByContent(groups: readonly (readonly Reminder[])[], keep: Keep): Map<PlacedContent, CutRequest[]> {
  const cuts = new Map<PlacedContent, CutRequest[]>();
  for (const same of groups) {
    for (const { content, start, end } of keep === 'latest' ? same.slice(0, -1) : same.slice(1)) {
      const request = { start: content.start + start, end: content.start + end, marker: null };
      cuts.set(content, [...(cuts.get(content) ?? []), request]);
    }
  }
  return cuts;
}
