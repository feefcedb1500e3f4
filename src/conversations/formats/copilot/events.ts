/**
 * Sources: the event schema of GitHub's Copilot SDK (session-events), transcripts in public
 * repositories' tests.
 */
import type { ConversationNote } from '../../types';
import { readJsonLineRecords } from '../../text/jsonLines';
import type { Line } from '../../text/lines';
import { type Fields, readRecord, readString, readTime } from '../../text/values';
import { CopilotRequests } from './usage';

export interface CopilotEvent {
  readonly type: string;
  readonly id: string | undefined;
  readonly data: Fields;
  readonly agent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number | undefined;
  /** For an answer: the index of its request in the recorded requests. */
  readonly request?: number;
}

export interface CopilotEvents {
  readonly start: {
    readonly id: string | undefined;
    readonly workspace: string | undefined;
    readonly title: string | undefined;
  };
  readonly events: readonly CopilotEvent[];
  readonly rewound: number;
  /** Number of events outside the conversation, by type of event. */
  readonly skippedByKind: ReadonlyMap<string, number>;
  readonly notes: readonly ConversationNote[];
  readonly requests: CopilotRequests;
}

const EVENT_TYPES_READ_AS_MESSAGES = new Set([
  'system.message',
  // Reports that a subagent or background command is done, sent as a prompt.
  'system.notification',
  'user.message',
  'assistant.message',
  'tool.execution_start',
  'tool.execution_complete',
  'session.compaction_start',
  'session.compaction_complete',
  'session.context_cleared',
]);

/**
 * Source: the SDK's event schema, requests of 1.0.102. Whether `skill.invoked`, a hand-over or a
 * truncation is sent is unknown.
 */
export const EVENT_TYPES_NOT_SENT_TO_MODEL = {
  has: (type: string): boolean =>
    EVENT_TYPE_PREFIXES_NOT_SENT_TO_MODEL.test(type) || SINGLE_EVENT_TYPES_NOT_SENT_TO_MODEL.has(type),
};

const EVENT_TYPE_PREFIXES_NOT_SENT_TO_MODEL =
  /^(?:hook|permission|subagent|elicitation|external_tool|command|mcp|sampling|user_input|exit_plan_mode|capabilities)\./;

const SINGLE_EVENT_TYPES_NOT_SENT_TO_MODEL = new Set([
  'abort',
  'assistant.intent',
  'assistant.message_delta',
  'assistant.reasoning',
  'assistant.reasoning_delta',
  'assistant.streaming_delta',
  'assistant.turn_end',
  'assistant.turn_start',
  'assistant.usage',
  'pending_messages.modified',
  'session.background_tasks_changed',
  'session.context_changed',
  'session.custom_agents_updated',
  'session.error',
  'session.extensions_loaded',
  'session.idle',
  'session.info',
  'session.mcp_server_status_changed',
  'session.mcp_servers_loaded',
  'session.mode_changed',
  'session.model_change',
  'session.permissions_changed',
  'session.plan_changed',
  'session.remote_steerable_changed',
  'session.resume',
  'session.shutdown',
  'session.skills_loaded',
  'session.task_complete',
  'session.tools_updated',
  'session.usage_checkpoint',
  'session.usage_info',
  'session.usage_record',
  'session.warning',
  'session.workspace_file_changed',
  'tool.execution_partial_result',
  'tool.execution_progress',
  'tool.user_requested',
]);

/** @throws {ConversationReadError} if no line can be read */
export function parseEvents(lines: Iterable<Line>, source: string): CopilotEvents {
  const notes: ConversationNote[] = [];
  const skippedByKind = new Map<string, number>();
  let events: CopilotEvent[] = [];
  let rewoundCount = 0;
  let startData: Fields = {};
  let title: string | undefined;
  const requests = new CopilotRequests();
  let assignedRequests = 0;
  readJsonLineRecords(lines, source, notes, ({ value }) => {
    requests.takeRecord(value);
    const type = readString(value, 'type') ?? 'unnamed';
    const data = readRecord(value, 'data') ?? {};
    if (type === 'session.start') startData = data;
    else if (type === 'session.title_changed') title = readString(data, 'title') ?? title;
    else if (type === 'session.snapshot_rewind') {
      const keptEvents = selectEventsBefore(events, readString(data, 'upToEventId'));
      rewoundCount += events.length - keptEvents.length;
      events = keptEvents;
    } else if (EVENT_TYPES_READ_AS_MESSAGES.has(type)) {
      const agent = readString(value, 'agentId') ?? readString(data, 'parentToolCallId');
      const { length } = requests.requests;
      const isAnswer = type === 'assistant.message' && length > assignedRequests;
      if (isAnswer) assignedRequests = length;
      events.push({
        type,
        id: readString(value, 'id'),
        data,
        agent,
        at: readTime(value, 'timestamp'),
        ...(isAnswer && { request: length - 1 }),
      });
    } else skippedByKind.set(type, (skippedByKind.get(type) ?? 0) + 1);
  });
  const workspace = readString(readRecord(startData, 'context') ?? {}, 'cwd');
  return {
    start: { id: readString(startData, 'sessionId'), workspace, title },
    events,
    rewound: rewoundCount,
    skippedByKind,
    notes,
    requests,
  };
}

/** A rewind removes the named event and all later ones. */
function selectEventsBefore(events: readonly CopilotEvent[], id: string | undefined): CopilotEvent[] {
  const index = events.findIndex((event) => event.id === id);
  return index === -1 || id === undefined ? [...events] : events.slice(0, index);
}
