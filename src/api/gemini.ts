/** Google's Gemini through generateContent (Gemini API reference). */
import { randomUUID } from 'node:crypto';
import type { Content, GenerateContentConfig, GenerateContentResponse, GoogleGenAI, Part } from '@google/genai';
import { isImage, isRecord, isText, isToolResult, isToolUse, toBlocks } from '../core/messages/blocks';
import { foldSystemMessages } from '../core/messages/foldSystem';
import type { ApiMessage, Block } from '../core/messages/types';
import { ApiError } from './apiError';
import { callWithRetries, streamWithRetries, type CallAttempt } from './call';
import { checkEndpoint, type EndpointOptions } from './endpoint';
import type { HandlerOptions } from './handlerOptions';
import { parseModelList } from './modelList';
import { convertUnsupportedToText, REASONING_BLOCK_TYPE } from './openaiBlocks';
import { createUsageCounter } from './usageCounter';
import { makeToolCall } from './toolInput';
import type { ApiEvent, ApiHandler, ApiRequest, ModelInfo, StopReason, ToolChoice, Usage, Vendor } from './types';
import { validateUsage, parseTokens } from './usage';

export interface GeminiOptions extends HandlerOptions, EndpointOptions {
  readonly apiKey: string;
}

export interface GeminiClient {
  readonly models: {
    generateContentStream(request: {
      readonly model: string;
      readonly contents: Content[];
      readonly config: GenerateContentConfig;
    }): Promise<AsyncIterable<GenerateContentResponse>>;
  };
}

/** @throws {ApiError} kind `endpoint` */
export function createGeminiHandler(options: GeminiOptions): ApiHandler {
  const { name = 'Google Gemini', apiKey, allowInsecureHttp, headers = {} } = options;
  const endpoint = checkEndpoint(
    name,
    options.baseUrl ?? 'https://generativelanguage.googleapis.com',
    allowInsecureHttp,
  );
  const secrets = [apiKey, ...Object.values(headers)];
  const connect = async ({ fetch }: CallAttempt): Promise<GoogleGenAI> => {
    const { GoogleGenAI: Client } = await import('@google/genai');
    const httpOptions = { baseUrl: endpoint.href.replace(/\/$/, ''), headers: { ...headers }, fetch };
    // Without `vertexai: false`, environment variables could select Vertex AI.
    return new Client({ apiKey, vertexai: false, httpOptions: { ...httpOptions, retryOptions: { attempts: 1 } } });
  };
  return {
    ...createGeminiFamilyHandler({ ...options, name, vendor: 'gemini', secrets, connect }),
    listModels: (signal) =>
      callWithRetries({ ...options, name, secrets, signal }, async (attempt) => {
        try {
          const { models } = await connect(attempt);
          return parseModelList(
            (await models.list({ config: { pageSize: MODEL_PAGE_SIZE, abortSignal: attempt.signal } })).page,
          );
        } catch (error) {
          throw normalizeGeminiError(error);
        }
      }),
  };
}

/** Maximum page size (API reference, "models.list"). */
const MODEL_PAGE_SIZE = 1_000;

export interface GeminiFamilyOptions extends HandlerOptions {
  readonly name: string;
  readonly vendor: Vendor;
  readonly secrets: readonly string[];
  readonly connect: (attempt: CallAttempt) => Promise<GeminiClient>;
}

export function createGeminiFamilyHandler(options: GeminiFamilyOptions): ApiHandler {
  const { model, vendor, connect } = options;
  const countUsage = createUsageCounter(options.counter, model.id, 'openai');
  const modelInfo: ModelInfo = { ...model, vendor, accounting: 'openai' };
  return {
    modelInfo,
    stream: (request, signal) =>
      streamWithRetries({
        ...options,
        signal,
        countUsage: (output) => countUsage(request, output),
        async *attempt(attempt) {
          try {
            const { models } = await connect(attempt);
            const contents = attempt.insertPlaceholders(convertMessages(request, model.id));
            const config = { ...buildGenerationConfig(request, options), abortSignal: attempt.signal };
            yield* convertGeminiStream(
              await models.generateContentStream({ model: model.id, contents, config }),
              options,
            );
          } catch (error) {
            throw normalizeGeminiError(error);
          }
        },
      }),
  };
}

/** The SDK's error message is the response body. */
function normalizeGeminiError(error: unknown): unknown {
  if (!(error instanceof Error) || !('status' in error)) return error;
  try {
    const body: unknown = JSON.parse(error.message);
    return isRecord(body) ? Object.assign(new Error(error.message), { status: error.status, error: body }) : error;
  } catch {
    return error;
  }
}

