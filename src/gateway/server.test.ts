import { once } from 'node:events';
import * as http from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Usage } from '../core/cost/usage';
import { getErrorCode } from '../core/errors';
import { findNewViolations } from '../core/messages/firewall';
import type { ApiMessage } from '../core/messages/types';
import { createCounter } from '../core/testingCounter';
import { MAX_ATTEMPTS } from '../live/attempts';
import { createTestBed } from '../live/testing';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { SECRET_HEADER_NAME } from './access';
import {
  UNCHANGED_HTTP_CALL,
  StoppedCallError,
  type AgentHttpCall,
  type GatewayCondenser,
  type PreparedHttpCall,
} from './condenser';
import { LiveCondenser } from './liveCondenser';
import { startGateway, type Gateway, type GatewayEvent, type GatewayOptions } from './server';
import { findKnownRequest } from './wires';
import { makeRequestBody, PATH_BY_WIRE, WIRE_NAMES } from './wires/testing';
import type { RequestBody, WireName } from './wires/wire';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: string[];
  readonly body: string;
}

type AnswerRequest = (seen: Seen, response: http.ServerResponse, request: http.IncomingMessage) => void;

/** A test vendor behind a gateway, and the requests that both received. */
interface Bed {
  readonly gateway: Gateway;
  readonly seen: Seen[];
  readonly events: GatewayEvent[];
  readonly vendorPort: number;
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function startBed(answer: AnswerRequest, options: Partial<GatewayOptions> = {}): Promise<Bed> {
  const seen: Seen[] = [];
  const vendor = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.rawHeaders,
        body: Buffer.concat(chunks).toString('latin1'),
      };
      seen.push(one);
      answer(one, response, request);
    });
  });
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const { port: vendorPort } = vendor.address() as AddressInfo;
  const events: GatewayEvent[] = [];
  const gateway = await startGateway({
    routes: new Map([
      ['a', new URL(`http://127.0.0.1:${vendorPort}`)],
      ['deep', new URL(`http://127.0.0.1:${vendorPort}/base/path/`)],
    ]),
    report: (event) => events.push(event),
    ...options,
  });
  closers.push(async () => {
    await gateway.close();
    vendor.closeAllConnections();
    await new Promise((resolve) => vendor.close(resolve));
  });
  return { gateway, seen, events, vendorPort };
}

const fine: AnswerRequest = (_seen, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r1' });
  response.end('{"ok":true}');
};

const post = (url: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

/** Returns the answer without decompressing it, unlike `fetch`. */
async function postWithoutUnpacking(
  url: string,
  body: string,
): Promise<{ readonly status: number | undefined; readonly encoding: string | undefined; readonly bytes: Buffer }> {
  const request = http.request(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
  request.end(body);
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
  const bytes = Buffer.concat(await answer.toArray());
  return { status: answer.statusCode, encoding: answer.headers['content-encoding'], bytes };
}

const mapHeaders = ({ headers }: Seen): Map<string, string> => {
  const map = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) map.set((headers[at] ?? '').toLowerCase(), headers[at + 1] ?? '');
  return map;
};

/** Sends a request over a plain connection, since `fetch` rejects such requests. */
async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(text);
  await new Promise((resolve) => socket.on('close', resolve));
  return answer;
}

const toBytes = (text: string | undefined): Buffer | undefined => (text === undefined ? undefined : Buffer.from(text));

/** Creates a condenser that replaces each body by the next of the texts, and records calls. */
function createScriptedCondenser(
  texts: readonly (string | undefined)[],
): GatewayCondenser & { calls: AgentHttpCall[]; reported: unknown[]; ended: boolean[] } {
  const calls: AgentHttpCall[] = [];
  const reported: unknown[] = [];
  const ended: boolean[] = [];
  const prepared = (at: number): PreparedHttpCall => ({
    ...UNCHANGED_HTTP_CALL,
    bytes: toBytes(texts[at]),
    shorten: () => {
      reported.push('condensed further');
      return Promise.resolve(at + 1 < texts.length ? prepared(at + 1) : undefined);
    },
    revertToOriginal: (words) => {
      reported.push(words);
      return UNCHANGED_HTTP_CALL;
    },
    recordAnswer: (usage: Usage | undefined) => reported.push(usage),
    end: (isPaid) => ended.push(isPaid),
  });
  return {
    calls,
    reported,
    ended,
    prepare: (call) => {
      calls.push(call);
      return Promise.resolve(prepared(0));
    },
  };
}

