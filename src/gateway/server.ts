/**
 * The gateway: receives an agent's requests on 127.0.0.1, has them condensed and forwards them to
 * the vendor. Unknown requests are forwarded unchanged, answers are streamed, and if anything is
 * uncertain the original body is sent.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { normalizeRefusal } from '../api/refusal';
import { classifyRefusal } from '../api/refusalKind';
import { refusesThinking } from '../api/refusedThinking';
import { findOverflow, findOverWeight, type Overflow } from '../api/tooLong';
import { errorCode, errorKind, errorMessage } from '../core/errors';
import { isRecord } from '../core/messages/blocks';
import { Attempts, type Problem } from '../live/attempts';
import { KnownBodies } from './bodies';
import { admit, newSecret, type Admitted } from './access';
import { StoppedCall, type AgentCall, type Condenser, type PreparedCall } from './condenser';
import { filterHeaders } from './headers';
import { unpack, unpackRequest } from './unpacking';
import { createUpstreamAgents, type UpstreamAgents } from './upstreamAgents';
import { UsageReader, type Told } from './usageReader';
import { findKnownRequest } from './wires';

export interface GatewayLimits {
  /** Request body in bytes. Vendors' own limits are 20 to 32 MB. */
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** Milliseconds for a client's headers, and for its whole request. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Concurrent requests of an agent, its subagents and their lookups. */
  readonly requests: number;
  /** Connections that have not yet sent the secret; beyond this number the oldest is closed. */
  readonly strangers: number;
}

const LIMITS: GatewayLimits = {
  bodyBytes: 64 * 1024 * 1024,
  headerBytes: 64 * 1024,
  headersMs: 10_000,
  requestMs: 120_000,
  requests: 128,
  strangers: 1_024,
};

/**
 * Response for a stopped call. Agents and SDKs don't retry it, as they do after 408, 409, 429 and
 * 5xx; after an `invalid_request_error` Claude Code retries five times, each time without another
 * beta feature.
 */
export const STOPPED = { status: 400, type: 'billing_error' };
/** Maximum size of a vendor's rejection to buffer, compressed and decompressed. */
const MAX_REFUSAL_BYTES = 1024 * 1024;
/** Milliseconds a closing connection may take. */
const END_MS = 1_000;

/** Logged request, without content, headers or secret. */
export interface GatewayEvent {
  readonly kind: 'passed' | 'condensed' | 'refused' | 'failed' | 'problem';
  readonly route?: string;
  readonly detail: string;
}

export interface GatewayOptions {
  /** Upstream URL per route; the rest of the path is appended. */
  readonly routes: ReadonlyMap<string, URL>;
  /** Absent: everything is forwarded unchanged. */
  readonly condenser?: Condenser;
  readonly port?: number;
  /** Reuses the secret of an earlier address; default: a new one. */
  readonly secret?: string;
  readonly limits?: Partial<GatewayLimits>;
  readonly report?: (event: GatewayEvent) => void;
  /**
   * Handlers for our own requests by route: recall for the MCP server, conversations for a window.
   * JSON in and out; the signal aborts if the client disconnects.
   */
  readonly own?: ReadonlyMap<string, (body: unknown, signal: AbortSignal) => Promise<unknown>>;
}

export interface Gateway {
  readonly port: number;
  readonly secret: string;
  /** URL of a route including the secret, without a trailing slash. */
  url(route: string): string;
  /** URL that grants access only to this route, for a command line. */
  ticketUrl(route: string): string;
  close(): Promise<void>;
}

