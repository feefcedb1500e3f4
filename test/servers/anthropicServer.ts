/**
 * Serves Anthropic's Messages API: `/v1/messages` (streaming or not), `/v1/messages/count_tokens`,
 * and both under Bedrock's and Vertex's paths, with Bedrock's binary framing.
 */
import { createHmac, randomBytes } from 'node:crypto';
import {
  adaptiveFault,
  anthropicFault,
  listTurns,
  versionFault,
  type AnthropicStrictness,
  type Signer,
} from './anthropicRules';
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
import { BoundThinking } from './boundThinking';
import { claudeModel } from './claudeModels';
import { chunkFrame, exceptionFrame } from './eventStream';
import { isObject, objects, text, type Json } from './json';
import {
  sendJson,
  startServer,
  type Exchange,
  type ModelServer,
  type RecordedRequest,
  type ServerOptions,
} from './modelServer';
import { PromptCache, type CacheUse, type Segment } from './promptCache';
import { sendStream, type Framing, type WireEvent } from './streaming';
import { tooLongAnswer, type TooLongVendor } from './tooLong';

export interface AnthropicServerOptions extends ServerOptions {
  /** Existing models. Default: all. */
  readonly models?: readonly string[];
  /**
   * Treats all models like those of autumn 2026: thinking is adaptive and bound to what precedes
   * it.
   */
  readonly adaptive?: boolean;
  /** Supports compaction on request, which Bedrock never does. Default: true. */
  readonly compacts?: boolean;
  /** Rules that are off by default. */
  readonly strict?: AnthropicStrictness;
  /** The vendor whose message rejects prompts that are too long. Default: Anthropic. */
  readonly tooLong?: TooLongVendor;
}

type Platform = 'anthropic' | 'bedrock' | 'vertex';

interface Route {
  readonly platform: Platform;
  readonly model: string;
  readonly stream: boolean;
  readonly counts: boolean;
}

/** Tokens per image, and per block in addition to its text. */
const IMAGE_TOKENS = 1500;
const BLOCK_TOKENS = 3;

