/**
 * Serves OpenAI's Chat Completions and Responses (streaming or not) under `/v1`, with quirks that
 * imitate Ollama, LM Studio, vLLM and OpenRouter.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Signer } from './anthropicRules';
import {
  splitReply,
  rawInput,
  reply,
  getStop,
  type Behaviour,
  type Fault,
  type ScriptedRefusal,
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
import {
  apiFault,
  chatFault,
  limitFault,
  responsesFault,
  type OpenAIFault,
  type OpenAIStrictness,
  type Quirks,
} from './openaiRules';
import { PromptCache, type CacheUse, type Segment } from './promptCache';
import { sendStream, type WireEvent } from './streaming';
import { tooLongAnswer, type TooLongVendor } from './tooLong';

export interface OpenAIServerOptions extends ServerOptions {
  readonly quirks?: Quirks;
  /** Rules that are off by default. */
  readonly strict?: OpenAIStrictness;
  /** The vendor whose message rejects prompts that are too long. Default: OpenAI. */
  readonly tooLong?: TooLongVendor;
  /**
   * Ollama's `num_ctx`: longer prompts are cut to half of it plus two tokens without an error
   * (ollama/ollama#17427, the maintainer's figures). The usage reports the tokens that were read.
   */
  readonly cutsAt?: number;
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
    strict = {},
  } = options;
  const key = options.sealKey ?? randomBytes(16);
  const signer: Signer = { sign: (content) => createHmac('sha256', key).update(content).digest('base64url') };
  const cache = new PromptCache({ minTokens: minCacheTokens, ...options.cache }, options.now);
  const { countTokens: tokensOf = (content: string): number => Math.ceil((content.length / 4) * tokenFactor) } =
    options;
  const sealedReasoning = new SealedReasoning(strict, signer, tokensOf);

  const refuse = (exchange: Exchange, answer: ScriptedRefusal, param?: string): void => {
    const { status, type = 'invalid_request_error', message, code = null, headers, body, contentType } = answer;
    exchange.record.refusal = message;
    if (body !== undefined) {
      exchange.record.status = status;
      exchange.response.writeHead(status, { 'content-type': contentType ?? 'text/plain', ...headers }).end(body);
      return;
    }
    const error =
      quirks.plainErrors === true
        ? message
        : quirks.openRouter === true
          ? // The code is the numeric status (`OpenRouterDefaultError` of @openrouter/sdk).
            { message, code: status }
          : { message, type, param: param ?? null, code };
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
    if (apiKey !== undefined && !listKeys(record).includes(apiKey)) {
      const givenKey = listKeys(record).join('');
      const message = `Incorrect API key provided: ${givenKey}. You can find your API key at https://platform.openai.com/account/api-keys.`;
      refuse(exchange, { kind: 'error', status: 401, message, code: 'invalid_api_key' });
      return;
    }
    if (strict.maxBytes !== undefined && record.bytes > strict.maxBytes) {
      refuse(exchange, { kind: 'error', status: 413, message: 'Request Entity Too Large' });
      return;
    }
    const fault =
      (isChat ? chatFault(body, quirks) : responsesFault(body, signer, quirks)) ??
      (isChat ? apiFault(body, strict) : undefined) ??
      limitFault(body, strict) ??
      sealedReasoning.fault(body);
    if (fault) {
      invalid(exchange, fault);
      return;
    }
    const segments = isChat ? chatSegments(body, tokensOf) : responsesSegments(body, tokensOf, sealedReasoning);
    const total = segments.reduce((sum, segment) => sum + segment.tokens, 0);
    const output = Number(body['max_completion_tokens'] ?? body['max_tokens'] ?? body['max_output_tokens'] ?? 0);
    const { tooLong, cutsAt } = options;
    const tooLongResponse = tooLong && tooLongAnswer(tooLong);
    if (
      cutsAt === undefined &&
      tooLongResponse &&
      total + (tooLongResponse.countsOutput === true ? output : 0) > maxContextTokens
    ) {
      const { status, contentType = 'application/json' } = tooLongResponse;
      const errorBody = tooLongResponse.body({ tokens: total, limit: maxContextTokens, output });
      refuse(exchange, { kind: 'error', status, message: errorBody, body: errorBody, contentType });
      return;
    }
    if (cutsAt === undefined && total > maxContextTokens) {
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
        (isChat ? sendChat : sendResponse)(
          exchange,
          behaviour,
          cutsAt !== undefined && total > cutsAt
            ? { read: 0, written: 0, total: Math.floor(cutsAt / 2) + 2 }
            : useCache(record, segments),
        );
    }
  }

  /**
   * Claude's prompts are cached at breakpoints, even through OpenRouter; other models' prompts
   * automatically.
   */
  function useCache(record: RecordedRequest, segments: readonly Segment[]): CacheUse {
    const { body } = record;
    const isMarked = quirks.openRouter === true && /claude/.test(text(body['model']));
    const scope = strict.cacheKeys === true ? getScope(record, quirks) : '';
    return isMarked ? cache.useMarked(segments, scope) : cache.useLongest(segments, scope);
  }

  const outputTokens = ({ thinking = '', calls = [], ...scripted }: Reply): number =>
    tokensOf(thinking) +
    tokensOf(splitReply({ ...scripted, calls }).join('')) +
    calls.reduce((sum, call) => sum + tokensOf(call.name + rawInput(call)), 0);

  function sendChat(exchange: Exchange, scripted: Reply, use: CacheUse): void {
    const { body, index } = exchange.record;
    const completion = outputTokens(scripted);
    const details = quirks.openRouter === true ? sealedReasoning.details(scripted, index) : [];
    const usage = {
      prompt_tokens: use.total,
      completion_tokens: completion,
      total_tokens: use.total + completion,
      prompt_tokens_details: {
        cached_tokens: use.read,
        ...(quirks.openRouter === true && { cache_write_tokens: use.written }),
      },
      completion_tokens_details: { reasoning_tokens: tokensOf(scripted.thinking ?? '') },
    };
    exchange.record.usage = usage;
    const finishReason =
      quirks.stopForCalls === true && getStop(scripted) === 'tools' ? 'stop' : CHAT_STOPS[getStop(scripted)];
    const head = { id: `chatcmpl-${index}`, created: 1_700_000_000, model: body['model'] };
    if (body['stream'] !== true) {
      const message = {
        ...chatMessage(scripted, index),
        ...(details.length > 0 && { reasoning: scripted.thinking ?? null, reasoning_details: details }),
      };
      const choice = { index: 0, message, finish_reason: finishReason, logprobs: null };
      sendJson(exchange, 200, {
        ...head,
        object: 'chat.completion',
        choices: [choice],
        ...(quirks.noUsage !== true && { usage }),
      });
      return;
    }
    // OpenRouter reports usage in every stream (guide "Usage Accounting").
    const wantsUsage =
      quirks.openRouter === true ||
      (isObject(body['stream_options']) && body['stream_options']['include_usage'] === true);
    const chunk = (delta: Json, reason: string | null = null) => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    const events = chatEvents(scripted, index, quirks, chunk, finishReason, details);
    const last =
      wantsUsage && quirks.noUsage !== true
        ? [{ data: sse({ ...head, object: 'chat.completion.chunk', choices: [], usage }) }]
        : [];
    sendStream(exchange, [...events, ...last, { data: 'data: [DONE]\n\n' }], framing('chat'), scripted.fault);
  }

  function sendResponse(exchange: Exchange, scripted: Reply, use: CacheUse): void {
    const { body, index } = exchange.record;
    const output = responseOutput(scripted, sealedReasoning, index);
    const stop = getStop(scripted);
    const reason = stop === 'max-tokens' ? 'max_output_tokens' : stop === 'filter' ? 'content_filter' : undefined;
    const outputTokenCount = outputTokens(scripted);
    const response = {
      id: `resp_${index}`,
      object: 'response',
      created_at: 1_700_000_000,
      model: body['model'],
      status: reason === undefined ? 'completed' : 'incomplete',
      incomplete_details: reason === undefined ? null : { reason },
      error: null,
      output,
      ...(strict.reasoning !== undefined && {
        reasoning: { context: strict.reasoning, effort: 'medium', summary: null },
      }),
      usage: {
        input_tokens: use.total,
        input_tokens_details: { cached_tokens: use.read, cache_write_tokens: use.written },
        output_tokens: outputTokenCount,
        output_tokens_details: { reasoning_tokens: tokensOf(scripted.thinking ?? '') },
        total_tokens: use.total + outputTokenCount,
      },
    };
    exchange.record.usage = response.usage;
    if (body['stream'] !== true) {
      sendJson(exchange, 200, response);
      return;
    }
    sendStream(exchange, responseEvents(response, scripted), framing('responses'), scripted.fault);
  }

  return startServer(script, tokensOf, answer);
}

