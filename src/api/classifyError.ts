/**
 * Recognizes errors by their shape, so that no SDK must be loaded. Drops the original errors, since
 * they contain headers.
 */
import { isRecord } from '../core/messages/blocks';
import { ApiError, isApiError, type ApiErrorKind } from './apiError';
import { findOverflow, findExceededBodyLimits, type OverflowReport } from './tooLong';
import { redactSecrets } from './redact';

export interface ErrorContext {
  readonly name: string;
  readonly secrets: readonly string[];
  /** Milliseconds since the epoch, for a `retry-after` date. */
  readonly now: number;
}

/** If an ApiError is `raw` itself or among its causes, returns it unchanged. */
export function toApiError(raw: unknown, context: ErrorContext): ApiError {
  const errorChain = listCauses(raw);
  const ownError = errorChain.find(isApiError);
  if (ownError) return ownError;
  const errorResponse = errorChain.map((error) => findErrorResponse(error)).find((found) => found !== undefined);
  if (errorResponse) return convertErrorResponse(errorResponse, context);
  const code = errorChain.map((error) => findErrorCode(error)).find((found) => found !== undefined);
  const messages = errorChain
    .map((error) => (error instanceof Error ? error.message : ''))
    .filter((text) => text !== '');
  const fullMessage = [...new Set(messages)].join(': ').replaceAll('.: ', ': ');
  const vendorMessage = shortenVendorMessage(redactSecrets(fullMessage, context.secrets));
  const details = {
    name: context.name,
    ...(code !== undefined && { code }),
    ...(vendorMessage !== '' && { vendorMessage }),
  };
  const overflow = findOverflow(messages.join(' '));
  const kind = overflow ? 'context-too-long' : classifyFailureWithoutResponse(errorChain, code, messages.join(' '));
  return new ApiError(kind, { ...details, ...explainErrorCode(code), ...(overflow && { overflow }) });
}

/** Lists an error with its causes, which may be cyclic. */
function listCauses(raw: unknown): unknown[] {
  const errorChain: unknown[] = [];
  for (let error = raw; error !== undefined && !errorChain.includes(error);) {
    errorChain.push(error);
    error = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
  }
  return errorChain;
}

interface ErrorResponse {
  readonly status: number | undefined;
  readonly message: string;
  readonly type: unknown;
  readonly code: unknown;
  readonly headers: Headers | undefined;
}

/** Anthropic's errors have no status in a stream (API reference, "Errors"). */
const STATUS_BY_ERROR_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
  // OpenAI sends these in a stream.
  server_error: 500,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  // Bedrock sends these in a stream.
  throttlingException: 429,
  serviceUnavailableException: 503,
  internalServerException: 500,
  modelStreamErrorException: 500,
  modelTimeoutException: 504,
  validationException: 400,
};

function findErrorResponse(error: unknown): ErrorResponse | undefined {
  if (!(error instanceof Error)) return undefined;
  const sdkError = error as Error & { status?: unknown; error?: unknown; headers?: unknown };
  const hasErrorBody =
    (isRecord(sdkError.error) && !(sdkError.error instanceof Error)) || typeof sdkError.error === 'string';
  const isErrorResponse = typeof sdkError.status === 'number' || hasErrorBody;
  if (!isErrorResponse) return undefined;
  const body = sdkError.error;
  const errorBody = isRecord(body) && isRecord(body['error']) ? body['error'] : body;
  const fields = isRecord(errorBody) ? errorBody : {};
  const { type, code } = fields;
  return {
    status: typeof sdkError.status === 'number' ? sdkError.status : inferStatus(type, code),
    message: findErrorMessage(errorBody) ?? sdkError.message,
    type,
    code,
    headers: sdkError.headers instanceof Headers ? sdkError.headers : undefined,
  };
}

function inferStatus(type: unknown, code: unknown): number | undefined {
  // OpenRouter and llama.cpp use the status as the code.
  if (typeof code === 'number' && code >= 400 && code < 600) return code;
  return [code, type].map((name) => (typeof name === 'string' ? STATUS_BY_ERROR_TYPE[name] : undefined)).find(Boolean);
}

function findErrorMessage(body: unknown): string | undefined {
  // LM Studio sends a string instead of OpenAI's object.
  if (typeof body === 'string' && body !== '') return body;
  const message = isRecord(body) ? body['message'] : undefined;
  return typeof message === 'string' && message !== '' ? message : undefined;
}

function convertErrorResponse(
  { status, message, type, code, headers }: ErrorResponse,
  { name, secrets, now }: ErrorContext,
): ApiError {
  const overflow = status === 401 || status === 402 ? undefined : findOverflow(message, code, type);
  const exceededBodyLimits = overflow ? undefined : findExceededBodyLimits(status, message, type);
  const overflowReport: OverflowReport | undefined = exceededBodyLimits ? { weight: exceededBodyLimits } : overflow;
  const kind = overflow
    ? 'context-too-long'
    : exceededBodyLimits
      ? 'too-many-bytes'
      : classifyErrorResponse(status, message, type, code);
  const retryAfterMs = kind === 'quota' ? undefined : readRetryDelayMs(headers, now);
  const vendorMessage = shortenVendorMessage(redactSecrets(message, secrets));
  return new ApiError(kind, {
    name,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(vendorMessage !== '' && { vendorMessage }),
    ...(overflowReport && { overflow: overflowReport }),
  });
}

