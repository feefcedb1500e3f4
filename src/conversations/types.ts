import type { AgentFormat } from '../core/agents';
import type { LastRequest, RecordedRequests } from '../core/account/recordedRequest';
import type { ApiMessage } from '../core/messages/types';

/** The formats of agents, by the table of agents, records of runs, and the plain ones of the APIs. */
export type ConversationFormat = AgentFormat | 'trajectory' | 'anthropic' | 'openai' | 'responses';

/** A conversation that was read from a file. Plain data: it crosses worker boundaries. */
export interface Conversation {
  /** Stable across reads of the same conversation: the agent's own id where there is one, else a hash of the file's path. */
  readonly id: string;
  readonly format: ConversationFormat;
  /** The first words of the first user message that a person wrote. */
  readonly title: string;
  readonly messages: readonly ApiMessage[];
  /** Places that the reader skipped or found odd, in words for a person, with the line if there is one. */
  readonly notes: readonly string[];
  /** Side conversations of subagents that stand in the same file, kept apart. */
  readonly sidechains: readonly Sidechain[];
  /** The id of the conversation that this one was started from: it is a subagent's. */
  readonly parent?: string;
  /** The folder that the agent worked in, where the file says. */
  readonly workspace?: string;
  /** The fields beside `messages` in a document that is an object: `system`, `tools`, `model`, … as they came. */
  readonly request?: Readonly<Record<string, unknown>>;
  /** The requests that the agent recorded; only with the history `all`, whose indexes they name, and where it records any. */
  readonly recorded?: RecordedRequests;
  /** The last answer that the agent recorded; only with the history `active`. */
  readonly lastRequest?: LastRequest;
}

/** A subagent's conversation inside its parent's file. */
export interface Sidechain {
  /** Unique within the file; what a location names behind the `#`. */
  readonly id: string;
  readonly title: string;
  readonly messages: readonly ApiMessage[];
}

/**
 * How much of a conversation is read: `active` is what the agent itself would send with its next request, `all` is also
 * what stands before the agent's own compactions. Abandoned branches are in neither.
 */
export type HistoryScope = 'active' | 'all';

export interface ReadOptions {
  /** Default `active`. */
  readonly history?: HistoryScope;
}

/** Where the text came from: a file (its path makes the id), or something without one (its content makes the id). */
export type Source = { readonly path: string } | { readonly name: string };
