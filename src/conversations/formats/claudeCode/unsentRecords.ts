import { formatCountsByKind } from '../../notes';
import type { ClaudeCodeRecord } from './record';

/**
 * Source: 2.1.332, the table used to read a transcript (`Ehr`), and message normalization, which
 * skips `progress` and all `system` records except `local_command`.
 */
const RECORD_TYPES_NOT_SENT_TO_MODEL: ReadonlySet<string> = new Set([
  'agent-color',
  'agent-name',
  'agent-setting',
  'ai-title',
  'api-request',
  'api-request-blob',
  'api-request-resumed',
  'api-request-shape',
  'artifact-autoreact-ledger',
  'artifact-comment-monitor',
  'atis-latch',
  'attribution-snapshot',
  'bridge-session',
  'content-replacement',
  'continued-in',
  'cost-state',
  'custom-title',
  'data-flow-incomplete',
  'data-flow-records',
  'derived-from',
  'dev-mods',
  'ended-by-model',
  'file-history-delta',
  'file-history-snapshot',
  'fork-context-ref',
  'frame-link',
  'history-suppression',
  'host-row',
  'hybrid-organization',
  'isolation-latch',
  'last-prompt',
  'memory-mode',
  'mode',
  'observer-ref',
  'permission-mode',
  'pr-link',
  'progress',
  'queue-operation',
  'relocated',
  'repl-mode',
  'resume-head-vouch',
  'session-owner',
  'summary',
  'system',
  'tag',
  'tools-used',
  'worktree-state',
  // Types of the Agent SDK, found in logs of `--output-format stream-json`.
  'auth_status',
  'control_request',
  'control_response',
  'keep_alive',
  'rate_limit_event',
  'result',
  'stream_event',
  'tool_progress',
  'tool_use_summary',
]);

export function describeRecordsNotSentToModel(records: readonly ClaudeCodeRecord[]): readonly string[] {
  const countsByReason = {
    'not-sent': new Map<string, number>(),
    unknown: new Map<string, number>(),
    'words-missing': new Map<string, number>(),
  };
  for (const record of records) {
    const reason = explainWhyRecordNotSent(record);
    if (reason === undefined) continue;
    const kind = getKindOfUnsentRecord(record);
    countsByReason[reason].set(kind, (countsByReason[reason].get(kind) ?? 0) + 1);
  }
  const describeUnsentKinds = (reason: keyof typeof countsByReason, words: string): readonly string[] =>
    countsByReason[reason].size === 0 ? [] : [`${words}: ${formatCountsByKind(countsByReason[reason])}.`];
  return [
    ...describeUnsentKinds(
      'unknown',
      'Left out, though it may be sent to the model (kinds that this version of Context Condenser does not know)',
    ),
    ...describeUnsentKinds('words-missing', 'Sent to the model, but the file does not have the words'),
    ...describeUnsentKinds('not-sent', 'Left out because it is not sent to the model'),
  ];
}

function explainWhyRecordNotSent({
  message,
  isApiError,
  attachment,
  type,
}: ClaudeCodeRecord): 'not-sent' | 'unknown' | 'words-missing' | undefined {
  if (message) return isApiError ? 'not-sent' : undefined;
  const sendingKind = attachment?.sending.kind;
  if (sendingKind === 'agent' || sendingKind === 'person') return undefined;
  if (sendingKind !== undefined) return sendingKind;
  return RECORD_TYPES_NOT_SENT_TO_MODEL.has(type) || type === 'user' || type === 'assistant' ? 'not-sent' : 'unknown';
}

const getKindOfUnsentRecord = ({ isApiError, type, subtype, attachment }: ClaudeCodeRecord): string =>
  isApiError ? 'API error message' : [type, subtype ?? attachment?.name].filter(Boolean).join(' ');