const CLIENT_ERRORS: ReadonlyMap<string | undefined, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/**
 * Starts a gateway on 127.0.0.1.
 * @throws if the port is in use
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const limits = { ...LIMITS, ...options.limits };
  const tickets = new Map<string, string>();
  const keys = { secret: options.secret ?? newSecret(), tickets };
  const agents = createUpstreamAgents();
  const server = http.createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
  });
  // Clients without the secret must not block the agent, so request limits apply only after
  // admission.
  const sockets = new Set<Socket>();
  const strangers = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    strangers.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      strangers.delete(socket);
    });
    const [oldest] = strangers;
    if (strangers.size > limits.strangers) oldest?.destroy();
  });
  let serving = 0;
  const getPort = (): number => (server.address() as AddressInfo).port;
  const passing = new ProxiedRequest(options, limits, agents);
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    const admission = admit(request.url ?? '', request.headers, keys, getPort());
    if (admission.kind === 'refused') {
      options.report?.({ kind: 'refused', detail: admission.detail });
      say(response, admission.status, admission.detail);
      return;
    }
    strangers.delete(request.socket);
    if (serving >= limits.requests) {
      say(response, 503, `Context Condenser: ${limits.requests} requests are under way already.`);
      return;
    }
    serving++;
    response.once('close', () => {
      serving--;
    });
    passing.pass(request, response, admission).catch((error: unknown) => {
      options.report?.({ kind: 'failed', route: admission.route, detail: errorKind(error) });
      if (response.headersSent) reset(response);
      else say(response, 502, `Context Condenser: ${errorMessage(error)}`);
    });
  });
  // After this response to a WebSocket, Codex immediately falls back to HTTP and sends the whole
  // conversation.
  server.on('upgrade', (request: http.IncomingMessage, socket: Socket) => {
    const isOurs = admit(request.url ?? '', request.headers, keys, getPort()).kind === 'admitted';
    socket.on('error', () => undefined);
    const status = isOurs ? '426 Upgrade Required' : '404 Not Found';
    endWith(socket, status);
  });
  server.on('clientError', (error: Error, socket: Socket) => {
    const status = CLIENT_ERRORS.get(errorCode(error)) ?? '400 Bad Request';
    if (socket.writable) endWith(socket, status);
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
      const ticket = newSecret();
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
        passing.stop();
        for (const agent of Object.values(agents)) agent.destroy();
      }),
  };
}

function endWith(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), END_MS).unref();
}

/** Our own response, in a form that the vendors' SDKs display. */
function say(response: http.ServerResponse, status: number, message: string, type = 'gateway_error'): void {
  const json = JSON.stringify({ type: 'error', error: { type, message } });
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(json);
}

class ProxiedRequest {
  private readonly bodies = new KnownBodies();
  private readonly readers = new Set<UsageReader>();
  /** Reasons already reported for unread requests, since an agent compresses all of them alike. */
  private readonly unread = new Set<string>();

  constructor(
    private readonly options: GatewayOptions,
    private readonly limits: GatewayLimits,
    private readonly agents: UpstreamAgents,
  ) {}

