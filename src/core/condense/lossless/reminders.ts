import { contentsOf } from '../../messages/content';
import { placeOf, type PlacedContent } from '../../messages/exchanges';
import type { ApiMessage } from '../../messages/types';
import type { CutRequest, Draft } from '../draft';
import type { DraftStep } from '../steps';
import type { Keep } from './lineIndex';
import { protectedFrom } from './protect';

const OPENING = '<system-reminder>';
const CLOSING = '</system-reminder>';

interface Reminder {
  readonly content: PlacedContent;
  /** Offsets in the content, the blank lines before it included. */
  readonly start: number;
  readonly end: number;
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
        for (const reminder of remindersIn(draft, message, index)) {
          const text = reminder.content.text.slice(reminder.start, reminder.end).trim();
          const same = byText.get(text);
          if (same) same.push(reminder);
          else byText.set(text, [reminder]);
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

/** Results only hold reminders at their end; a file may hold the words, too. */
function remindersIn(draft: Draft, message: ApiMessage, index: number): Reminder[] {
  if (message.role !== 'user') return [];
  return contentsOf(message).flatMap((content) => {
    const placed: PlacedContent = { ...content, message: index };
    const { text } = content;
    if (!text.includes(OPENING) || protectedFrom(draft, placed)) return [];
    const found: Reminder[] = [];
    let end = text.length;
    // From the back, as long as one ends where the text does.
    for (;;) {
      const trimmed = trimmedEnd(text, end);
      if (!text.endsWith(CLOSING, trimmed)) break;
      const start = text.lastIndexOf(OPENING, trimmed);
      if (start < 0 || (start > 0 && text[start - 1] !== '\n')) break;
      const from = trimmedEnd(text, start);
      found.push({ content: placed, start: from, end: trimmed });
      end = from;
    }
    return found;
  });
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