const listKeys = ({ headers }: RecordedRequest): string[] =>
  [text(headers.authorization).replace(/^Bearer /, ''), text(headers['api-key'])].filter((key) => key !== '');

const segment = (identity: string, tokens: number): Segment => ({ identity, tokens, marked: false });

/**
 * Returns what requests must share to use the same cache: a key, a session, or the start of the
 * conversation (OpenRouter's guide).
 */
function getScope({ body, headers }: RecordedRequest, { openRouter }: Quirks): string {
  const key = text(body['prompt_cache_key']);
  if (openRouter !== true) return key;
  const session = text(body['session_id']) || text(headers['x-session-id']);
  if (session !== '') return session;
  const messages = objects(body['messages']);
  return JSON.stringify(
    ['system', 'user'].map((role) => messages.find((message) => message['role'] === role)?.['content']),
  );
}

function getCountedText(value: Json): string {
  const { content, output, tool_calls: calls, arguments: raw } = value;
  const parts = [...objects(content), ...objects(output)].map((part) => text(part['text']));
  const callTexts = objects(calls).map((call) => JSON.stringify(call['function']));
  return [text(content), text(output), text(raw), ...parts, ...callTexts].join('');
}

const countImages = ({ content }: Json): number =>
  objects(content).filter(({ type }) => type === 'image_url' || type === 'input_image').length;

