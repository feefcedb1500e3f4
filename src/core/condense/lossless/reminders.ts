import { listContents, type Content } from '../../messages/content';
import { getContentPlace } from '../../messages/exchanges';
import type { ToolTable } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import { memoizeByObject } from '../../memoizeByObject';
import type { Slice } from '../../slice';
import type { CutRequest } from '../draft/cuts';
import type { MechanicalStep } from '../draft/steps';
import type { KeptCopy } from './sources';
import { getLineCache, createMemoryPerLineCache } from './knownLines';
import { ProcessedGroups } from './settled';

const REMINDER_OPENING_TAG = '<system-reminder>';
const REMINDER_CLOSING_TAG = '</system-reminder>';

/** The slice includes the blank lines before the reminder. */
interface Reminder extends Slice {
  readonly content: Content;
  readonly text: string;
}

/**
 * One copy of a repeated reminder stays. The others need no marker, because a reminder does not
 * depend on its place.
 */
export const createRepeatedRemindersStep = (tools: ToolTable, keep: KeptCopy): MechanicalStep => {
  const name = 'Repeated reminders';
  return {
    name,
    run(draft) {
      const groups = getGroupsOfEqualReminders(getLineCache(draft, tools), keep);
      const messages = [...draft.messages];
      const changedIndexes = new Set(groups.listChangedGroups(messages).flatMap(({ indexes }) => indexes));
      const handledMessages: number[] = [];
      for (const message of [...changedIndexes].filter((at) => at > draft.task).sort((a, b) => a - b)) {
        for (const [content, requests] of groupReminderCutsByPlace(message, messages, groups, draft.task, keep)) {
          const savedTokens = draft.cutText(name, getContentPlace({ ...content, message }), requests, {
            contentType: content.type,
            operation: 'reference',
            reason: 'the same reminder appears elsewhere',
            strict: true,
          });
          if (savedTokens > 0) handledMessages.push(message);
        }
      }
      groups.markProcessed(messages, handledMessages);
    },
  };
};

const getGroupsOfEqualReminders = createMemoryPerLineCache(
  () => new ProcessedGroups<ApiMessage>((message) => [...new Set(getReminders(message).map(({ text }) => text))]),
);

/** Results contain reminders only at their end; elsewhere, the words may be a file's. */
const getReminders = memoizeByObject((message: ApiMessage): readonly Reminder[] =>
  message.role === 'user'
    ? listContents(message)
        .filter(({ text }) => text.includes(REMINDER_OPENING_TAG))
        .flatMap((content) => findReminders(content).map((reminder) => ({ ...reminder, content })))
    : [],
);

function findReminders({ text }: Content): (Slice & { readonly text: string })[] {
  const reminders = [];
  let end = text.length;
  for (;;) {
    const trimmedEnd = findEndWithoutSpace(text, end);
    if (!text.endsWith(REMINDER_CLOSING_TAG, trimmedEnd)) break;
    const start = text.lastIndexOf(REMINDER_OPENING_TAG, trimmedEnd);
    if (start < 0 || (start > 0 && text[start - 1] !== '\n')) break;
    const reminderStart = findEndWithoutSpace(text, start);
    reminders.push({ start: reminderStart, end: trimmedEnd, text: text.slice(reminderStart, trimmedEnd).trim() });
    end = reminderStart;
  }
  return reminders;
}

function findEndWithoutSpace(text: string, end: number): number {
  let offset = end;
  while (offset > 0 && (text[offset - 1] === '\n' || text[offset - 1] === ' ')) offset--;
  return offset;
}

/** Groups cuts to make them at once, because each cut moves the text after it. */
function groupReminderCutsByPlace(
  messageIndex: number,
  messages: readonly ApiMessage[],
  groups: ProcessedGroups<ApiMessage>,
  task: number,
  keep: KeptCopy,
): Map<Content, CutRequest[]> {
  const reminders = getReminders(messages[messageIndex] as ApiMessage);
  const cuts = new Map<Content, CutRequest[]>();
  for (const reminder of reminders) {
    const { content, text, start, end } = reminder;
    const messagesWithReminder = groups.getIndexesOfGroup(text);
    const keptMessage =
      keep === 'latest' ? messagesWithReminder.at(-1) : messagesWithReminder.find((place) => place > task);
    const equalReminders = reminders.filter((other) => other.text === text);
    if (keptMessage === messageIndex && (keep === 'latest' ? equalReminders.at(-1) : equalReminders[0]) === reminder)
      continue;
    const request = { start: content.start + start, end: content.start + end, marker: null };
    cuts.set(content, [...(cuts.get(content) ?? []), request]);
  }
  return cuts;
}
