/**
 * Calls and results may lack IDs (Gemini CLI's subagents), so this pairs them by name and order.
 * Source: Gemini API reference, "Generating content" and "Function calling".
 */
import { validateUsage, parseTokens } from '../../api/usage';
import { stringifyValue, readRecord, readString, type Fields } from '../../conversations/text/values';
import type { Usage } from '../../core/cost/usage';
import { isRecord } from '../../core/messages/blocks';
import type { Block, Path } from '../../core/messages/types';
import {
  MessageListBuilder,
  makeRawBlock,
  makeBlockWithSource,
  makeTextBlockWithSource,
  type BlockWithSource,
} from './reading';
import type { RequestBody, StringSource, WireFormat, WireRequest } from './wire';

export const geminiWire: WireFormat = {
  name: 'gemini',
  list: 'contents',
  read: readGeminiRequest,
  // In a tool result, text is written as a file, for which text is an allowed type (Gemini API
  // guide, "Multimodal function responses").
  textPart: (text, path, originalPart) =>
    path.includes('functionResponse')
      ? {
          inlineData: {
            ...pickDisplayName(originalPart),
            mimeType: 'text/plain',
            data: Buffer.from(text).toString('base64'),
          },
        }
      : { text },
  userItem: (text) => ({ role: 'user', parts: [{ text }] }),
  usage: ({ usageMetadata }, before) => (isRecord(usageMetadata) ? convertGeminiUsage(usageMetadata) : before),
  // Google's SDK checks each chunk of a stream for an error (googleapis/js-genai,
  // `processStreamResponse`).
  failure: ({ error }) => error,
};

/** A response's fields refer to its parts by name: `{"$ref": "shot.png"}`. */
function pickDisplayName(part: unknown): { readonly displayName?: string } {
  const media = isRecord(part) ? (readRecord(part, 'inlineData') ?? readRecord(part, 'fileData')) : undefined;
  const displayName = media && readString(media, 'displayName');
  return displayName === undefined ? {} : { displayName };
}

function readGeminiRequest(body: RequestBody): WireRequest | undefined {
  const { contents, tools, generationConfig } = body;
  const prompt = readRecord(body, 'systemInstruction') ?? readRecord(body, 'system_instruction');
  if (!Array.isArray(contents)) return undefined;
  const messageList = new MessageListBuilder();
  const calls = new UnansweredCalls();
  for (const [index, content] of (contents as readonly unknown[]).entries()) {
    if (!isRecord(content)) return undefined;
    const { role, parts } = content;
    if (!Array.isArray(parts)) return undefined;
    const isModel = role === 'model';
    if (isModel) calls.startTurn();
    const path: Path = ['contents', index];
    const blocks = (parts as readonly unknown[]).flatMap((part, partIndex) =>
      readGeminiPart(part, path.concat('parts', partIndex), isModel, calls),
    );
    messageList.addMessage(isModel ? 'assistant' : 'user', path, blocks);
  }
  const system = joinPartTexts(prompt?.['parts']);
  const maxOutputTokens = isRecord(generationConfig) ? generationConfig['maxOutputTokens'] : undefined;
  return {
    ...messageList.finishReading(),
    tools: Array.isArray(tools) ? tools : [],
    ...(system !== '' && { system }),
    ...(typeof maxOutputTokens === 'number' && { maxOutputTokens }),
  };
}

const joinPartTexts = (parts: unknown): string =>
  Array.isArray(parts)
    ? (parts as readonly unknown[]).map((part) => (isRecord(part) ? stringifyValue(part['text']) : '')).join('\n')
    : '';

class UnansweredCalls {
  private readonly counts = new Map<string, number>();
  private readonly ids = new Set<string>();
  private openCalls: { readonly id: string; readonly name: string; readonly sent: string | undefined }[] = [];

  startTurn(): void {
    this.openCalls = [];
  }

  assignCallId(name: string, sentId: string | undefined): string {
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    const id = sentId !== undefined && !this.ids.has(sentId) ? sentId : `${name}#${count}`;
    this.ids.add(id);
    this.openCalls.push({ id, name, sent: sentId });
    return id;
  }

  /** A result without a call keeps its own ID. */
  findAnsweredCallId(name: string, sentId: string | undefined): string {
    const indexById = sentId === undefined ? -1 : this.openCalls.findIndex((call) => call.sent === sentId);
    const callIndex = indexById >= 0 ? indexById : this.openCalls.findIndex((call) => call.name === name);
    const [call] = callIndex < 0 ? [] : this.openCalls.splice(callIndex, 1);
    return call?.id ?? `${name}#${sentId ?? 'unasked'}`;
  }
}