/** Omits breakpoints, which are not part of the text. */
const serializeIdentity = (value: Json): string =>
  JSON.stringify(value, (field, inner: unknown) => (field === 'cache_control' ? undefined : inner));

const findMark = (parts: readonly Json[]): Pick<Segment, 'marked' | 'ttl'> => {
  const cacheMark = parts.map((part) => part['cache_control']).find(isObject);
  const ttl = text(cacheMark?.['ttl']);
  return { marked: cacheMark !== undefined, ...(ttl !== '' && { ttl }) };
};

const toolSegments = (body: Json, tokensOf: (content: string) => number): Segment[] =>
  objects(body['tools']).map((tool) => ({
    identity: serializeIdentity(tool),
    tokens: tokensOf(serializeIdentity(tool)),
    ...findMark([tool]),
  }));

const messageSegment = (message: Json, tokensOf: (content: string) => number): Segment => ({
  identity: serializeIdentity(message),
  tokens: MESSAGE_TOKENS + tokensOf(getCountedText(message)) + countImages(message) * IMAGE_TOKENS,
  ...findMark(objects(message['content'])),
});

function chatSegments(body: Json, tokensOf: (content: string) => number): Segment[] {
  const segments = [
    ...toolSegments(body, tokensOf),
    ...objects(body['messages']).map((message) => messageSegment(message, tokensOf)),
  ];
  const last = segments.at(-1);
  // A top-level breakpoint marks the last cacheable block (`ChatRequest.cacheControl` of
  // @openrouter/sdk).
  if (last && isObject(body['cache_control'])) segments[segments.length - 1] = { ...last, ...findMark([body]) };
  return segments;
}

const listInput = (body: Json): readonly Json[] =>
  typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : objects(body['input']);

function responsesSegments(body: Json, tokensOf: (content: string) => number, minds: SealedReasoning): Segment[] {
  const items = listInput(body);
  const lastUserIndex = items.findLastIndex(({ role }) => role === 'user');
  return [
    ...toolSegments(body, tokensOf),
    segment(text(body['instructions']), tokensOf(text(body['instructions']))),
    ...items.map((item, index) => {
      const billedTokens = item['type'] === 'reasoning' ? minds.billed(item, index > lastUserIndex) : undefined;
      return billedTokens === undefined
        ? messageSegment(item, tokensOf)
        : segment(serializeIdentity(item), billedTokens);
    }),
  ];
}

/** Seals the model's thinking, and computes its cost when it is sent back. */
class SealedReasoning {
  /** Tokens in each sealed thought. */
  private readonly tokens = new Map<string, number>();