  async pass(request: http.IncomingMessage, response: http.ServerResponse, { route, rest }: Admitted): Promise<void> {
    const abort = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) abort.abort(new Error('The agent went away.'));
    });
    const own = this.options.own?.get(route);
    if (own) {
      const bytes = await this.bodyOf(request, response);
      if (!bytes) return;
      const answer = await own(bytes.length === 0 ? undefined : JSON.parse(bytes.toString()), abort.signal);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
      return;
    }
    const base = this.options.routes.get(route);
    if (!base) {
      say(response, 404, 'Not found.');
      return;
    }
    const address = joinAddress(base, rest);
    const one = new Exchange(request, response, address, this.agents, abort.signal);
    const known = findKnownRequest(request.method ?? '', address.pathname);
    if (!known) {
      await one.stream(this.limits.bodyBytes);
      this.options.report?.({ kind: 'passed', route, detail: `${request.method ?? ''} of another kind` });
      return;
    }
    const came = await this.bodyOf(request, response);
    if (!came) return;
    const body = await unpackRequest(came, request.headers['content-encoding'], this.limits.bodyBytes);
    if ('unread' in body) this.tellUnread(route, body.unread);
    const read = 'unread' in body ? undefined : this.bodies.read(body.bytes, known.wire.list);
    const toSend = (call: PreparedCall | undefined): Promise<Buffer> | Buffer =>
      call?.bytes === undefined || 'unread' in body ? came : body.pack(call.bytes);
    let prepared: PreparedCall | undefined;
    try {
      prepared = read && (await this.prepared({ route, address, known, headers: request.headers, read }, abort.signal));
    } catch (error) {
      if (!(error instanceof StoppedCall)) throw error;
      this.options.report?.({ kind: 'refused', route, detail: error.message });
      say(response, STOPPED.status, error.message, STOPPED.type);
      return;
    }
    try {
      await this.answered(one, toSend, prepared, known, route);
    } finally {
      prepared?.end(one.isTaken);
    }
  }

  private tellUnread(route: string, why: string): void {
    if (this.unread.has(why)) return;
    this.unread.add(why);
    this.options.report?.({ kind: 'problem', route, detail: `A packed request passed as it came: ${why}.` });
  }

  /** Pending answers were already forwarded. */
  stop(): void {
    for (const reader of this.readers) reader.stop();
  }

  /** The whole body; undefined if it was rejected. */
  private async bodyOf(request: http.IncomingMessage, response: http.ServerResponse): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > this.limits.bodyBytes) {
        say(response, 413, `A request may have ${this.limits.bodyBytes} bytes.`);
        request.destroy();
        return undefined;
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  private async prepared(call: AgentCall, signal: AbortSignal): Promise<PreparedCall | undefined> {
    try {
      return await this.options.condenser?.prepare(call, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StoppedCall) throw error;
      this.options.report?.({
        kind: 'problem',
        route: call.route,
        detail: `A request went out as it came: ${errorKind(error)}`,
      });
      return undefined;
    }
  }

  /**
   * Sends a body and forwards the answer. A rejection is not forwarded if another body can be
   * tried.
   */
  private async answered(
    one: Exchange,
    toSend: (call: PreparedCall | undefined) => Promise<Buffer> | Buffer,
    prepared: PreparedCall | undefined,
    { wire }: AgentCall['known'],
    route: string,
  ): Promise<void> {
    let now = prepared;
    let answer = await one.send(await toSend(now));
    const attempts = new Attempts<Refusal>();
    while (now && isRefusal(answer.statusCode)) {
      const refusal = await readRefusal(answer);
      attempts.failed(refusal.problem, now.bytes !== undefined, refusal);
      const next = await this.next(now, refusal, attempts, route);
      if ('told' in next) {
        one.passRead(next.told.answer, next.told.bytes);
        return;
      }
      now = next.prepared;
      answer = await one.send(await toSend(now));
    }
    const reader = new UsageReader(wire, answer.headers);
    const isAnswer = (answer.statusCode ?? 0) < 300;
    this.readers.add(reader);
    try {
      await one.passAnswer(answer, (chunk) => {
        reader.push(chunk);
      });
      if (isAnswer && now) await this.ended(one, now, await reader.end(), route);
    } finally {
      reader.stop();
      this.readers.delete(reader);
    }
    const condensed = now?.bytes !== undefined;
    this.options.report?.({
      kind: condensed ? 'condensed' : 'passed',
      route,
      detail: `status ${answer.statusCode ?? 0}`,
    });
  }

  /** The request to send after a rejection, or the rejection to forward. */
  private async next(
    refused: PreparedCall,
    refusal: Refusal,
    attempts: Attempts<Refusal>,
    route: string,
  ): Promise<{ readonly prepared: PreparedCall } | { readonly told: Refusal }> {
    const { words = '', overflow = {}, problem, answer } = refusal;
    const report = (detail: string): void => this.options.report?.({ kind: 'problem', route, detail });
    const refusedForm = `The vendor refused a condensed request (${classifyRefusal(words, answer.statusCode)})`;
    for (;;) {
      const { next } = attempts;
      if (next.kind === 'stop') {
        const isKnown = next.reason !== refusal && problem !== 'too-long';
        if (isKnown) report(`${refusedForm}; what came is too long to go out in its place.`);
        return { told: next.reason };
      }
      switch (next.change) {
        case 'shorten': {
          const prepared = await refused.shortened(overflow);
          if (!prepared) break;
          report('The vendor refused a request as too large.');
          return { prepared };
        }
        case 'leave-out-thinking': {
          const prepared = refused.withoutThinking();
          if (!prepared) break;
          report(`${refusedForm}; it went out without its earlier thinking.`);
          return { prepared };
        }
        case 'send-as-it-came':
          report(`${refusedForm}; it went out as it came.`);
          return { prepared: refused.asItCame(words) };
        case 'correct-calls':
          break;
      }
      attempts.cannot(next.change);
    }
  }

  /**
   * Handles the end of a successful answer. Some vendors report only there that the request was too
   * long: it can't be repeated, but the next request will be shorter.
   */
  private async ended(one: Exchange, prepared: PreparedCall, { usage, failure }: Told, route: string): Promise<void> {
    const overflow = failure === undefined ? undefined : parseOverflow(failure, undefined);
    if (usage || !overflow) prepared.answered(usage);
    if (!overflow) return;
    // A prompt that was not processed is not billed.
    one.isTaken = usage !== undefined;
    this.options.report?.({
      kind: 'problem',
      route,
      detail: 'The vendor refused a request as too large in its answer.',
    });
    try {
      await prepared.shortened(overflow);
    } catch (error) {
      // The agent has its answer and may be gone; what the vendor reported is recorded anyway.
      this.options.report?.({ kind: 'problem', route, detail: `Nothing was condensed for it: ${errorKind(error)}` });
    }
  }
}