describe('the gateway, if nothing is to be condensed, forwards', () => {
  it.each([
    ['anthropic', makeRequestBody('anthropic', 4)],
    ['chat', makeRequestBody('chat', 4)],
    ['responses', makeRequestBody('responses', 4)],
    ['gemini', makeRequestBody('gemini', 4)],
  ] as const)('a request of %s byte for byte, with its headers except those of the connection', async (wire, body) => {
    const { gateway, seen } = await startBed(fine);
    const answer = await post(`${gateway.url('a')}${PATH_BY_WIRE[wire]}`, body, {
      Authorization: 'Bearer sk-secret',
      'X-Custom': 'kept',
    });
    expect(await answer.text()).toBe('{"ok":true}');
    expect(answer.headers.get('x-request-id')).toBe('r1');
    expect(Buffer.from(seen[0]!.body, 'latin1').toString()).toBe(body);
    expect(seen[0]!.url).toBe(PATH_BY_WIRE[wire]);
    const headers = mapHeaders(seen[0]!);
    expect(headers.get('authorization')).toBe('Bearer sk-secret');
    expect(headers.get('x-custom')).toBe('kept');
    expect(headers.get('host')).not.toContain(String(gateway.port));
    expect(JSON.stringify(seen[0])).not.toContain(gateway.secret);
  });

  it('bodies that are not UTF-8, not JSON, or nested too deeply', async () => {
    const { gateway, seen } = await startBed(fine, { condenser: createScriptedCondenser(['{}']) });
    const bodies = [
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
      Buffer.from('{"messages":'),
      Buffer.from('[1]'),
      Buffer.from(`\ufeff{"messages":[]}`),
      Buffer.from(`{"messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`),
    ];
    for (const body of bodies) await (await post(`${gateway.url('a')}/v1/messages`, body)).text();
    expect(seen.map(({ body }) => body)).toEqual(bodies.map((body) => body.toString('latin1')));
  });

  it('all other requests: methods, queries, uploads, statuses, empty bodies', async () => {
    const { gateway, seen } = await startBed((one, response) => {
      response.writeHead(one.method === 'HEAD' ? 204 : 418, 'Short and stout', { 'set-cookie': ['a=1', 'b=2'] });
      response.end(one.method === 'HEAD' ? undefined : 'tea');
    });
    const answer = await fetch(`${gateway.url('deep')}/v1/files?a=1&b=%2F`, {
      method: 'PUT',
      body: 'x'.repeat(100_000),
    });
    expect([answer.status, answer.statusText, await answer.text()]).toEqual([418, 'Short and stout', 'tea']);
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect((await fetch(`${gateway.url('a')}/api/hello`, { method: 'HEAD' })).status).toBe(204);
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PUT /base/path/v1/files?a=1&b=%2F',
      'HEAD /api/hello',
    ]);
    expect(seen[0]!.body.length).toBe(100_000);
  });

  it('an answer as it arrives, before its end is known', async () => {
    const ends: (() => void)[] = [];
    const { gateway } = await startBed((_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
      ends.push(() => response.end('data: two\n\n'));
    });
    const answer = await post(`${gateway.url('a')}/v1/messages`, makeRequestBody('anthropic', 1));
    const reader = answer.body!.getReader();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('data: one\n\n');
    ends[0]!();
    expect(Buffer.from((await reader.read()).value).toString()).toBe('data: two\n\n');
    expect((await reader.read()).done).toBe(true);
  });

  it('an answer that breaks off, without completing it', async () => {
    const { gateway } = await startBed((_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n', () => response.destroy());
    });
    const answer = await post(`${gateway.url('a')}/v1/messages`, makeRequestBody('anthropic', 1));
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it('a lost vendor connection, as a connection reset', async () => {
    const { gateway } = await startBed((_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n', () => response.destroy());
    });
    const { port, pathname } = new URL(`${gateway.url('a')}/v1/messages`);
    const socket = connect(Number(port), '127.0.0.1');
    const [came, errors]: [Buffer[], unknown[]] = [[], []];
    socket.on('data', (chunk: Buffer) => came.push(chunk));
    socket.on('error', (error) => errors.push(getErrorCode(error)));
    const body = makeRequestBody('anthropic', 1);
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await new Promise((resolve) => socket.on('close', resolve));
    expect(errors).toEqual(['ECONNRESET']);
    expect(Buffer.concat(came).toString()).toContain('data: one');
  });

  it("the agent's disconnection, which ends the request to the vendor", async () => {
    let closed: Promise<unknown> | undefined;
    const { gateway } = await startBed((_seen, response, request) => {
      closed = once(request.socket, 'close');
      response.writeHead(200).write('x');
    });
    const abort = new AbortController();
    const answer = await fetch(`${gateway.url('a')}/v1/messages`, {
      method: 'POST',
      body: makeRequestBody('anthropic', 1),
      signal: abort.signal,
    });
    await answer.body!.getReader().read();
    abort.abort();
    await closed;
  });

  it('the error code of a vendor connection that cannot be made, with status 502', async () => {
    const { gateway } = await startBed(fine, { routes: new Map([['a', new URL('http://127.0.0.1:1')]]) });
    const answer = await post(`${gateway.url('a')}/v1/messages`, '{}');
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('ECONNREFUSED');
  });
});

