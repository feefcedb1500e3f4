/**
 * Builds turns that all APIs accept: roles alternate, each call is answered first in the next turn,
 * and ids are unique.
 */
import { isToolResult, isToolUse } from '../../core/messages/blocks';
import { foldSystemMessages } from '../../core/messages/foldSystem';
import type { ApiMessage, Block, ToolResultBlock, ToolUseBlock } from '../../core/messages/types';
import type { ExportLosses } from './losses';

export interface ExportTurn {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly Block[];
}

/**
 * Returns nothing if the target can't express the block. Calls and results must stay calls and
 * results.
 */
export type ConvertBlock = (block: Block, role: ExportTurn['role']) => readonly Block[];

export interface TurnsAndSystemTexts {
  readonly system: readonly string[];
  readonly turns: readonly ExportTurn[];
}

export function groupIntoTurns(
  messages: readonly ApiMessage[],
  convert: ConvertBlock,
  losses: ExportLosses,
  toNote?: (text: string) => Block,
): TurnsAndSystemTexts {
  const foldedMessages = foldSystemMessages(messages, toNote);
  const convertedTurns = foldedMessages.messages.map((message): ExportTurn => ({
    role: message.role,
    blocks: listBlocks(message).flatMap((block) => convert(block, message.role)),
  }));
  const turnsWithResults = addMissingResults(assignUniqueIds(mergeTurns(convertedTurns)), losses);
  return {
    system: foldedMessages.prompt.map(({ text }) => text),
    turns: ensureFirstTurnIsUser(mergeTurns(turnsWithResults), losses),
  };
}

export const makeTextBlock = (text: string): Block => ({ type: 'text', text });

const listBlocks = ({ content }: ApiMessage): readonly Block[] =>
  typeof content === 'string' ? [makeTextBlock(content)] : content;

function mergeTurns(turns: readonly ExportTurn[]): ExportTurn[] {
  const result: ExportTurn[] = [];
  for (const turn of turns) {
    const lastTurn = result.at(-1);
    if (turn.blocks.length === 0) continue;
    if (lastTurn?.role === turn.role)
      result.splice(-1, 1, { ...lastTurn, blocks: [...lastTurn.blocks, ...turn.blocks] });
    else result.push(turn);
  }
  return result;
}

interface UnansweredCall {
  readonly turn: number;
  readonly id: string;
}

interface TurnsWithUniqueIds {
  readonly turns: readonly ExportTurn[];
  /** Calls by original id, in order; joined histories may repeat ids. */
  readonly calls: ReadonlyMap<string, UnansweredCall[]>;
}

/** OpenAI rejects longer ids. */
const MAX_CALL_ID_CHARS = 40;

/** All APIs accept `^[a-zA-Z0-9_-]+$`; most calls keep their ids. */
function assignUniqueIds(turns: readonly ExportTurn[]): TurnsWithUniqueIds {
  const callsById = new Map<string, UnansweredCall[]>();
  const usedIds = new Set<string>();
  const makeUniqueCallId = (id: string): string => {
    const baseId = id.replace(/[^\w-]/g, '_').slice(0, MAX_CALL_ID_CHARS) || 'call';
    let uniqueId = baseId;
    for (let copy = 2; usedIds.has(uniqueId); copy += 1) {
      const suffix = `_${copy}`;
      uniqueId = baseId.slice(0, MAX_CALL_ID_CHARS - suffix.length) + suffix;
    }
    usedIds.add(uniqueId);
    return uniqueId;
  };
  const turnsWithUniqueIds = turns.map((turn, index) => ({
    ...turn,
    blocks: turn.blocks.map((block): Block => {
      if (turn.role !== 'assistant' || !isToolUse(block)) return block;
      const id = makeUniqueCallId(block.id);
      const callsWithSameId = callsById.get(block.id);
      if (callsWithSameId) callsWithSameId.push({ turn: index, id });
      else callsById.set(block.id, [{ turn: index, id }]);
      return { ...block, id };
    }),
  }));
  return { turns: turnsWithUniqueIds, calls: callsById };
}

export const MISSING_RESULT_TEXT = 'No result was recorded.';

function addMissingResults({ turns, calls }: TurnsWithUniqueIds, losses: ExportLosses): ExportTurn[] {
  const resultsByCall = new Map<string, ToolResultBlock>();
  const turnsWithoutResults = turns.map((turn, index): ExportTurn => {
    const blocks = turn.blocks.flatMap((block): readonly Block[] => {
      if (!isToolResult(block)) return [block];
      const openCalls = calls.get(block.tool_use_id);
      const callIndex = openCalls?.findIndex((each) => each.turn < index) ?? -1;
      const call = callIndex === -1 ? undefined : openCalls?.splice(callIndex, 1)[0];
      if (!call) {
        losses.addLoss('result', 'without its call, exported as text');
        return [makeTextBlock(`[Result without its call]\n${getResultText(block)}`)];
      }
      if (call.turn !== index - 1) losses.addLoss('result', 'moved to its call');
      resultsByCall.set(call.id, { ...block, tool_use_id: call.id });
      return [];
    });
    return { ...turn, blocks };
  });
  const turnsWithResults: ExportTurn[] = [];
  let results: readonly Block[] = [];
  for (const turn of turnsWithoutResults) {
    turnsWithResults.push(turn.role === 'user' ? { ...turn, blocks: [...results, ...turn.blocks] } : turn);
    results =
      turn.role === 'user'
        ? []
        : turn.blocks.filter(isToolUse).map((call) => getResultOrPlaceholder(call, resultsByCall, losses));
  }
  return results.length === 0 ? turnsWithResults : [...turnsWithResults, { role: 'user', blocks: results }];
}

function getResultOrPlaceholder(
  { id }: ToolUseBlock,
  resultsByCall: ReadonlyMap<string, ToolResultBlock>,
  losses: ExportLosses,
): Block {
  const answer = resultsByCall.get(id);
  if (answer) return answer;
  losses.addLoss('call', `without a result, answered with “${MISSING_RESULT_TEXT}”`);
  return { type: 'tool_result', tool_use_id: id, content: MISSING_RESULT_TEXT, is_error: true };
}

export function getResultText({ content }: ToolResultBlock): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.map(getPartText).join('\n');
}

/** Cline 4 stores parts of a result without a type. */
function getPartText(part: Block): string {
  const { type, text }: { readonly type?: unknown; readonly text?: unknown } = part;
  if (typeof text === 'string') return text;
  return typeof type === 'string' ? `[${type}]` : JSON.stringify(part);
}

function ensureFirstTurnIsUser(turns: readonly ExportTurn[], losses: ExportLosses): ExportTurn[] {
  if (turns.length === 0) {
    losses.addLoss('message', 'added because nothing else is left to export');
    return [{ role: 'user', blocks: [makeTextBlock('(Nothing of this conversation can be told here.)')] }];
  }
  if (turns[0]?.role !== 'assistant') return [...turns];
  losses.addLoss('first message', 'added because APIs require a conversation to begin with the user');
  return [{ role: 'user', blocks: [makeTextBlock('(What came before is not part of this export.)')] }, ...turns];
}
