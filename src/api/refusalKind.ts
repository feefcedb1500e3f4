/**
 * A rejection may quote the request (vLLM, LiteLLM) or the key (LiteLLM), so only vendors'
 * vocabulary is logged.
 */
import { isRecord } from '../core/messages/blocks';
import { normalizeErrorJson } from './refusal';

/**
 * Sources: Anthropic API reference, "Errors"; OpenAI API guide, "Error codes", and its validation
 * codes; Google AIP-193 with google.rpc.Code.
 */
const LOGGABLE_ERROR_WORDS: ReadonlySet<string> = new Set([
  ...['invalid_request_error', 'authentication_error', 'billing_error', 'permission_error', 'not_found_error'],
  ...['request_too_large', 'rate_limit_error', 'api_error', 'timeout_error', 'overloaded_error', 'server_error'],
  ...['context_length_exceeded', 'string_above_max_length', 'array_above_max_length', 'integer_above_max_value'],
  ...['integer_below_min_value', 'invalid_value', 'invalid_type', 'invalid_json', 'invalid_prompt', 'invalid_image'],
  ...['missing_required_parameter', 'unknown_parameter', 'unsupported_parameter', 'unsupported_value'],
  ...['invalid_function_parameters', 'content_policy_violation', 'model_not_found', 'invalid_api_key'],
  ...['insufficient_quota', 'rate_limit_exceeded', 'BadRequestError', 'auth_error'],
  ...['INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'OUT_OF_RANGE', 'UNAUTHENTICATED', 'PERMISSION_DENIED', 'NOT_FOUND'],
  ...['RESOURCE_EXHAUSTED', 'INTERNAL', 'UNAVAILABLE', 'DEADLINE_EXCEEDED'],
]);

/** @returns for example "status 400, invalid_request_error" */
export function describeRefusalForLog(text: string, status?: number): string {
  const error = parseErrorObject(text);
  const errorWords = ['type', 'code', 'status']
    .map((field) => error[field])
    .filter((value) => typeof value === 'string' && LOGGABLE_ERROR_WORDS.has(value));
  const reasonParts = [...(status === undefined ? [] : [`status ${status}`]), ...new Set(errorWords)];
  return reasonParts.length === 0 ? 'for a reason that is not known' : reasonParts.join(', ');
}

function parseErrorObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(normalizeErrorJson(text) ?? text);
    const error = isRecord(value) ? (value['error'] ?? value) : undefined;
    return isRecord(error) ? error : {};
  } catch {
    return {};
  }
}
