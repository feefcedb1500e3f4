/**
 * Shared by the servers: listens on 127.0.0.1, records every request, responds as scripted, and
 * detects closed connections. Each protocol has its own file.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Behaviour } from './behaviour';
import { isObject, type Json } from './json';
import type { CacheRules } from './promptCache';

export interface RecordedRequest {
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; `{}` if it isn't a JSON object. */
  readonly body: Json;
  readonly bytes: number;
  /** Undefined until the request is answered. */
  readonly status: number | undefined;
  /** The error message, if the request was rejected. */
  readonly refusal: string | undefined;
  /** The reported usage in the vendor's fields, if any. */
  readonly usage: Json | undefined;
  /** Resolves only if the client closes the connection before the answer is complete. */
  readonly aborted: Promise<void>;
  readonly isAborted: boolean;
}

/**
 * One behavior for all requests, a list whose last element repeats, or a function of the request.
 */
export type Script = Behaviour | readonly Behaviour[] | ((request: RecordedRequest) => Behaviour | Promise<Behaviour>);

export interface ServerOptions {
  /** The response to valid requests. Default: "ok". */
  readonly script?: Script;
  /** The accepted API key. Default: any. */
  readonly apiKey?: string;
  /** Maximum input tokens. Default 200,000. */
  readonly maxContextTokens?: number;
  /** Tokens per four characters. Default 1.25. */
  readonly tokenFactor?: number;
  /** Counts tokens instead of applying the factor. */
  readonly countTokens?: (text: string) => number;
  /** Minimum cached prompt in tokens. Default 1024. */
  readonly minCacheTokens?: number;
  /** Further cache rules. Default: entries never expire. */
  readonly cache?: Partial<CacheRules>;
  /**
   * Key that signs thinking; servers with the same key accept each other's thinking, like those of
   * one vendor. Default: a random one.
   */
  readonly sealKey?: Buffer;
  /** Clock for cache expiry, in milliseconds. Default: the system's clock. */
  readonly now?: () => number;
}

export interface ModelServer {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  tokensOf(text: string): number;
  /** Replaces the script for later requests. */
  play(script: Script): void;
  /** Resolves when the request with this index arrives. */
  request(index: number): Promise<RecordedRequest>;
  /** Discards recorded requests to free memory. */
  forget(): void;
  /** Stops listening and closes all connections. A test may exit without it. */
  close(): Promise<void>;
}

/** A request being answered, with its record, which the server may still change. */
export interface Exchange {
  readonly record: { -readonly [field in keyof RecordedRequest]: RecordedRequest[field] };
  readonly response: ServerResponse;
  /** Resets the connection like a network failure. */
  readonly hangUp: () => void;
}

export type HandleRequest = (
  exchange: Exchange,
  next: (record: RecordedRequest) => Promise<Behaviour>,
) => Promise<void>;

export async function startServer(
  script: Script,
  tokensOf: (text: string) => number,
  answer: HandleRequest,
): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const waitersByIndex = new Map<number, ((record: RecordedRequest) => void)[]>();
  let currentScript = script;
  let playedCount = 0;
  const playNext = async (record: RecordedRequest): Promise<Behaviour> => {
    if (typeof currentScript === 'function') return currentScript(record);
    if (!isList(currentScript)) return currentScript;
    const behaviour = currentScript[Math.min(playedCount++, currentScript.length - 1)];
    if (!behaviour) throw new Error('The script is empty.');
    return behaviour;
  };
  const server = createServer((incoming, response) => {
    void (async () => {
      const exchange = await recordRequest(incoming, response, requests.length);
      requests.push(exchange.record);
      for (const wakeWaiter of waitersByIndex.get(exchange.record.index) ?? []) wakeWaiter(exchange.record);
      waitersByIndex.delete(exchange.record.index);
      await answer(exchange, playNext);
    })().catch((error: unknown) => {
      // Without this, an error in the script would let the request hang.
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    tokensOf,
    play(other) {
      currentScript = other;
      playedCount = 0;
    },
    request: (index) =>
      new Promise((resolve) => {
        const receivedRequest = requests[index];
        if (receivedRequest) resolve(receivedRequest);
        else waitersByIndex.set(index, [...(waitersByIndex.get(index) ?? []), resolve]);
      }),
    forget: () => void requests.splice(0),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

const isList = (script: Script): script is readonly Behaviour[] => Array.isArray(script);

async function recordRequest(incoming: IncomingMessage, response: ServerResponse, index: number): Promise<Exchange> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  let markAborted = (): void => undefined;
  const abortPromise = new Promise<void>((resolve) => {
    markAborted = resolve;
  });
  const bodyBytes = Buffer.concat(chunks);
  const record: Exchange['record'] = {
    index,
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: parsed(bodyBytes.toString()),
    bytes: bodyBytes.length,
    status: undefined,
    refusal: undefined,
    usage: undefined,
    aborted: abortPromise,
    isAborted: false,
  };
  let hasHungUp = false;
  response.on('close', () => {
    if (response.writableFinished || hasHungUp) return;
    record.isAborted = true;
    markAborted();
  });
  const hangUp = (): void => {
    hasHungUp = true;
    response.socket?.resetAndDestroy();
  };
  return { record, response, hangUp };
}

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function sendJson(
  { record, response }: Exchange,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  record.status = status;
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': `req_${record.index}`, ...headers });
  response.end(JSON.stringify(body));
}
