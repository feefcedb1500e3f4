/**
 * Receives an agent's requests on 127.0.0.1, condenses them and forwards them to the vendor. If
 * anything is uncertain, it forwards the original.
 */
import * as http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getErrorCode, getErrorKind, getErrorMessage } from '../core/errors';
import { ParsedBodyCache } from './bodies';
import { checkGatewayAccess, createSecret, type AdmittedRequest } from './access';
import { StoppedCallError, type AgentHttpCall, type GatewayCondenser, type PreparedHttpCall } from './condenser';
import { deliverRequest } from './deliver';
import { HttpExchange } from './exchange';
import { decompressRequest } from './unpacking';
import { createUpstreamAgents, type UpstreamHttpAgents } from './upstreamAgents';
import type { UsageStreamReader } from './usageReader';
import { findKnownRequest } from './wires';

export interface GatewayLimits {
  /** Maximum bytes of a request's body. Vendors' own limits are 20 to 32 MB. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** Milliseconds until all headers, and until the whole request must have arrived. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly requests: number;
  /**
   * Maximum number of connections that have not yet sent the secret; if there are more, the oldest
   * is closed.
   */
  readonly strangers: number;
}

const DEFAULT_GATEWAY_LIMITS: GatewayLimits = {
  bodyBytes: 64 * 1024 * 1024,
  headerBytes: 64 * 1024,
  headersMs: 10_000,
  requestMs: 120_000,
  requests: 128,
  strangers: 1_024,
};

/**
 * Agents and SDKs don't retry after this response, as they do after 408, 409, 429 and 5xx. After an
 * `invalid_request_error` Claude Code retries five times.
 */
export const RESPONSE_AT_SPENDING_LIMIT = { status: 400, type: 'billing_error' };
const MAX_CLOSING_MS = 1_000;

/** An event for the log. Contains no content, headers or secret. */
export interface GatewayEvent {
  readonly kind: 'passed' | 'condensed' | 'refused' | 'failed' | 'problem';
  readonly route?: string;
  readonly detail: string;
}

export interface GatewayOptions {
  readonly routes: ReadonlyMap<string, URL>;
  /** If absent, all requests are forwarded unchanged. */
  readonly condenser?: GatewayCondenser;
  readonly port?: number;
  readonly secret?: string;
  readonly limits?: Partial<GatewayLimits>;
  readonly report?: (event: GatewayEvent) => void;
  /** Handlers of requests to the gateway itself, by route; they take and return JSON. */
  readonly ownRoutes?: ReadonlyMap<string, (body: unknown, signal: AbortSignal) => Promise<unknown>>;
}

export interface Gateway {
  readonly port: number;
  readonly secret: string;
  /** URL of a route with the secret, without a trailing slash. */
  url(route: string): string;
  /** URL with a ticket for this route only, for use on a command line. */
  ticketUrl(route: string): string;
  close(): Promise<void>;
}

