/**
 * Shared by the servers: they listen on 127.0.0.1, record every request, answer as a script says, and see
 * whether the client closed the connection. The wire protocols stand in anthropicServer.ts and openaiServer.ts.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Behaviour } from './behaviour';
import { isObject, type Json } from './json';
import type { CacheRules } from './promptCache';

export interface RecordedRequest {
  /** 0 for the first. */
  readonly index: number;
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body; an empty object where it was no JSON object. */
  readonly body: Json;
  /** Length of the body as it was sent. */
  readonly bytes: number;
  /** The status that was answered; undefined until then. */
  readonly status: number | undefined;
  /** The words of the refusal, if it was refused. */
  readonly refusal: string | undefined;
  /** The tokens that were answered, in the vendor's fields; undefined where none were. */
  readonly usage: Json | undefined;
  /** Resolves when the client closed the connection before its answer was complete; never otherwise. */
  readonly aborted: Promise<void>;
  readonly isAborted: boolean;
}

/** One behaviour for all requests, one for each in turn (the last one stays), or what a function of the request says. */
export type Script = Behaviour | readonly Behaviour[] | ((request: RecordedRequest) => Behaviour | Promise<Behaviour>);

export interface ServerOptions {
  /** The server's reaction to requests that follow the rules. Default: answers "ok". */
  readonly script?: Script;
  /** The key that is accepted. Default: any. */
  readonly apiKey?: string;
  /** Input tokens that fit at most. Default 200,000. */
  readonly maxContextTokens?: number;
  /** How many tokens this vendor makes of four characters. Default 1.25. */
  readonly tokenFactor?: number;
  /** Counts a text's tokens, in place of the factor. */
  readonly countTokens?: (text: string) => number;
  /** Shortest prompt that is cached, in tokens. Default 1024. */
  readonly minCacheTokens?: number;
  /** Further rules of the prompt cache. Default: entries live for ever. */
  readonly cache?: Partial<CacheRules>;
  /** What seals of thinking are made with: servers that share it take each other's, as one vendor does. Default: its own. */
  readonly sealKey?: Buffer;
  /** The clock by which entries of the cache age, in milliseconds. Default: the system's. */
  readonly now?: () => number;
}

export interface ModelServer {
  /** `http://127.0.0.1:port`, without a path. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Tokens that this server counts in a text. */
  tokensOf(text: string): number;
  /** Replaces the script for the requests to come. */
  play(script: Script): void;
  /** The request with this index, as soon as it's there. */
  request(index: number): Promise<RecordedRequest>;
  /** Forgets the requests so far, which are kept whole. */
  forget(): void;
  /** Stops listening and closes every connection. The process may end without it. */
  close(): Promise<void>;
}

/** The changing side of a recorded request. */
export interface Exchange {
  readonly record: { -readonly [field in keyof RecordedRequest]: RecordedRequest[field] };
  readonly response: ServerResponse;
  /** Closes the connection hard, as a network that breaks does. */
  readonly hangUp: () => void;
}

export type Answer = (exchange: Exchange, next: (record: RecordedRequest) => Promise<Behaviour>) => Promise<void>;

export async function startServer(
  script: Script,
  tokensOf: (text: string) => number,
  answer: Answer,
): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const waiting = new Map<number, ((record: RecordedRequest) => void)[]>();
  let current = script;
  let played = 0;
  const next = async (record: RecordedRequest): Promise<Behaviour> => {
    if (typeof current === 'function') return current(record);
    if (!isList(current)) return current;
    const behaviour = current[Math.min(played++, current.length - 1)];
    if (!behaviour) throw new Error('The script is empty.');
    return behaviour;
  };
  const server = createServer((incoming, response) => {
    void (async () => {
      const exchange = await recorded(incoming, response, requests.length);
      requests.push(exchange.record);
      for (const wake of waiting.get(exchange.record.index) ?? []) wake(exchange.record);
      waiting.delete(exchange.record.index);
      await answer(exchange, next);
    })().catch((error: unknown) => {
      // A mistake in a script must be seen, not hang.
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
      current = other;
      played = 0;
    },
    request: (index) =>
      new Promise((resolve) => {
        const known = requests[index];
        if (known) resolve(known);
        else waiting.set(index, [...(waiting.get(index) ?? []), resolve]);
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

async function recorded(incoming: IncomingMessage, response: ServerResponse, index: number): Promise<Exchange> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  let markAborted = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    markAborted = resolve;
  });
  const sent = Buffer.concat(chunks);
  const record: Exchange['record'] = {
    index,
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: parsed(sent.toString()),
    bytes: sent.length,
    status: undefined,
    refusal: undefined,
    usage: undefined,
    aborted,
    isAborted: false,
  };
  let hungUp = false;
  response.on('close', () => {
    if (response.writableFinished || hungUp) return;
    record.isAborted = true;
    markAborted();
  });
  const hangUp = (): void => {
    hungUp = true;
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

/** An answer that is one JSON value. */
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
