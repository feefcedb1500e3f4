import type { AgentFormat } from '../core/agents';
import type { LastRequest, RecordedRequests } from '../core/account/recordedRequest';
import type { ApiMessage } from '../core/messages/types';

/** Formats of agents (from the table of agents), of recorded runs, and of the APIs. */
export type ConversationFormat = AgentFormat | 'trajectory' | 'anthropic' | 'openai' | 'responses';

/** A conversation read from a file. Plain data: crosses worker boundaries. */
export interface Conversation {
  /** Stable across reads: the agent's own id, or else a hash of the file's path. */
  readonly id: string;
  readonly format: ConversationFormat;
  /** The first words of a person. */
  readonly title: string;
  readonly messages: readonly ApiMessage[];
  /** What the reader skipped or found odd, for a person, with the line if there is one. */
  readonly notes: readonly string[];
  /** Subagents' conversations in the same file. */
  readonly sidechains: readonly Sidechain[];
  /** ID of the conversation that started this subagent's. */
  readonly parent?: string;
  /** The agent's working folder, if the file names it. */
  readonly workspace?: string;
  /** Other fields of a document that is an object: `system`, `tools`, `model`, … */
  readonly request?: Readonly<Record<string, unknown>>;
  /** Requests that the agent recorded; only with the history `all`, whose indexes they use. */
  readonly recorded?: RecordedRequests;
  /** The last answer that the agent recorded; only with the history `active`. */
  readonly lastRequest?: LastRequest;
}

export interface Sidechain {
  /** Unique within the file; the part after `#` in a location. */
  readonly id: string;
  readonly title: string;
  readonly messages: readonly ApiMessage[];
}

/**
 * `active` is what the agent would send with its next request; `all` adds what precedes the agent's
 * own compactions. Abandoned branches are in neither.
 */
export type HistoryScope = 'active' | 'all';

export interface ReadOptions {
  /** Default `active`. */
  readonly history?: HistoryScope;
}

/** A file, whose path determines the id, or other text, whose content does. */
export type Source = { readonly path: string } | { readonly name: string };
