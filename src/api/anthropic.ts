import { anthropicFamilyHandler, clientOptions } from './anthropicFamily';
import { checkedEndpoint, type EndpointOptions } from './endpoint';
import { withoutEnvironmentHeaders } from './environmentHeaders';
import type { HandlerOptions } from './handlerOptions';
import type { ApiHandler } from './types';

export interface AnthropicOptions extends HandlerOptions, EndpointOptions {
  readonly apiKey: string;
}

/**
 * Models of Anthropic's own API, or of a gateway that speaks it.
 * @throws {ApiError} kind `endpoint`
 */
export function anthropicHandler(options: AnthropicOptions): ApiHandler {
  const { name = 'Anthropic', apiKey, baseUrl = 'https://api.anthropic.com', allowInsecureHttp, headers } = options;
  const endpoint = checkedEndpoint(name, baseUrl, allowInsecureHttp);
  return anthropicFamilyHandler({
    ...options,
    name,
    vendor: 'anthropic',
    secrets: [apiKey, ...Object.values(headers ?? {})],
    async connect(attempt) {
      const { Anthropic } = await import('@anthropic-ai/sdk');
      return new Anthropic({
        ...clientOptions(attempt),
        apiKey,
        baseURL: endpoint.href,
        defaultHeaders: withoutEnvironmentHeaders('ANTHROPIC_CUSTOM_HEADERS', { 'x-api-key': apiKey, ...headers }),
      });
    },
  });
}