/** 400: invalid or too long; 413: too large; 422: invalid, on some servers. */
const isRefusal = (status: number | undefined): boolean => status === 400 || status === 413 || status === 422;

interface Refusal {
  readonly answer: http.IncomingMessage;
  readonly bytes: Buffer;
  /** The decompressed text; undefined if it can't be decompressed or is too long. */
  readonly words: string | undefined;
  readonly problem: Problem;
  /** What it says about the request's size; undefined if that was not the reason. */
  readonly overflow: Overflow | undefined;
}

async function readRefusal(answer: http.IncomingMessage): Promise<Refusal> {
  const bytes = await readBeginning(answer);
  // The agent's `accept-encoding` is forwarded, so vendors compress rejections too.
  const whole =
    bytes.length > MAX_REFUSAL_BYTES
      ? undefined
      : await unpack(bytes, answer.headers['content-encoding'], MAX_REFUSAL_BYTES);
  const words = whole?.toString();
  // The status alone may be sufficient.
  const overflow = parseOverflow(words ?? '', answer.statusCode);
  return { answer, bytes, words, problem: overflow ? 'too-long' : makeProblem(words), overflow };
}

function makeProblem(words: string | undefined): Problem {
  if (words === undefined) return 'unreadable';
  return refusesThinking(words) ? 'thinking' : 'invalid';
}

