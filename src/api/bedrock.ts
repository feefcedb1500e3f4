import { setImmediate } from 'node:timers/promises';
import { getWire } from '../core/vendors/vendors';
import { createAnthropicFamilyHandler, makeClientOptions } from './anthropicFamily';
import { createConverseHandler } from './converse';
import { checkEndpoint, type EndpointOptions } from './endpoint';
import { withoutEnvironmentHeaders } from './environmentHeaders';
import type { HandlerOptions } from './handlerOptions';
import type { ApiHandler } from './types';

/** `default` means the machine's credentials (profile, SSO, role). */
export type AwsCredentials =
  | { readonly apiKey: string }
  | { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string }
  | 'default';

export interface BedrockOptions extends HandlerOptions, EndpointOptions {
  readonly region: string;
  readonly credentials: AwsCredentials;
}

/** Loading AWS's SDK at once blocks the thread for over 100 ms. */
async function loadAwsSdk() {
  const { NodeHttpHandler } = await import('@smithy/node-http-handler');
  await setImmediate();
  const { BedrockRuntimeClient } = await import('@aws-sdk/client-bedrock-runtime');
  return { BedrockRuntimeClient, NodeHttpHandler };
}

/**
 * Uses Anthropic's SDK for Claude, and AWS's for all other models.
 * @throws {ApiError} kind `endpoint`
 */
export function createBedrockHandler(options: BedrockOptions): ApiHandler {
  const { name = 'Amazon Bedrock', region, credentials, allowInsecureHttp, headers = {} } = options;
  const { baseUrl = `https://bedrock-runtime.${region}.amazonaws.com` } = options;
  const endpoint = checkEndpoint(name, baseUrl, allowInsecureHttp);
  const secrets = [...(credentials === 'default' ? [] : Object.values<string>(credentials)), ...Object.values(headers)];
  if (getWire('bedrock', options.model.id) === 'converse') {
    return createConverseHandler({
      ...options,
      name,
      secrets,
      async connect() {
        const { BedrockRuntimeClient, NodeHttpHandler } = await loadAwsSdk();
        return new BedrockRuntimeClient({
          region,
          endpoint: endpoint.href,
          maxAttempts: 1,
          // The default handler uses HTTP/2 and bypasses VS Code's proxy.
          requestHandler: new NodeHttpHandler(),
          // Without an explicit scheme, the SDK would use a key in AWS_BEARER_TOKEN_BEDROCK.
          ...(credentials !== 'default' && 'apiKey' in credentials
            ? { token: { token: credentials.apiKey }, authSchemePreference: ['httpBearerAuth'] }
            : { authSchemePreference: ['sigv4'] }),
          ...(credentials !== 'default' && 'accessKeyId' in credentials && { credentials }),
        });
      },
    });
  }
  return createAnthropicFamilyHandler({
    ...options,
    name,
    vendor: 'bedrock',
    secrets,
    async connect(attempt) {
      await loadAwsSdk();
      await setImmediate();
      const { AnthropicBedrock } = await import('@anthropic-ai/bedrock-sdk');
      const commonOptions = {
        ...makeClientOptions(attempt),
        awsRegion: region,
        baseURL: endpoint.href,
        defaultHeaders: withoutEnvironmentHeaders('ANTHROPIC_CUSTOM_HEADERS', headers),
      };
      // `null` makes the SDK ignore AWS_BEARER_TOKEN_BEDROCK.
      if (credentials === 'default') return new AnthropicBedrock({ ...commonOptions, apiKey: null });
      if ('apiKey' in credentials) return new AnthropicBedrock({ ...commonOptions, apiKey: credentials.apiKey });
      return new AnthropicBedrock({
        ...commonOptions,
        apiKey: null,
        awsAccessKey: credentials.accessKeyId,
        awsSecretKey: credentials.secretAccessKey,
        awsSessionToken: credentials.sessionToken ?? null,
      });
    },
  });
}
