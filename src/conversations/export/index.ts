import type { MessageCounter } from '../../core/tokens/messageCounter';
import { exportToAnthropic } from './anthropic';
import { renderHandover } from './handover';
import { ExportLosses } from './losses';
import { exportToMarkdown } from './markdown';
import { exportToOpenAI } from './openai';
import type { ConversationToExport, ExportedConversation, ExportTarget } from './types';

export { EXPORT_TARGETS, type ConversationToExport, type ExportedConversation, type ExportTarget } from './types';

export function exportConversation(
  originalConversation: ConversationToExport,
  target: ExportTarget,
  counter: MessageCounter,
): ExportedConversation {
  const losses = new ExportLosses();
  const conversation = replaceLoneSurrogates(originalConversation, losses);
  switch (target) {
    case 'anthropic':
      return {
        text: formatJson(exportToAnthropic(conversation, losses)),
        extension: 'json',
        notes: losses.renderNotes(),
      };
    case 'openai':
      return { text: formatJson(exportToOpenAI(conversation, losses)), extension: 'json', notes: losses.renderNotes() };
    case 'markdown':
      return { text: exportToMarkdown(conversation, losses), extension: 'md', notes: losses.renderNotes() };
    case 'handover':
      return {
        text: renderHandover(conversation, counter, losses),
        extension: 'md',
        notes: losses.renderNotes(),
      };
  }
}

const formatJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Tools that truncate output leave half surrogate pairs, which APIs reject. */
function replaceLoneSurrogates<T>(value: T, losses: ExportLosses): T {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return value;
    losses.addLoss('text with half of a surrogate pair', 'which was replaced with "\ufffd" because APIs refuse it');
    return value.toWellFormed() as T & string;
  }
  if (typeof value !== 'object' || value === null) return value;
  const oldEntries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const newEntries = oldEntries.map(
    ([key, each]) => [replaceLoneSurrogates(key, losses), replaceLoneSurrogates(each, losses)] as const,
  );
  if (newEntries.every(([key, each], index) => key === oldEntries[index]?.[0] && each === oldEntries[index][1]))
    return value;
  const changedValue: unknown = Array.isArray(value)
    ? newEntries.map(([, each]) => each)
    : Object.fromEntries(newEntries);
  return changedValue as T;
}
