import { isAnyThinking, isImage, isText, isToolResult, isToolUse } from '../../core/messages/blocks';
import type { Block, ToolResultBlock, ToolUseBlock } from '../../core/messages/types';
import { renderArguments } from '../formats/openai/arguments';
import { getImageUrl } from '../formats/openai/parts';
import { type Fields, recordIn, readString } from '../text/values';
import type { Losses } from './losses';
import { renderSystemText } from './system';
import { toValidCall, collectTools } from './tools';
import { type ConvertBlock, type Turn, MISSING_RESULT_TEXT, makeTextBlock, getResultText, toTurns } from './turns';
import type { Exportable } from './types';

export function exportToOpenAI({ messages, request }: Exportable, losses: Losses): Fields {
  const { system, turns } = toTurns(messages, createBlockConverter(losses), losses, (text) => ({
    type: SYSTEM_NOTE_TYPE,
    text,
  }));
  const prompt = renderSystemText(request, system);
  const tools = collectTools(request, turns, losses);
  return {
    messages: [
      ...(prompt === '' ? [] : [{ role: 'system', content: prompt }]),
      ...turns.flatMap((turn) => (turn.role === 'user' ? toUserMessages(turn, losses) : [toReply(turn)])),
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
  (losses: Losses): ConvertBlock =>
  (block, role) => {
    if (isText(block)) return block.text.trim() === '' ? [] : [makeTextBlock(block.text)];
    if (block.type === SYSTEM_NOTE_TYPE) return [block];
    if (isImage(block)) return [toImage(block, role, losses)];
    if (block.type === 'document') return [toFile(block, role, losses)];
    if (isAnyThinking(block) || block.type === 'openai_reasoning') {
      losses.add('thought', 'left out because Chat Completions has no equivalent');
      return [];
    }
    if (isToolUse(block) && role === 'assistant') return [toValidCall(block)];
    if (isToolResult(block)) return role === 'user' ? [block] : [makeTextBlock(`[Result]\n${getResultText(block)}`)];
    losses.add(`block of type “${block.type}”`, 'left out because OpenAI has no equivalent');
    return [];
  };

function toImage(block: Block, role: Turn['role'], losses: Losses): Block {
  const url = getImageUrl(block['source']);
  if (role === 'user' && url !== undefined) return { type: 'image_url', image_url: { url } };
  losses.add(
    'image',
    role === 'user' ? 'left out because it has no address' : 'left out because OpenAI allows none for an assistant',
  );
  return makeTextBlock('[image]');
}

/** A PDF becomes a file part (OpenAI guide, "File inputs"). */
function toFile(block: Block, role: Turn['role'], losses: Losses): Block {
  const source = recordIn(block, 'source') ?? {};
  const data = readString(source, 'data');
  if (source['type'] === 'text' && data !== undefined && data.trim() !== '') return makeTextBlock(data);
  const filename = readString(block, 'title') ?? 'document.pdf';
  if (role === 'user' && source['media_type'] === 'application/pdf' && data !== undefined) {
    return { type: 'file', file: { filename, file_data: `data:application/pdf;base64,${data}` } };
  }
  losses.add('document', 'left out because OpenAI does not accept this type');
  return makeTextBlock(`[document ${filename}]`);
}

/** Tool messages accept only text, so a result's images follow in the user's message. */
function toUserMessages({ blocks }: Turn, losses: Losses): Fields[] {
  const results = blocks.filter(isToolResult);
  const images = results.flatMap((result) => listImages(result, losses));
  losses.add('failed result', 'not marked as failed because OpenAI has no equivalent', results.filter(isFailed).length);
  const rest = [
    ...(images.length > 0 ? [makeTextBlock('Images of the results above:'), ...images] : []),
    ...blocks.filter((block) => !isToolResult(block)),
  ];
  return [
    ...results.map((result) => ({ role: 'tool', tool_call_id: result.tool_use_id, content: getResultText(result) })),
    ...toSpokenMessages(rest),
  ];
}

function toSpokenMessages(blocks: readonly Block[]): Fields[] {
  const messages: Fields[] = [];
  let words: Block[] = [];
  const speak = (): void => {
    if (words.length > 0) messages.push({ role: 'user', content: toContent(words) });
    words = [];
  };
  for (const block of blocks) {
    if (block.type === SYSTEM_NOTE_TYPE) {
      speak();
      messages.push({ role: 'system', content: block['text'] });
    } else words.push(block);
  }
  speak();
  return messages;
}

const isFailed = ({ is_error: isError, content }: ToolResultBlock): boolean =>
  isError === true && content !== MISSING_RESULT_TEXT;

const listImages = ({ content }: ToolResultBlock, losses: Losses): Block[] =>
  Array.isArray(content)
    ? (content as readonly Block[]).filter(isImage).map((image) => toImage(image, 'user', losses))
    : [];

/** All servers accept a single string. */
function toContent(blocks: readonly Block[]): unknown {
  const texts = blocks.filter(isText);
  return texts.length === blocks.length ? texts.map(({ text }) => text).join('\n\n') : blocks;
}

function toReply({ blocks }: Turn): Fields {
  const calls = blocks.filter(isToolUse);
  const rest = blocks.filter((block) => !isToolUse(block));
  return {
    role: 'assistant',
    content: rest.length === 0 ? null : toContent(rest),
    ...(calls.length > 0 && { tool_calls: calls.map(toCall) }),
  };
}

const toCall = (call: ToolUseBlock): Fields => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: renderArguments(call) },
});