/** Anthropic: "Your credit balance is too low to access the Anthropic API."; OpenAI: "You exceeded your current quota". */
const QUOTA_MESSAGE = /credit balance is too low|exceeded your current quota|insufficient (?:quota|credits?|funds)/i;
/** Bedrock, status 400: "The provided model identifier is invalid." */
const MISSING_MODEL_MESSAGE = /model identifier is invalid|model .*(?:not found|does not exist)/i;
/** Azure's filter responds 400 with `content_filter`, OpenAI's with `content_policy_violation`. */
const CONTENT_FILTER_CODES = new Set<unknown>(['content_filter', 'content_policy_violation', 'invalid_prompt']);

function classifyErrorResponse(
  status: number | undefined,
  message: string,
  type: unknown,
  code: unknown,
): ApiErrorKind {
  // Gemini responds 400 to an invalid key.
  if (/api key not valid/i.test(message)) return 'auth';
  if (CONTENT_FILTER_CODES.has(code)) return 'refusal';
  if (status === 402 || code === 'insufficient_quota' || type === 'insufficient_quota' || QUOTA_MESSAGE.test(message))
    return 'quota';
  switch (status) {
    case 401:
      return 'auth';
    case 403:
      return 'permission';
    case 404:
      return 'model';
    case 429:
      return 'rate-limit';
    case 503:
    case 529:
      return 'overloaded';
    case undefined:
      return 'protocol';
    default:
      if (status >= 500) return 'server';
      return MISSING_MODEL_MESSAGE.test(message) || code === 'model_not_found' ? 'model' : 'invalid-request';
  }
}

/** Milliseconds, from `retry-after-ms` or `retry-after` (seconds or a date; RFC 9110, 10.2.3). */
function readRetryDelayMs(headers: Headers | undefined, nowMs: number): number | undefined {
  const milliseconds = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const value = headers?.get('retry-after');
  if (value === null || value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  const waitMs = Number.isNaN(seconds) ? Date.parse(value) - nowMs : seconds * 1000;
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

const NETWORK_ERROR_CODE =
  /^(?:E[A-Z]{3,}|UND_ERR_\w+|CERT_\w+|SELF_SIGNED\w*|DEPTH_ZERO\w*|UNABLE_TO\w+|ERR_TLS\w*|ERR_SSL\w*)$/;
const BROKEN_CONNECTION_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const CERTIFICATE_ERROR_CODE = /CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL/;

function findErrorCode(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && NETWORK_ERROR_CODE.test(code) ? code : undefined;
}

/**
 * VS Code rejects before sending: "Cannot have more than 128 tools" (microsoft/vscode#258890), "You
 * may not include more than 128 tools" (microsoft/vscode#256629), "… not supported with more than
 * one tool".
 */
const INVALID_TOOLS_MESSAGE =
  /(?:cannot have|may not include) more than \d+ tools|not supported with more than one tool/i;

function classifyFailureWithoutResponse(
  chain: readonly unknown[],
  code: string | undefined,
  text: string,
): ApiErrorKind {
  const names = chain.map((error) => (error instanceof Error ? error.name : ''));
  // VS Code's LanguageModelError has a `code` (vscode.d.ts).
  const lmCodes = chain.map((error) => (error instanceof Error && 'code' in error ? error.code : undefined));
  if (lmCodes.includes('NoPermissions')) return 'permission';
  // Copilot also uses `Blocked` for too many requests (vscode-copilot-chat#2307).
  if (lmCodes.includes('Blocked')) return /too many requests|temporarily/i.test(text) ? 'rate-limit' : 'permission';
  if (lmCodes.includes('NotFound')) return 'model';
  if (names.includes('ChatQuotaExceeded')) return 'quota';
  if (names.includes('ChatRateLimited')) return 'rate-limit';
  if (INVALID_TOOLS_MESSAGE.test(text)) return 'invalid-request';
  if (/could not (?:load|resolve) (?:the )?(?:default )?credentials|credential|OAuth/i.test(text)) return 'auth';
  if (names.includes('SyntaxError') || /parse .*JSON|malformed/i.test(text)) return 'protocol';
  if (names.includes('TimeoutError') || /timed out/i.test(text)) return 'timeout';
  if (code !== undefined || /fetch failed|connection error|terminated|socket/i.test(text)) return 'network';
  return 'protocol';
}

function explainErrorCode(code: string | undefined): { sentence?: string } {
  if (code === undefined) return {};
  if (code === 'ECONNREFUSED') return { sentence: 'Nothing answers at this address. Is the server started?' };
  if (code === 'ENOTFOUND') return { sentence: 'The name of the server was not found.' };
  if (BROKEN_CONNECTION_CODES.has(code)) return { sentence: 'The connection to the service broke off.' };
  if (CERTIFICATE_ERROR_CODE.test(code)) return { sentence: `The certificate of the server is not trusted (${code}).` };
  return {};
}

const MAX_VENDOR_MESSAGE_CHARS = 500;

const shortenVendorMessage = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_VENDOR_MESSAGE_CHARS ? `${line.slice(0, MAX_VENDOR_MESSAGE_CHARS - 1)}…` : line;
};
