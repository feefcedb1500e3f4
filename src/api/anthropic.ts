import type { Anthropic } from '@anthropic-ai/sdk';
import { createAnthropicFamilyHandler, makeClientOptions } from './anthropicFamily';
import { callWithRetries, type CallAttempt } from './call';
import { checkEndpoint, type EndpointOptions } from './endpoint';
import { withoutEnvironmentHeaders } from './environmentHeaders';
import type { HandlerOptions } from './handlerOptions';
import { parseModelList } from './modelList';
import type { ApiHandler } from './types';

export interface AnthropicOptions extends HandlerOptions, EndpointOptions {
  readonly apiKey: string;
}

/** @throws {ApiError} kind `endpoint` */
export function createAnthropicHandler(options: AnthropicOptions): ApiHandler {
  const { name = 'Anthropic', apiKey, baseUrl = 'https://api.anthropic.com', allowInsecureHttp, headers } = options;
  const endpoint = checkEndpoint(name, baseUrl, allowInsecureHttp);
  // Gateways may support only the older header and API version (SDK 1.0.0 sends `Authorization:
  // Bearer` and 2026-10-21).
  const isGateway = endpoint.hostname !== 'api.anthropic.com';
  const olderHeaders = { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
  const ownHeaders = { Authorization: `Bearer ${apiKey}`, ...(isGateway && olderHeaders), ...headers };
  const secrets = [apiKey, ...Object.values(headers ?? {})];
  const connect = async (attempt: CallAttempt): Promise<Anthropic> => {
    const { Anthropic: Client } = await import('@anthropic-ai/sdk');
    return new Client({
      ...makeClientOptions(attempt),
      apiKey,
      baseURL: endpoint.href,
      defaultHeaders: withoutEnvironmentHeaders('ANTHROPIC_CUSTOM_HEADERS', ownHeaders),
    });
  };
  return {
    ...createAnthropicFamilyHandler({ ...options, name, vendor: 'anthropic', secrets, connect }),
    listModels: (signal) =>
      callWithRetries({ ...options, name, secrets, signal }, async (attempt) => {
        const client = await connect(attempt);
        return parseModelList((await client.models.list({ limit: MODEL_PAGE_SIZE }, { signal: attempt.signal })).data);
      }),
  };
}

/** Models per page of the list; the maximum (API reference, "List Models"). */
const MODEL_PAGE_SIZE = 1_000;