  constructor(
    private readonly strict: OpenAIStrictness,
    private readonly signer: Signer,
    private readonly tokensOf: (content: string) => number,
  ) {}

  seal(thought: string): string {
    const encodedThought = Buffer.from(thought).toString('base64url');
    const sealedThought = `${encodedThought}.${this.signer.sign(encodedThought)}`;
    if (this.strict.reasoning === undefined) return sealedThought;
    const tokens = this.tokensOf(thought);
    // The length is OpenAI's: about four bytes per token plus 650, in base64.
    const paddedThought = `${sealedThought}.${randomBytes(tokens * 4 + 650).toString('base64url')}`;
    this.tokens.set(paddedThought, tokens);
    return paddedThought;
  }

  /** Returns the input tokens of a reasoning item; undefined if items are not billed. */
  billed(item: Json, isOpen: boolean): number | undefined {
    const { reasoning } = this.strict;
    if (reasoning === undefined) return undefined;
    return reasoning === 'all_turns' || isOpen ? (this.tokens.get(text(item['encrypted_content'])) ?? 0) : 0;
  }

  phase(calls: boolean): Json {
    return this.strict.phases === true ? { phase: calls ? 'commentary' : 'final_answer' } : {};
  }

  details({ thinking, hiddenThinking }: Reply, index: number): Json[] {
    const format = 'anthropic-claude-v1';
    return [
      ...(thinking === undefined
        ? []
        : [{ type: 'reasoning.text', text: thinking, signature: this.signer.sign(thinking), format, index: 0 }]),
      ...(hiddenThinking === undefined
        ? []
        : [{ type: 'reasoning.encrypted', data: this.seal(hiddenThinking), id: `rd_${index}`, format, index: 1 }]),
    ];
  }

  /** Rejects thinking that was changed, and messages that lost their phase. */
  fault(body: Json): OpenAIFault | undefined {
    for (const [index, item] of objects(body['input']).entries()) {
      if (this.strict.phases === true && item['role'] === 'assistant' && text(item['phase']) === '')
        return { message: 'The phase of a message was dropped.', param: `input[${index}].phase` };
    }
    for (const [index, message] of objects(body['messages']).entries()) {
      const detailsPath = `messages[${index}].reasoning_details`;
      for (const detail of objects(message['reasoning_details'])) {
        const [content = '', seal] = text(detail['data']).split('.');
        const isValid =
          detail['type'] === 'reasoning.text'
            ? detail['signature'] === this.signer.sign(text(detail['text']))
            : detail['type'] !== 'reasoning.encrypted' || seal === this.signer.sign(content);
        if (!isValid)
          return { message: `${detailsPath}: Invalid \`signature\` in \`thinking\` block`, param: detailsPath };
      }
    }
    return this.strict.reasoningDetails === true ? droppedDetails(body) : undefined;
  }
}