export function startAnthropicServer(options: AnthropicServerOptions = {}): Promise<ModelServer> {
  const {
    script = reply('ok'),
    apiKey,
    maxContextTokens = 200_000,
    tokenFactor = 1.25,
    minCacheTokens = 1024,
    models,
    adaptive = false,
    strict = {},
  } = options;
  const key = options.sealKey ?? randomBytes(16);
  const signer: Signer = { sign: (content) => createHmac('sha256', key).update(content).digest('base64url') };
  /** Each model has its own cache. */
  const cacheByModel = new Map<string, PromptCache>();
  const getCache = (model: string): PromptCache => {
    const minTokensOfModel = strict.byModel === true ? claudeModel(model)?.minCacheTokens : undefined;
    const cache =
      cacheByModel.get(model) ??
      new PromptCache({ minTokens: minTokensOfModel ?? minCacheTokens, ...options.cache }, options.now);
    cacheByModel.set(model, cache);
    return cache;
  };
  const boundThinking = new BoundThinking();
  const { countTokens: tokensOf = (content: string): number => Math.ceil((content.length / 4) * tokenFactor) } =
    options;

  const refuse = (
    exchange: Exchange,
    { status, type = 'invalid_request_error', message, headers, body, contentType }: ScriptedRefusal,
  ): void => {
    exchange.record.refusal = message;
    if (body !== undefined) {
      exchange.record.status = status;
      exchange.response.writeHead(status, { 'content-type': contentType ?? 'text/plain', ...headers }).end(body);
      return;
    }
    const error = { type: 'error', error: { type, message }, request_id: `req_${exchange.record.index}` };
    sendJson(exchange, status, error, { ...headers });
  };
  const invalid = (exchange: Exchange, message: string): void => {
    refuse(exchange, { kind: 'error', status: 400, message });
  };

  async function handleRequest(
    exchange: Exchange,
    next: (record: RecordedRequest) => Promise<Behaviour>,
  ): Promise<void> {
    const { record } = exchange;
    const route = findRoute(record);
    if (!route) {
      refuse(exchange, { kind: 'error', status: 404, type: 'not_found_error', message: 'Not Found' });
      return;
    }
    if (apiKey !== undefined && !listKeys(record).includes(apiKey)) {
      refuse(exchange, { kind: 'error', status: 401, type: 'authentication_error', message: 'invalid x-api-key' });
      return;
    }
    const body: Json = { max_tokens: 1, ...record.body, model: route.model };
    if (models && !models.includes(route.model)) {
      refuse(exchange, { kind: 'error', status: 404, type: 'not_found_error', message: `model: ${route.model}` });
      return;
    }
    if (!route.counts && record.body['max_tokens'] === undefined) {
      invalid(exchange, 'max_tokens: Field required');
      return;
    }
    if (strict.maxBytes !== undefined && record.bytes > strict.maxBytes) {
      const message = 'Request exceeds the maximum size';
      refuse(exchange, { kind: 'error', status: 413, type: 'request_too_large', message });
      return;
    }
    const knownModel = strict.byModel === true ? claudeModel(route.model) : undefined;
    const isNewVersion = strict.version === true && record.headers['anthropic-version'] === '2026-10-21';
    const betas = text(record.headers['anthropic-beta']) + JSON.stringify(body['anthropic_beta'] ?? '');
    const fault =
      (isNewVersion ? versionFault(body) : undefined) ??
      anthropicFault(body, signer, strict, betas) ??
      (adaptive ? adaptiveFault(body) : undefined) ??
      (adaptive || knownModel?.bindsThinking === true ? boundThinking.fault(body, betas) : undefined);
    if (fault !== undefined) {
      invalid(exchange, fault);
      return;
    }
    const segments = makeSegments(body, tokensOf, strict);
    const total = segments.reduce((sum, segment) => sum + segment.tokens, 0);
    const tooLongResponse = options.tooLong && tooLongAnswer(options.tooLong);
    if (tooLongResponse && total > maxContextTokens) {
      const errorBody = tooLongResponse.body({
        tokens: total,
        limit: maxContextTokens,
        output: Number(body['max_tokens']),
      });
      const contentType = tooLongResponse.contentType ?? 'application/json';
      refuse(exchange, {
        kind: 'error',
        status: tooLongResponse.status,
        message: errorBody,
        body: errorBody,
        contentType,
      });
      return;
    }
    if (total > maxContextTokens) {
      invalid(exchange, `prompt is too long: ${total} tokens > ${maxContextTokens} maximum`);
      return;
    }
    if (route.counts) {
      sendJson(exchange, 200, { input_tokens: total });
      return;
    }
    const maxTokens = Number(body['max_tokens']);
    if (total + maxTokens > maxContextTokens) {
      invalid(
        exchange,
        `input length and \`max_tokens\` exceed context limit: ${total} + ${maxTokens} > ${maxContextTokens}, decrease input length or \`max_tokens\` and try again`,
      );
      return;
    }
    const isCompaction = body['compaction'] !== undefined;
    if (isCompaction && (route.platform === 'bedrock' || options.compacts === false)) {
      invalid(exchange, 'compaction: not supported for this model');
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
        send(exchange, route, behaviour, getCache(route.model).useMarked(segments));
    }
  }

  /**
   * True if answers contain the thinking's text; newer models omit it unless `display` requests it.
   */
  function showsThinking({ thinking }: Json, model: string): boolean {
    const display = isObject(thinking) ? (thinking['display'] ?? undefined) : undefined;
    if (display !== undefined) return display === 'summarized';
    return strict.byModel !== true || claudeModel(model)?.showsThinking !== false;
  }

  function send(exchange: Exchange, route: Route, scripted: Reply, use: CacheUse): void {
    if (exchange.record.body['compaction'] !== undefined) {
      sendCompaction(exchange, route, scripted, use);
      return;
    }
    const contentBlocks = makeContent(
      scripted,
      signer,
      exchange.record.index,
      showsThinking(exchange.record.body, route.model),
    );
    const droppedThinking = boundThinking.listDropped(exchange.record.body);
    boundThinking.remember(exchange.record.body, contentBlocks);
    const usage = {
      input_tokens: use.total - use.read - use.written,
      cache_read_input_tokens: use.read,
      cache_creation_input_tokens: use.written,
      output_tokens: contentBlocks.reduce((sum, block) => sum + tokensOf(getText(block)), 0),
    };
    exchange.record.usage = usage;
    const message = {
      id: `msg_${exchange.record.index}`,
      type: 'message',
      role: 'assistant',
      model: route.model,
      content: contentBlocks,
      stop_reason: STOP_REASONS[getStop(scripted)],
      stop_sequence: null,
      usage,
      ...(droppedThinking && { input_transformations: droppedThinking }),
    };
    if (!route.stream) {
      sendJson(exchange, 200, message);
      return;
    }
    const framing = FRAMINGS[route.platform === 'bedrock' ? 'bedrock' : 'sse'];
    const events = [...makeEvents(message, scripted)].map(({ event, isPiece }): WireEvent => ({
      data: framing.frame(event),
      isPiece,
    }));
    sendStream(exchange, events, framing, scripted.fault);
  }

  /**
   * Sends a single compaction block and no reply. If the scripted reply has no text or has a call,
   * the content is empty, and the stop reason is the reply's. Tokens are reported only in
   * `iterations`, and the block arrives whole (guide "Compaction on demand").
   */
  function sendCompaction(exchange: Exchange, route: Route, scripted: Reply, use: CacheUse): void {
    const summaryText = splitReply(scripted).join('');
    const stop = getStop(scripted);
    const isCompleteSummary = summaryText !== '' && stop === 'end' && (scripted.calls ?? []).length === 0;
    const iterationUsage = {
      type: 'compaction',
      input_tokens: use.total - use.read - use.written,
      output_tokens: tokensOf(summaryText),
      cache_read_input_tokens: use.read,
      cache_creation_input_tokens: use.written,
      cache_creation: null,
    };
    exchange.record.usage = iterationUsage;
    const emptyUsage = {
      input_tokens: 0,
      output_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    };
    const usage = { ...emptyUsage, iterations: [iterationUsage] };
    const message: Message = {
      id: `msg_${exchange.record.index}`,
      type: 'message',
      role: 'assistant',
      model: route.model,
      content: isCompleteSummary
        ? [{ type: 'compaction', content: summaryText, signature: signer.sign(summaryText) }]
        : [],
      stop_reason: isCompleteSummary ? 'compaction' : STOP_REASONS[stop],
      stop_sequence: null,
      usage,
    };
    if (!route.stream) {
      sendJson(exchange, 200, message);
      return;
    }
    const framing = FRAMINGS.sse;
    const events = [...makeEvents(message, scripted)].map(({ event, isPiece }): WireEvent => ({
      data: framing.frame(
        event.type === 'message_start'
          ? { ...event, message: { ...message, content: [], stop_reason: null, usage: emptyUsage } }
          : event.type === 'message_delta'
            ? { ...event, usage }
            : event,
      ),
      isPiece,
    }));
    sendStream(exchange, events, framing, scripted.fault);
  }

  return startServer(script, tokensOf, handleRequest);
}

