import type { ApiMessage } from '../../core/messages/types';
import type { Conversation } from '../types';

/** The content to export: a conversation as it was read, or with the messages of its condensed view. */
export interface Exportable extends Pick<Conversation, 'title' | 'request'> {
  readonly messages: readonly ApiMessage[];
}

/** Where an export goes. */
export const EXPORT_TARGETS = ['anthropic', 'openai', 'markdown', 'handover'] as const;
export type ExportTarget = (typeof EXPORT_TARGETS)[number];

export interface ExportedConversation {
  readonly text: string;
  /** Of a file that holds it, without the dot. */
  readonly extension: 'json' | 'md';
  /** The losses, in words for a person. */
  readonly notes: readonly string[];
}