describe('a condensed request through the gateway', () => {
  const url = (gateway: Gateway): string => `${gateway.url('a')}/v1/messages`;

  it("replaces the original, and the answer's usage is reported", async () => {
    const condenser = createScriptedCondenser(['{"short":"é"}']);
    const events = [
      {
        type: 'message_start',
        message: { usage: { input_tokens: 12, cache_read_input_tokens: 100, output_tokens: 1 } },
      },
      { type: 'message_delta', usage: { output_tokens: 34 } },
    ];
    for (const packed of [false, true]) {
      const text = events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join('');
      const { gateway, seen } = await startBed(
        (_seen, response) => {
          response.writeHead(200, {
            'content-type': 'text/event-stream',
            ...(packed && { 'content-encoding': 'gzip' }),
          });
          response.end(packed ? gzipSync(text) : text);
        },
        { condenser },
      );
      expect(await (await post(url(gateway), makeRequestBody('anthropic', 3))).text()).toBe(text);
      expect(Buffer.from(seen[0]!.body, 'latin1').toString()).toBe('{"short":"é"}');
      expect(mapHeaders(seen[0]!).get('content-length')).toBe('14');
    }
    // The agent receives its answer before the gateway has decompressed its copy.
    await vi.waitFor(() => {
      expect(condenser.reported).toMatchObject(
        [1, 2].map(() => ({ inputTokens: 12, cacheReadTokens: 100, outputTokens: 34 })),
      );
    });
    expect(condenser.calls[0]!.read.body['model']).toBe('claude-sonnet-4-5');
  });

  const refusing =
    (refusals: readonly string[]): AnswerRequest =>
    (_seen, response) => {
      const words = refusals[served++];
      response.writeHead(words === undefined ? 200 : 400, { 'content-type': 'application/json' });
      response.end(
        words === undefined
          ? '{"usage":{"input_tokens":5}}'
          : JSON.stringify({ type: 'error', error: { message: words } }),
      );
    };
  let served = 0;
  const TOO_LONG = 'prompt is too long: 214062 tokens > 200000 maximum';

  it('is shortened once if the vendor says that it is too long', async () => {
    served = 0;
    const condenser = createScriptedCondenser([undefined, '{"n":1}', '{"n":2}']);
    const { gateway, seen } = await startBed(refusing([TOO_LONG]), { condenser });
    const came = makeRequestBody('anthropic', 3);
    expect((await post(url(gateway), came)).status).toBe(200);
    expect(seen.map(({ body }) => body)).toEqual([Buffer.from(came).toString('latin1'), '{"n":1}']);
    await vi.waitFor(() => {
      expect(condenser.reported).toMatchObject(['condensed further', { inputTokens: 5 }]);
    });
  });

  it('is shortened repeatedly up to a limit while it is too long, then the last rejection is forwarded', async () => {
    served = 0;
    const condenser = createScriptedCondenser(Array.from({ length: 9 }, (_, at) => `{"n":${at}}`));
    const { gateway, seen } = await startBed(refusing(Array<string>(9).fill(TOO_LONG)), { condenser });
    const answer = await post(url(gateway), makeRequestBody('anthropic', 3));
    expect([answer.status, seen.length]).toEqual([400, MAX_ATTEMPTS]);
    expect(await answer.text()).toContain(TOO_LONG);
  });

  it('is followed by the original if the vendor calls it invalid', async () => {
    served = 0;
    const condenser = createScriptedCondenser(['{"n":0}']);
    const { gateway, seen } = await startBed(refusing(['messages.1: nonsense']), { condenser });
    const came = makeRequestBody('anthropic', 3);
    expect((await post(url(gateway), came)).status).toBe(200);
    expect(seen[1]!.body).toBe(Buffer.from(came).toString('latin1'));
    expect(condenser.reported[0]).toContain('nonsense');
    expect(condenser.reported).toHaveLength(1);
  });

  const THINKING = 'messages.1.content.0: Invalid `signature` in `thinking` block';

  it('is sent once without thinking if the vendor rejects that, then replaced by the original', async () => {
    served = 0;
    const form = (text: string, without?: PreparedHttpCall): PreparedHttpCall => ({
      ...UNCHANGED_HTTP_CALL,
      bytes: Buffer.from(text),
      dropThinking: () => without,
    });
    const condenser: GatewayCondenser = {
      prepare: () => Promise.resolve(form('{"n":0}', form('{"n":1}', form('{"n":2}')))),
    };
    const { gateway, seen } = await startBed(refusing([THINKING, THINKING]), { condenser });
    const came = '{"messages":[]}';
    expect((await post(url(gateway), came)).status).toBe(200);
    expect(seen.map(({ body }) => body)).toEqual(['{"n":0}', '{"n":1}', came]);
  });

  it('is followed by the original, whose rejection is forwarded word for word', async () => {
    served = 0;
    const { gateway, seen } = await startBed(refusing(['messages.1: nonsense']), {
      condenser: createScriptedCondenser([undefined]),
    });
    const answer = await post(url(gateway), makeRequestBody('anthropic', 3));
    expect([answer.status, await answer.text(), seen.length]).toEqual([
      400,
      '{"type":"error","error":{"message":"messages.1: nonsense"}}',
      1,
    ]);
  });

  describe.each<[string, (text: string) => Buffer]>([
    ['gzip', gzipSync],
    ['X-Gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('if the rejection is compressed with %s', (encoding, pack) => {
    const refusePacked = (...refusals: readonly string[]): AnswerRequest => {
      const left = [...refusals];
      return (_seen, response) => {
        const words = left.shift();
        const body =
          words === undefined ? '{"usage":{"input_tokens":5}}' : JSON.stringify({ error: { message: words } });
        response.writeHead(words === undefined ? 200 : 400, { 'content-encoding': encoding });
        response.end(pack(body));
      };
    };

    it('is shortened if the rejection says that it is too long', async () => {
      const condenser = createScriptedCondenser([undefined, '{"n":1}']);
      const { gateway, seen } = await startBed(refusePacked(TOO_LONG), { condenser });
      expect((await postWithoutUnpacking(url(gateway), makeRequestBody('anthropic', 3))).status).toBe(200);
      expect(seen[1]?.body).toBe('{"n":1}');
      await vi.waitFor(() => {
        expect(condenser.reported).toMatchObject(['condensed further', { inputTokens: 5 }]);
      });
    });

    it('has the words of the rejection passed to the engine, and its kind to the log', async () => {
      const condenser = createScriptedCondenser(['{"n":0}']);
      const { gateway, events } = await startBed(refusePacked('messages.1: nonsense'), { condenser });
      expect((await postWithoutUnpacking(url(gateway), makeRequestBody('anthropic', 3))).status).toBe(200);
      expect(condenser.reported[0]).toBe('{"error":{"message":"messages.1: nonsense"}}');
      expect(events[0]?.detail).toBe('The vendor refused a condensed request (status 400); it went out as it came.');
    });

    it('has the rejection forwarded unchanged', async () => {
      const { gateway } = await startBed(refusePacked('no'), { condenser: createScriptedCondenser([undefined]) });
      expect(await postWithoutUnpacking(url(gateway), makeRequestBody('anthropic', 3))).toEqual({
        status: 400,
        encoding,
        bytes: pack('{"error":{"message":"no"}}'),
      });
    });
  });

  it.each<[string, string, Buffer]>([
    ['not packed as it says', 'gzip', Buffer.from('{"error":{"message":"messages.1: nonsense"}}')],
    ['cut off', 'br', brotliCompressSync('{"error":{"message":"messages.1: nonsense"}}').subarray(0, 20)],
    ['packed in a way of its own', 'rot13', Buffer.from('{"reebe":{"zrffntr":"ab"}}')],
    ['longer than anybody looks at', 'gzip', gzipSync('nonsense'.repeat(1024 * 1024))],
  ])('has a rejection that is %s forwarded, and the gateway learns nothing from it', async (_, encoding, bytes) => {
    const condenser = createScriptedCondenser(['{"n":0}', '{"n":1}']);
    const { gateway, seen } = await startBed(
      (_seen, response) => response.writeHead(400, { 'content-encoding': encoding }).end(bytes),
      { condenser },
    );
    const answer = await postWithoutUnpacking(url(gateway), makeRequestBody('anthropic', 3));
    expect(answer).toEqual({ status: 400, encoding, bytes });
    expect(seen).toHaveLength(1);
    expect(condenser.reported).toEqual([]);
  });

  it('is shortened if only the status says that it is too large', async () => {
    const condenser = createScriptedCondenser([undefined, '{"n":1}']);
    const answers = [413, 200];
    const { gateway, seen } = await startBed(
      (_seen, response) => response.writeHead(answers.shift() ?? 500, { 'content-encoding': 'rot13' }).end('ab'),
      { condenser },
    );
    expect((await postWithoutUnpacking(url(gateway), makeRequestBody('anthropic', 3))).status).toBe(200);
    expect(seen[1]?.body).toBe('{"n":1}');
  });

  it.each<[string, object]>([
    // Source: forgecode#1146.
    [
      'OpenRouter, whose provider says it',
      {
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: {
            raw: JSON.stringify({ type: 'error', error: { message: TOO_LONG } }),
            provider_name: 'Anthropic',
          },
        },
      },
    ],
    ['Gemini, in a list', [{ error: { code: 400, message: TOO_LONG, status: 'INVALID_ARGUMENT' } }]],
    ['LM Studio, in a text', { error: TOO_LONG }],
  ])('is shortened if the vendor says, in the words of %s, that the request is too long', async (_, refusal) => {
    const overflows: unknown[] = [];
    const condenser = createScriptedCondenser([undefined, '{"n":1}']);
    const prepare = async (...args: Parameters<GatewayCondenser['prepare']>): Promise<PreparedHttpCall | undefined> => {
      const prepared = await condenser.prepare(...args);
      return (
        prepared && {
          ...prepared,
          shorten: (overflow) => {
            overflows.push(overflow);
            return prepared.shorten(overflow);
          },
        }
      );
    };
    const left = [JSON.stringify(refusal)];
    const { gateway, seen } = await startBed(
      (_seen, response) => {
        const words = left.shift();
        response.writeHead(words === undefined ? 200 : 400).end(words ?? '{}');
      },
      { condenser: { prepare } },
    );
    expect((await post(url(gateway), makeRequestBody('anthropic', 3))).status).toBe(200);
    expect(seen).toHaveLength(2);
    expect(overflows).toEqual([{ tokens: 214_062, limit: 200_000 }]);
  });

  /**
   * Returns a vendor that answers with each status and text in turn, and a different ID each time.
   */
  const answerInTurn = (...answers: readonly (readonly [number, string])[]): AnswerRequest => {
    let at = 0;
    return (_seen, response) => {
      const [status, message] = answers[at++] ?? [500, 'once too often'];
      response.writeHead(status, { 'content-type': 'application/json', 'request-id': `r${at}` });
      response.end(JSON.stringify({ error: { message } }));
    };
  };
  const told = async (answer: Response): Promise<unknown[]> => [
    answer.status,
    answer.headers.get('request-id'),
    ((await answer.json()) as { error: { message: string } }).error.message,
  ];
  it('has its own rejection forwarded if the original is then rejected as too long', async () => {
    const { gateway, seen } = await startBed(answerInTurn([422, 'tools.3: nonsense'], [400, TOO_LONG]), {
      condenser: createScriptedCondenser(['{"n":0}']),
    });
    const came = makeRequestBody('anthropic', 3);
    expect(await told(await post(url(gateway), came))).toEqual([422, 'r1', 'tools.3: nonsense']);
    expect(seen.map(({ body }) => body)).toEqual(['{"n":0}', Buffer.from(came).toString('latin1')]);
  });

  it('has the last of two rejections forwarded', async () => {
    const withoutThinking = (): PreparedHttpCall => ({ ...UNCHANGED_HTTP_CALL, bytes: Buffer.from('{"n":1}') });
    const view: PreparedHttpCall = {
      ...UNCHANGED_HTTP_CALL,
      bytes: Buffer.from('{"n":0}'),
      dropThinking: withoutThinking,
    };
    const condenser: GatewayCondenser = { prepare: () => Promise.resolve(view) };
    const three = await startBed(answerInTurn([400, THINKING], [400, 'nonsense'], [400, TOO_LONG]), { condenser });
    expect(await told(await post(url(three.gateway), '{"messages":[]}'))).toEqual([400, 'r2', 'nonsense']);
    const two = await startBed(answerInTurn([400, THINKING], [400, TOO_LONG]), { condenser });
    expect(await told(await post(url(two.gateway), '{"messages":[]}'))).toEqual([400, 'r2', TOO_LONG]);
  });

  it("has the original’s rejection forwarded if its reason isn't the length", async () => {
    const { gateway } = await startBed(answerInTurn([400, 'of the view'], [400, 'of what came']), {
      condenser: createScriptedCondenser(['{"n":0}']),
    });
    expect(await told(await post(url(gateway), '{"messages":[]}'))).toEqual([400, 'r2', 'of what came']);
  });

  it('is not followed by the original if that was already too long', async () => {
    const { gateway, seen, events } = await startBed(answerInTurn([400, TOO_LONG], [400, 'nonsense']), {
      condenser: createScriptedCondenser([undefined, '{"n":1}']),
    });
    expect(await told(await post(url(gateway), makeRequestBody('anthropic', 3)))).toEqual([400, 'r1', TOO_LONG]);
    expect(seen).toHaveLength(2);
    expect(events.at(-1)?.detail).toMatch(/; what came is too long to go out in its place\./);
  });

  it.each([401, 429, 500, 529])('has status %i forwarded with its headers, and is not repeated', async (status) => {
    const { gateway, seen } = await startBed(
      (_seen, response) => response.writeHead(status, { 'retry-after': '7' }).end('no'),
      {
        condenser: createScriptedCondenser(['{"n":0}', '{"n":1}']),
      },
    );
    const answer = await post(url(gateway), makeRequestBody('anthropic', 3));
    expect([answer.status, answer.headers.get('retry-after'), await answer.text(), seen.length]).toEqual([
      status,
      '7',
      'no',
      1,
    ]);
  });

  /** OpenAI's stream for a prompt that is too long (openai/codex#4675). */
  const FAILED = [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', error: null, usage: null } },
    {
      type: 'response.failed',
      response: {
        id: 'resp_1',
        status: 'failed',
        error: {
          code: 'context_length_exceeded',
          message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
        },
        usage: null,
      },
    },
  ];
  interface StreamEvent {
    readonly type: string;
    readonly response?: object;
  }
  const streamEvents =
    (events: readonly StreamEvent[]): AnswerRequest =>
    (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(writeStream(events));
    };
  const writeStream = (events: readonly StreamEvent[]): string =>
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

  it('answered with status 200 and “too long” makes the gateway condense further, and costs nothing', async () => {
    const condenser = createScriptedCondenser(['{"n":0}', '{"n":1}']);
    const { gateway, seen } = await startBed(streamEvents(FAILED), { condenser });
    const answer = await post(`${gateway.url('a')}/v1/responses`, makeRequestBody('responses', 3));
    expect([answer.status, await answer.text()]).toEqual([200, writeStream(FAILED)]);
    await vi.waitFor(() => {
      expect(condenser.ended).toEqual([false]);
    });
    expect(condenser.reported).toEqual(['condensed further']);
    expect(seen).toHaveLength(1);
  });

  it('answered with “too long” after its tokens were counted makes the gateway condense further, and costs its usage', async () => {
    const condenser = createScriptedCondenser(['{"n":0}', '{"n":1}']);
    const [created, failed] = FAILED;
    const counted = { ...failed!.response, usage: { input_tokens: 7, output_tokens: 1 } };
    const { gateway } = await startBed(streamEvents([created!, { ...failed!, response: counted }]), { condenser });
    await (await post(`${gateway.url('a')}/v1/responses`, makeRequestBody('responses', 3))).text();
    await vi.waitFor(() => {
      expect(condenser.ended).toEqual([true]);
    });
    expect(condenser.reported).toMatchObject([{ inputTokens: 7 }, 'condensed further']);
  });

  it('answered with status 200 and another error has the answer forwarded', async () => {
    const condenser = createScriptedCondenser(['{"n":0}', '{"n":1}']);
    const error = { type: 'error', code: 'server_error', message: 'The server had an error.', param: null };
    const { gateway } = await startBed(streamEvents([error]), { condenser });
    await (await post(`${gateway.url('a')}/v1/responses`, makeRequestBody('responses', 3))).text();
    await vi.waitFor(() => {
      expect(condenser.ended).toEqual([true]);
    });
    expect(condenser.reported).toEqual([undefined]);
  });

  it('has its answer forwarded even if shortening fails', async () => {
    const condenser: GatewayCondenser = {
      prepare: () => Promise.resolve({ ...UNCHANGED_HTTP_CALL, shorten: () => Promise.reject(new Error('broken')) }),
    };
    const { gateway, events } = await startBed(streamEvents(FAILED), { condenser });
    const ask = async (): Promise<string> =>
      (await post(`${gateway.url('a')}/v1/responses`, makeRequestBody('responses', 3))).text();
    expect([await ask(), await ask()]).toEqual([writeStream(FAILED), writeStream(FAILED)]);
    await vi.waitFor(() => {
      expect(events.filter(({ detail }) => detail === 'Nothing was condensed for it: broken')).toHaveLength(2);
    });
    expect(events.filter(({ kind }) => kind === 'failed')).toEqual([]);
  });

  it('is shorter than the previous one after an answer that said “too long”', () =>
    inTemporaryFolder(async (root) => {
      const condenser = new LiveCondenser({
        live: createTestBed(root, { settings: { provider: 'lossless' } }).live,
        counter: createCounter(),
        addresses: new Map(),
        // With so large a window, only the vendor's answer makes the next request shorter.
        window: 1_000_000,
      });
      const { gateway, seen, events } = await startBed(streamEvents(FAILED), { condenser });
      const sent = async (steps: number): Promise<number> => {
        await (await post(`${gateway.url('a')}/v1/responses`, makeRequestBody('responses', steps))).text();
        return seen.at(-1)?.body.length ?? 0;
      };
      const before = await sent(30);
      // The agent receives its answer before the gateway has processed it.
      await vi.waitFor(() => {
        expect(events.at(-1)?.detail).toBe('status 200');
      });
      expect(await sent(31)).toBeLessThan(before * 0.95);
    }));

  const messagesIn = (wire: WireName, text: string): readonly ApiMessage[] =>
    findKnownRequest('POST', PATH_BY_WIRE[wire].replace(/\?.*/, ''))?.wire.read(JSON.parse(text) as RequestBody)
      ?.messages ?? [];

  it('never leads to endless retries or an invalid request, however the vendor rejects', async () => {
    const REFUSALS = [
      [400, TOO_LONG],
      [400, 'prompt is too long'],
      [400, 'input length and `max_tokens` exceed context limit: 12000 + 16000 > 20000'],
      [413, 'Request Entity Too Large'],
      [400, THINKING],
      [400, 'messages.1: nonsense'],
      [422, 'no'],
      [429, 'slow down'],
      [500, 'broken'],
    ] as const;
    const scenario = fc.record({
      wire: fc.constantFrom(...WIRE_NAMES),
      steps: fc.integer({ min: 2, max: 40 }),
      refusals: fc.array(fc.constantFrom(...REFUSALS), { maxLength: 8 }),
    });
    await inTemporaryFolder(async (root) => {
      const { gateway, seen } = await startBed(
        (_seen, response) => {
          const [status, message] = left.shift() ?? [200, 'fine'];
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ error: { message } }));
        },
        {
          condenser: new LiveCondenser({
            live: createTestBed(root, { settings: { provider: 'truncation' } }).live,
            counter: createCounter(),
            addresses: new Map(),
            window: 20_000,
          }),
        },
      );
      let left: (readonly [number, string])[] = [];
      await fc.assert(
        fc.asyncProperty(scenario, async ({ wire, steps, refusals }) => {
          left = [...refusals];
          const from = seen.length;
          const came = makeRequestBody(wire, steps);
          const answer = await post(gateway.url(`a${PATH_BY_WIRE[wire]}`), came);
          const sent = seen.slice(from).map(({ body }) => Buffer.from(body, 'latin1').toString());
          expect(sent.length).toBeLessThanOrEqual(MAX_ATTEMPTS);
          // The agent receives an earlier rejection, or the response to the last attempt.
          const last = refusals[sent.length - 1];
          const made: readonly number[] = last ? refusals.slice(0, sent.length).map(([status]) => status) : [200];
          expect(made).toContain(answer.status);
          const whole = messagesIn(wire, came);
          // If the vendor rejects thinking, all of it is removed.
          const broken = (was: readonly ApiMessage[], is: readonly ApiMessage[]): unknown[] =>
            findNewViolations(was, is).filter(({ rule }) => rule !== 'thinking-kept');
          for (const body of sent) expect(broken(whole, messagesIn(wire, body))).toEqual([]);
          expect(new Set(sent).size).toBe(sent.length);
        }),
      );
    });
  });

  it('is answered with a message and not sent if a spending limit stops it', async () => {
    const condenser: GatewayCondenser = { prepare: () => Promise.reject(new StoppedCallError('No more today.')) };
    const { gateway, seen, events } = await startBed(fine, { condenser });
    const answer = await post(url(gateway), makeRequestBody('anthropic', 3));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      type: 'error',
      error: { type: 'billing_error', message: 'No more today.' },
    });
    expect(seen).toEqual([]);
    expect(events).toEqual([{ kind: 'refused', route: 'a', detail: 'No more today.' }]);
  });

  it('reports its end once, and whether the vendor accepted it', async () => {
    const outcomes: [AnswerRequest, boolean][] = [
      [fine, true],
      [refusing(['nonsense', 'nonsense', 'nonsense']), false],
      [(_seen, response) => response.destroy(), false],
    ];
    for (const [answering, isPaid] of outcomes) {
      served = 0;
      const condenser = createScriptedCondenser(['{"short":1}']);
      const { gateway } = await startBed(answering, { condenser });
      await post(url(gateway), makeRequestBody('anthropic', 3)).then((answer) => answer.text());
      await vi.waitFor(() => {
        expect(condenser.ended).toEqual([isPaid]);
      });
    }
    // The agent disconnects while the vendor may be processing the request.
    let seen = (): void => undefined;
    const isSeen = new Promise<void>((resolve) => (seen = resolve));
    const condenser = createScriptedCondenser(['{"short":1}']);
    const { gateway } = await startBed(
      () => {
        seen();
      },
      { condenser },
    );
    const abort = new AbortController();
    const asked = fetch(url(gateway), { method: 'POST', body: makeRequestBody('anthropic', 3), signal: abort.signal });
    await isSeen;
    abort.abort();
    await expect(asked).rejects.toThrow();
    await vi.waitFor(() => {
      expect(condenser.ended).toEqual([true]);
    });
  });

  it('is sent unchanged if the engine fails', async () => {
    const condenser: GatewayCondenser = { prepare: () => Promise.reject(new Error('broken')) };
    const { gateway, seen, events } = await startBed(fine, { condenser });
    const came = makeRequestBody('anthropic', 3);
    expect((await post(url(gateway), came)).status).toBe(200);
    expect(seen[0]!.body).toBe(Buffer.from(came).toString('latin1'));
    expect(events[0]).toMatchObject({ kind: 'problem', detail: 'A request went out as it came: broken' });
  });
});

