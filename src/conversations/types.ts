import type { ApiMessage } from '../core/messages/types';

/** The agents and plain formats that a reader knows. */
export type ConversationFormat = 'claude-code' | 'roo' | 'anthropic' | 'openai';

/** A conversation that was read from a file. Plain data: it crosses worker boundaries. */
export interface Conversation {
  /** Stable across reads of the same conversation: the agent's own id where there is one, else a hash of the file's path. */
  readonly id: string;
  readonly format: ConversationFormat;
  /** The first words of the first user message that a person wrote. */
  readonly title: string;
  readonly messages: readonly ApiMessage[];
  /** What the reader passed over or found odd, in words for a person, with the line where there is one. */
  readonly notes: readonly string[];
  /** Side conversations of subagents, kept apart. */
  readonly sidechains: readonly (readonly ApiMessage[])[];
}
