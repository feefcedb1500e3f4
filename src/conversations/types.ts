import type { AgentFormat } from '../core/agents';
import type { LastRequest, RecordedRequests } from '../core/account/recordedRequest';
import type { ApiMessage } from '../core/messages/types';

export type ConversationFormat = AgentFormat | 'trajectory' | 'anthropic' | 'openai' | 'responses';

/** Plain data, which crosses worker boundaries. */
export interface Conversation {
  /** Stable across reads: the agent's own id, or else a hash of the file's path. */
  readonly id: string;
  readonly format: ConversationFormat;
  readonly title: string;
  readonly messages: readonly ApiMessage[];
  readonly notes: readonly ConversationNote[];
  readonly sidechains: readonly Sidechain[];
  /** ID of the conversation that started this subagent's. */
  readonly parent?: string;
  readonly workspace?: string;
  /** Other fields of the document, such as `system`, `tools` and `model`. */
  readonly request?: Readonly<Record<string, unknown>>;
  /**
   * Requests that the agent recorded; only with the history `all`, because they contain indexes of
   * its messages.
   */
  readonly recorded?: RecordedRequests;
  /** The request of the last answer, as the agent recorded it; only with the history `active`. */
  readonly lastRequest?: LastRequest;
}

/** What the reader skipped or found odd, in a sentence for the user. */
export type ConversationNote = string | DamageNote | OmissionNote;

export interface DamageNote {
  /** What could not be read of the file. */
  readonly damage: string;
}

export interface OmissionNote {
  /** What the agent itself compacted away. */
  readonly omission: string;
}

export interface Sidechain {
  /** Unique within the file; the part after `#` in a location. */
  readonly id: string;
  readonly title: string;
  readonly messages: readonly ApiMessage[];
}

/**
 * `active` is what the agent would send next; `all` adds what precedes its compactions. Abandoned
 * branches are in neither.
 */
export type HistoryScope = 'active' | 'all';

export interface ReadOptions {
  /** Default `active`. */
  readonly history?: HistoryScope;
}

/** A file's path determines the conversation's id, other text's content does. */
export type InputSource = { readonly path: string } | { readonly name: string };
