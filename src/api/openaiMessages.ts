/** Removes what the API does not support before `convertToOpenAI` converts messages. */
import { convertToOpenAI } from '../conversations/formats/openai/openai';
import { convertPartToOpenAI } from '../conversations/formats/openai/parts';
import type { OpenAIRecord } from '../conversations/formats/openai/arguments';
import { getBlocks, isImage, isRecord, isText, isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block, TextBlock, ToolResultBlock } from '../core/messages/types';
import type { ChatDialect } from './dialect';
import { addReasoning } from './chatReasoning';
import { hashText } from '../core/hash';
import { foldSystemMessages } from '../core/messages/foldSystem';
import { convertUnsupportedToText, isOpenAIBlock, REASONING_BLOCK_TYPE } from './openaiBlocks';
import type { ApiRequest } from './types';

type MessageDialect = Pick<
  ChatDialect,
  'shortIds' | 'cacheMarks' | 'systemRole' | 'alternateRoles' | 'wantedReasoning'
>;

export function convertChatMessages({ system, messages }: ApiRequest, dialect: MessageDialect): OpenAIRecord[] {
  const systemBlocks = typeof system === 'string' ? [{ type: 'text', text: system } as const] : (system ?? []);
  const mustFoldSystemMessages = !dialect.systemRole || dialect.alternateRoles;
  const foldedMessages = mustFoldSystemMessages ? foldSystemMessages(messages) : { prompt: [], messages };
  const prompt = [...systemBlocks, ...foldedMessages.prompt].filter((block) => block.text.trim() !== '');
  const systemMessage: ApiMessage = { role: dialect.systemRole ? 'system' : 'user', content: prompt };
  const messagesWithPrompt = prompt.length > 0 ? [systemMessage, ...foldedMessages.messages] : foldedMessages.messages;
  const openaiMessages = messagesWithPrompt.flatMap((message) =>
    convertToOpenAI(prepareOpenAIMessage(message, dialect)).map((record) =>
      addReasoning(
        dialect.cacheMarks ? moveCacheBreakpoint(record, message) : record,
        message,
        dialect.wantedReasoning,
      ),
    ),
  );
  const nonEmptyMessages = openaiMessages.filter((message) => !isEmptyReply(message));
  const messagesWithIds = dialect.shortIds ? nonEmptyMessages.map(shortenCallIds) : nonEmptyMessages;
  return mustFoldSystemMessages ? mergeMessages(messagesWithIds) : messagesWithIds;
}

/**
 * Only content parts carry cache breakpoints (`@openrouter/sdk`, ChatToolMessage). All results take
 * this form, so that they don't change when a breakpoint moves.
 */
function moveCacheBreakpoint(record: OpenAIRecord, message: ApiMessage): OpenAIRecord {
  const { role, tool_call_id: id, content } = record;
  if (role !== 'tool' || typeof content !== 'string' || content === '') return record;
  const result = getBlocks(message).find((block) => isToolResult(block) && block.tool_use_id === id);
  const cacheControl = result?.['cache_control'];
  return {
    ...record,
    content: [{ type: 'text', text: content, ...(cacheControl !== undefined && { cache_control: cacheControl }) }],
  };
}

/** Mistral accepts only `^[a-zA-Z0-9]{9}$` (mistral-common). */
function shortenCallIds(record: OpenAIRecord): OpenAIRecord {
  const { tool_calls: calls, tool_call_id: id } = record;
  return {
    ...record,
    ...(typeof id === 'string' && { tool_call_id: shortenId(id) }),
    ...(Array.isArray(calls) && {
      tool_calls: calls.map((call: unknown) =>
        isRecord(call) && typeof call['id'] === 'string' ? { ...call, id: shortenId(call['id']) } : call,
      ),
    }),
  };
}

const shortenId = (id: string): string => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : hashText(id).slice(0, 9));

const isEmptyReply = ({ role, content, tool_calls: calls }: OpenAIRecord): boolean =>
  role === 'assistant' && calls === undefined && Array.isArray(content) && content.length === 0;

/** OpenAI's APIs return and accept these fields. */
const MESSAGE_FIELDS = [
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'audio',
  'function_call',
  'reasoning_details',
];

function prepareOpenAIMessage({ role, content, openai }: ApiMessage, dialect: MessageDialect): ApiMessage[] {
  const openaiFields = isRecord(openai) ? { openai: pickFields(openai, MESSAGE_FIELDS) } : {};
  if (typeof content === 'string') return [{ role, content, ...openaiFields }];
  if (content[0]?.type === 'openai_message') return [{ role, content }];
  const images: Block[] = [];
  const blocks = content.flatMap((block) => prepareOpenAIBlock(block, dialect, images));
  const imageBlocks = images.length > 0 ? [{ type: 'text', text: 'Images of the results above:' }, ...images] : [];
  // If the server accepts cache breakpoints, content always stays a list of parts, so that a cached
  // prefix doesn't change.
  return [
    {
      role,
      content: dialect.cacheMarks ? [...blocks, ...imageBlocks] : joinTextBlocks([...blocks, ...imageBlocks]),
      ...openaiFields,
    },
  ];
}