function findRoute({ path, body, method }: RecordedRequest): Route | undefined {
  if (method !== 'POST') return undefined;
  const [pathname = ''] = path.split('?');
  const model = text(body['model']);
  if (pathname === '/v1/messages')
    return { platform: 'anthropic', model, stream: body['stream'] === true, counts: false };
  if (pathname === '/v1/messages/count_tokens') return { platform: 'anthropic', model, stream: false, counts: true };
  const bedrock = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/.exec(pathname);
  if (bedrock) {
    const isStream = bedrock[2] === 'invoke-with-response-stream';
    return { platform: 'bedrock', model: decodeURIComponent(bedrock[1] ?? ''), stream: isStream, counts: false };
  }
  const vertex = /\/publishers\/anthropic\/models\/([^:]+):(rawPredict|streamRawPredict)$/.exec(pathname);
  if (!vertex) return undefined;
  const isCountRequest = vertex[1] === 'count-tokens';
  return {
    platform: 'vertex',
    model: isCountRequest ? model : decodeURIComponent(vertex[1] ?? ''),
    stream: vertex[2] === 'streamRawPredict',
    counts: isCountRequest,
  };
}

/**
 * Reads the key from Anthropic's header, a bearer token (Bedrock, Vertex), or an AWS signature's
 * key ID.
 */
