import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { SECRET_HEADER_NAME } from './access';

/**
 * Headers for one connection (RFC 9110, 7.6.1). Also `alt-svc`, which would let the agent bypass
 * us, and `expect`, which we answer ourselves.
 */
const CONNECTION_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'alt-svc',
  'expect',
  SECRET_HEADER_NAME,
]);

type RawHeaders = string[];

/** @param omittedNames lowercase names of headers to leave out */
export function filterHeaders(message: IncomingMessage, omittedNames: readonly string[] = []): RawHeaders {
  const connectionOptions = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const removedNames = new Set([...CONNECTION_HEADERS, ...connectionOptions, ...omittedNames]);
  const passedHeaders: RawHeaders = [];
  const { rawHeaders } = message;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!removedNames.has(name.toLowerCase())) passedHeaders.push(name, rawHeaders[index + 1] ?? '');
  }
  return passedHeaders;
}

const PER_REQUEST_HEADER =
  /^(?:host|content-(?:length|encoding)|accept-encoding|idempotency-key|x-(?:client-)?request-id|x-stainless-(?:retry-count|timeout)|traceparent|tracestate)$/;

/**
 * Selects the headers that our own requests may reuse: the agent's authentication and preferences.
 */
export function pickLastingHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const connectionOptions = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ||
      CONNECTION_HEADERS.has(name) ||
      connectionOptions.includes(name) ||
      PER_REQUEST_HEADER.test(name)
        ? []
        : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
