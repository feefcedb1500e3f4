import { anthropicFamilyHandler, clientOptions } from './anthropicFamily';
import { checkedEndpoint, type EndpointOptions } from './endpoint';
import { withoutEnvironmentHeaders } from './environmentHeaders';
import type { HandlerOptions } from './handlerOptions';
import type { ApiHandler } from './types';

/** A Bedrock API key, an AWS access key, or `default`: what the machine is signed in with (profile, SSO, role). */
export type AwsCredentials =
  | { readonly apiKey: string }
  | { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string }
  | 'default';

export interface BedrockOptions extends HandlerOptions, EndpointOptions {
  /** Such as `eu-central-1`. */
  readonly region: string;
  readonly credentials: AwsCredentials;
}

/**
 * Anthropic's models on Amazon Bedrock.
 * @throws {ApiError} kind `endpoint`
 */
export function bedrockHandler(options: BedrockOptions): ApiHandler {
  const { name = 'Amazon Bedrock', region, credentials, allowInsecureHttp, headers = {} } = options;
  const { baseUrl = `https://bedrock-runtime.${region}.amazonaws.com` } = options;
  const endpoint = checkedEndpoint(name, baseUrl, allowInsecureHttp);
  return anthropicFamilyHandler({
    ...options,
    name,
    vendor: 'bedrock',
    countsTokens: false,
    secrets: [...(credentials === 'default' ? [] : Object.values<string>(credentials)), ...Object.values(headers)],
    async connect(attempt) {
      const { AnthropicBedrock } = await import('@anthropic-ai/bedrock-sdk');
      const common = {
        ...clientOptions(attempt),
        awsRegion: region,
        baseURL: endpoint.href,
        defaultHeaders: withoutEnvironmentHeaders('ANTHROPIC_CUSTOM_HEADERS', headers),
      };
      // null: a key in AWS_BEARER_TOKEN_BEDROCK is not this profile's.
      if (credentials === 'default') return new AnthropicBedrock({ ...common, apiKey: null });
      if ('apiKey' in credentials) return new AnthropicBedrock({ ...common, apiKey: credentials.apiKey });
      return new AnthropicBedrock({
        ...common,
        apiKey: null,
        awsAccessKey: credentials.accessKeyId,
        awsSecretKey: credentials.secretAccessKey,
        awsSessionToken: credentials.sessionToken ?? null,
      });
    },
  });
}
