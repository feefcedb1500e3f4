import { afterEach, describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import {
  callsTool,
  cutAtMaxTokens,
  emptyReply,
  makeFaultyReply,
  neverAnswer,
  refusal,
  makeErrorResponse,
  reply,
  type Behaviour,
} from '../../test/servers/behaviour';
import type { ModelServer, Script } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { testClock } from '../../test/servers/testClock';
import { createAnthropicHandler } from './anthropic';
import { completeText, type FailedText } from './completeText';
import { createOpenAIHandler } from './openai';
import { counter, user } from './testing';
import type { ApiHandler } from './types';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

const VENDORS = ['Anthropic', 'Chat Completions', 'Responses'] as const;

async function start(
  vendor: (typeof VENDORS)[number],
  script: Script,
): Promise<{ server: ModelServer; handler: ApiHandler }> {
  const server = await (vendor === 'Anthropic' ? startAnthropicServer : startOpenAIServer)({ script });
  open = server;
  const common = { apiKey: 'key', counter, clock: testClock() };
  const handler =
    vendor === 'Anthropic'
      ? createAnthropicHandler({ ...common, baseUrl: server.url, model: { id: 'claude-sonnet-4' } })
      : createOpenAIHandler({
          ...common,
          baseUrl: `${server.url}/v1`,
          model: { id: 'gpt-4o' },
          api: vendor === 'Responses' ? 'responses' : 'chat',
        });
  return { server, handler };
}

const request = { messages: [user('Summarize.')] };

describe.each(VENDORS)('completing a text with %s', (vendor) => {
  it('returns the whole text', async () => {
    const { handler } = await start(vendor, reply(['A ', 'summary.'], { thinking: 'Hm.' }));
    const outcome = await completeText(handler, request);
    expect(outcome).toMatchObject({ kind: 'complete', text: 'A summary.', usage: { source: 'reported' } });
  });

  it.each<[FailedText['kind'], string, Behaviour, string]>([
    ['empty', 'empty-reply', emptyReply(), ''],
    ['empty', 'empty-reply', reply(' \n'), ' \n'],
    ['refused', 'refusal', refusal(), "I can't help with that."],
    ['refused', 'refusal', reply('Well', { stop: 'filter' }), 'Well'],
    ['cut-at-limit', 'output-limit', cutAtMaxTokens('A summ'), 'A summ'],
    ['tool-call', 'unexpected-tool-call', callsTool({ name: 'read_file', input: {} }), ''],
    ['cut-off', 'network', makeFaultyReply('cut'), 'one two '],
    ['cut-off', 'protocol', makeFaultyReply('no-end'), 'one two '],
    ['cut-off', 'protocol', makeFaultyReply('malformed'), 'one two '],
  ])(
    'reports an incomplete reply as %s with the error %s, and its usage',
    async (kind, error, behaviour, partialText) => {
      const { handler } = await start(vendor, behaviour);
      const outcome = await completeText(handler, request);
      expect(outcome).toMatchObject({ kind, error: { kind: error }, partialText });
      expect(outcome).not.toHaveProperty('text');
      expect(outcome.usage?.inputTokens).toBeGreaterThan(0);
    },
  );

  it('reports a failure before the first word, without usage', async () => {
    const { handler } = await start(vendor, makeErrorResponse(401, 'authentication_error', 'No.'));
    expect(await completeText(handler, request)).toMatchObject({
      kind: 'failed',
      error: { kind: 'auth' },
      partialText: '',
      usage: undefined,
    });
  });

  it('reports an abort, and aborts the request', async () => {
    const { handler, server } = await start(vendor, neverAnswer());
    const controller = new AbortController();
    const outcome = completeText(handler, request, { signal: controller.signal });
    const asked = await server.request(0);
    controller.abort();
    expect(await outcome).toMatchObject({ kind: 'aborted', error: { kind: 'aborted' } });
    await asked.aborted;
  });
});

describe('completing a text', () => {
  it('reports a text that was cut off because the window was full', async () => {
    const { handler } = await start('Anthropic', reply('A', { stop: 'window' }));
    const outcome = await completeText(handler, request);
    expect(outcome).toMatchObject({ kind: 'cut-at-limit', error: { kind: 'output-limit' } });
    expect((outcome as FailedText).error.message).toContain('cut off at the end of the model’s window');
  });

  it('reports a filtered reply, an unknown stop reason, a tool call instead of a text, and a misbehaving handler', async () => {
    const { handler, server } = await start(
      'Chat Completions',
      makeErrorResponse(400, 'x', 'Filtered', { code: 'content_filter' }),
    );
    expect(await completeText(handler, request)).toMatchObject({ kind: 'refused', error: { kind: 'refusal' } });
    server.play(reply('x'));
    const own = (stream: ApiHandler['stream']): ApiHandler => ({ ...handler, stream });
    const strange = own(async function* () {
      yield* handler.stream(request);
      yield { type: 'end', stopReason: 'other' };
    });
    expect(await completeText(strange, request)).toMatchObject({ kind: 'cut-off', error: { kind: 'protocol' } });
    const calling = own(async function* () {
      yield { type: 'tool_call', id: 'c', name: 'a', input: {}, rawArguments: '{}' };
      yield* handler.stream(request);
    });
    expect(await completeText(calling, request)).toMatchObject({ kind: 'tool-call' });
    const broken = own(() => {
      throw new TypeError('not typed');
    });
    expect(await completeText(broken, request)).toMatchObject({ kind: 'cut-off', error: { kind: 'protocol' } });
  });
});
