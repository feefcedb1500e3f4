import type { GoogleAuth } from 'google-auth-library';
import { isRecord } from '../core/messages/blocks';
import { createAnthropicFamilyHandler, makeClientOptions } from './anthropicFamily';
import { ApiError } from './apiError';
import { checkEndpoint, type EndpointOptions } from './endpoint';
import { getWire } from '../core/vendors/vendors';
import { withoutEnvironmentHeaders } from './environmentHeaders';
import { createGeminiFamilyHandler } from './gemini';
import type { HandlerOptions } from './handlerOptions';
import type { ApiHandler } from './types';

/** `default` means the machine's credentials (gcloud). */
export type GoogleCredentials = { readonly serviceAccountJson: string } | { readonly accessToken: string } | 'default';

export interface VertexOptions extends HandlerOptions, EndpointOptions {
  readonly projectId: string;
  /** A region such as `europe-west1`, or `global`. */
  readonly region: string;
  readonly credentials: GoogleCredentials;
}

const GOOGLE_CLOUD_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * Uses Anthropic's SDK for Claude, and Google's for Gemini.
 * @throws {ApiError} kind `endpoint`, or `auth` if the key file is unreadable
 */
export function createVertexHandler(options: VertexOptions): ApiHandler {
  const { name = 'Google Vertex AI', projectId, region, credentials, allowInsecureHttp, headers = {} } = options;
  const endpoint = checkEndpoint(name, options.baseUrl ?? getRegionUrl(region), allowInsecureHttp);
  const account =
    credentials !== 'default' && 'serviceAccountJson' in credentials
      ? parseServiceAccount(name, credentials.serviceAccountJson)
      : undefined;
  const token = credentials !== 'default' && 'accessToken' in credentials ? credentials.accessToken : undefined;
  // Caches Google's token between calls.
  let auth: Promise<GoogleAuth> | undefined;
  const signIn = async (): Promise<GoogleAuth> => {
    auth ??= createGoogleAuth(account, token);
    try {
      await (await (await auth).getClient()).getRequestHeaders();
      return await auth;
    } catch (error) {
      auth = undefined;
      throw makeSignInError(name, error);
    }
  };
  const secrets = [
    token,
    ...(account ? [account.client_email, account.private_key] : []),
    ...Object.values(headers),
  ].filter((value) => typeof value === 'string');
  if (getWire('vertex', options.model.id) === 'gemini') {
    return createGeminiFamilyHandler({
      ...options,
      name,
      vendor: 'vertex',
      secrets,
      async connect({ fetch }) {
        const [{ GoogleGenAI }, auth] = await Promise.all([import('@google/genai'), signIn()]);
        return new GoogleGenAI({
          vertexai: true,
          project: projectId,
          location: region,
          apiVersion: 'v1',
          googleAuthOptions: { authClient: await auth.getClient() },
          httpOptions: {
            baseUrl: endpoint.href.replace(/\/(?:v1\/?)?$/, ''),
            headers: { ...headers },
            fetch,
            retryOptions: { attempts: 1 },
          },
        });
      },
    });
  }
  return createAnthropicFamilyHandler({
    ...options,
    name,
    vendor: 'vertex',
    secrets,
    async connect(attempt) {
      const [{ AnthropicVertex }, googleAuth] = await Promise.all([import('@anthropic-ai/vertex-sdk'), signIn()]);
      return new AnthropicVertex({
        ...makeClientOptions(attempt),
        projectId,
        region,
        googleAuth,
        baseURL: endpoint.href.replace(/\/$/, ''),
        defaultHeaders: withoutEnvironmentHeaders('ANTHROPIC_CUSTOM_HEADERS', headers),
      });
    },
  });
}

async function createGoogleAuth(account: ServiceAccount | undefined, token: string | undefined): Promise<GoogleAuth> {
  const { GoogleAuth: Auth, OAuth2Client } = await import('google-auth-library');
  if (token === undefined) {
    // VS Code's fetch uses its proxy. Credentials must not follow redirects.
    const fetchImplementation: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'error' });
    const clientOptions = { transporterOptions: { fetchImplementation } };
    // oxlint-disable-next-line typescript/no-deprecated -- for what nobody has checked; parseServiceAccount has
    return new Auth({ scopes: GOOGLE_CLOUD_SCOPE, clientOptions, ...(account && { credentials: account }) });
  }
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: token });
  return new Auth({ authClient });
}

/** Errors of Google's library include the signed request, so only the status is kept. */
function makeSignInError(name: string, error: unknown): ApiError {
  const status = isRecord(error) && typeof error['status'] === 'number' ? error['status'] : undefined;
  if (status === undefined && error instanceof Error && /^request to |fetch failed/.test(error.message)) {
    return new ApiError('network', { name, sentence: 'Google’s sign-in could not be reached.' });
  }
  const sentence = 'Google did not accept the credentials, or there are none on this machine.';
  return new ApiError('auth', { name, sentence, ...(status !== undefined && { status }) });
}

/** Source: Vertex's guide, "Endpoints"; the SDK's table. */
function getRegionUrl(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com/v1';
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com/v1`;
  return `https://${region}-aiplatform.googleapis.com/v1`;
}

interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
}

function parseServiceAccount(name: string, json: string): ServiceAccount {
  try {
    const value: unknown = JSON.parse(json);
    if (isRecord(value) && typeof value['client_email'] === 'string' && typeof value['private_key'] === 'string') {
      return { client_email: value['client_email'], private_key: value['private_key'] };
    }
  } catch {
    // The error's text contains the key, so it is not passed on.
  }
  throw new ApiError('auth', { name, sentence: 'The service account’s key is not the JSON file that Google gives.' });
}
