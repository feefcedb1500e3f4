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
  // The SDK signs in with `Authorization: Bearer`, as the API version that it asks for wants it (SDK 1.0.0, 2026-10-21);
  // gateways may know only the older header.
  const isGateway = endpoint.hostname !== 'api.anthropic.com';
  // The older version and header are what gateways know; the SDK's own version (2026-10-21) is Anthropic's alone.
  const older = { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
  const own = { Authorization: `Bearer ${apiKey}`, ...(isGateway && older), ...headers };
  return anthropicFamilyHandler({
    ...options,
    name,
    vendor: 'anthropic',
    countsTokens: true,
    secrets: [apiKey, ...Object.values(headers ?? {})],
    async connect(attempt) {
      const { Anthropic } = await import('@anthropic-ai/sdk');
      return new Anthropic({
        ...clientOptions(attempt),
        apiKey,
        baseURL: endpoint.href,
        defaultHeaders: withoutEnvironmentHeaders('ANTHROPIC_CUSTOM_HEADERS', own),
      });
    },
  });
}
