/**
 * All models on Bedrock support its Converse API (API reference, "ConverseStream"; types of
 * `@aws-sdk/client-bedrock-runtime`).
 */
import type {
  BedrockRuntimeClient,
  ContentBlock,
  ConverseStreamCommandInput,
  ConverseStreamOutput,
  ImageFormat,
  Message,
  SystemContentBlock,
  Tool,
  ToolResultContentBlock,
} from '@aws-sdk/client-bedrock-runtime';
import { isImage, isRecord, isText, isToolResult, isToolUse, toBlocks } from '../core/messages/blocks';
import { foldSystemMessages } from '../core/messages/foldSystem';
import type { ApiMessage, Block, ToolResultBlock } from '../core/messages/types';
import { supportsConverseCache } from '../core/vendors/caches';
import type { ApiError } from './apiError';
import { streamWithRetries, type CallAttempt } from './call';
import { toApiError } from './classifyError';
import type { HandlerOptions } from './handlerOptions';
import { convertUnsupportedToText, REASONING_BLOCK_TYPE } from './openaiBlocks';
import { LearnedQuirks, type Quirk } from './quirks';
import { createUsageCounter } from './usageCounter';
import { parseToolCall } from './toolInput';
import type { ApiEvent, ApiHandler, ApiRequest, ModelInfo, StopReason, Usage } from './types';
import { validateUsage, parseTokens } from './usage';

export interface ConverseOptions extends HandlerOptions {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly connect: (attempt: CallAttempt) => Promise<BedrockRuntimeClient>;
}

interface ConverseDialect {
  readonly cachePoints: boolean;
  readonly forcedTools: boolean;
  readonly temperature: boolean;
}

const CONVERSE_QUIRKS: readonly Quirk<ConverseDialect>[] = [
  // "You invoked an unsupported model or your request did not allow prompt caching."
  { pattern: /prompt caching|cachePoint/i, change: { cachePoints: false } },
  // "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again."
  { pattern: /toolChoice/i, change: { forcedTools: false } },
  { pattern: /temperature/i, change: { temperature: false } },
];

export function createConverseHandler(options: ConverseOptions): ApiHandler {
  const { model, connect, name, secrets } = options;
  const countUsage = createUsageCounter(options.counter, model.id, 'anthropic');
  const modelInfo: ModelInfo = { ...model, vendor: 'bedrock', accounting: 'anthropic' };
  const classifyError = (raw: unknown): ApiError => toApiError(normalizeAwsError(raw), { name, secrets, now: 0 });
  const dialect: ConverseDialect = {
    cachePoints: supportsConverseCache(model.id),
    forcedTools: true,
    temperature: true,
  };
  const learnedQuirks = new LearnedQuirks(dialect, CONVERSE_QUIRKS, classifyError);
  return {
    modelInfo,
    stream: (request, signal) =>
      streamWithRetries({
        ...options,
        signal,
        countUsage: (output) => countUsage(request, output),
        async *attempt(attempt) {
          try {
            const [{ ConverseStreamCommand }, client] = await Promise.all([
              import('@aws-sdk/client-bedrock-runtime'),
              connect(attempt),
            ]);
            const { stream = createEmptyStream() } = await learnedQuirks.askWithLearnedDialect((known) =>
              client.send(new ConverseStreamCommand(buildConverseInput(request, options, known)), {
                abortSignal: attempt.signal,
              }),
            );
            yield* convertConverseStream(stream, attempt);
          } catch (error) {
            throw normalizeAwsError(error);
          }
        },
      }),
  };
}

async function* createEmptyStream(): AsyncGenerator<ConverseStreamOutput, void> {
  // Yields nothing, like a stream that was cut off before its first event.
}

function normalizeAwsError(error: unknown): unknown {
  if (!(error instanceof Error) || !('$metadata' in error)) return error;
  const metadata = isRecord(error.$metadata) ? error.$metadata : {};
  const errorType = error.name.charAt(0).toLowerCase() + error.name.slice(1);
  const fields = { error: { message: error.message, type: errorType }, status: metadata['httpStatusCode'] };
  return Object.assign(new Error(error.message), fields);
}

