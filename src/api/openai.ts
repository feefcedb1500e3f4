import type { OpenAI } from 'openai';
import { isRecord } from '../core/messages/blocks';
import { findModelFamily } from '../core/vendors/families';
import { ApiError } from './apiError';
import { callWithRetries, streamWithRetries, type CallAttempt } from './call';
import { toApiError } from './classifyError';
import {
  CHAT_QUIRKS,
  chooseChatDialect,
  isAzureUrl,
  isOpenAIUrl,
  RESPONSES_DIALECT,
  RESPONSES_QUIRKS,
} from './dialect';
import { checkEndpoint, type EndpointOptions } from './endpoint';
import { withoutEnvironmentHeaders } from './environmentHeaders';
import type { HandlerOptions } from './handlerOptions';
import { parseModelList } from './modelList';
import { buildChatBody, convertChatStream } from './openaiChat';
import { LearnedQuirks } from './quirks';
import { convertResponsesStream, buildResponsesBody } from './openaiResponses';
import { createUsageCounter } from './usageCounter';
import type { ApiEvent, ApiHandler, ApiRequest, ModelInfo } from './types';

export interface OpenAIOptions extends HandlerOptions, EndpointOptions {
  /** Absent for local servers, which need no key. */
  readonly apiKey?: string;
  /**
   * `responses` is OpenAI's and Azure's; most others implement only `chat`. Default: the API that
   * supports tools for this model.
   */
  readonly api?: 'chat' | 'responses';
}

/**
 * Every request carries the base URL's query (Azure's `?api-version=`).
 * @throws {ApiError} kind `endpoint`
 */
export function createOpenAIHandler(options: OpenAIOptions): ApiHandler {
  const { name = 'OpenAI', apiKey, model, headers, allowInsecureHttp } = options;
  const endpoint = checkEndpoint(name, options.baseUrl ?? 'https://api.openai.com/v1', allowInsecureHttp);
  const countUsage = createUsageCounter(options.counter, model.id, 'openai');
  const secrets = [apiKey ?? '', ...endpoint.searchParams.values(), ...Object.values(headers ?? {})];
  const callOptions = { ...options, name, secrets };
  const modelInfo: ModelInfo = { ...model, vendor: 'openai', accounting: 'openai' };
  const classifyError = (raw: unknown): ApiError => toApiError(raw, { name, secrets, now: 0 });
  const chatDialect = new LearnedQuirks(chooseChatDialect(endpoint), CHAT_QUIRKS, classifyError);
  // Rejections show which other models support tools only on the Responses API.
  let api =
    options.api ?? (isOpenAIUrl(endpoint) && findModelFamily(model.id)?.toolsOnResponsesOnly ? 'responses' : 'chat');
  const responsesDialect = new LearnedQuirks(RESPONSES_DIALECT, RESPONSES_QUIRKS, classifyError);

  const connect = async ({ fetch, sdkTimeoutMs }: CallAttempt): Promise<OpenAI> => {
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
      defaultHeaders: withoutEnvironmentHeaders('OPENAI_CUSTOM_HEADERS', {
        ...makeAuthorizationHeaders(endpoint, apiKey),
        ...headers,
      }),
    });
  };

  const startChatStream = (
    client: OpenAI,
    request: ApiRequest,
    { signal, insertPlaceholders: frame }: CallAttempt,
  ): Promise<AsyncIterable<ApiEvent>> =>
    chatDialect.askWithLearnedDialect(async (dialect) => {
      const body = frame(buildChatBody(request, model, dialect)) as unknown;
      const params = body as OpenAI.ChatCompletionCreateParamsStreaming;
      return convertChatStream(await client.chat.completions.create(params, { signal }), dialect.wantedReasoning);
    });

  const startResponsesStream = (
    client: OpenAI,
    request: ApiRequest,
    { signal, insertPlaceholders: frame }: CallAttempt,
  ): Promise<AsyncIterable<unknown>> =>
    responsesDialect.askWithLearnedDialect((dialect) => {
      const body = frame(buildResponsesBody(request, model, dialect)) as unknown;
      return client.responses.create(body as OpenAI.Responses.ResponseCreateParamsStreaming, { signal });
    });

  /** Returns undefined if the model requires the Responses API. */
  async function streamChatEvents(client: OpenAI, request: ApiRequest, attempt: CallAttempt) {
    try {
      return await startChatStream(client, request, attempt);
    } catch (raw) {
      if (!requiresResponsesApi(classifyError(raw))) throw raw;
      return undefined;
    }
  }

  async function* attemptRequest(request: ApiRequest, attempt: CallAttempt): AsyncGenerator<ApiEvent, void> {
    const client = await connect(attempt);
    const events = api === 'chat' ? await streamChatEvents(client, request, attempt) : undefined;
    if (!events) api = 'responses';
    yield* events ?? convertResponsesStream(await startResponsesStream(client, request, attempt));
  }

  return {
    modelInfo,
    stream: (request, signal) =>
      streamWithRetries({
        ...callOptions,
        signal,
        countUsage: (output) => countUsage(request, output),
        attempt: (tried) => attemptRequest(request, tried),
      }),
    listModels: (signal) =>
      callWithRetries({ ...callOptions, signal }, async (tried) => {
        const client = await connect(tried);
        const modelList: unknown = await client.get('/models', { signal: tried.signal });
        // The vendor Together sends a list without an object around it.
        const entries = isRecord(modelList) ? modelList['data'] : modelList;
        if (!Array.isArray(entries)) throw new ApiError('protocol', { name });
        return parseModelList(entries);
      }),
  };
}

/**
 * GPT-5.6 and later, for tools with reasoning: "… use /v1/responses …"
 * (danny-avila/LibreChat#14355). Other models: "This model is only supported in v1/responses …"
 */
const requiresResponsesApi = ({ kind, details: { vendorMessage = '' } }: ApiError): boolean =>
  (kind === 'invalid-request' || kind === 'model') && /(?:use|only supported in) \/?v1\/responses/i.test(vendorMessage);

/** Azure has its own key header. `null` removes the SDK's header. */
function makeAuthorizationHeaders(endpoint: URL, apiKey: string | undefined): Record<string, string | null> {
  if (apiKey === undefined) return { Authorization: null };
  return isAzureUrl(endpoint) ? { 'api-key': apiKey, Authorization: null } : { Authorization: `Bearer ${apiKey}` };
}