function prepareOpenAIBlock(block: Block, dialect: MessageDialect, images: Block[]): Block[] {
  if (isText(block)) return [convertText(block, dialect)];
  if (isToolUse(block)) {
    return [pickFields(block, ['type', 'id', 'name', 'input', 'rawArguments', 'openai'])] as Block[];
  }
  if (isToolResult(block)) return [extractResultImages(block, images)];
  if (isImage(block)) return [pickFields(block, ['type', 'source', 'openai'])] as Block[];
  if (block.type === 'thinking' || block.type === 'redacted_thinking' || block.type === REASONING_BLOCK_TYPE) return [];
  if (block.type === 'document') return [convertDocument(block) ?? convertUnsupportedToText(block)];
  return isOpenAIBlock(block) || KEPT_OPENAI_PART_TYPES.has(block.type) ? [block] : [convertUnsupportedToText(block)];
}

const KEPT_OPENAI_PART_TYPES = new Set(['input_audio', 'file', 'refusal']);

const convertText = (block: TextBlock, { cacheMarks }: MessageDialect): TextBlock =>
  pickFields(block, cacheMarks ? ['type', 'text', 'cache_control'] : ['type', 'text']) as TextBlock;

/** A `tool` message accepts only text, so its images follow in a user message. */
function extractResultImages({ tool_use_id: id, content, openai }: ToolResultBlock, images: Block[]): Block {
  const openaiFields = isRecord(openai) ? { openai } : {};
  if (!Array.isArray(content)) return { type: 'tool_result', tool_use_id: id, content: content ?? '', ...openaiFields };
  const resultTexts = (content as readonly Block[]).flatMap((part): string[] => {
    if (isText(part)) return [part.text];
    if (!isImage(part)) return [convertUnsupportedToText(part).text];
    images.push(pickFields(part, ['type', 'source', 'openai']) as Block);
    return [`[image ${images.length}, shown below]`];
  });
  // convertToOpenAI puts this content into the result's preserved fields.
  return { type: 'tool_result', tool_use_id: id, content: resultTexts.join('\n'), ...openaiFields };
}

/** A PDF becomes a file part (OpenAI guide, "File inputs"). */
function convertDocument({ source, title }: Block): Block | undefined {
  if (!isRecord(source) || source['type'] !== 'base64' || typeof source['data'] !== 'string') return undefined;
  const mediaType = typeof source['media_type'] === 'string' ? source['media_type'] : 'application/pdf';
  const filename = typeof title === 'string' ? title : 'document.pdf';
  return { type: 'file', file: { filename, file_data: `data:${mediaType};base64,${source['data']}` } };
}

/** A single string, because even servers without content parts accept that. */
function joinTextBlocks(blocks: readonly Block[]): string | Block[] {
  const contentBlocks = blocks.filter(
    (block) => !isToolUse(block) && !isToolResult(block) && block.type !== 'openai_call',
  );
  const textBlocks = contentBlocks.filter(isText);
  if (textBlocks.length !== contentBlocks.length) return [...blocks];
  const text = textBlocks.map((block) => block.text).join('\n');
  if (textBlocks.length > 0 && contentBlocks.length === blocks.length) return text;
  if (textBlocks.length < 2) return [...blocks];
  return [...blocks.filter((block) => !isText(block)), { type: 'text', text }];
}

function mergeMessages(messages: readonly OpenAIRecord[]): OpenAIRecord[] {
  const result: OpenAIRecord[] = [];
  for (const message of messages) {
    const lastMessage = result.at(-1);
    if (lastMessage && isMergeable(lastMessage, message)) {
      result.splice(-1, 1, { ...lastMessage, content: mergeContent(lastMessage['content'], message['content']) });
    } else result.push(message);
  }
  return result;
}

const isMergeable = (first: OpenAIRecord, second: OpenAIRecord): boolean =>
  first['role'] === second['role'] && first['role'] !== 'tool' && !first['tool_calls'] && !second['tool_calls'];

function mergeContent(first: unknown, second: unknown): unknown {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  return [...toContentParts(first), ...toContentParts(second)];
}

const toContentParts = (content: unknown): unknown[] =>
  Array.isArray(content) ? content : typeof content === 'string' ? [{ type: 'text', text: content }] : [];

const pickFields = (value: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(fields.filter((field) => value[field] !== undefined).map((field) => [field, value[field]]));

export function getImageUrl(block: Block): string | undefined {
  const part = convertPartToOpenAI(block);
  const image = isRecord(part) ? part['image_url'] : undefined;
  return isRecord(image) && typeof image['url'] === 'string' ? image['url'] : undefined;
}
