/**
 * A server that speaks OpenAI's Chat Completions and Responses (stream and not) under `/v1`, and, by its quirks, as the
 * servers that speak almost the same: Ollama, LM Studio, vLLM, OpenRouter.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Signer } from './anthropicRules';
import {
  piecesOf,
  rawInput,
  reply,
  stopOf,
  type Behaviour,
  type Fault,
  type Refused,
  type Reply,
  type ScriptedStop,
} from './behaviour';
import { isObject, objects, text, type Json } from './json';
import {
  sendJson,
  startServer,
  type Exchange,
  type ModelServer,
  type RecordedRequest,
  type ServerOptions,
} from './modelServer';
import { chatFault, responsesFault, type OpenAIFault, type Quirks } from './openaiRules';
import { PromptCache, type CacheUse, type Segment } from './promptCache';
import { sendStream, type WireEvent } from './streaming';

export interface OpenAIServerOptions extends ServerOptions {
  readonly quirks?: Quirks;
}

const MESSAGE_TOKENS = 4;
const IMAGE_TOKENS = 800;

export function startOpenAIServer(options: OpenAIServerOptions = {}): Promise<ModelServer> {
  const {
    script = reply('ok'),
    apiKey,
    maxContextTokens = 128_000,
    tokenFactor = 1.1,
    minCacheTokens = 1024,
    quirks = {},
  } = options;
  const key = randomBytes(16);
  const signer: Signer = { sign: (content) => createHmac('sha256', key).update(content).digest('base64url') };
  const cache = new PromptCache({ minTokens: minCacheTokens, ...options.cache }, options.now);
  const tokensOf = (content: string): number => Math.ceil((content.length / 4) * tokenFactor);

  const refuse = (exchange: Exchange, answer: Refused, param?: string): void => {
    const { status, type = 'invalid_request_error', message, code = null, headers, body, contentType } = answer;
    exchange.record.refusal = message;
    if (body !== undefined) {
      exchange.record.status = status;
      exchange.response.writeHead(status, { 'content-type': contentType ?? 'text/plain', ...headers }).end(body);
      return;
    }
    const error = quirks.plainErrors === true ? message : { message, type, param: param ?? null, code };
    sendJson(exchange, status, { error }, { ...headers });
  };
  const invalid = (exchange: Exchange, { message, param, code }: OpenAIFault): void => {
    refuse(exchange, { kind: 'error', status: 400, message, ...(code !== undefined && { code }) }, param);
  };

  async function answer(exchange: Exchange, next: (record: RecordedRequest) => Promise<Behaviour>): Promise<void> {
    const { record } = exchange;
    const { body } = record;
    const [pathname = ''] = record.path.split('?');
    const isChat = pathname.endsWith('/chat/completions');
    if (record.method !== 'POST' || !(isChat || pathname.endsWith('/responses'))) {
      refuse(exchange, { kind: 'error', status: 404, message: `Invalid URL (${record.method} ${pathname})` });
      return;
    }
    if (apiKey !== undefined && !keysIn(record).includes(apiKey)) {
      const given = keysIn(record).join('');
      const message = `Incorrect API key provided: ${given}. You can find your API key at https://platform.openai.com/account/api-keys.`;
      refuse(exchange, { kind: 'error', status: 401, message, code: 'invalid_api_key' });
      return;
    }
    const fault = isChat ? chatFault(body, quirks) : responsesFault(body, signer, quirks);
    if (fault) {
      invalid(exchange, fault);
      return;
    }
    const segments = isChat ? chatSegments(body, tokensOf) : responsesSegments(body, tokensOf);
    const total = segments.reduce((sum, segment) => sum + segment.tokens, 0);
    if (total > maxContextTokens) {
      invalid(exchange, {
        message: isChat
          ? `This model's maximum context length is ${maxContextTokens} tokens. However, your messages resulted in ${total} tokens. Please reduce the length of the messages.`
          : 'Your input exceeds the context window of this model. Please adjust your input and try again.',
        param: isChat ? 'messages' : 'input',
        code: 'context_length_exceeded',
      });
      return;
    }
    const behaviour = await next(record);
    switch (behaviour.kind) {
      case 'never':
        return;
      case 'reset':
        exchange.hangUp();
        return;
      case 'error':
        refuse(exchange, behaviour);
        return;
      case 'reply':
        await behaviour.firstByte;
        (isChat ? sendChat : sendResponse)(exchange, behaviour, cache.useLongest(segments));
    }
  }

  const outputTokens = ({ thinking = '', calls = [], ...scripted }: Reply): number =>
    tokensOf(thinking) +
    tokensOf(piecesOf({ ...scripted, calls }).join('')) +
    calls.reduce((sum, call) => sum + tokensOf(call.name + rawInput(call)), 0);

  function sendChat(exchange: Exchange, scripted: Reply, use: CacheUse): void {
    const { body, index } = exchange.record;
    const completion = outputTokens(scripted);
    const usage = {
      prompt_tokens: use.total,
      completion_tokens: completion,
      total_tokens: use.total + completion,
      prompt_tokens_details: { cached_tokens: use.read },
      completion_tokens_details: { reasoning_tokens: tokensOf(scripted.thinking ?? '') },
    };
    const finish = quirks.stopForCalls === true && stopOf(scripted) === 'tools' ? 'stop' : CHAT_STOPS[stopOf(scripted)];
    const head = { id: `chatcmpl-${index}`, created: 1_700_000_000, model: body['model'] };
    if (body['stream'] !== true) {
      const message = chatMessage(scripted, index);
      const choice = { index: 0, message, finish_reason: finish, logprobs: null };
      sendJson(exchange, 200, {
        ...head,
        object: 'chat.completion',
        choices: [choice],
        ...(quirks.noUsage !== true && { usage }),
      });
      return;
    }
    const wantsUsage = isObject(body['stream_options']) && body['stream_options']['include_usage'] === true;
    const chunk = (delta: Json, reason: string | null = null) => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    const events = chatEvents(scripted, index, quirks, chunk, finish);
    const last =
      wantsUsage && quirks.noUsage !== true
        ? [{ data: sse({ ...head, object: 'chat.completion.chunk', choices: [], usage }) }]
        : [];
    sendStream(exchange, [...events, ...last, { data: 'data: [DONE]\n\n' }], framing('chat'), scripted.fault);
  }

  function sendResponse(exchange: Exchange, scripted: Reply, use: CacheUse): void {
    const { body, index } = exchange.record;
    const output = responseOutput(scripted, signer, index);
    const stop = stopOf(scripted);
    const reason = stop === 'max-tokens' ? 'max_output_tokens' : stop === 'filter' ? 'content_filter' : undefined;
    const tokens = outputTokens(scripted);
    const response = {
      id: `resp_${index}`,
      object: 'response',
      created_at: 1_700_000_000,
      model: body['model'],
      status: reason === undefined ? 'completed' : 'incomplete',
      incomplete_details: reason === undefined ? null : { reason },
      error: null,
      output,
      usage: {
        input_tokens: use.total,
        input_tokens_details: { cached_tokens: use.read, cache_write_tokens: 0 },
        output_tokens: tokens,
        output_tokens_details: { reasoning_tokens: tokensOf(scripted.thinking ?? '') },
        total_tokens: use.total + tokens,
      },
    };
    if (body['stream'] !== true) {
      sendJson(exchange, 200, response);
      return;
    }
    sendStream(exchange, responseEvents(response, scripted), framing('responses'), scripted.fault);
  }

  return startServer(script, tokensOf, answer);
}

const keysIn = ({ headers }: RecordedRequest): string[] =>
  [text(headers.authorization).replace(/^Bearer /, ''), text(headers['api-key'])].filter((key) => key !== '');

const segment = (identity: string, tokens: number): Segment => ({ identity, tokens, marked: false });

function wordsIn(value: Json): string {
  const { content, output, tool_calls: calls, arguments: raw } = value;
  const parts = [...objects(content), ...objects(output)].map((part) => text(part['text']));
  const called = objects(calls).map((call) => JSON.stringify(call['function']));
  return [text(content), text(output), text(raw), ...parts, ...called].join('');
}

const imagesIn = ({ content }: Json): number =>
  objects(content).filter(({ type }) => type === 'image_url' || type === 'input_image').length;

const toolSegments = (body: Json, tokensOf: (content: string) => number): Segment[] =>
  objects(body['tools']).map((tool) => segment(JSON.stringify(tool), tokensOf(JSON.stringify(tool))));

const messageSegments = (messages: readonly Json[], tokensOf: (content: string) => number): Segment[] =>
  messages.map((message) =>
    segment(JSON.stringify(message), MESSAGE_TOKENS + tokensOf(wordsIn(message)) + imagesIn(message) * IMAGE_TOKENS),
  );

const chatSegments = (body: Json, tokensOf: (content: string) => number): Segment[] => [
  ...toolSegments(body, tokensOf),
  ...messageSegments(objects(body['messages']), tokensOf),
];

const responsesSegments = (body: Json, tokensOf: (content: string) => number): Segment[] => [
  ...toolSegments(body, tokensOf),
  segment(text(body['instructions']), tokensOf(text(body['instructions']))),
  ...messageSegments(
    typeof body['input'] === 'string' ? [{ content: body['input'] }] : objects(body['input']),
    tokensOf,
  ),
];

const CHAT_STOPS: Readonly<Record<ScriptedStop, string>> = {
  end: 'stop',
  tools: 'tool_calls',
  'max-tokens': 'length',
  refusal: 'stop',
  filter: 'content_filter',
  window: 'length',
};

function chatMessage(scripted: Reply, index: number): Json {
  const words = piecesOf(scripted).join('');
  const calls = (scripted.calls ?? []).map((call, at) => ({
    id: call.id ?? `call_${index}_${at}`,
    type: 'function',
    function: { name: call.name, arguments: rawInput(call) },
  }));
  const isRefusal = scripted.stop === 'refusal';
  return {
    role: 'assistant',
    content: isRefusal || words === '' ? null : words,
    refusal: isRefusal ? words : null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

const sse = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

function* chatEvents(
  scripted: Reply,
  index: number,
  quirks: Quirks,
  chunk: (delta: Json, reason?: string | null) => Json,
  finish: string,
): Generator<WireEvent, void> {
  const { thinking, calls = [], stop } = scripted;
  // Gemini signs the first call of an answer.
  const signed = (at: number): Json =>
    quirks.wants === 'thought_signature' && at === 0
      ? { extra_content: { google: { thought_signature: `signed ${index}` } } }
      : {};
  yield { data: ': a comment, as OpenRouter sends while it waits\n\n' };
  yield { data: sse(chunk({ role: 'assistant', content: '' })) };
  if (thinking !== undefined)
    yield { data: sse(chunk({ [quirks.reasoningField ?? 'reasoning_content']: thinking })), isPiece: true };
  const field = stop === 'refusal' ? 'refusal' : 'content';
  for (const words of piecesOf(scripted)) yield { data: sse(chunk({ [field]: words })), isPiece: true };
  for (const [at, call] of calls.entries()) {
    const id = quirks.noCallIds === true ? undefined : (call.id ?? `call_${index}_${at}`);
    const raw = rawInput(call);
    if (quirks.callIndex !== undefined) {
      const place = quirks.callIndex === 'zero' ? { index: 0 } : {};
      yield {
        data: sse(
          chunk({ tool_calls: [{ ...place, id, type: 'function', function: { name: call.name, arguments: raw } }] }),
        ),
        isPiece: true,
      };
      continue;
    }
    const half = Math.ceil(raw.length / 2);
    yield {
      data: sse(
        chunk({
          tool_calls: [
            { index: at, id, type: 'function', function: { name: call.name, arguments: '' }, ...signed(at) },
          ],
        }),
      ),
      isPiece: true,
    };
    for (const part of [raw.slice(0, half), raw.slice(half)]) {
      yield { data: sse(chunk({ tool_calls: [{ index: at, function: { arguments: part } }] })), isPiece: true };
    }
  }
  yield { data: sse(chunk({}, finish)), isPiece: true };
}

function responseOutput(scripted: Reply, signer: Signer, index: number): Json[] {
  const { thinking, hiddenThinking, calls = [], stop } = scripted;
  const words = piecesOf(scripted).join('');
  const hidden = Buffer.from(hiddenThinking ?? thinking ?? '').toString('base64url');
  const part =
    stop === 'refusal' ? { type: 'refusal', refusal: words } : { type: 'output_text', text: words, annotations: [] };
  return [
    ...(thinking === undefined && hiddenThinking === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_${index}`,
            summary: thinking === undefined ? [] : [{ type: 'summary_text', text: thinking }],
            encrypted_content: `${hidden}.${signer.sign(hidden)}`,
          },
        ]),
    ...(words === ''
      ? []
      : [{ type: 'message', id: `msg_${index}`, role: 'assistant', status: 'completed', content: [part] }]),
    ...calls.map((call, at) => ({
      type: 'function_call',
      id: `fc_${index}_${at}`,
      call_id: call.id ?? `call_${index}_${at}`,
      name: call.name,
      arguments: rawInput(call),
      status: 'completed',
    })),
  ];
}

function* responseEvents(
  response: Json & { readonly output: readonly Json[]; readonly status: string },
  scripted: Reply,
): Generator<WireEvent, void> {
  let sequence = 0;
  const event = (type: string, fields: Json, isPiece = false): WireEvent => ({
    data: `event: ${type}\n${sse({ type, sequence_number: sequence++, ...fields })}`,
    isPiece,
  });
  const open = { ...response, status: 'in_progress', output: [], usage: null };
  yield event('response.created', { response: open });
  yield event('response.in_progress', { response: open });
  for (const [index, item] of response.output.entries()) {
    const at = { output_index: index, item_id: item['id'] };
    yield event('response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress' } });
    if (item['type'] === 'reasoning' && scripted.thinking !== undefined) {
      yield event('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta: scripted.thinking }, true);
    }
    if (item['type'] === 'message') {
      const type = scripted.stop === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta';
      for (const delta of piecesOf(scripted)) yield event(type, { ...at, content_index: 0, delta }, true);
    }
    if (item['type'] === 'function_call') {
      yield event('response.function_call_arguments.delta', { ...at, delta: item['arguments'] }, true);
    }
    yield event('response.output_item.done', { output_index: index, item });
  }
  yield event(`response.${response.status}`, { response }, true);
}

const errorOf = ({ error }: Fault) => ({
  type: error?.type ?? 'server_error',
  code: error?.code ?? error?.type ?? 'server_error',
  message: error?.message ?? 'The server had an error while processing your request.',
  param: null,
});

const framing = (api: 'chat' | 'responses') => ({
  contentType: 'text/event-stream; charset=utf-8',
  malformed: 'data: {"id":"chatcmpl-0","choices":[{"del\n\n',
  error: (fault: Fault): string =>
    api === 'chat'
      ? sse({ error: errorOf(fault) })
      : `event: response.failed\n${sse({ type: 'response.failed', response: { status: 'failed', error: errorOf(fault) } })}`,
});