/** The first message with calls in the open turn must come with its thinking. */
function droppedDetails(body: Json): OpenAIFault | undefined {
  const messages = objects(body['messages']);
  const lastUserIndex = messages.findLastIndex(({ role }) => role === 'user');
  const index = messages.findIndex((message, at) => at > lastUserIndex && objects(message['tool_calls']).length > 0);
  return index < 0 || objects(messages[index]?.['reasoning_details']).length > 0
    ? undefined
    : {
        message: `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
        param: `messages[${index}].reasoning_details`,
      };
}

const CHAT_STOPS: Readonly<Record<ScriptedStop, string>> = {
  end: 'stop',
  tools: 'tool_calls',
  'max-tokens': 'length',
  refusal: 'stop',
  filter: 'content_filter',
  window: 'length',
};

function chatMessage(scripted: Reply, index: number): Json {
  const words = splitReply(scripted).join('');
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
  details: readonly Json[],
): Generator<WireEvent, void> {
  const { thinking, calls = [], stop } = scripted;
  // Gemini signs only the first call of an answer.
  const makeSignatureFields = (at: number): Json =>
    quirks.wants === 'thought_signature' && at === 0
      ? { extra_content: { google: { thought_signature: `signed ${index}` } } }
      : {};
  yield { data: ': a comment, as OpenRouter sends while it waits\n\n' };
  yield { data: sse(chunk({ role: 'assistant', content: '' })) };
  if (thinking !== undefined)
    yield {
      data: sse(
        chunk({
          [quirks.reasoningField ?? (quirks.openRouter === true ? 'reasoning' : 'reasoning_content')]: thinking,
        }),
      ),
      isPiece: true,
    };
  for (const detail of details) yield { data: sse(chunk({ reasoning_details: [detail] })), isPiece: true };
  const field = stop === 'refusal' ? 'refusal' : 'content';
  for (const replyPiece of splitReply(scripted)) yield { data: sse(chunk({ [field]: replyPiece })), isPiece: true };
  for (const [at, call] of calls.entries()) {
    const id = quirks.noCallIds === true ? undefined : (call.id ?? `call_${index}_${at}`);
    const rawInputText = rawInput(call);
    if (quirks.callIndex !== undefined) {
      const indexFields = quirks.callIndex === 'zero' ? { index: 0 } : {};
      yield {
        data: sse(
          chunk({
            tool_calls: [
              { ...indexFields, id, type: 'function', function: { name: call.name, arguments: rawInputText } },
            ],
          }),
        ),
        isPiece: true,
      };
      continue;
    }
    const half = Math.ceil(rawInputText.length / 2);
    yield {
      data: sse(
        chunk({
          tool_calls: [
            {
              index: at,
              id,
              type: 'function',
              function: { name: call.name, arguments: '' },
              ...makeSignatureFields(at),
            },
          ],
        }),
      ),
      isPiece: true,
    };
    for (const part of [rawInputText.slice(0, half), rawInputText.slice(half)]) {
      yield { data: sse(chunk({ tool_calls: [{ index: at, function: { arguments: part } }] })), isPiece: true };
    }
  }
  yield { data: sse(chunk({}, finish)), isPiece: true };
}

function responseOutput(scripted: Reply, minds: SealedReasoning, index: number): Json[] {
  const { thinking, hiddenThinking, calls = [], stop } = scripted;
  const words = splitReply(scripted).join('');
  const textPart =
    stop === 'refusal' ? { type: 'refusal', refusal: words } : { type: 'output_text', text: words, annotations: [] };
  return [
    ...(thinking === undefined && hiddenThinking === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_${index}`,
            summary: thinking === undefined ? [] : [{ type: 'summary_text', text: thinking }],
            encrypted_content: minds.seal(hiddenThinking ?? thinking ?? ''),
          },
        ]),
    ...(words === ''
      ? []
      : [
          {
            type: 'message',
            id: `msg_${index}`,
            role: 'assistant',
            status: 'completed',
            content: [textPart],
            ...minds.phase(calls.length > 0),
          },
        ]),
    ...calls.map((call, at) => ({
      type: 'function_call',
      id: `fc_${index}_${at}`,
      call_id: call.id ?? `call_${index}_${at}`,
      name: call.name,
      ...(call.namespace !== undefined && { namespace: call.namespace }),
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
  const openResponse = { ...response, status: 'in_progress', output: [], usage: null };
  yield event('response.created', { response: openResponse });
  yield event('response.in_progress', { response: openResponse });
  for (const [index, item] of response.output.entries()) {
    const itemFields = { output_index: index, item_id: item['id'] };
    yield event('response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress' } });
    if (item['type'] === 'reasoning' && scripted.thinking !== undefined) {
      yield event(
        'response.reasoning_summary_text.delta',
        { ...itemFields, summary_index: 0, delta: scripted.thinking },
        true,
      );
    }
    if (item['type'] === 'message') {
      const type = scripted.stop === 'refusal' ? 'response.refusal.delta' : 'response.output_text.delta';
      for (const delta of splitReply(scripted)) yield event(type, { ...itemFields, content_index: 0, delta }, true);
    }
    if (item['type'] === 'function_call') {
      yield event('response.function_call_arguments.delta', { ...itemFields, delta: item['arguments'] }, true);
    }
    yield event('response.output_item.done', { output_index: index, item });
  }
  yield event(`response.${response.status}`, { response }, true);
}

const makeError = ({ error }: Fault) => ({
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
      ? sse({ error: makeError(fault) })
      : `event: response.failed\n${sse({ type: 'response.failed', response: { status: 'failed', error: makeError(fault) } })}`,
});
