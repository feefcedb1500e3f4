import { isAnyThinking, isImage, isText, isToolResult, isToolUse } from '../../core/messages/blocks';
import type { Block, ToolResultBlock, ToolUseBlock } from '../../core/messages/types';
import { renderArguments } from '../formats/openai/arguments';
import { getImageUrl } from '../formats/openai/parts';
import { type Fields, readRecord, readString } from '../text/values';
import type { ExportLosses } from './losses';
import { renderSystemText } from './system';
import { toValidCall, collectExportedTools } from './tools';
import {
  type ConvertBlock,
  type ExportTurn,
  MISSING_RESULT_TEXT,
  makeTextBlock,
  getResultText,
  groupIntoTurns,
} from './turns';
import type { ConversationToExport } from './types';

export function exportToOpenAI({ messages, request }: ConversationToExport, losses: ExportLosses): Fields {
  const { system, turns } = groupIntoTurns(messages, createBlockConverter(losses), losses, (text) => ({
    type: SYSTEM_NOTE_TYPE,
    text,
  }));
  const prompt = renderSystemText(request, system);
  const tools = collectExportedTools(request, turns, losses);
  return {
    messages: [
      ...(prompt === '' ? [] : [{ role: 'system', content: prompt }]),
      ...turns.flatMap((turn) => (turn.role === 'user' ? exportUserTurn(turn, losses) : [exportAssistantTurn(turn)])),
    ],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, ...(description !== undefined && { description }), parameters: schema },
      })),
    }),
  };
}

/** Chat Completions accepts system messages in the middle of a conversation. */
const SYSTEM_NOTE_TYPE = 'system_note';

const createBlockConverter =
  (losses: ExportLosses): ConvertBlock =>
  (block, role) => {
    if (isText(block)) return block.text.trim() === '' ? [] : [makeTextBlock(block.text)];
    if (block.type === SYSTEM_NOTE_TYPE) return [block];
    if (isImage(block)) return [exportImage(block, role, losses)];
    if (block.type === 'document') return [exportFileBlock(block, role, losses)];
    if (isAnyThinking(block) || block.type === 'openai_reasoning') {
      losses.addLoss('thought', 'left out because Chat Completions has no equivalent');
      return [];
    }
    if (isToolUse(block) && role === 'assistant') return [toValidCall(block)];
    if (isToolResult(block)) return role === 'user' ? [block] : [makeTextBlock(`[Result]\n${getResultText(block)}`)];
    losses.addLoss(`block of type “${block.type}”`, 'left out because OpenAI has no equivalent');
    return [];
  };

function exportImage(block: Block, role: ExportTurn['role'], losses: ExportLosses): Block {
  const url = getImageUrl(block['source']);
  if (role === 'user' && url !== undefined) return { type: 'image_url', image_url: { url } };
  losses.addLoss(
    'image',
    role === 'user' ? 'left out because it has no address' : 'left out because OpenAI allows none for an assistant',
  );
  return makeTextBlock('[image]');
}

/** A PDF becomes a file part (OpenAI guide, "File inputs"). */
function exportFileBlock(block: Block, role: ExportTurn['role'], losses: ExportLosses): Block {
  const source = readRecord(block, 'source') ?? {};
  const data = readString(source, 'data');
  if (source['type'] === 'text' && data !== undefined && data.trim() !== '') return makeTextBlock(data);
  const filename = readString(block, 'title') ?? 'document.pdf';
  if (role === 'user' && source['media_type'] === 'application/pdf' && data !== undefined) {
    return { type: 'file', file: { filename, file_data: `data:application/pdf;base64,${data}` } };
  }
  losses.addLoss('document', 'left out because OpenAI does not accept this type');
  return makeTextBlock(`[document ${filename}]`);
}

/** Tool messages accept only text, so a result's images follow in the user's message. */
function exportUserTurn({ blocks }: ExportTurn, losses: ExportLosses): Fields[] {
  const results = blocks.filter(isToolResult);
  const images = results.flatMap((result) => listImages(result, losses));
  losses.addLoss(
    'failed result',
    'not marked as failed because OpenAI has no equivalent',
    results.filter(isFailedResult).length,
  );
  const otherBlocks = [
    ...(images.length > 0 ? [makeTextBlock('Images of the results above:'), ...images] : []),
    ...blocks.filter((block) => !isToolResult(block)),
  ];
  return [
    ...results.map((result) => ({ role: 'tool', tool_call_id: result.tool_use_id, content: getResultText(result) })),
    ...exportPromptBlocks(otherBlocks),
  ];
}

function exportPromptBlocks(blocks: readonly Block[]): Fields[] {
  const messages: Fields[] = [];
  let userBlocks: Block[] = [];
  const addUserMessage = (): void => {
    if (userBlocks.length > 0) messages.push({ role: 'user', content: exportTextContent(userBlocks) });
    userBlocks = [];
  };
  for (const block of blocks) {
    if (block.type === SYSTEM_NOTE_TYPE) {
      addUserMessage();
      messages.push({ role: 'system', content: block['text'] });
    } else userBlocks.push(block);
  }
  addUserMessage();
  return messages;
}

const isFailedResult = ({ is_error: isError, content }: ToolResultBlock): boolean =>
  isError === true && content !== MISSING_RESULT_TEXT;

const listImages = ({ content }: ToolResultBlock, losses: ExportLosses): Block[] =>
  Array.isArray(content)
    ? (content as readonly Block[]).filter(isImage).map((image) => exportImage(image, 'user', losses))
    : [];

/** All servers accept a single string. */
function exportTextContent(blocks: readonly Block[]): unknown {
  const texts = blocks.filter(isText);
  return texts.length === blocks.length ? texts.map(({ text }) => text).join('\n\n') : blocks;
}

function exportAssistantTurn({ blocks }: ExportTurn): Fields {
  const calls = blocks.filter(isToolUse);
  const blocksWithoutCalls = blocks.filter((block) => !isToolUse(block));
  return {
    role: 'assistant',
    content: blocksWithoutCalls.length === 0 ? null : exportTextContent(blocksWithoutCalls),
    ...(calls.length > 0 && { tool_calls: calls.map(exportToolCall) }),
  };
}

const exportToolCall = (call: ToolUseBlock): Fields => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: renderArguments(call) },
});