function buildConverseInput(
  request: ApiRequest,
  { model }: ConverseOptions,
  dialect: ConverseDialect,
): ConverseStreamCommandInput {
  const { tools = [], toolChoice, temperature, extraBody } = request;
  const maxTokens = request.maxOutputTokens ?? model.maxOutputTokens;
  const system = convertSystem(request, dialect);
  const declaredTools = tools.flatMap((tool): Tool[] => {
    const { name, description, input_schema: schema } = tool;
    // The SDK's document type accepts any JSON.
    const json = schema as NonNullable<NonNullable<Tool.ToolSpecMember['toolSpec']['inputSchema']>['json']>;
    // Nova rejects cache points among tools, and caches tools with what follows.
    return schema ? [{ toolSpec: { name, ...(description && { description }), inputSchema: { json } } }] : [];
  });
  const toolChoiceConfig =
    toolChoice === 'required' && dialect.forcedTools
      ? { toolChoice: { any: {} } }
      : typeof toolChoice === 'object' && dialect.forcedTools
        ? { toolChoice: { tool: { name: toolChoice.name } } }
        : {};
  return {
    modelId: model.id,
    messages: convertMessages(request, dialect),
    ...(system.length > 0 && { system }),
    inferenceConfig: {
      ...(maxTokens !== undefined && { maxTokens }),
      ...(temperature !== undefined && dialect.temperature && { temperature }),
    },
    ...(declaredTools.length > 0 && { toolConfig: { tools: declaredTools, ...toolChoiceConfig } }),
    // The SDK's document type accepts any JSON.
    ...(extraBody && {
      additionalModelRequestFields: extraBody as NonNullable<
        ConverseStreamCommandInput['additionalModelRequestFields']
      >,
    }),
  };
}

/** A cache point lasts five minutes, the only lifetime that Nova supports. */
const makeCachePoint = (
  { cache_control: mark }: Readonly<Record<string, unknown>>,
  { cachePoints }: ConverseDialect,
): { readonly cachePoint: { readonly type: 'default' } }[] =>
  cachePoints && isRecord(mark) ? [{ cachePoint: { type: 'default' } }] : [];

function convertSystem({ system, messages }: ApiRequest, dialect: ConverseDialect): SystemContentBlock[] {
  const systemBlocks = typeof system === 'string' ? [{ type: 'text', text: system } as const] : (system ?? []);
  return [...systemBlocks, ...foldSystemMessages(messages).prompt]
    .filter(({ text }) => text.trim() !== '')
    .flatMap((block) => [{ text: block.text }, ...makeCachePoint(block, dialect)]);
}

/** Merges consecutive messages of one role, since roles must alternate; results come first. */
function convertMessages({ messages }: ApiRequest, dialect: ConverseDialect): Message[] {
  const mergedMessages: { role: 'user' | 'assistant'; content: ContentBlock[] }[] = [];
  for (const message of foldSystemMessages(messages).messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = convertContent(message, dialect);
    if (content.length === 0) continue;
    const lastMessage = mergedMessages.at(-1);
    if (lastMessage?.role === role) lastMessage.content.push(...content);
    else mergedMessages.push({ role, content });
  }
  return mergedMessages;
}

const convertContent = (message: ApiMessage, dialect: ConverseDialect): ContentBlock[] =>
  toBlocks(message).flatMap((block: Block) => {
    const convertedBlocks = convertBlock(block, message.role);
    return convertedBlocks.length > 0 ? [...convertedBlocks, ...makeCachePoint(block, dialect)] : [];
  });

function convertBlock(block: Block, role: ApiMessage['role']): ContentBlock[] {
  if (isToolUse(block)) {
    // The SDK's document type accepts any JSON.
    const input = (isRecord(block.input) ? block.input : {}) as NonNullable<
      ContentBlock.ToolUseMember['toolUse']['input']
    >;
    return [{ toolUse: { toolUseId: block.id, name: block.name, input } }];
  }
  if (isToolResult(block)) {
    const status = block.is_error === true ? { status: 'error' as const } : {};
    return [{ toolResult: { toolUseId: block.tool_use_id, content: convertToolResult(block), ...status } }];
  }
  if (block.type === 'thinking' || block.type === 'redacted_thinking' || block.type === REASONING_BLOCK_TYPE) return [];
  // Only user messages can have images.
  return role === 'assistant' && isImage(block) ? [{ text: '[image]' }] : convertTextOrImage(block);
}

