/** `vscode.lm` has no system role, and some models report usage in an untyped data part. */
import { isImage, isRecord, isText, isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { ApiError } from './apiError';
import { streamWithRetries } from './call';
import { foldSystemMessages } from '../core/messages/foldSystem';
import { convertUnsupportedToText, REASONING_BLOCK_TYPE } from './openaiBlocks';
import type { HandlerOptions } from './handlerOptions';
import { convertChatUsage } from './openaiChat';
import { createUsageCounter } from './usageCounter';
import { makeToolCall } from './toolInput';
import { DEFAULT_MAX_OUTPUT_TOKENS, type ApiEvent, type ApiHandler, type ApiRequest, type ModelInfo } from './types';

export type LmPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'toolCall'; readonly callId: string; readonly name: string; readonly input: unknown }
  | { readonly kind: 'toolResult'; readonly callId: string; readonly content: readonly LmPart[] }
  | { readonly kind: 'data'; readonly mimeType: string; readonly data: Uint8Array };

/** `usage` has the fields of OpenAI's API. */
export type LmAnswerPart = LmPart | { readonly kind: 'usage'; readonly fields: unknown };

export interface LmMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly LmPart[];
}

export interface LmTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface LmRequestOptions {
  readonly tools: readonly LmTool[];
  /** True if a tool must be called; VS Code has no other tool choice. */
  readonly toolRequired: boolean;
  readonly modelOptions: Readonly<Record<string, unknown>>;
}

export interface LmModel {
  readonly vendor: string;
  readonly family: string;
  readonly id: string;
  readonly name: string;
  readonly maxInputTokens: number;
  /** Answers are streamed without unknown parts. Rejects with `vscode.LanguageModelError`. */
  sendRequest(
    messages: readonly LmMessage[],
    options: LmRequestOptions,
    signal: AbortSignal,
  ): Promise<AsyncIterable<LmAnswerPart>>;
}

/**
 * Input and output together. VS Code states only a model's input limit to extensions (1.139), so the
 * output limit is assumed. Undefined for a model without input, which only chooses another ("Auto").
 */
export const computeContextWindow = ({ maxInputTokens }: Pick<LmModel, 'maxInputTokens'>): number | undefined =>
  maxInputTokens > 0 ? maxInputTokens + DEFAULT_MAX_OUTPUT_TOKENS : undefined;

export interface LmSelector {
  readonly vendor?: string;
  readonly family?: string;
  readonly id?: string;
}

export interface LanguageModels {
  selectChatModels(selector: LmSelector): Promise<readonly LmModel[]>;
}

export interface VsCodeLmOptions extends Omit<HandlerOptions, 'model'> {
  readonly models: LanguageModels;
  /** Our own vendor name in VS Code, whose models are not used: they would call us again. */
  readonly ownVendor: string;
  readonly selector: LmSelector & { readonly id: string };
  /**
   * Input and output together, in tokens; the model's own value is known only after selecting it.
   */
  readonly contextWindow?: number;
}

export async function listOtherModels(
  models: LanguageModels,
  ownVendor: string,
  selector: LmSelector = {},
): Promise<readonly LmModel[]> {
  if (selector.vendor === ownVendor) return [];
  return (await models.selectChatModels(selector)).filter(({ vendor }) => vendor !== ownVendor);
}

