/** Converts parts as OpenCode does for a model (`toModelMessages`, message-v2.ts). */
import { isRecord } from '../../../core/messages/blocks';
import type { ApiMessage, Block } from '../../../core/messages/types';
import { splitPromptAtAttachments } from '../splitPrompt';
import type { OpenCodeMessage } from './history';
import { type Fields, stringifyValue, convertImageUrl, readList, readRecord, readString } from '../../text/values';

export interface PartConversionOptions {
  /**
   * For tool outputs that OpenCode cleared: `original` keeps the output, `told` gives the
   * placeholder that the model gets.
   */
  readonly cleared: 'original' | 'told';
  /**
   * Filled by the conversion: maps a part (the end of a step) or a message's `info` to the reply to
   * which it belongs.
   */
  readonly owners?: Map<Fields, ApiMessage>;
}

const CLEARED_OUTPUT_TEXT = '[Old tool result content cleared]';

export const convertOpenCodeMessages = (
  messages: readonly OpenCodeMessage[],
  options: PartConversionOptions,
): ApiMessage[] =>
  messages.flatMap((message) =>
    message.info['role'] === 'assistant'
      ? convertAssistantMessage(message, options)
      : convertUserMessage(message, options),
  );

function convertUserMessage({ info, parts }: OpenCodeMessage, { owners }: PartConversionOptions): ApiMessage[] {
  const attachedBlocks = new Set<Block>();
  const content = parts.flatMap((part) => {
    const blocks = convertUserPart(part);
    if (isAddedByAgent(part)) for (const block of blocks) attachedBlocks.add(block);
    return blocks;
  });
  if (content.length === 0) return [];
  if (info['role'] === 'system') return [{ role: 'system', content }];
  if (info['checkpoint'] !== true) return splitPromptAtAttachments(content, attachedBlocks);
  const summary: ApiMessage = { role: 'user', content, isSummary: true };
  owners?.set(info, summary);
  return [summary];
}

/** OpenCode adds files that it read, and questions that it asks itself, to a user's message. */
const isAddedByAgent = (part: Fields): boolean =>
  part['synthetic'] === true || part['type'] === 'compaction' || part['type'] === 'subtask';

function convertUserPart(part: Fields): Block[] {
  switch (part['type']) {
    case 'text':
      return part['ignored'] === true ? [] : makeTextBlocks(part['text']);
    case 'file':
      return convertFilePart(part);
    case 'compaction':
      return [{ type: 'text', text: 'What did we do so far?' }];
    case 'subtask':
      return [
        { type: 'text', text: 'The following tool was executed by the user' },
        { type: 'opencode_part', part },
      ];
    default:
      return STRUCTURAL_PART_TYPES.has(part['type']) ? [] : [{ type: 'opencode_part', part }];
  }
}

const STRUCTURAL_PART_TYPES = new Set<unknown>(['step-start', 'step-finish', 'snapshot', 'patch', 'agent', 'retry']);

function convertAssistantMessage({ info, parts }: OpenCodeMessage, options: PartConversionOptions): ApiMessage[] {
  return splitSteps(parts).flatMap((step) => {
    const content = step.flatMap(convertReplyPart);
    if (content.length === 0) return [];
    const results = step.flatMap((part) => convertToolResult(part, options));
    const reply: ApiMessage = { role: 'assistant', content, ...(info['summary'] === true && { isSummary: true }) };
    options.owners?.set(info, reply);
    for (const part of step) if (part['type'] === 'step-finish') options.owners?.set(part, reply);
    return results.length === 0 ? [reply] : [reply, { role: 'user', content: results }];
  });
}

function splitSteps(parts: readonly Fields[]): readonly (readonly Fields[])[] {
  const steps: Fields[][] = [[]];
  for (const part of parts) {
    if (part['type'] === 'step-start') steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps;
}

function convertReplyPart(part: Fields): Block[] {
  switch (part['type']) {
    case 'text':
      return makeTextBlocks(part['text']);
    case 'reasoning':
      return convertReasoning(part);
    case 'tool':
      return convertToolCall(part);
    case 'file':
      return convertFilePart(part);
    default:
      return STRUCTURAL_PART_TYPES.has(part['type']) ? [] : [{ type: 'opencode_part', part }];
  }
}

function makeTextBlocks(value: unknown): Block[] {
  const text = stringifyValue(value);
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/**
 * The vendor's metadata contain Anthropic's signature. Thinking without a signature can't be sent
 * back.
 */
function convertReasoning(part: Fields): Block[] {
  const anthropic = readRecord(readRecord(part, 'metadata') ?? {}, 'anthropic') ?? {};
  const redactedData = readString(anthropic, 'redactedData');
  if (redactedData !== undefined) return [{ type: 'redacted_thinking', data: redactedData }];
  const thinking = stringifyValue(part['text']);
  const signature = readString(anthropic, 'signature');
  if (thinking === '' && signature === undefined) return [];
  return [{ type: 'thinking', thinking, ...(signature !== undefined && { signature }) }];
}

function convertToolCall(part: Fields): Block[] {
  const id = readString(part, 'callID');
  const name = readString(part, 'tool');
  if (id === undefined || name === undefined) return [{ type: 'opencode_part', part }];
  return [{ type: 'tool_use', id, name, input: readRecord(part, 'state')?.['input'] ?? {} }];
}

/** Returns no block if the call never finished. */
function convertToolResult(part: Fields, { cleared }: PartConversionOptions): Block[] {
  const id = readString(part, 'callID');
  const state = readRecord(part, 'state');
  if (part['type'] !== 'tool' || id === undefined || !state) return [];
  const result = { type: 'tool_result', tool_use_id: id };
  if (state['status'] === 'error') {
    const metadata = readRecord(state, 'metadata');
    const output = metadata?.['interrupted'] === true ? readString(metadata, 'output') : undefined;
    if (output !== undefined) return [{ ...result, content: output }];
    return [{ ...result, content: stringifyValue(state['error']) || 'The tool failed.', is_error: true }];
  }
  if (state['status'] !== 'completed') return [];
  if (cleared === 'told' && readRecord(state, 'time')?.['compacted'])
    return [{ ...result, content: CLEARED_OUTPUT_TEXT }];
  const output = stringifyValue(state['output']);
  const files = readList(state, 'attachments').flatMap((file) => (isRecord(file) ? convertFilePart(file) : []));
  return [{ ...result, content: files.length > 0 ? [...makeTextBlocks(output), ...files] : output }];
}

/** OpenCode has already turned text files and folders into text parts. */
function convertFilePart(file: Fields): Block[] {
  const mime = readString(file, 'mime') ?? '';
  const url = readString(file, 'url');
  if (url === undefined || mime === 'text/plain' || mime === 'application/x-directory') return [];
  if (mime.startsWith('image/')) return [{ type: 'image', source: convertImageUrl(url) }];
  const title = readString(file, 'filename');
  if (mime === 'application/pdf') {
    return [{ type: 'document', source: convertImageUrl(url), ...(title !== undefined && { title }) }];
  }
  return [{ type: 'opencode_part', part: file }];
}
