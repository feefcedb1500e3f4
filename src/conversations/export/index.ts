/** Exports of any conversation, condensed or not: pure, nothing is written. */
import type { MessageCounter } from '../../core/tokens/messageCounter';
import { anthropicBody } from './anthropic';
import { handoverText } from './handover';
import { Losses } from './losses';
import { markdownText } from './markdown';
import { openaiBody } from './openai';
import type { Exportable, ExportedConversation, ExportTarget } from './types';

export { EXPORT_TARGETS, type Exportable, type ExportedConversation, type ExportTarget } from './types';

/**
 * @param counter sizes the hand-over prompt; the other targets hold everything
 */
export function exportConversation(
  conversation: Exportable,
  target: ExportTarget,
  counter: MessageCounter,
): ExportedConversation {
  const losses = new Losses();
  switch (target) {
    case 'anthropic':
      return { text: json(anthropicBody(conversation, losses)), extension: 'json', notes: losses.notes() };
    case 'openai':
      return { text: json(openaiBody(conversation, losses)), extension: 'json', notes: losses.notes() };
    case 'markdown':
      return { text: markdownText(conversation, losses), extension: 'md', notes: losses.notes() };
    case 'handover':
      return { text: handoverText(conversation, counter, losses), extension: 'md', notes: losses.notes() };
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
