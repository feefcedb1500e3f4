import { createAnthropicHandler } from '../api/anthropic';
import { ApiError } from '../api/apiError';
import { createBedrockHandler, type AwsCredentials } from '../api/bedrock';
import type { CallOptions, CallTimeouts } from '../api/call';
import { completeText } from '../api/completeText';
import { createGeminiHandler } from '../api/gemini';
import type { HandlerOptions } from '../api/handlerOptions';
import { createOpenAIHandler } from '../api/openai';
import type { ApiHandler, ApiRequest, Usage, Vendor } from '../api/types';
import { createVertexHandler, type GoogleCredentials } from '../api/vertex';
import { createVscodeLmHandler, type LanguageModels } from '../api/vscodeLm';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { VENDORS } from '../core/vendors/vendors';
import { OWN_VSCODE_VENDOR } from '../core/vendors/ownVendor';
import { requiresApiKey, type ApiProfile } from './profiles';

export interface ProfileHandlerDependencies {
  readonly counter: MessageCounter;
  /** VS Code's models; absent outside VS Code. */
  readonly models?: LanguageModels;
  /** Context window in tokens that is used if the profile has none. */
  readonly contextWindow?: number;
  /** Retries and timeouts that are used if the profile has none. */
  readonly call?: Pick<CallOptions, 'retry' | 'timeouts'>;
}

const SET_KEY_HINT = 'Set it with the command “Context Condenser: Manage Models”.';

/** @throws {ApiError} kinds `auth` and `endpoint` */
export function createProfileHandler(
  profile: ApiProfile,
  key: string | undefined,
  dependencies: ProfileHandlerDependencies,
): ApiHandler {
  const { vendor, name, baseUrl, allowInsecureHttp, timeoutSeconds, maxOutputTokens } = profile;
  const contextWindow = profile.contextWindow ?? dependencies.contextWindow;
  if (key === undefined && requiresApiKey(profile)) {
    throw new ApiError('auth', { name, sentence: 'No API key is set.', advice: SET_KEY_HINT });
  }
  const call = {
    ...dependencies.call,
    ...(timeoutSeconds !== undefined && { timeouts: makeTimeouts(timeoutSeconds) }),
  };
  const commonOptions: CommonHandlerOptions = {
    name,
    counter: dependencies.counter,
    model: {
      id: profile.model,
      ...(contextWindow !== undefined && { contextWindow }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    },
    ...(baseUrl !== undefined && { baseUrl }),
    ...(allowInsecureHttp !== undefined && { allowInsecureHttp }),
    ...call,
  };
  return addExtraBody(
    CREATE_HANDLER_BY_VENDOR[vendor](commonOptions, { profile, key, models: dependencies.models }),
    profile.extraBody,
  );
}

/**
 * Adds the profile's extra fields to every request, so that cached prompts stay valid. Fields of
 * the request itself take precedence.
 */
function addExtraBody(handler: ApiHandler, extraBody: ApiProfile['extraBody']): ApiHandler {
  if (!extraBody) return handler;
  const addExtraFields = (request: ApiRequest): ApiRequest => ({
    ...request,
    extraBody: { ...extraBody, ...request.extraBody },
  });
  return {
    ...handler,
    stream: (request, signal) => handler.stream(addExtraFields(request), signal),
  };
}

type CommonHandlerOptions = HandlerOptions & {
  readonly name: string;
  readonly baseUrl?: string;
  readonly allowInsecureHttp?: boolean;
};

interface ProfileHandlerInput {
  readonly profile: ApiProfile;
  readonly key: string | undefined;
  readonly models: LanguageModels | undefined;
}

const CREATE_HANDLER_BY_VENDOR: Readonly<
  Record<Vendor, (common: CommonHandlerOptions, asked: ProfileHandlerInput) => ApiHandler>
> = {
  anthropic: (common, { key = '' }) => createAnthropicHandler({ ...common, apiKey: key }),
  openai: (common, { profile: { api }, key }) =>
    createOpenAIHandler({ ...common, ...(api && { api }), ...(key !== undefined && { apiKey: key }) }),
  openrouter: (common, { key = '' }) =>
    createOpenAIHandler({ baseUrl: VENDORS.openrouter.address, ...common, apiKey: key }),
  bedrock: (common, { profile: { region = '' }, key }) =>
    createBedrockHandler({ ...common, region, credentials: readAwsCredentials(key) }),
  vertex: (commonOptions, { profile: { region = '', projectId = '' }, key }) =>
    createVertexHandler({ ...commonOptions, region, projectId, credentials: readGoogleCredentials(key) }),
  gemini: (commonOptions, { key = '' }) => createGeminiHandler({ ...commonOptions, apiKey: key }),
  vscode: (commonOptions, { models }) => {
    const { name, model } = commonOptions;
    if (!models) throw new ApiError('model', { name, sentence: 'VS Code’s models can be used in VS Code only.' });
    const { id, contextWindow } = model;
    return createVscodeLmHandler({
      ...commonOptions,
      models,
      ownVendor: OWN_VSCODE_VENDOR,
      selector: { id },
      ...(contextWindow !== undefined && { contextWindow }),
    });
  },
};

/**
 * Limits both the whole call and each pause in it, because a local model may take minutes to read a
 * long prompt.
 */
function makeTimeouts(seconds: number): CallTimeouts {
  const milliseconds = seconds * 1_000;
  return { firstByteMs: milliseconds, wholeMs: milliseconds };
}

/**
 * Reads `id:secret` or `id:secret:session` as an access key, and anything else as a Bedrock key.
 */
function readAwsCredentials(key: string | undefined): AwsCredentials {
  if (key === undefined) return 'default';
  const [accessKeyId = '', secretAccessKey, sessionToken] = key.split(':');
  if (!/^A[A-Z0-9]{15,}$/.test(accessKeyId) || secretAccessKey === undefined) return { apiKey: key };
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

/** Reads JSON as a service account's key file, and anything else as an access token. */
function readGoogleCredentials(key: string | undefined): GoogleCredentials {
  if (key === undefined) return 'default';
  return key.trimStart().startsWith('{') ? { serviceAccountJson: key } : { accessToken: key };
}

export type ConnectionTestOutcome =
  | { readonly ok: true; readonly timeMs: number; readonly usage: Usage | undefined }
  | { readonly ok: false; readonly error: ApiError };

export async function testConnection(handler: ApiHandler, signal?: AbortSignal): Promise<ConnectionTestOutcome> {
  const startMs = performance.now();
  const outcome = await completeText(
    handler,
    { messages: [{ role: 'user', content: 'Reply with the word OK.' }], maxOutputTokens: 64 },
    signal ? { signal } : {},
  );
  // Reaching the limit is a success: a thinking model may need more, but it has answered.
  if (outcome.kind === 'complete' || outcome.kind === 'cut-at-limit') {
    return { ok: true, timeMs: performance.now() - startMs, usage: outcome.usage };
  }
  return { ok: false, error: outcome.error };
}