export function createVscodeLmHandler(options: VsCodeLmOptions): ApiHandler {
  const { name = 'VS Code', models, ownVendor, selector, contextWindow } = options;
  const countUsage = createUsageCounter(options.counter, selector.id, 'openai');
  const callOptions = { ...options, name, secrets: [] };
  const modelInfo: ModelInfo = {
    vendor: 'vscode',
    id: selector.id,
    accounting: 'openai',
    ...(contextWindow !== undefined && { contextWindow }),
  };

  const selectModel = async (): Promise<LmModel> => {
    const [model] = await listOtherModels(models, ownVendor, selector);
    if (model) return model;
    const sentence =
      selector.vendor === ownVendor
        ? 'This is Context Condenser’s own model: it would call itself.'
        : `VS Code currently has no model “${selector.id}”.`;
    throw new ApiError('model', { name, sentence });
  };

  async function* attemptRequest(
    request: ApiRequest,
    signal: AbortSignal,
    onPart: () => void,
  ): AsyncGenerator<ApiEvent, void> {
    const model = await selectModel();
    const parts = await model.sendRequest(convertLmMessages(request), makeLmOptions(request), signal);
    let hasCalls = false;
    for await (const part of parts) {
      onPart();
      if (part.kind === 'text' && part.text !== '') yield { type: 'text', text: part.text };
      if (part.kind === 'thinking' && part.text !== '') yield { type: 'thinking', text: part.text };
      const usage = part.kind === 'usage' && isRecord(part.fields) ? convertChatUsage(part.fields) : undefined;
      if (usage) yield { type: 'usage', usage };
      if (part.kind !== 'toolCall') continue;
      hasCalls = true;
      yield makeToolCall(part.callId, part.name, part.input);
    }
    // VS Code doesn't report a stop reason.
    yield { type: 'end', stopReason: hasCalls ? 'tool_use' : 'end_turn' };
  }

  return {
    modelInfo,
    stream: (request, signal) =>
      streamWithRetries({
        ...callOptions,
        signal,
        countUsage: (output) => countUsage(request, output),
        attempt: (tried) => attemptRequest(request, tried.signal, tried.onBytes),
      }),
  };
}

/** VS Code can't declare vendors' server tools, which have no schema. */
function makeLmOptions({ tools = [], toolChoice, extraBody = {} }: ApiRequest): LmRequestOptions {
  const declaredTools = tools.flatMap(({ name, description = '', input_schema: inputSchema }) =>
    inputSchema ? [{ name, description, inputSchema }] : [],
  );
  return {
    tools: toolChoice === 'none' ? [] : declaredTools,
    toolRequired: declaredTools.length > 0 && (toolChoice === 'required' || typeof toolChoice === 'object'),
    modelOptions: extraBody,
  };
}

export function convertLmMessages({ system, messages }: ApiRequest): LmMessage[] {
  const foldedMessages = foldSystemMessages(messages);
  const systemBlocks = typeof system === 'string' ? [{ type: 'text', text: system } as const] : (system ?? []);
  const prompt = [...systemBlocks, ...foldedMessages.prompt].flatMap(convertBlock);
  const lmMessages = foldedMessages.messages
    .map((message) => ({ role: message.role, content: convertMessage(message) }))
    .filter(({ content }) => content.length > 0);
  if (prompt.length === 0) return lmMessages;
  const [first] = lmMessages;
  return first?.role === 'user'
    ? [{ role: 'user', content: [...prompt, ...first.content] }, ...lmMessages.slice(1)]
    : [{ role: 'user', content: prompt }, ...lmMessages];
}

const convertMessage = ({ content }: ApiMessage): LmPart[] => {
  if (typeof content !== 'string') return content.flatMap(convertBlock);
  return content.trim() === '' ? [] : [{ kind: 'text', text: content }];
};

function convertBlock(block: Block): LmPart[] {
  if (isText(block)) return block.text.trim() === '' ? [] : [{ kind: 'text', text: block.text }];
  if (isToolUse(block))
    return [{ kind: 'toolCall', callId: block.id, name: block.name, input: isRecord(block.input) ? block.input : {} }];
  if (isToolResult(block)) {
    const { content = '' } = block;
    const parts: LmPart[] =
      typeof content === 'string' ? [{ kind: 'text', text: content }] : content.flatMap(convertBlock);
    return [{ kind: 'toolResult', callId: block.tool_use_id, content: parts }];
  }
  // Another API signed this thinking, so leave it out.
  if (block.type === 'thinking' || block.type === 'redacted_thinking' || block.type === REASONING_BLOCK_TYPE) return [];
  return [convertImage(block) ?? { kind: 'text', text: convertUnsupportedToText(block).text }];
}

function convertImage(block: Block): LmPart | undefined {
  const source = isImage(block) && isRecord(block.source) ? block.source : {};
  const { media_type: mimeType, data } = source;
  if (typeof mimeType !== 'string' || typeof data !== 'string') return undefined;
  return { kind: 'data', mimeType, data: Buffer.from(data, 'base64') };
}