describe("access to the gateway's address", () => {
  const attack = (gateway: Gateway, path: string, headers: Record<string, string> = {}): Promise<string> =>
    sendRaw(
      gateway.port,
      `POST ${path} HTTP/1.1\r\n${Object.entries({
        host: `127.0.0.1:${gateway.port}`,
        'content-length': '2',
        connection: 'close',
        ...headers,
      })
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n{}`,
    );

  it('is denied without the secret', async () => {
    const { gateway, seen } = await startBed(fine);
    const { secret } = gateway;
    for (const path of [
      '/',
      '/a/v1/messages',
      '//a/v1/messages',
      `/${secret.slice(0, -1)}/a/v1/messages`,
      `/${secret}x/a/v1/messages`,
      `/${secret.toLowerCase()}/a/v1/messages`,
      `/x/${secret}/a/v1/messages`,
      `/${secret}`,
      `/${secret}/`,
      `/${secret}/other/v1/messages`,
      `/${secret}/__proto__/v1/messages`,
    ]) {
      expect(await attack(gateway, path), path).toMatch(/^HTTP\/1\.1 404 /);
    }
    expect(await attack(gateway, '/a/v1/messages', { [SECRET_HEADER_NAME]: 'wrong' })).toMatch(/^HTTP\/1\.1 404 /);
    expect(seen).toEqual([]);
    expect(await attack(gateway, `/${secret}/a/v1/messages`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is granted with the secret in a header, which is not forwarded', async () => {
    const { gateway, seen } = await startBed(fine);
    expect(await attack(gateway, '/a/v1/messages', { [SECRET_HEADER_NAME]: gateway.secret })).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    expect(seen[0]!.url).toBe('/v1/messages');
    expect(JSON.stringify(seen)).not.toContain(gateway.secret);
  });

  it("with a ticket is limited to the ticket's route", async () => {
    const { gateway, seen } = await startBed(fine);
    const { pathname } = new URL(gateway.ticketUrl('a'));
    expect(await attack(gateway, `${pathname}/v1/messages`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await attack(gateway, `${pathname.slice(0, -1)}deep/v1/messages`)).toMatch(/^HTTP\/1\.1 404 /);
    expect(pathname).not.toContain(gateway.secret);
    expect(seen).toHaveLength(1);
  });

  it('is denied to web pages in a browser, and to host names rebound to this machine', async () => {
    const { gateway, seen } = await startBed(fine);
    const path = `/${gateway.secret}/a/v1/messages`;
    for (const headers of [
      { host: 'evil.example' },
      { host: `evil.example:${gateway.port}` },
      { host: '127.0.0.1' },
      { host: `127.0.0.1.evil.example:${gateway.port}` },
      { host: `127.0.0.1:${gateway.port + 1}` },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${gateway.port}` },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      expect(await attack(gateway, path, headers), JSON.stringify(headers)).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(seen).toEqual([]);
  });

  it('cannot lead to another host than the configured one', async () => {
    const { gateway, seen, vendorPort } = await startBed(fine);
    const { secret } = gateway;
    for (const rest of [
      '//evil.example/v1/messages',
      '/../../v1/messages',
      '/@evil.example/',
      '\\evil.example/x',
      '/%2e%2e/x',
    ]) {
      await attack(gateway, `/${secret}/a${rest}`);
    }
    expect(await attack(gateway, `http://127.0.0.1:1/${secret}/a/v1/messages`)).toMatch(/^HTTP\/1\.1 400 /);
    for (const one of seen) expect(mapHeaders(one).get('host')).toBe(`127.0.0.1:${vendorPort}`);
  });

  it('over WebSocket is answered with a hint to use HTTP', async () => {
    const { gateway, seen } = await startBed(fine);
    const upgrade = (path: string): Promise<string> =>
      sendRaw(
        gateway.port,
        `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`,
      );
    expect(await upgrade(`/${gateway.secret}/a/v1/responses`)).toMatch(/^HTTP\/1\.1 426 /);
    expect(await upgrade('/wrong/a/v1/responses')).toMatch(/^HTTP\/1\.1 404 /);
    expect(seen).toEqual([]);
  });

  it('is denied to a request with ambiguous lengths or with a second request inside', async () => {
    const { gateway, seen, vendorPort } = await startBed(fine);
    const { port, secret } = gateway;
    const inner = `POST /${'x'.repeat(32)}/a/v1/files HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: 0\r\n\r\n`;
    // Tests both paths through the gateway: parsed and streamed.
    for (const path of ['/v1/messages', '/v1/files']) {
      const send = (lines: readonly string[], body: string, target = `/${secret}/a${path}`, method = 'POST') =>
        sendRaw(
          port,
          `${method} ${target} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`,
        );
      for (const [lines, body] of [
        [['content-length: 5', 'transfer-encoding: chunked'], `0\r\n\r\n${inner}`],
        [['transfer-encoding: chunked', 'content-length: 5'], `0\r\n\r\n${inner}`],
        [['content-length: 0', `content-length: ${inner.length}`], inner],
        [[`content-length: 0, ${inner.length}`], inner],
        [['content-length: +2'], '{}'],
        [['transfer-encoding: xchunked'], `0\r\n\r\n${inner}`],
        [['transfer-encoding: chunked, identity'], `0\r\n\r\n${inner}`],
        [['transfer-encoding : chunked'], `0\r\n\r\n${inner}`],
        [['x: y', ' folded: z\u0000'], ''],
        [['transfer-encoding: chunked'], `zz\r\n{}\r\n0\r\n\r\n`],
        [['transfer-encoding: chunked'], `-1\r\n{}\r\n0\r\n\r\n`],
      ] as const) {
        const before = seen.length;
        const answer = await send(lines, body);
        expect(answer, `${path} ${lines.join('; ')}`).not.toMatch(/ 200 /);
        expect(seen.length, `${path} ${lines.join('; ')}`).toBe(before);
      }
      // The smuggled request goes to the gateway itself, without the secret.
      const two = await sendRaw(
        port,
        `POST /${secret}/a${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: 2\r\n\r\n{}${inner}`,
      );
      expect(two.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404']);
      // A header listed in `connection` must not remove the body's length.
      const before = seen.length;
      const named = [`content-length: ${inner.length}`, 'connection: content-length, host'];
      expect(await send(named, inner)).toMatch(/^HTTP\/1\.1 200 /);
      expect(seen.slice(before).map(({ body }) => body)).toEqual([inner]);
      // If there are two host headers, the vendor receives only its own name as host.
      await send(['host: evil.example', 'content-length: 2'], '{}');
      for (const one of seen) expect(mapHeaders(one).get('host')).toBe(`127.0.0.1:${vendorPort}`);
    }
  });

  it('as a proxy is denied: tunnels, other protocols and absolute addresses', async () => {
    const { gateway, seen } = await startBed(fine);
    const { port, secret } = gateway;
    const head = `host: 127.0.0.1:${port}\r\n`;
    for (const first of [
      `CONNECT 127.0.0.1:${port} HTTP/1.1`,
      `CONNECT /${secret}/a HTTP/1.1`,
      `GET http://evil.example/${secret}/a/v1/models HTTP/1.1`,
      'OPTIONS * HTTP/1.1',
      'PRI * HTTP/2.0',
      `GET /${secret}/a/v1/models HTTP/9.9`,
      `GET /${secret}/a/v1/models HTTP/1.1\r\nx: y\nsmuggled: z`,
    ]) {
      expect(await sendRaw(port, `${first}\r\n${head}connection: close\r\n\r\n`), first).not.toMatch(/ 200 /);
    }
    // Without a host header, rebinding can't be ruled out.
    expect(await sendRaw(port, `GET /${secret}/a/v1/models HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
    const upgrade = `${head}connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n\r\n`;
    expect(await sendRaw(port, `GET /${secret}/a/v1/models HTTP/1.1\r\n${upgrade}`)).toMatch(/^HTTP\/1\.1 426 /);
    expect(seen).toEqual([]);
  });

  it('is denied to requests that are too large, too slow or too many', async () => {
    const limits = { bodyBytes: 1_000, headerBytes: 4_096, headersMs: 200, requestMs: 400 };
    const { gateway, seen } = await startBed(fine, { limits });
    const { port, secret } = gateway;
    const head = `host: 127.0.0.1:${port}\r\n`;
    expect((await post(`${gateway.url('a')}/v1/messages`, 'x'.repeat(2_000))).status).toBe(413);
    expect(await attack(gateway, `/${secret}/a/v1/messages`, { 'x-long': 'x'.repeat(5_000) })).toMatch(
      /^HTTP\/1\.1 431 /,
    );
    expect(await sendRaw(port, `GET /${secret}/a/x HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1\.1 408 /);
    expect(
      await sendRaw(port, `POST /${secret}/a/v1/messages HTTP/1.1\r\n${head}content-length: 9\r\n\r\nx`),
    ).not.toMatch(/ 200 /);
    expect(await sendRaw(port, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    expect(seen).toEqual([]);
  });

  it('by many connections without the secret does not block others; beyond a limit, the oldest one is closed', async () => {
    const { gateway } = await startBed(fine, { limits: { strangers: 3, requests: 1 } });
    const ended: number[] = [];
    const open = [];
    for (const at of [0, 1, 2, 3, 4, 5]) {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('close', () => ended.push(at));
      open.push(socket);
      await once(socket, 'connect');
      const answer = await post(`${gateway.url('a')}/v1/messages`, '{}', { connection: 'close' });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    await vi.waitUntil(() => ended.length >= 3);
    expect(ended.slice(0, 3)).toEqual([0, 1, 2]);
    for (const socket of open) socket.destroy();
  });

  it('is denied beyond the maximum number of concurrent requests', async () => {
    let answer = (): void => undefined;
    const { gateway, seen } = await startBed(
      (_seen, response) => {
        answer = () => response.end('{}');
      },
      { limits: { requests: 1 } },
    );
    const first = post(`${gateway.url('a')}/v1/messages`, '{}');
    await vi.waitUntil(() => seen.length === 1);
    expect((await post(`${gateway.url('a')}/v1/messages`, '{}')).status).toBe(503);
    answer();
    expect((await first).status).toBe(200);
  });

  it('by a client that keeps a refused connection half open does not keep the gateway from closing', async () => {
    const { gateway } = await startBed(fine);
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.resume();
    const path = new URL(gateway.url('a')).pathname;
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
    );
    await once(socket, 'end');
    await gateway.close();
    socket.destroy();
  });

  it('is logged without the secret or keys', async () => {
    const { gateway, events } = await startBed((_seen, response) => response.writeHead(500).destroy());
    await post(`${gateway.url('a')}/v1/messages?key=sk-ant-1234567890`, '{}', {
      authorization: 'Bearer sk-ant-0987654321',
    }).catch(() => undefined);
    await attack(gateway, '/wrong/a');
    expect(events.length).toBeGreaterThan(1);
    expect(JSON.stringify(events)).not.toMatch(new RegExp(`${gateway.secret}|sk-ant`));
  });
});

describe('a misbehaving vendor', () => {
  /** Starts a vendor that responds with these bytes piece by piece. */
  async function startRawBed(pieces: readonly string[], options: Partial<GatewayOptions> = {}) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => {
        void (async () => {
          for (const piece of pieces) {
            socket.write(piece);
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        })();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const gateway = await startGateway({ routes: new Map([['a', new URL(address)]]), ...options });
    closers.push(async () => {
      await gateway.close();
      server.close();
    });
    return gateway;
  }

  it.each([
    [
      'switches to a protocol that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['says nothing that is HTTP', 'nonsense\r\n\r\n'],
  ])('causes an error without delay if it %s', async (_, answer) => {
    const gateway = await startRawBed([answer]);
    for (const path of ['v1/messages', 'v1/other']) {
      expect((await post(`${gateway.url('a')}/${path}`, '{}')).status).toBe(502);
    }
  });

  it('cannot get an answer that was not requested delivered to the next request', async () => {
    const asked = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    const gateway = await startRawBed([asked, 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nEVIL']);
    for (let at = 0; at < 5; at++) {
      const answer = await post(`${gateway.url('a')}/v1/messages`, '{}');
      expect(await answer.text()).toBe('ok');
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  });
});
