import type { OpenAI } from 'openai';
import { isRecord } from '../core/messages/blocks';
import { ApiError } from './apiError';
import { singleCall, streamCall, type Attempt } from './call';
import { toApiError } from './classifyError';
import { CHAT_QUIRKS, dialectOf, isAzure, RESPONSES_DIALECT, RESPONSES_QUIRKS } from './dialect';
import { checkedEndpoint, type EndpointOptions } from './endpoint';
import { withoutEnvironmentHeaders } from './environmentHeaders';
import type { HandlerOptions } from './handlerOptions';
import { modelsIn } from './modelList';
import { chatBody, fromChatStream } from './openaiChat';
import { LearnedQuirks } from './quirks';
import { fromResponsesStream, responsesBody } from './openaiResponses';
import { requestCounter } from './requestCounter';
import type { ApiEvent, ApiHandler, ApiRequest, ModelInfo } from './types';

export interface OpenAIOptions extends HandlerOptions, EndpointOptions {
  /** Local servers need none. */
  readonly apiKey?: string;
  /** `responses` is OpenAI's own and Azure's; nearly everybody speaks `chat`. Default `chat`. */
  readonly api?: 'chat' | 'responses';
}

/**
 * Models of OpenAI, and by base URL those of OpenRouter, Azure, Ollama, LM Studio, vLLM and whoever speaks the same
 * protocol. A query in the base URL (Azure's `?api-version=`) goes with every request.
 * @throws {ApiError} kind `endpoint`
 */
export function openaiHandler(options: OpenAIOptions): ApiHandler {
  const { name = 'OpenAI', apiKey, api = 'chat', model, headers, allowInsecureHttp } = options;
  const endpoint = checkedEndpoint(name, options.baseUrl ?? 'https://api.openai.com/v1', allowInsecureHttp);
  const counter = requestCounter(options.counter, model.id, 'openai');
  const secrets = [apiKey ?? '', ...endpoint.searchParams.values(), ...Object.values(headers ?? {})];
  const call = { ...options, name, secrets };
  const modelInfo: ModelInfo = { ...model, vendor: 'openai', accounting: 'openai' };
  const classify = (raw: unknown): ApiError => toApiError(raw, { name, secrets, now: 0 });
  const chatDialect = new LearnedQuirks(dialectOf(endpoint), CHAT_QUIRKS, classify);
  const responsesDialect = new LearnedQuirks(RESPONSES_DIALECT, RESPONSES_QUIRKS, classify);

  const connect = async ({ fetch, sdkTimeoutMs }: Attempt): Promise<OpenAI> => {
    const { OpenAI: Client } = await import('openai');
    return new Client({
      fetch,
      timeout: sdkTimeoutMs,
      maxRetries: 0,
      logLevel: 'off',
      apiKey: apiKey ?? 'none',
      adminAPIKey: null,
      organization: null,
      project: null,
      baseURL: `${endpoint.origin}${endpoint.pathname}`.replace(/\/$/, ''),
      defaultQuery: Object.fromEntries(endpoint.searchParams),
      defaultHeaders: withoutEnvironmentHeaders('OPENAI_CUSTOM_HEADERS', { ...signIn(endpoint, apiKey), ...headers }),
    });
  };

  const chat = (client: OpenAI, request: ApiRequest, signal: AbortSignal): Promise<AsyncIterable<ApiEvent>> =>
    chatDialect.ask(async (dialect) => {
      const body = chatBody(request, model, dialect) as unknown;
      const asked = body as OpenAI.ChatCompletionCreateParamsStreaming;
      return fromChatStream(await client.chat.completions.create(asked, { signal }), dialect.wantedReasoning);
    });

  const responses = (client: OpenAI, request: ApiRequest, signal: AbortSignal): Promise<AsyncIterable<unknown>> =>
    responsesDialect.ask((dialect) => {
      const body = responsesBody(request, model, dialect) as unknown;
      return client.responses.create(body as OpenAI.Responses.ResponseCreateParamsStreaming, { signal });
    });

  async function* attempt(request: ApiRequest, tried: Attempt): AsyncGenerator<ApiEvent, void> {
    const client = await connect(tried);
    if (api === 'responses') yield* fromResponsesStream(await responses(client, request, tried.signal));
    else yield* await chat(client, request, tried.signal);
  }

  return {
    modelInfo,
    stream: (request, signal) =>
      streamCall({
        ...call,
        signal,
        countUsage: (output) => counter.usage(request, output),
        attempt: (tried) => attempt(request, tried),
      }),
    // Chat Completions count nothing beforehand.
    countTokens: (request, signal) =>
      singleCall({ ...call, signal }, () => Promise.resolve({ tokens: counter.request(request), exact: false })),
    listModels: (signal) =>
      singleCall({ ...call, signal }, async (tried) => {
        const client = await connect(tried);
        const listed: unknown = await client.get('/models', { signal: tried.signal });
        // Together sends the entries bare.
        const entries = isRecord(listed) ? listed['data'] : listed;
        if (!Array.isArray(entries)) throw new ApiError('protocol', { name });
        return modelsIn(entries);
      }),
  };
}

/** Azure takes its key in a header of its own; a server without a key gets no header. `null` removes the SDK's. */
function signIn(endpoint: URL, apiKey: string | undefined): Record<string, string | null> {
  if (apiKey === undefined) return { Authorization: null };
  return isAzure(endpoint) ? { 'api-key': apiKey, Authorization: null } : { Authorization: `Bearer ${apiKey}` };
}
