import { isAnyThinking, isImage, isRecord, isText, isToolResult, isToolUse } from '../../core/messages/blocks';
import { getProgramId } from '../../core/messages/firewall';
import { isCalledByProgram } from '../../core/messages/programs';
import type { Block, ToolResultBlock } from '../../core/messages/types';
import { type Fields, readString } from '../text/values';
import type { ExportLosses } from './losses';
import { renderSystemText } from './system';
import { toValidCall, collectExportedTools } from './tools';
import { type ConvertBlock, type ExportTurn, makeTextBlock, getResultText, groupIntoTurns } from './turns';
import type { ConversationToExport } from './types';

export function exportToAnthropic({ messages, request }: ConversationToExport, losses: ExportLosses): Fields {
  const { system, turns } = groupIntoTurns(messages, createBlockConverter(losses), losses);
  const finishedProgramIds = listFinishedProgramCallIds(turns);
  const completeTurns = turns.map((turn) => dropUnpairedServerBlocks(turn, finishedProgramIds, losses));
  const prompt = renderSystemText(request, system);
  const tools = collectExportedTools(request, completeTurns, losses);
  return {
    ...(prompt !== '' && { system: prompt }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        name,
        ...(description !== undefined && { description }),
        input_schema: schema,
      })),
    }),
    messages: completeTurns.map(({ role, blocks }) => ({ role, content: blocks })),
  };
}

const createBlockConverter =
  (losses: ExportLosses): ConvertBlock =>
  (block, role) => {
    if (isText(block)) return block.text.trim() === '' ? [] : [makeTextBlock(block.text)];
    if (isImage(block)) return [exportImage(block, losses)];
    if (block.type === 'document') return [exportDocument(block, losses)];
    if (isAnyThinking(block)) return exportThinking(block, role, losses);
    if (isToolUse(block) && role === 'assistant')
      return [pickFields(toValidCall(block), ['type', 'id', 'name', 'input', 'caller'])];
    if (isToolResult(block))
      return role === 'user' ? [exportToolResult(block, losses)] : [makeTextBlock(`[Result]\n${getResultText(block)}`)];
    if (role === 'assistant' && SERVER_BLOCK_TYPE.test(block.type)) return [block];
    losses.addLoss(`block of type “${block.type}”`, 'left out because Anthropic has no equivalent');
    return [];
  };