function readGeminiPart(part: unknown, path: Path, isModel: boolean, calls: UnansweredCalls): BlockWithSource[] {
  if (!isRecord(part)) return [makeRawBlock(part, path)];
  const functionCall = readRecord(part, 'functionCall');
  const name = functionCall && readString(functionCall, 'name');
  if (functionCall && name !== undefined && isModel) {
    const id = calls.assignCallId(name, readString(functionCall, 'id'));
    const block: Block = { type: 'tool_use', id, name, input: functionCall['args'] ?? {} };
    return [makeBlockWithSource(block, path, [{ from: ['input'], to: path.concat('functionCall', 'args') }])];
  }
  const response = readRecord(part, 'functionResponse');
  const answeredName = response && readString(response, 'name');
  if (response && answeredName !== undefined && !isModel) {
    const id = calls.findAnsweredCallId(answeredName, readString(response, 'id'));
    return [readFunctionResponse(id, response, path.concat('functionResponse'))];
  }
  const text = readString(part, 'text');
  if (text !== undefined && part['thought'] !== true) return makeTextBlockWithSource(text, path, path.concat('text'));
  const image = readInlineImage(part);
  return [image ? makeBlockWithSource(image, path, []) : makeRawBlock(part, path)];
}

function readInlineImage(part: Fields): Block | undefined {
  const media = readRecord(part, 'inlineData');
  const mimeType = media && readString(media, 'mimeType');
  const data = media && readString(media, 'data');
  return mimeType?.startsWith('image/') === true && data !== undefined
    ? { type: 'image', source: { type: 'base64', media_type: mimeType, data } }
    : undefined;
}

/** Fields of a tool's response that contain its text, by Google's guide and as agents use them. */
const RESPONSE_TEXT_FIELDS = ['output', 'error', 'content', 'result'];

function readFunctionResponse(id: string, response: Fields, path: Path): BlockWithSource {
  const responseFields = readRecord(response, 'response') ?? {};
  const responsePath = path.concat('response');
  const textFields = RESPONSE_TEXT_FIELDS.filter(
    (field) => typeof responseFields[field] === 'string' && responseFields[field] !== '',
  );
  const shownFields =
    textFields.length > 0
      ? textFields
      : Object.keys(responseFields).filter((field) => isLongText(responseFields[field]));
  const textBlocks = shownFields.map((field): Block => ({ type: 'text', text: responseFields[field] as string }));
  const otherFields = Object.fromEntries(
    Object.entries(responseFields).filter(([field]) => !shownFields.includes(field)),
  );
  const responseBlocks: Block[] = [
    ...textBlocks,
    ...(Object.keys(otherFields).length > 0 ? [{ type: 'raw', part: otherFields }] : []),
  ];
  const { parts = [] } = response;
  const files = (Array.isArray(parts) ? (parts as readonly unknown[]) : [parts]).map(
    (part): Block => (isRecord(part) && readInlineImage(part)) || { type: 'raw', part },
  );
  const strings = [
    ...shownFields.map((field, fileIndex): StringSource => ({
      from: ['content', fileIndex, 'text'],
      to: responsePath.concat(field),
    })),
    ...files.map((_, at): StringSource => ({
      from: ['content', responseBlocks.length + at],
      to: path.concat('parts', at),
    })),
  ];
  return makeBlockWithSource(
    { type: 'tool_result', tool_use_id: id, content: [...responseBlocks, ...files] },
    path.slice(0, -1),
    strings,
  );
}

const LONG_TEXT_CHARS = 200;
const isLongText = (value: unknown): boolean => typeof value === 'string' && value.length >= LONG_TEXT_CHARS;

/**
 * Source: Gemini API reference, "UsageMetadata": the prompt includes cached tokens, the candidates
 * don't include thoughts.
 */
const convertGeminiUsage = (reportedUsage: Fields): Usage | undefined =>
  validateUsage({
    accounting: 'openai',
    inputTokens: parseTokens(reportedUsage['promptTokenCount']) + parseTokens(reportedUsage['toolUsePromptTokenCount']),
    outputTokens: parseTokens(reportedUsage['candidatesTokenCount']) + parseTokens(reportedUsage['thoughtsTokenCount']),
    cacheReadTokens: parseTokens(reportedUsage['cachedContentTokenCount']),
    cacheWriteTokens: 0,
    reasoningTokens: parseTokens(reportedUsage['thoughtsTokenCount']),
  });
