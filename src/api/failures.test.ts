/**
 * Tests failures with both protocols through the real SDKs: the error, the number of attempts, and
 * what reached the server.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import {
  makeFaultyReply,
  neverAnswer,
  makeOverloadedError,
  makeRateLimitError,
  makeErrorResponse,
  reply,
  reset,
  makeServerError,
  type Behaviour,
} from '../../test/servers/behaviour';
import type { ModelServer, Script } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { testClock, type TestClock } from '../../test/servers/testClock';
import { createAnthropicHandler } from './anthropic';
import { createOpenAIHandler } from './openai';
import type { CallTimeouts } from './call';
import { counter, findEvent, TEST_API_KEY, collectOutcome, describeError, user } from './testing';
import type { ApiHandler } from './types';

interface Bed {
  readonly server: ModelServer;
  readonly handler: ApiHandler;
  readonly clock: TestClock;
}

let open: ModelServer | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await open?.close();
});

type Protocol = 'Anthropic' | 'Chat Completions' | 'Responses';
const PROTOCOLS: readonly Protocol[] = ['Anthropic', 'Chat Completions', 'Responses'];

async function start(protocol: Protocol, script: Script, timeouts: Partial<CallTimeouts> = {}): Promise<Bed> {
  const isAnthropic = protocol === 'Anthropic';
  const server = await (isAnthropic ? startAnthropicServer : startOpenAIServer)({ script });
  open = server;
  const clock = testClock();
  const common = { apiKey: TEST_API_KEY, counter, clock, random: () => 0.5, name: 'Work profile', timeouts };
  const handler = isAnthropic
    ? createAnthropicHandler({ ...common, baseUrl: server.url, model: { id: 'claude-sonnet-4' } })
    : createOpenAIHandler({
        ...common,
        baseUrl: `${server.url}/v1`,
        model: { id: 'gpt-4o' },
        api: protocol === 'Responses' ? 'responses' : 'chat',
      });
  return { server, handler, clock };
}

const request = { messages: [user('Say something.')] };

describe.each(PROTOCOLS)('requests over %s', (protocol) => {
  it.each<[string, Behaviour, number]>([
    ['a rate limit', makeRateLimitError(), 750],
    ['a rate limit with retry-after', makeRateLimitError(7), 7350],
    ['a rate limit with retry-after as a date', makeRateLimitError('Thu, 01 Jan 2026 00:00:10 GMT'), 10_500],
    ['retry-after in milliseconds', { ...makeRateLimitError(), headers: { 'retry-after-ms': '200' } }, 210],
    ['an overloaded service', makeOverloadedError(), 750],
    ['a failed service', makeServerError(), 750],
    ['an unavailable service', makeErrorResponse(503, 'api_error', 'Unavailable'), 750],
    ['a broken connection', reset(), 750],
    ['an error event before anything was said', { ...makeFaultyReply('error', 0), firstByte: Promise.resolve() }, 750],
  ])('are retried after %s', async (_, behaviour, waited) => {
    const { server, handler, clock } = await start(protocol, [behaviour, reply('there')]);
    const { text, error } = await collectOutcome(handler.stream(request));
    expect(error).toBeUndefined();
    expect(text).toBe('there');
    expect(server.requests).toHaveLength(2);
    expect(clock.sleeps).toEqual([waited]);
  });

  it('give up after three retries, each after twice the delay of the one before', async () => {
    const { server, handler, clock } = await start(protocol, makeOverloadedError());
    const { error } = await collectOutcome(handler.stream(request));
    expect(error).toMatchObject({
      kind: 'overloaded',
      canRetry: true,
      offerOtherProfile: true,
      details: { status: 529 },
    });
    expect(server.requests).toHaveLength(4);
    expect(clock.sleeps).toEqual([750, 1500, 3000]);
  });

  it('report a retry-after of an hour instead of waiting for it', async () => {
    const { server, handler } = await start(protocol, makeRateLimitError(3600));
    const { error } = await collectOutcome(handler.stream(request));
    expect(error).toMatchObject({ kind: 'rate-limit', details: { retryAfterMs: 3_600_000 } });
    expect(error?.message).toContain('It asks you to wait 60 min; try again then.');
    expect(server.requests).toHaveLength(1);
  });

  it.each([400, 401, 403, 404, 409, 413, 422])('are not retried after status %i', async (status) => {
    const { server, handler, clock } = await start(protocol, makeErrorResponse(status, 'some_error', 'No.'));
    const { error } = await collectOutcome(handler.stream(request));
    expect(error).toMatchObject({ canRetry: false, details: { status, vendorMessage: 'No.' } });
    expect(server.requests).toHaveLength(1);
    expect(clock.sleeps).toEqual([]);
  });

  it.each(['cut', 'no-end', 'malformed', 'error'] as const)(
    'report a response stream that ends early (%s)',
    async (kind) => {
      const { server, handler } = await start(protocol, makeFaultyReply(kind));
      const { events, text, error } = await collectOutcome(handler.stream(request));
      expect(text).toBe('one two ');
      const kinds = {
        cut: 'network',
        'no-end': 'protocol',
        malformed: 'protocol',
        error: protocol === 'Anthropic' ? 'overloaded' : 'server',
      };
      expect(error).toMatchObject({ kind: kinds[kind], canRetry: true });
      expect(findEvent(events, 'end')).toBeUndefined();
      expect(findEvent(events, 'usage')?.usage).toMatchObject({ source: 'counted', outputTokens: expect.any(Number) });
      expect(findEvent(events, 'usage')?.usage.inputTokens).toBeGreaterThan(0);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('stop after a minute without an answer, and close the connection', async () => {
    const { server, handler, clock } = await start(protocol, neverAnswer());
    const outcome = collectOutcome(handler.stream(request));
    const asked = await server.request(0);
    clock.advance(59_999);
    clock.advance(1);
    expect((await outcome).error).toMatchObject({ kind: 'timeout', canRetry: true, offerOtherProfile: true });
    expect((await outcome).error?.message).toContain('Nothing was received for 60 s.');
    await asked.aborted;
    expect(server.requests).toHaveLength(1);
  });

  it('wait for a slow first byte', async () => {
    let answer = (): void => undefined;
    const firstByte = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { server, handler, clock } = await start(protocol, reply('late', { firstByte }));
    const outcome = collectOutcome(handler.stream(request));
    await server.request(0);
    clock.advance(59_000);
    answer();
    expect((await outcome).text).toBe('late');
  });

  it('stop a stream after five minutes without data, not after the one minute allowed for the first byte', async () => {
    const { server, handler, clock } = await start(protocol, makeFaultyReply('stall'));
    const stream = handler.stream(request)[Symbol.asyncIterator]();
    for (let texts = 0; texts < 2;) if ((await stream.next()).value?.type === 'text') texts++;
    expect(clock.pending).toEqual([300_000]);
    clock.advance(299_000);
    const rest = stream.next();
    clock.advance(1000);
    expect((await rest).value).toMatchObject({ type: 'usage', usage: { source: 'counted' } });
    await expect(stream.next()).rejects.toMatchObject({ kind: 'timeout' });
    await (
      await server.request(0)
    ).aborted;
  });

  it('stop a stream that is silent for longer than configured', async () => {
    const { server, handler, clock } = await start(protocol, makeFaultyReply('stall'), { silenceMs: 20_000 });
    const stream = handler.stream(request)[Symbol.asyncIterator]();
    for (let texts = 0; texts < 2;) if ((await stream.next()).value?.type === 'text') texts++;
    clock.advance(19_000);
    const rest = stream.next();
    clock.advance(1000);
    expect((await rest).value).toMatchObject({ type: 'usage' });
    await expect(stream.next()).rejects.toThrow('Nothing was received for 20 s.');
    await (
      await server.request(0)
    ).aborted;
    expect(clock.pending).toEqual([]);
  });

  it('can be cancelled midway, which the server notices', async () => {
    const { server, handler } = await start(protocol, makeFaultyReply('stall'));
    const controller = new AbortController();
    const texts: string[] = [];
    let isCancelled = false;
    const run = async (): Promise<void> => {
      for await (const event of handler.stream(request, controller.signal)) {
        if (event.type === 'text') texts.push(event.text);
        if (texts.length === 2 && !isCancelled) {
          isCancelled = true;
          setImmediate(() => {
            controller.abort();
          });
        }
      }
    };
    await expect(run()).rejects.toMatchObject({
      kind: 'aborted',
      message: 'Work profile: The call was canceled. Nothing was changed.',
    });
    expect(texts).toEqual(['one ', 'two ']);
    await (
      await server.request(0)
    ).aborted;
  });

  it('close the connection when the reader stops reading', async () => {
    const { server, handler } = await start(protocol, makeFaultyReply('stall'));
    for await (const event of handler.stream(request)) if (event.type === 'text') break;
    await (
      await server.request(0)
    ).aborted;
    expect((await server.request(0)).isAborted).toBe(true);
  });

  it('send nothing if cancelled beforehand or during the delay before a retry', async () => {
    const { server, handler, clock } = await start(protocol, makeOverloadedError());
    expect((await collectOutcome(handler.stream(request, AbortSignal.abort()))).error?.kind).toBe('aborted');
    expect(server.requests).toHaveLength(0);
    const controller = new AbortController();
    vi.spyOn(clock, 'sleep').mockImplementation(() => {
      controller.abort();
      return Promise.resolve();
    });
    expect((await collectOutcome(handler.stream(request, controller.signal))).error?.kind).toBe('aborted');
    expect(server.requests).toHaveLength(1);
  });

  it('follow no redirect, and accept no web page as an answer', async () => {
    const location = { location: 'https://elsewhere.example/login?token=abc' };
    const page = { body: '<html>Sign in</html>', contentType: 'text/html' };
    const { server, handler } = await start(protocol, [
      makeErrorResponse(302, '', '', { headers: location, body: '' }),
      makeErrorResponse(308, '', '', { headers: { location: '/other' }, body: '' }),
      makeErrorResponse(200, '', '', page),
      makeErrorResponse(502, '', '', page),
    ]);
    expect((await collectOutcome(handler.stream(request))).error?.message).toContain(
      'redirects to https://elsewhere.example, which',
    );
    expect((await collectOutcome(handler.stream(request))).error).toMatchObject({ kind: 'endpoint', canRetry: false });
    expect((await collectOutcome(handler.stream(request))).error).toMatchObject({
      kind: 'endpoint',
      details: { status: 200 },
    });
    expect(server.requests).toHaveLength(3);
    expect((await collectOutcome(handler.stream(request))).error).toMatchObject({
      kind: 'server',
      details: { status: 502 },
    });
  });

  it('say that nothing answers if no server runs at the address', async () => {
    const { server, handler, clock } = await start(protocol, reply('x'));
    await server.close();
    const { error } = await collectOutcome(handler.stream(request));
    expect(error).toMatchObject({ kind: 'network', details: { code: 'ECONNREFUSED' } });
    expect(error?.message).toContain('Nothing answers at this address.');
    expect(clock.sleeps).toEqual([]);
  });

  it('never show the key, whatever the server returns', async () => {
    vi.stubEnv('ANTHROPIC_LOG', 'debug');
    vi.stubEnv('OPENAI_LOG', 'debug');
    const logs = (['debug', 'info', 'log', 'warn', 'error'] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation(() => undefined),
    );
    const echo = `Bad key ${TEST_API_KEY} (${encodeURIComponent(TEST_API_KEY)}, ${Buffer.from(TEST_API_KEY).toString('base64')}, sk-test-****-key)`;
    const echoes: Behaviour[] = [
      ...[400, 401, 404, 418].map((status) =>
        makeErrorResponse(status, 'some_error', echo, {
          headers: { 'request-id': TEST_API_KEY, 'x-request-id': TEST_API_KEY, 'x-key': TEST_API_KEY },
        }),
      ),
      makeErrorResponse(401, '', '', { body: `plain ${TEST_API_KEY}` }),
      makeErrorResponse(302, '', '', { headers: { location: `https://x.example/${TEST_API_KEY}` }, body: '' }),
      {
        kind: 'reply',
        text: ['one', 'two'],
        fault: { kind: 'error', after: 1, error: { type: 'invalid_request_error', message: echo } },
      },
      { kind: 'reply', text: [TEST_API_KEY], fault: { kind: 'malformed', after: 1 } },
    ];
    const { handler, server } = await start(protocol, echoes);
    for (const index of echoes.keys()) {
      const { error } = await collectOutcome(handler.stream(request));
      expect(server.requests, String(index)).toHaveLength(index + 1);
      expect(error, String(index)).toBeDefined();
      expect(describeError(error)).not.toContain('RECOGNISABLE');
      expect(describeError(error)).not.toContain(Buffer.from(TEST_API_KEY).toString('base64'));
      expect(describeError(error)).not.toContain('sk-test');
    }
    await server.close();
    expect(describeError((await collectOutcome(handler.stream(request))).error)).not.toContain('RECOGNISABLE');
    for (const log of logs) expect(log).not.toHaveBeenCalled();
  });
});
