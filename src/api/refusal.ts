/** Rewrites errors to the form that the SDKs expect: `{ error: { message, type, code } }`. */
import { isRecord } from '../core/messages/blocks';

/** Bodies of more UTF-16 units are not parsed, because they are web pages. */
const MAX_ERROR_BODY_CHARS = 200_000;

/**
 * Handles errors in an array (Gemini), next to or instead of `error` (Mistral, Cerebras, SGLang),
 * as a string (xAI, LM Studio), and in `detail` (FastAPI).
 * @returns undefined if nothing changes
 */
export function normalizeErrorJson(body: string): string | undefined {
  if (body.length > MAX_ERROR_BODY_CHARS) return undefined;
  let parsedBody: unknown;
  try {
    parsedBody = JSON.parse(body);
  } catch {
    return undefined;
  }
  const errorObject = findErrorObject(parsedBody);
  return errorObject && JSON.stringify({ error: errorObject });
}

function findErrorObject(body: unknown): Readonly<Record<string, unknown>> | undefined {
  if (Array.isArray(body))
    return findErrorObject(body[0]) ?? (isRecord(body[0]) ? normalizeErrorBody(body[0]) : undefined);
  if (!isRecord(body)) return undefined;
  const { error, message, detail, type, code } = body;
  if (isRecord(error)) {
    const upstreamMessage = findUpstreamMessage(error['metadata']);
    if (upstreamMessage !== undefined) {
      const text = findNonEmptyText(error['message']);
      return { ...error, message: text === undefined ? upstreamMessage : `${text}: ${upstreamMessage}` };
    }
    return typeof error['message'] === 'string'
      ? undefined
      : { ...error, message: findNonEmptyText(error['message'] ?? error) };
  }
  const text = findNonEmptyText(error) ?? findNonEmptyText(message) ?? findNonEmptyText(detail);
  if (text === undefined) return undefined;
  return { message: text, ...(type !== undefined && { type }), ...(code !== undefined && { code }) };
}

const normalizeErrorBody = ({
  error,
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined =>
  isRecord(error) ? error : undefined;

/** OpenRouter keeps its provider's message, often JSON, in `error.metadata.raw`. */
function findUpstreamMessage(metadata: unknown): string | undefined {
  const raw = isRecord(metadata) ? metadata['raw'] : undefined;
  if (typeof raw !== 'string' || raw === '') return undefined;
  const innerJson = normalizeErrorJson(raw) ?? raw;
  try {
    const parsedJson: unknown = JSON.parse(innerJson);
    const error = isRecord(parsedJson) ? parsedJson['error'] : undefined;
    return (isRecord(error) ? findNonEmptyText(error['message']) : undefined) ?? raw;
  } catch {
    return raw;
  }
}

function findNonEmptyText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