const listKeys = ({ headers }: RecordedRequest): string[] => {
  const authorization = headers.authorization ?? '';
  return [
    text(headers['x-api-key']),
    authorization.replace(/^Bearer /, ''),
    /Credential=([^/]+)/.exec(authorization)?.[1] ?? '',
  ];
};

/** Splits the prompt into segments in cache order: tools, system, messages. */
function makeSegments(
  body: Json,
  tokensOf: (content: string) => number,
  { cacheKeys }: AnthropicStrictness,
): Segment[] {
  const getBreakpoint = (block: Json): Json | undefined =>
    [block, ...objects(block['content'])].map((part) => part['cache_control']).find(isObject);
  const segment = (block: Json, before = ''): Segment => {
    const mark = getBreakpoint(block);
    return {
      identity:
        before + JSON.stringify(block, (field, value: unknown) => (field === 'cache_control' ? undefined : value)),
      tokens: BLOCK_TOKENS + tokensOf(getText(block)) + countImages(block) * IMAGE_TOKENS,
      marked: mark !== undefined,
      ...(mark && text(mark['ttl']) !== '' && { ttl: text(mark['ttl']) }),
    };
  };
  const { system } = body;
  const prompt = typeof system === 'string' ? [{ type: 'text', text: system }] : objects(system);
  const messages = listTurns(body).flatMap(({ role, blocks }) => blocks.map((block) => segment(block, role)));
  const thinking = isObject(body['thinking'])
    ? body['thinking']
    : { type: claudeModel(text(body['model']))?.byDefault };
  const parameters = JSON.stringify([thinking['type'], thinking['budget_tokens'], body['tool_choice']]);
  const [first, ...rest] = messages;
  const segments = [
    ...objects(body['tools']).map((tool) => segment(tool, 'tool')),
    ...prompt.map((block) => segment(block, 'system')),
    ...(first ? [{ ...first, identity: cacheKeys === true ? parameters + first.identity : first.identity }] : []),
    ...rest,
  ];
  // A breakpoint at the top level marks the last block (`MessageCreateParamsBase.cache_control` of
  // the SDK).
  const topLevelMark = body['cache_control'];
  const lastSegment = segments.at(-1);
  const ttl = isObject(topLevelMark) ? text(topLevelMark['ttl']) : '';
  if (lastSegment && isObject(topLevelMark))
    segments[segments.length - 1] = { ...lastSegment, marked: true, ...(ttl !== '' && { ttl }) };
  return segments;
}

function getText(block: Json): string {
  switch (block['type']) {
    case 'text':
      return text(block['text']);
    case 'thinking':
      return text(block['thinking']);
    case 'tool_result':
      return typeof block['content'] === 'string' ? block['content'] : objects(block['content']).map(getText).join('');
    case 'image':
      return '';
    default:
      return JSON.stringify(block);
  }
}

const countImages = (block: Json): number =>
  [block, ...objects(block['content'])].filter((part) => part['type'] === 'image').length;

function makeContent(
  { thinking, hiddenThinking, calls = [], ...scripted }: Reply,
  signer: Signer,
  index: number,
  showsThinking: boolean,
): Json[] {
  const replyText = splitReply({ ...scripted, calls }).join('');
  const seal = (content: string): string => {
    const encodedContent = Buffer.from(content).toString('base64url');
    return `${encodedContent}.${signer.sign(encodedContent)}`;
  };
  const makeThinkingFields = (content: string): Json =>
    showsThinking ? { thinking: content, signature: signer.sign(content) } : { thinking: '', signature: seal(content) };
  return [
    ...(thinking === undefined ? [] : [{ type: 'thinking', ...makeThinkingFields(thinking) }]),
    ...(hiddenThinking === undefined ? [] : [{ type: 'redacted_thinking', data: seal(hiddenThinking) }]),
    ...(replyText === '' ? [] : [{ type: 'text', text: replyText }]),
    ...calls.map((call, at) => ({
      type: 'tool_use',
      id: call.id ?? `toolu_${index}_${at}`,
      name: call.name,
      // An empty string stands for a call that was cut off before its first parameter.
      input: typeof call.input !== 'string' ? call.input : call.input === '' ? {} : (JSON.parse(call.input) as object),
    })),
  ];
}