type TextOrImage = ContentBlock.TextMember | ContentBlock.ImageMember;

function convertTextOrImage(block: Block): TextOrImage[] {
  if (isText(block)) return block.text.trim() === '' ? [] : [{ text: block.text }];
  const source = isImage(block) && isRecord(block.source) ? block.source : {};
  const { media_type: type, data } = source;
  const format = typeof type === 'string' ? IMAGE_FORMAT_BY_TYPE.get(type) : undefined;
  if (format === undefined || typeof data !== 'string') return [{ text: convertUnsupportedToText(block).text }];
  return [{ image: { format, source: { bytes: Buffer.from(data, 'base64') } } }];
}

const IMAGE_FORMAT_BY_TYPE: ReadonlyMap<string, ImageFormat> = new Map<string, ImageFormat>([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

/** Bedrock rejects empty and blank results. */
function convertToolResult({ content }: ToolResultBlock): ToolResultContentBlock[] {
  const blocks: readonly Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const textsAndImages = blocks.flatMap(convertTextOrImage);
  return textsAndImages.length > 0 ? textsAndImages : [{ text: '(no output)' }];
}

/** Usage arrives after the stop event, so the end comes last. */
async function* convertConverseStream(
  stream: AsyncIterable<ConverseStreamOutput>,
  { onBytes }: CallAttempt,
): AsyncGenerator<ApiEvent, void> {
  const openCalls = new Map<number | undefined, { readonly id: string; readonly name: string; json: string }>();
  let stopReason: StopReason | undefined;
  for await (const event of stream) {
    onBytes();
    const { contentBlockStart, contentBlockDelta, contentBlockStop, messageStop, metadata } = event;
    const startedCall = contentBlockStart?.start?.toolUse;
    if (startedCall) {
      const { toolUseId = '', name = '' } = startedCall;
      openCalls.set(contentBlockStart.contentBlockIndex, { id: toolUseId, name, json: '' });
    }
    const delta = contentBlockDelta?.delta;
    if (delta?.text) yield { type: 'text', text: delta.text };
    if (delta?.reasoningContent?.text) yield { type: 'thinking', text: delta.reasoningContent.text };
    const call = openCalls.get((contentBlockDelta ?? contentBlockStop)?.contentBlockIndex);
    if (call && delta?.toolUse?.input !== undefined) call.json += delta.toolUse.input;
    if (call && contentBlockStop) {
      openCalls.delete(contentBlockStop.contentBlockIndex);
      yield parseToolCall(call.id, call.name, call.json === '' ? '{}' : call.json);
    }
    if (messageStop) stopReason = STOP_REASONS.get(messageStop.stopReason) ?? 'other';
    const usage = metadata?.usage && convertUsage(metadata.usage);
    if (usage) yield { type: 'usage', usage };
  }
  if (stopReason !== undefined) yield { type: 'end', stopReason };
}

const convertUsage = (usage: {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  cacheReadInputTokens?: number | undefined;
  cacheWriteInputTokens?: number | undefined;
}): Usage | undefined =>
  validateUsage({
    accounting: 'anthropic',
    inputTokens: parseTokens(usage.inputTokens),
    outputTokens: parseTokens(usage.outputTokens),
    cacheReadTokens: parseTokens(usage.cacheReadInputTokens),
    cacheWriteTokens: parseTokens(usage.cacheWriteInputTokens),
  });

const STOP_REASONS: ReadonlyMap<string | undefined, StopReason> = new Map<string | undefined, StopReason>([
  ['end_turn', 'end_turn'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'max_tokens'],
  ['model_context_window_exceeded', 'context_window'],
  ['guardrail_intervened', 'refusal'],
  ['content_filtered', 'refusal'],
]);