function buildGenerationConfig(request: ApiRequest, { model }: GeminiFamilyOptions): GenerateContentConfig {
  const { tools = [], toolChoice, temperature, thinkingTokens, extraBody } = request;
  const maxOutputTokens = request.maxOutputTokens ?? model.maxOutputTokens;
  const prompt = joinSystemPrompt(request);
  const declaredFunctions = tools.flatMap(({ name, description, input_schema: schema }) =>
    schema ? [{ name, ...(description !== undefined && { description }), parametersJsonSchema: schema }] : [],
  );
  return {
    ...(prompt !== '' && { systemInstruction: prompt }),
    ...(declaredFunctions.length > 0 && { tools: [{ functionDeclarations: declaredFunctions }] }),
    ...(declaredFunctions.length > 0 &&
      toolChoice !== undefined && { toolConfig: { functionCallingConfig: convertToolChoice(toolChoice) } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(thinkingTokens !== undefined && { thinkingConfig: { thinkingBudget: thinkingTokens, includeThoughts: true } }),
    ...(extraBody && { httpOptions: { extraBody } }),
  };
}

type FunctionCallingConfig = NonNullable<NonNullable<GenerateContentConfig['toolConfig']>['functionCallingConfig']>;
/** Makes the configuration without the SDK's enum, for which the SDK would have to be loaded. */
const makeFunctionCallingConfig = (word: 'AUTO' | 'ANY' | 'NONE'): FunctionCallingConfig =>
  ({ mode: word }) as FunctionCallingConfig;

function convertToolChoice(choice: ToolChoice): FunctionCallingConfig {
  if (typeof choice === 'object') return { ...makeFunctionCallingConfig('ANY'), allowedFunctionNames: [choice.name] };
  return makeFunctionCallingConfig(choice === 'required' ? 'ANY' : choice === 'none' ? 'NONE' : 'AUTO');
}

function joinSystemPrompt({ system, messages }: ApiRequest): string {
  const systemTexts = typeof system === 'string' ? [system] : (system ?? []).map(({ text }) => text);
  return [...systemTexts, ...foldSystemMessages(messages).prompt.map(({ text }) => text)]
    .filter((text) => text.trim() !== '')
    .join('\n\n');
}

/**
 * Replaces a signature that is lost or belongs to another model (Google's guide, "Thought
 * signatures").
 */
const SKIP_SIGNATURE_CHECK = 'skip_thought_signature_validator';
/** Gemini 3 and later reject calls without signatures. */
const MODELS_REQUIRING_SIGNATURES = /gemini-(?:[3-9]|\d\d)/i;

/** Calls and results must be adjacent, so consecutive messages of one role are merged. */
export function convertMessages({ messages }: ApiRequest, model: string): Content[] {
  const toolNameByCallId = new Map<string, string>();
  const contents: Content[] = [];
  for (const message of foldSystemMessages(messages).messages) {
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts =
      role === 'model'
        ? convertModelMessage(message, toolNameByCallId, model)
        : convertUserMessage(message, toolNameByCallId);
    if (parts.length === 0) continue;
    const lastContent = contents.at(-1);
    if (lastContent?.role === role) lastContent.parts?.push(...parts);
    else contents.push({ role, parts });
  }
  return contents;
}

function convertModelMessage(message: ApiMessage, names: Map<string, string>, model: string): Part[] {
  const blocks = toBlocks(message);
  const storedReasoning = blocks.find(({ type, gemini }) => type === REASONING_BLOCK_TYPE && isRecord(gemini))?.[
    'gemini'
  ];
  const signatures: readonly unknown[] =
    isRecord(storedReasoning) && Array.isArray(storedReasoning['signatures']) ? storedReasoning['signatures'] : [];
  let calls = 0;
  return blocks.flatMap((block): Part[] => {
    if (!isToolUse(block)) return convertBlock(block);
    names.set(block.id, block.name);
    const blockSignature = signatures[calls];
    const isFirst = calls++ === 0;
    const signature =
      typeof blockSignature === 'string'
        ? blockSignature
        : isFirst && MODELS_REQUIRING_SIGNATURES.test(model)
          ? SKIP_SIGNATURE_CHECK
          : undefined;
    const args = isRecord(block.input) ? { ...block.input } : {};
    return [
      { functionCall: { name: block.name, args }, ...(signature !== undefined && { thoughtSignature: signature }) },
    ];
  });
}

function convertUserMessage(message: ApiMessage, names: ReadonlyMap<string, string>): Part[] {
  const blocks = toBlocks(message);
  const results = blocks.filter(isToolResult);
  const resultContents = results.map(({ content }) => (Array.isArray(content) ? (content as readonly Block[]) : []));
  const responses = results.map(({ tool_use_id: id, content, is_error: isError }, index): Part => {
    const text =
      typeof content === 'string'
        ? content
        : (resultContents[index] ?? [])
            .filter((block) => !isImage(block))
            .flatMap((block) => convertBlock(block).map((part) => part.text ?? ''))
            .join('\n');
    return {
      functionResponse: {
        name: names.get(id) ?? 'unknown',
        response: { [isError === true ? 'error' : 'output']: text },
      },
    };
  });
  const images = resultContents.flat().filter(isImage);
  return [...responses, ...[...images, ...blocks.filter((block) => !isToolResult(block))].flatMap(convertBlock)];
}

function convertBlock(block: Block): Part[] {
  if (block.type === 'thinking' || block.type === 'redacted_thinking' || block.type === REASONING_BLOCK_TYPE) return [];
  if (isText(block)) return block.text === '' ? [] : [{ text: block.text }];
  const source = isRecord(block['source']) ? block['source'] : {};
  const { media_type: mimeType, data } = source;
  const isData = (isImage(block) || block.type === 'document') && source['type'] === 'base64';
  if (isData && typeof mimeType === 'string' && typeof data === 'string') return [{ inlineData: { mimeType, data } }];
  return [{ text: convertUnsupportedToText(block).text }];
}

async function* convertGeminiStream(
  responses: AsyncIterable<GenerateContentResponse>,
  { name }: GeminiFamilyOptions,
): AsyncGenerator<ApiEvent, void> {
  const calls: { readonly event: ApiEvent; readonly signature: string | undefined }[] = [];
  let finishReason: string | undefined;
  for await (const { candidates = [], promptFeedback, usageMetadata } of responses) {
    const [candidate] = candidates;
    for (const { text, thought, functionCall, thoughtSignature } of candidate?.content?.parts ?? []) {
      if (text !== undefined && text !== '') yield { type: thought === true ? 'thinking' : 'text', text };
      if (!functionCall) continue;
      const { id = `call_${randomUUID()}`, name = '', args } = functionCall;
      calls.push({ event: makeToolCall(id, name, args ?? {}), signature: thoughtSignature });
    }
    finishReason = candidate?.finishReason ?? finishReason;
    if (promptFeedback?.blockReason !== undefined && !candidate) finishReason = 'PROHIBITED_CONTENT';
    const usage = usageMetadata && convertUsage(usageMetadata);
    if (usage) yield { type: 'usage', usage };
  }
  // A stream without a finish reason was cut off, so emit no `end` event.
  if (finishReason === undefined) return;
  if (BROKEN_CALL_REASONS.has(finishReason)) {
    throw new ApiError('protocol', { name, sentence: 'The model wrote a call that could not be read.' });
  }
  const signatures = calls.map(({ signature }) => signature ?? null);
  if (signatures.some((signature) => signature !== null)) {
    yield { type: 'block', block: { type: REASONING_BLOCK_TYPE, gemini: { signatures } } };
  }
  for (const { event } of calls) yield event;
  yield { type: 'end', stopReason: convertStopReason(finishReason, calls.length > 0) };
}

/** The prompt count includes cached tokens; the candidates count excludes thinking tokens. */
function convertUsage(wire: NonNullable<GenerateContentResponse['usageMetadata']>): Usage | undefined {
  const thoughtTokens = parseTokens(wire.thoughtsTokenCount);
  return validateUsage({
    accounting: 'openai',
    inputTokens: parseTokens(wire.promptTokenCount) + parseTokens(wire.toolUsePromptTokenCount),
    outputTokens: parseTokens(wire.candidatesTokenCount) + thoughtTokens,
    cacheReadTokens: parseTokens(wire.cachedContentTokenCount),
    cacheWriteTokens: 0,
    ...(thoughtTokens > 0 && { reasoningTokens: thoughtTokens }),
  });
}

const BROKEN_CALL_REASONS = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS']);
const REFUSAL_REASONS = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'IMAGE_SAFETY',
]);

function convertStopReason(finish: string, hasCalls: boolean): StopReason {
  if (finish === 'STOP') return hasCalls ? 'tool_use' : 'end_turn';
  if (finish === 'MAX_TOKENS') return 'max_tokens';
  return REFUSAL_REASONS.has(finish) ? 'refusal' : 'other';
}
