import type { ApiMessage } from '../../core/messages/types';
import type { Conversation } from '../types';

export interface ConversationToExport extends Pick<Conversation, 'title' | 'request'> {
  readonly messages: readonly ApiMessage[];
}

export const EXPORT_TARGETS = ['anthropic', 'openai', 'markdown', 'handover'] as const;
export type ExportTarget = (typeof EXPORT_TARGETS)[number];

export interface ExportedConversation {
  readonly text: string;
  readonly extension: 'json' | 'md';
  readonly notes: readonly string[];
}