/** These blocks are calls that ran on Anthropic's servers, and their results. */
const SERVER_BLOCK_TYPE = /^(?:server_tool_use|mcp_tool_use|(?!tool_result$)\w+_tool_result)$/;
const ACCEPTED_IMAGE_TYPES: readonly unknown[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function exportImage({ source }: Block, losses: ExportLosses): Block {
  const convertedSource = isRecord(source) ? convertImageSource(source) : undefined;
  if (convertedSource) return { type: 'image', source: convertedSource };
  losses.addLoss('image', 'left out because Anthropic does not accept this type or address');
  return makeTextBlock('[image]');
}

function convertImageSource(source: Fields): Fields | undefined {
  const { type, media_type: mediaType, data, url } = source;
  if (type === 'url') return typeof url === 'string' && /^https?:/.test(url) ? { type, url } : undefined;
  const isComplete =
    type === 'base64' && ACCEPTED_IMAGE_TYPES.includes(mediaType) && typeof data === 'string' && data !== '';
  return isComplete ? { type, media_type: mediaType, data } : undefined;
}

function exportDocument(block: Block, losses: ExportLosses): Block {
  const { source } = block;
  const title = readString(block, 'title');
  if (isRecord(source)) {
    const { type, media_type: mediaType, data, url } = source;
    const exportedSource =
      type === 'url' && typeof url === 'string'
        ? { type, url }
        : typeof data === 'string' && data !== '' && (type === 'base64' || type === 'text')
          ? { type, media_type: mediaType, data }
          : undefined;
    if (exportedSource) return { type: 'document', source: exportedSource, ...(title !== undefined && { title }) };
  }
  losses.addLoss('document', 'left out because Anthropic does not accept this type');
  return makeTextBlock(`[document${title === undefined ? '' : ` ${title}`}]`);
}

/** Anthropic accepts only thinking with its own signature. */
function exportThinking(block: Block, role: ExportTurn['role'], losses: ExportLosses): Block[] {
  if (role === 'assistant') {
    const data = readString(block, 'data');
    if (block.type === 'redacted_thinking' && data !== undefined && data !== '') return [{ type: block.type, data }];
    const signature = readString(block, 'signature');
    const thinking = readString(block, 'thinking');
    if (thinking !== undefined && signature !== undefined && signature !== '') {
      return [{ type: 'thinking', thinking, signature }];
    }
  }
  losses.addLoss('thought', 'left out because Anthropic accepts only those that it signed');
  return [];
}

const pickFields = (block: Block, fields: readonly string[]): Block => ({
  ...Object.fromEntries(fields.filter((field) => block[field] !== undefined).map((field) => [field, block[field]])),
  type: block.type,
});

function exportToolResult(block: ToolResultBlock, losses: ExportLosses): Block {
  const result = { type: 'tool_result', tool_use_id: block.tool_use_id };
  if (block.is_error === true) {
    // The API accepts only nonempty text for a tool's error.
    const text = getResultText(block);
    return { ...result, content: text.trim() === '' ? 'The tool failed.' : text, is_error: true };
  }
  if (typeof block.content === 'string') return block.content === '' ? result : { ...result, content: block.content };
  const resultParts = (block.content ?? []).flatMap((part) => exportResultPart(part, losses));
  return resultParts.length === 0 ? result : { ...result, content: resultParts };
}

function exportResultPart(block: Block, losses: ExportLosses): Block[] {
  if (isText(block)) return block.text.trim() === '' ? [] : [makeTextBlock(block.text)];
  if (isImage(block)) return [exportImage(block, losses)];
  if (block.type === 'document') return [exportDocument(block, losses)];
  return [makeTextBlock(JSON.stringify(block))];
}

/** Programs on Anthropic's servers that have finished; their results are in a later turn. */
function listFinishedProgramCallIds(turns: readonly ExportTurn[]): ReadonlySet<unknown> {
  const blocks = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.blocks : []));
  const startedIds = new Set(blocks.filter(({ type }) => type === 'server_tool_use').map(({ id }) => id));
  const finishedIds = new Set(
    blocks.filter(({ type }) => SERVER_BLOCK_TYPE.test(type)).map((block) => block['tool_use_id']),
  );
  const programIds = blocks.filter(isToolUse).map(getProgramId);
  return new Set(programIds.filter((id) => startedIds.has(id) && finishedIds.has(id)));
}

/** The API rejects a call that names a program outside its turn. */
const dropUnknownCallers =
  (programs: ReadonlySet<unknown>) =>
  (block: Block): Block => {
    const { caller: _, ...rest } = block;
    return isToolUse(block) && isCalledByProgram(block) && !programs.has(getProgramId(block))
      ? { ...rest, type: block.type }
      : block;
  };

/**
 * The API rejects a server call without its result, a result without its call, and thinking as the
 * last block.
 */
function dropUnpairedServerBlocks(
  { role, blocks }: ExportTurn,
  programs: ReadonlySet<unknown>,
  losses: ExportLosses,
): ExportTurn {
  if (role === 'user') return { role, blocks };
  const calls = new Set(
    blocks.filter(({ type }) => /^(?:server|mcp)_tool_use$/.test(type)).map((block) => block['id']),
  );
  const results = new Set(
    blocks.filter(({ type }) => SERVER_BLOCK_TYPE.test(type)).map((block) => block['tool_use_id']),
  );
  const pairedBlocks = blocks.map(dropUnknownCallers(calls)).filter((block) => {
    if (!SERVER_BLOCK_TYPE.test(block.type)) return true;
    const id = block.type.endsWith('_tool_use') ? block['id'] : block['tool_use_id'];
    const isPaired = programs.has(id) || (block.type.endsWith('_tool_use') ? results.has(id) : calls.has(id));
    if (!isPaired) losses.addLoss(`block of type “${block.type}”`, 'left out because its counterpart is missing');
    return isPaired;
  });
  const lastNonThinkingIndex = pairedBlocks.findLastIndex((block) => !isAnyThinking(block));
  losses.addLoss('thought', 'left out because nothing follows', pairedBlocks.length - 1 - lastNonThinkingIndex);
  const sentBlocks = pairedBlocks.slice(0, lastNonThinkingIndex + 1);
  return { role, blocks: sentBlocks.length === 0 ? [makeTextBlock('(no words)')] : sentBlocks };
}