const STOP_REASONS: Readonly<Record<ScriptedStop, string>> = {
  end: 'end_turn',
  tools: 'tool_use',
  'max-tokens': 'max_tokens',
  refusal: 'refusal',
  filter: 'refusal',
  window: 'model_context_window_exceeded',
};

type Event = Json & { readonly type: string };

interface Message extends Json {
  readonly content: readonly Json[];
  readonly usage: Json;
  readonly stop_reason: string;
}

function* makeEvents(message: Message, scripted: Reply): Generator<{ event: Event; isPiece: boolean }, void> {
  const plain = (event: Event) => ({ event, isPiece: false });
  const makePieceEvent = (index: number, delta: Json) => ({
    event: { type: 'content_block_delta', index, delta },
    isPiece: true,
  });
  const { content, usage, stop_reason: stopReason } = message;
  yield plain({
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  });
  yield plain({ type: 'ping' });
  for (const [index, block] of content.entries()) {
    yield plain({ type: 'content_block_start', index, content_block: emptyBlock(block) });
    if (block['type'] === 'text') {
      for (const replyPiece of splitReply(scripted))
        yield makePieceEvent(index, { type: 'text_delta', text: replyPiece });
    } else if (block['type'] === 'thinking') {
      yield makePieceEvent(index, { type: 'thinking_delta', thinking: block['thinking'] });
      yield makePieceEvent(index, { type: 'signature_delta', signature: block['signature'] });
    } else if (block['type'] === 'tool_use') {
      const call = (scripted.calls ?? [])[index - (content.length - (scripted.calls ?? []).length)];
      const rawInputText = call ? rawInput(call) : '{}';
      const half = Math.ceil(rawInputText.length / 2);
      yield makePieceEvent(index, { type: 'input_json_delta', partial_json: '' });
      yield makePieceEvent(index, { type: 'input_json_delta', partial_json: rawInputText.slice(0, half) });
      yield makePieceEvent(index, { type: 'input_json_delta', partial_json: rawInputText.slice(half) });
    }
    yield plain({ type: 'content_block_stop', index });
  }
  // This event counts as a piece, so that a scripted fault can follow the last piece of the answer.
  yield {
    event: {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: usage['output_tokens'] },
    },
    isPiece: true,
  };
  yield plain({ type: 'message_stop' });
}

function emptyBlock(block: Json): Json {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { ...block, input: {} };
    default:
      return block;
  }
}

const makeError = ({ error }: Fault) => ({
  type: 'error',
  error: { type: error?.type ?? 'overloaded_error', message: error?.message ?? 'Overloaded' },
});

const sse = (type: string, data: string): string => `event: ${type}\ndata: ${data}\n\n`;

const FRAMINGS: Readonly<Record<'sse' | 'bedrock', Framing & { readonly frame: (event: Event) => string | Buffer }>> = {
  sse: {
    contentType: 'text/event-stream; charset=utf-8',
    frame: (event) => sse(event.type, JSON.stringify(event)),
    malformed: sse('content_block_delta', '{"type":"content_block_delta","index":0,"delta":{"ty'),
    error: (fault) => sse('error', JSON.stringify(makeError(fault))),
  },
  bedrock: {
    contentType: 'application/vnd.amazon.eventstream',
    frame: (event) => chunkFrame(event),
    malformed: Buffer.from('this is no frame of an event stream at all'),
    error: ({ error }) => exceptionFrame(error?.type ?? 'throttlingException', error?.message ?? 'Too many requests'),
  },
};
