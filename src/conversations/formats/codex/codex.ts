import { isRecord } from '../../../core/messages/blocks';
import type { Fields } from '../../text/values';
import type { ApiMessage } from '../../../core/messages/types';
import { messagesOf } from './items';
import { type CodexRollout, parseRollout } from './rollout';
import { sourceId, sourceName } from '../../conversationId';
import { linesOf } from '../../text/lines';
import { countedKinds, leftOutNote, plural } from '../../notes';
import { ConversationReadError } from '../../readError';
import { titleOf } from '../../title';
import type { Conversation, ReadOptions, Source } from '../../types';
import { unansweredNote } from '../unanswered';

/** Whether only Codex writes such a record: in its envelope, or a bare item of the Responses API before September 2025. */
export const isCodexRecord = (value: Fields): boolean => {
  const { type } = value;
  if (typeof type === 'string' && isRecord(value['payload'])) return true;
  return 'record_type' in value || (type === 'message' && Array.isArray(value['content'])) || BARE_ITEMS.has(type);
};

const BARE_ITEMS = new Set<unknown>(['reasoning', 'function_call', 'function_call_output', 'local_shell_call']);

/**
 * A rollout of Codex (`rollout-….jsonl`). `active` is what resuming would send: from the last compaction on, its replacement
 * history in front; `all` is everything that was said, a compaction being the summary that it left.
 * @throws {ConversationReadError} for lines that are broken, or where there are no messages
 */
export function readCodex(input: string | Uint8Array, source: Source, options: ReadOptions = {}): Conversation {
  const name = sourceName(source);
  const rollout = parseRollout(linesOf(input, name), name, options);
  const everything = messagesOf(rollout.everything);
  if (everything.length === 0) {
    throw new ConversationReadError({
      problem: 'wrong-shape',
      source: name,
      found: `no messages, only ${countedKinds(rollout.passedOver) || 'a header'}`,
      expected: 'a Codex rollout with "response_item" records',
    });
  }
  const messages = options.history === 'all' ? everything : messagesOf(rollout.active);
  return {
    id: rollout.id === undefined ? sourceId(source, input) : `codex:${rollout.id}`,
    format: 'codex',
    title: titleOf(everything),
    messages,
    notes: [...rollout.notes, ...notesOf(rollout, everything, messages), ...unansweredNote(messages)],
    sidechains: [],
    ...(rollout.parent !== undefined && { parent: `codex:${rollout.parent}` }),
    ...(rollout.workspace !== undefined && { workspace: rollout.workspace }),
    ...(rollout.instructions !== undefined && { request: { system: rollout.instructions } }),
  };
}

function notesOf(
  { rolledBack, passedOver, compactions }: CodexRollout,
  everything: readonly ApiMessage[],
  messages: readonly ApiMessage[],
): string[] {
  return [
    ...(compactions > 0 && messages !== everything
      ? [leftOutNote(Math.max(0, everything.length - messages.length), 'before the last compaction')]
      : []),
    ...(rolledBack > 0 ? [`Left out: ${plural(rolledBack, 'turn')} that was taken back (rollback).`] : []),
    ...(passedOver.size > 0 ? [`Left out, since it is not sent to the model: ${countedKinds(passedOver)}.`] : []),
  ];
}
