/** What crosses between a window and its live conversations in the engine: plain data, and of long lists only what is new. */
import type { ListUpdate } from '../../background/forecast/messages';
import type { OutcomeSummary } from '../../core/condense';
import type { Edit } from '../../core/condense/edits/edits';
import type { ApiMessage } from '../../core/messages/types';
import type { LiveEvent } from '../../live/events';
import type { AgentRequest, LiveId, PreparedRequest, UpstreamModel } from '../../live/request';
import type { LiveSettings, LiveSummary } from '../../live/types';
import type { ManagerSetup } from '../hostManager';

/** Sent with each question that may condense. */
export interface LiveSetup extends ManagerSetup {
  readonly settings: LiveSettings;
}

/** Lists of messages that each side keeps; the one that was used longest ago goes first. */
export const MAX_CHATS = 20;

/** The messages of a request, as the change of a list that the engine has. */
export interface ChatUpdate {
  /** Names the list. */
  readonly chat: number;
  /** Of the list that `messages` changes; 0 for a new one. */
  readonly version: number;
  readonly messages: ListUpdate<ApiMessage>;
  /** Absent if they are as they were. */
  readonly beside?: Pick<AgentRequest, 'system' | 'tools'>;
  /** Number of the view that the host holds; 0 for none. */
  readonly view: number;
  /** Lists that the host no longer has. */
  readonly dropped: readonly number[];
}

/** A request without what the engine has already. */
export interface SentRequest extends Omit<AgentRequest, 'system' | 'messages' | 'tools' | 'model'> {
  readonly update: ChatUpdate;
  readonly model: Omit<UpstreamModel, 'summarizer'>;
  /** Whether the model can be asked to sum up. */
  readonly canSummarize: boolean;
}

/** A message by its index in the request, or one of its own. */
export type SentMessage = number | ApiMessage;

/** The view that was prepared, as the change of the one that the host holds. */
export interface SentPrepared extends Omit<
  PreparedRequest,
  'model' | 'messages' | 'original' | 'origins' | 'edits' | 'outcome' | 'began'
> {
  /** Names it in what is asked about it later, and the view that the host holds from now on. */
  readonly id: number;
  readonly view: ListUpdate<SentMessage>;
  readonly outcome?: Pick<OutcomeSummary, 'kind'>;
}

/** A conversation for comparing, its messages by their index in a list of the host's where they are there. */
export interface SentLiveView {
  readonly chat: number;
  readonly version: number;
  readonly original: readonly SentMessage[];
  /** A number is an index in `original`. */
  readonly view: readonly SentMessage[];
  readonly origins: readonly number[];
  readonly edits: readonly Edit[];
  readonly excluded: readonly Edit[];
}

/** What happened, and the summaries that changed by it. */
export interface LiveChange {
  readonly events: readonly LiveEvent[];
  /** The conversations that are at hand, last used first. */
  readonly order: readonly LiveId[];
  readonly changed: readonly LiveSummary[];
}
