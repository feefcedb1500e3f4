/** Window and engine exchange plain data, and of long lists only what is new. */
import type { ListUpdate } from '../../background/preview/messages';
import type { OutcomeSummary } from '../../core/condense';
import type { View } from '../../core/condense/edits/view';
import type { ApiMessage } from '../../core/messages/types';
import type { LiveEvent } from '../../live/events';
import type { AgentRequest, LiveId, PreparedRequest, UpstreamModel } from '../../live/request';
import type { LiveSettings, LiveSummary, LiveView } from '../../live/types';
import type { CondensationManagerSetup } from '../hostManager';

/** Sent with each call that may condense. */
export interface LiveEngineSetup extends CondensationManagerSetup {
  readonly settings: LiveSettings;
}

/** Number of chats that host and engine keep; beyond it, each drops the least recently used one. */
export const MAX_CHATS = 20;

export interface ChatUpdate {
  readonly chat: number;
  /** Version of the list to which the changes in `messages` apply; 0 for a new list. */
  readonly version: number;
  readonly messages: ListUpdate<ApiMessage>;
  /** System prompt and tools; absent if unchanged. */
  readonly header?: Pick<AgentRequest, 'system' | 'tools'>;
  /** ID of the view that the host has; 0 if it has none. */
  readonly view: number;
  readonly dropped: readonly number[];
}

/** A request without what the engine already has. */
export interface EncodedAgentRequest extends Omit<AgentRequest, 'system' | 'messages' | 'tools' | 'model'> {
  readonly update: ChatUpdate;
  readonly model: Omit<UpstreamModel, 'summarizer'>;
  readonly canSummarize: boolean;
}

/** A message that the other side lacks, or the index of a message in the request. */
export type EncodedMessage = number | ApiMessage;

export interface EncodedPreparedRequest extends Omit<PreparedRequest, 'model' | keyof View | 'outcome' | 'began'> {
  /**
   * ID by which later calls refer to this request; also the ID of the view that the host now has.
   */
  readonly id: number;
  readonly view: ListUpdate<EncodedMessage>;
  readonly outcome?: Pick<OutcomeSummary, 'kind'>;
}

export interface EncodedLiveView extends Omit<LiveView, 'original' | 'messages'> {
  readonly chat: number;
  readonly version: number;
  readonly original: readonly EncodedMessage[];
  /** A number is an index into `original`. */
  readonly messages: readonly EncodedMessage[];
}

export interface LiveConversationsChange {
  readonly events: readonly LiveEvent[];
  /** Loaded conversations, most recently used first. */
  readonly order: readonly LiveId[];
  readonly changed: readonly LiveSummary[];
}
