/** Each call must be answered exactly once, at the start of the next user turn. */
import { getBlocks, isRecord, isToolResult, isToolUse } from '../blocks';
import type { ApiMessage, Block } from '../types';
import type { BlockPosition, Violation } from './violation';

/** The API treats consecutive messages of one role as one. */
interface TurnBeingPaired {
  role: ApiMessage['role'] | undefined;
  readonly openCalls: Map<string, BlockPosition>;
  readonly answeredIds: Set<string>;
  hasOther: boolean;
}

/** Calls at the end of the conversation may be pending. */
export function checkToolPairs(messages: readonly ApiMessage[]): Violation[] {
  const violations: Violation[] = [];
  const usedIds = new Set<string>();
  const pausedCalls: PausedCallsByMessage = new Map();
  const turn: TurnBeingPaired = { role: undefined, openCalls: new Map(), answeredIds: new Set(), hasOther: false };
  messages.forEach((message, index) => {
    if (message.role === 'system') return;
    if (message.role !== turn.role) {
      turn.role = message.role;
      turn.hasOther = false;
      if (message.role === 'assistant') {
        violations.push(...reportUnanswered(turn));
        turn.openCalls.clear();
        turn.answeredIds.clear();
      }
    }
    violations.push(
      ...(message.role === 'assistant'
        ? collectCalls(message, index, usedIds, turn.openCalls, pausedCalls)
        : checkResults(message, index, turn)),
    );
  });
  // At the end, either all calls or none may be pending.
  if (turn.role === 'user') violations.push(...reportUnanswered(turn));
  return violations;
}

/**
 * By call ID, the message of each server call whose program waits for its own calls. Its result
 * comes in a later assistant message. Source: Anthropic docs, "Programmatic tool calling".
 */
type PausedCallsByMessage = Map<string, number>;

const reportUnanswered = ({ openCalls, answeredIds }: TurnBeingPaired): Violation[] =>
  [...openCalls]
    .filter(([id]) => !answeredIds.has(id))
    .map(([id, at]) => ({ rule: 'call-answered', ...at, detail: `${id} has no result` }));

function collectCalls(
  message: ApiMessage,
  index: number,
  usedIds: Set<string>,
  openCalls: Map<string, BlockPosition>,
  paused: PausedCallsByMessage,
): Violation[] {
  const violations: Violation[] = [];
  const recordCallId = (id: string, place: BlockPosition): void => {
    if (usedIds.has(id)) violations.push({ rule: 'ids-unique', ...place, detail: `${id} is used twice` });
    usedIds.add(id);
  };
  const openServerCalls = new Set<string>();
  const programIds = new Set<string>();
  getBlocks(message).forEach((block, at) => {
    const place = { message: index, block: at };
    if (isToolUse(block)) {
      recordCallId(block.id, place);
      openCalls.set(block.id, place);
      const programId = getProgramId(block);
      if (programId !== undefined) programIds.add(programId);
      return;
    }
    if (isToolResult(block)) {
      const detail = `the result of ${block.tool_use_id} stands in a message of the assistant`;
      violations.push({ rule: 'result-has-call', ...place, detail });
      return;
    }
    const id = getServerCallId(block);
    if (id !== undefined) {
      recordCallId(id, place);
      openServerCalls.add(id);
    }
    const answeredId = getServerResultId(block);
    if (answeredId !== undefined && !openServerCalls.delete(answeredId) && !paused.delete(answeredId)) {
      violations.push({
        rule: 'server-pair-kept',
        ...place,
        detail: `${answeredId} has no call before it in its message`,
      });
    }
  });
  for (const [id, callMessage] of [...paused, ...[...openServerCalls].map((id) => [id, index] as const)]) {
    if (programIds.has(id)) paused.set(id, callMessage);
    else {
      paused.delete(id);
      violations.push({ rule: 'server-pair-kept', message: callMessage, detail: `${id} has no result in its message` });
    }
  }
  return violations;
}

export function getProgramId({ caller }: Block): string | undefined {
  const id = isRecord(caller) ? caller['tool_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

const getServerCallId = (block: Block): string | undefined =>
  (block.type === 'server_tool_use' || block.type === 'mcp_tool_use') && typeof block['id'] === 'string'
    ? block['id']
    : undefined;

/**
 * `web_search_tool_result`, `mcp_tool_result` and the like have their call's ID and are in the
 * assistant message.
 */
const getServerResultId = (block: Block): string | undefined =>
  block.type !== 'tool_result' && block.type.endsWith('_tool_result') && typeof block['tool_use_id'] === 'string'
    ? block['tool_use_id']
    : undefined;

function checkResults(message: ApiMessage, index: number, turn: TurnBeingPaired): Violation[] {
  if (typeof message.content === 'string') {
    turn.hasOther = true;
    return [];
  }
  const violations: Violation[] = [];
  message.content.forEach((block, at) => {
    const place = { message: index, block: at };
    if (!isToolResult(block)) {
      turn.hasOther = true;
      if (isToolUse(block)) {
        const detail = `the call ${block.id} stands in a message of the user`;
        violations.push({ rule: 'call-answered', ...place, detail });
      }
      return;
    }
    const id = block.tool_use_id;
    if (turn.answeredIds.has(id)) {
      violations.push({ rule: 'result-once', ...place, detail: `${id} is answered twice` });
    } else if (!turn.openCalls.has(id)) {
      violations.push({ rule: 'result-has-call', ...place, detail: `no call ${id} in the message before` });
    }
    if (turn.hasOther) {
      violations.push({ rule: 'results-first', ...place, detail: `the result of ${id} stands behind other content` });
    }
    turn.answeredIds.add(id);
  });
  return violations;
}