/** Reads a body up to slightly more than the inspected size. */
async function readBeginning(answer: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_REFUSAL_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/**
 * The figures in a refusal of a request that is too large; undefined if that was not the reason.
 * @param words the refusal's body, in any of the forms that {@link normalizeRefusal} knows: OpenRouter's has the provider's words inside.
 */
function parseOverflow(words: string, status: number | undefined): Overflow | undefined {
  let error: unknown;
  try {
    const value: unknown = JSON.parse(normalizeRefusal(words) ?? words);
    error = isRecord(value) ? (value['error'] ?? value) : undefined;
  } catch {
    // Not JSON: uses the plain text.
  }
  const { code, type, message } = isRecord(error) ? error : {};
  const said = typeof message === 'string' ? message : words;
  const tooLong = findOverflow(said, code, type);
  const weight = tooLong ? undefined : findOverWeight(status, said, type);
  return weight ? { weight } : tooLong;
}

function joinAddress(base: URL, rest: string): URL {
  const [path = '', query] = rest.split(/\?([^]*)/);
  const address = new URL(base);
  // The agent's path is only appended, so it can't lead to another host.
  address.pathname = `${base.pathname.replace(/\/$/, '')}${path}`;
  address.search = query === undefined ? base.search : `?${query}`;
  return address;
}

class Exchange {
  /** True if the vendor accepted the request: it responded, or may still. */
  isTaken = false;

  constructor(
    private readonly request: http.IncomingMessage,
    private readonly response: http.ServerResponse,
    private readonly address: URL,
    private readonly agents: UpstreamAgents,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Sends a buffered body.
   * @throws the connection's error
   */
  async send(body: Buffer): Promise<http.IncomingMessage> {
    this.signal.throwIfAborted();
    const headers = filterHeaders(this.request, ['host', 'content-length']);
    const outgoing = this.open([...headers, 'Content-Length', String(body.length)]);
    const answering = answerTo(outgoing);
    outgoing.end(body);
    const answer = await answering.catch((error: unknown) => {
      // The vendor may have been processing when the agent disconnected.
      this.isTaken = this.signal.aborted;
      throw error;
    });
    this.isTaken = (answer.statusCode ?? 0) < 300;
    return answer;
  }

  /** Forwards an unknown request and its answer as a stream. */
  async stream(most: number): Promise<void> {
    const outgoing = this.open(filterHeaders(this.request, ['host', 'expect']));
    const answer = answerTo(outgoing);
    let length = 0;
    this.request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > most) outgoing.destroy(new Error(`A request may have ${most} bytes.`));
    });
    this.request.on('error', () => {
      outgoing.destroy();
    });
    this.request.pipe(outgoing);
    await this.passAnswer(await answer);
  }

  /**
   * Streams an answer.
   * @throws if it breaks off, after closing the agent's connection
   */
  async passAnswer(answer: http.IncomingMessage, look?: (chunk: Buffer) => void): Promise<void> {
    const { response } = this;
    this.begin(answer);
    response.flushHeaders();
    await new Promise<void>((resolve, reject) => {
      answer.on('data', (chunk: Buffer) => {
        if (!response.write(chunk)) answer.pause();
        look?.(chunk);
      });
      response.on('drain', () => {
        answer.resume();
      });
      // A lost connection must not look like the end of the answer.
      answer.on('end', () => {
        if (answer.complete) response.end(resolve);
        else reject(new Error('The vendor broke the answer off.'));
      });
      answer.on('error', reject);
      answer.on('close', () => {
        if (!answer.complete) reject(new Error('The vendor broke the answer off.'));
      });
      response.on('close', () => {
        answer.destroy();
        resolve();
      });
    });
  }

  passRead(answer: http.IncomingMessage, bytes: Buffer): void {
    this.begin(answer, ['content-length']);
    this.response.end(bytes);
  }

  private begin(answer: http.IncomingMessage, without: readonly string[] = []): void {
    const { response } = this;
    response.sendDate = false;
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', filterHeaders(answer, without));
  }

  private open(headers: string[]): http.ClientRequest {
    const { address, request, signal } = this;
    const isSecure = address.protocol === 'https:';
    return (isSecure ? https : http).request(address, {
      method: request.method ?? 'GET',
      agent: this.agents[isSecure ? 'https:' : 'http:'],
      // Node's types allow the flat list only for responses.
      headers: ['Host', address.host, ...headers],
      signal,
    });
  }
}

/**
 * libuv drops data if a reset arrives in the same poll (`uv__stream_io`), so the reset is delayed.
 * Milliseconds.
 */
const RESET_AFTER_MS = 50;

/**
 * Gemini CLI 0.61 retries after a reset, but not after a regular close in the middle of an answer.
 */
function reset({ socket }: http.ServerResponse): void {
  setTimeout(() => socket?.resetAndDestroy(), RESET_AFTER_MS);
}

function answerTo(outgoing: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.once('response', resolve);
    // Without an upgrade request Node would neither respond nor fail.
    outgoing.once('upgrade', (_answer, socket: Socket) => {
      socket.destroy();
      reject(new Error('The vendor switched to another protocol, which nobody had asked for.'));
    });
    outgoing.once('close', () => {
      reject(new Error('The vendor closed the connection without an answer.'));
    });
  });
}