const CLIENT_ERROR_MESSAGES: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/** @throws if the port is in use */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const limits = { ...DEFAULT_GATEWAY_LIMITS, ...options.limits };
  const tickets = new Map<string, string>();
  const keys = { secret: options.secret ?? createSecret(), tickets };
  const upstreamAgents = createUpstreamAgents();
  const server = http.createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
  });
  // Clients without the secret must not block the agent, so request limits apply only after
  // admission.
  const sockets = new Set<Socket>();
  const unadmittedSockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    unadmittedSockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      unadmittedSockets.delete(socket);
    });
    const [oldest] = unadmittedSockets;
    if (unadmittedSockets.size > limits.strangers) oldest?.destroy();
  });
  let openRequests = 0;
  const getPort = (): number => (server.address() as AddressInfo).port;
  const proxy = new RequestProxy(options, limits, upstreamAgents);
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    const admission = checkGatewayAccess(request.url ?? '', request.headers, keys, getPort());
    if (admission.kind === 'refused') {
      options.report?.({ kind: 'refused', detail: admission.detail });
      respondWithError(response, admission.status, admission.detail);
      return;
    }
    unadmittedSockets.delete(request.socket);
    if (openRequests >= limits.requests) {
      respondWithError(response, 503, `Context Condenser: ${limits.requests} requests are under way already.`);
      return;
    }
    openRequests++;
    response.once('close', () => {
      openRequests--;
    });
    proxy.handleRequest(request, response, admission).catch((error: unknown) => {
      options.report?.({ kind: 'failed', route: admission.route, detail: getErrorKind(error) });
      if (response.headersSent) resetConnection(response);
      else respondWithError(response, 502, `Context Condenser: ${getErrorMessage(error)}`);
    });
  });
  // After this response to a WebSocket, Codex immediately falls back to HTTP and sends the whole
  // conversation.
  server.on('upgrade', (request: http.IncomingMessage, socket: Socket) => {
    const isAdmitted = checkGatewayAccess(request.url ?? '', request.headers, keys, getPort()).kind === 'admitted';
    socket.on('error', () => undefined);
    const status = isAdmitted ? '426 Upgrade Required' : '404 Not Found';
    endWithStatus(socket, status);
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    const status = CLIENT_ERROR_MESSAGES.get(getErrorCode(error)) ?? '400 Bad Request';
    if (socket.writable) endWithStatus(socket, status);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const port = getPort();
  return {
    port,
    secret: keys.secret,
    url: (route) => `http://127.0.0.1:${port}/${keys.secret}/${route}`,
    ticketUrl: (route) => {
      const ticket = createSecret();
      tickets.set(ticket, route);
      return `http://127.0.0.1:${port}/${ticket}/${route}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        // Includes sockets that Node no longer tracks, such as after a WebSocket request.
        for (const socket of sockets) socket.destroy();
        proxy.stopReading();
        for (const agent of Object.values(upstreamAgents)) agent.destroy();
      }),
  };
}

function endWithStatus(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), MAX_CLOSING_MS).unref();
}

function respondWithError(
  response: http.ServerResponse,
  status: number,
  message: string,
  type = 'gateway_error',
): void {
  const json = JSON.stringify({ type: 'error', error: { type, message } });
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(json);
}

class RequestProxy {
  private readonly bodies = new ParsedBodyCache();
  private readonly readers = new Set<UsageStreamReader>();
  /**
   * Reasons why a body can't be read. Each is reported only once, because an agent compresses all
   * its requests alike.
   */
  private readonly unread = new Set<string>();

  constructor(
    private readonly options: GatewayOptions,
    private readonly limits: GatewayLimits,
    private readonly agents: UpstreamHttpAgents,
  ) {}

  async handleRequest(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    { route, rest }: AdmittedRequest,
  ): Promise<void> {
    const abortController = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) abortController.abort(new Error('The agent went away.'));
    });
    const ownRoute = this.options.ownRoutes?.get(route);
    if (ownRoute) {
      const bytes = await this.readBody(request, response);
      if (!bytes) return;
      const answer = await ownRoute(
        bytes.length === 0 ? undefined : JSON.parse(bytes.toString()),
        abortController.signal,
      );
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
      return;
    }
    const upstreamUrl = this.options.routes.get(route);
    if (!upstreamUrl) {
      respondWithError(response, 404, 'Not found.');
      return;
    }
    const address = joinAddress(upstreamUrl, rest);
    const exchange = new HttpExchange(request, response, address, this.agents, abortController.signal);
    const recognizedRequest = findKnownRequest(request.method ?? '', address.pathname);
    if (!recognizedRequest) {
      await exchange.streamUpstream(this.limits.bodyBytes);
      this.options.report?.({ kind: 'passed', route, detail: `${request.method ?? ''} of another kind` });
      return;
    }
    const receivedBytes = await this.readBody(request, response);
    if (!receivedBytes) return;
    const body = await decompressRequest(receivedBytes, request.headers['content-encoding'], this.limits.bodyBytes);
    if ('unread' in body) this.logUnreadRequest(route, body.unread);
    const parsedBody = 'unread' in body ? undefined : this.bodies.parseBody(body.bytes, recognizedRequest.wire.list);
    let preparedCall: PreparedHttpCall | undefined;
    try {
      preparedCall =
        parsedBody &&
        (await this.prepareCall(
          { route, address, recognized: recognizedRequest, headers: request.headers, read: parsedBody },
          abortController.signal,
        ));
    } catch (error) {
      if (!(error instanceof StoppedCallError)) throw error;
      this.options.report?.({ kind: 'refused', route, detail: error.message });
      respondWithError(response, RESPONSE_AT_SPENDING_LIMIT.status, error.message, RESPONSE_AT_SPENDING_LIMIT.type);
      return;
    }
    await deliverRequest({
      exchange,
      prepared: preparedCall,
      pack: (call) => (call?.bytes === undefined || 'unread' in body ? receivedBytes : body.pack(call.bytes)),
      wire: recognizedRequest.wire,
      signal: abortController.signal,
      log: (line) => this.options.report?.({ ...line, route }),
      readers: this.readers,
    });
  }

  private logUnreadRequest(route: string, reason: string): void {
    if (this.unread.has(reason)) return;
    this.unread.add(reason);
    this.options.report?.({ kind: 'problem', route, detail: `A packed request passed as it came: ${reason}.` });
  }

  /** Ends all readers of answers; the answers themselves were already forwarded. */
  stopReading(): void {
    for (const reader of this.readers) reader.stopReading();
  }

  private async readBody(request: http.IncomingMessage, response: http.ServerResponse): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    let receivedBytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      receivedBytes += chunk.length;
      if (receivedBytes > this.limits.bodyBytes) {
        respondWithError(response, 413, `A request may have ${this.limits.bodyBytes} bytes.`);
        request.destroy();
        return undefined;
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  private async prepareCall(call: AgentHttpCall, signal: AbortSignal): Promise<PreparedHttpCall | undefined> {
    try {
      return await this.options.condenser?.prepare(call, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StoppedCallError) throw error;
      this.options.report?.({
        kind: 'problem',
        route: call.route,
        detail: `A request went out as it came: ${getErrorKind(error)}`,
      });
      return undefined;
    }
  }
}

function joinAddress(upstreamUrl: URL, rest: string): URL {
  const [path = '', query] = rest.split(/\?([^]*)/);
  const address = new URL(upstreamUrl);
  // The agent's path is only appended, so it can't lead to another host.
  address.pathname = `${upstreamUrl.pathname.replace(/\/$/, '')}${path}`;
  address.search = query === undefined ? upstreamUrl.search : `?${query}`;
  return address;
}

/**
 * Milliseconds to wait before a reset, since libuv drops data if the reset arrives in the same poll
 * (`uv__stream_io`).
 */
const CONNECTION_RESET_DELAY_MS = 50;

/**
 * Resets the agent's connection: Gemini CLI 0.61 retries after a reset, but not after a regular
 * close in the middle of an answer.
 */
function resetConnection({ socket }: http.ServerResponse): void {
  setTimeout(() => socket?.resetAndDestroy(), CONNECTION_RESET_DELAY_MS);
}
