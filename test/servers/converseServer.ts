/** Serves Bedrock's Converse and ConverseStream over HTTP/1.1 with AWS's binary event stream. */
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
import { converseFault, FORWARDED_ERROR_PREFIX, type ConverseStrictness } from './converseRules';
import { eventFrame, exceptionFrame } from './eventStream';
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
import { sendStream, type WireEvent } from './streaming';

export interface ConverseServerOptions extends ServerOptions {
  readonly strict?: ConverseStrictness;
  /** Existing models. Default: all. */
  readonly models?: readonly string[];
  /** Maximum request bytes. Default 25,000,000, as for InvokeModel (API reference). */
  readonly maxBytes?: number;
}

/** Tokens per image, and per block in addition to its text. */
const IMAGE_TOKENS = 1500;
const BLOCK_TOKENS = 3;

export function startConverseServer(options: ConverseServerOptions = {}): Promise<ModelServer> {
  const {
    script = reply('ok'),
    apiKey,
    maxContextTokens = 200_000,
    tokenFactor = 1.25,
    minCacheTokens = 1024,
    maxBytes = 25_000_000,
    strict = {},
    models,
  } = options;
  const key = randomBytes(16);
  const signer: Signer = { sign: (content) => createHmac('sha256', key).update(content).digest('base64url') };
  const cache = new PromptCache({ minTokens: minCacheTokens, ...options.cache }, options.now);
  const { countTokens: tokensOf = (content: string): number => Math.ceil((content.length / 4) * tokenFactor) } =
    options;

  const refuse = (exchange: Exchange, { status, type, message, headers, body, contentType }: ScriptedRefusal): void => {
    exchange.record.refusal = message;
    if (body !== undefined) {
      exchange.record.status = status;
      exchange.response.writeHead(status, { 'content-type': contentType ?? 'text/plain', ...headers }).end(body);
      return;
    }
    // In the protocol restJson1, a header contains the error's name.
    sendJson(exchange, status, { message }, { 'x-amzn-errortype': type ?? 'ValidationException', ...headers });
  };
  const invalid = (exchange: Exchange, message: string): void => {
    refuse(exchange, { kind: 'error', status: 400, message });
  };

  async function answer(exchange: Exchange, next: (record: RecordedRequest) => Promise<Behaviour>): Promise<void> {
    const { record } = exchange;
    const [, id, action] = /^\/model\/([^/]+)\/(converse|converse-stream)$/.exec(record.path.split('?')[0] ?? '') ?? [];
    if (record.method !== 'POST' || id === undefined) {
      refuse(exchange, {
        kind: 'error',
        status: 404,
        type: 'UnknownOperationException',
        message: 'Unknown operation.',
      });
      return;
    }
    if (apiKey !== undefined && !listKeys(record).includes(apiKey)) {
      const message = 'The security token included in the request is invalid.';
      refuse(exchange, { kind: 'error', status: 403, type: 'UnrecognizedClientException', message });
      return;
    }
    if (models && !models.includes(decodeURIComponent(id))) {
      invalid(exchange, 'The provided model identifier is invalid.');
      return;
    }
    if (record.bytes > maxBytes) {
      const message = `The request body exceeds the maximum of ${maxBytes} bytes.`;
      refuse(exchange, { kind: 'error', status: 413, type: 'RequestEntityTooLargeException', message });
      return;
    }
    const fault = converseFault(record.body, signer, strict);
    if (fault !== undefined) {
      invalid(exchange, fault);
      return;
    }
    const segments = makeSegments(record.body, tokensOf);
    const total = segments.reduce((sum, segment) => sum + segment.tokens, 0);
    if (total > maxContextTokens) {
      // The message is from daisuke-awaji/moca#254; other vendors' models say: "Input is too long
      // for requested model."
      invalid(exchange, `${FORWARDED_ERROR_PREFIX}prompt is too long: ${total} tokens > ${maxContextTokens} maximum`);
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
        send(exchange, action === 'converse-stream', behaviour, cache.useMarked(segments));
    }
  }

  function send(exchange: Exchange, stream: boolean, scripted: Reply, use: CacheUse): void {
    const content = makeContent(scripted, signer, exchange.record.index);
    const output = content.reduce((sum, block) => sum + tokensOf(getCountedText(block)), 0);
    // In `TokenUsage`, input tokens exclude cached ones.
    const usage = {
      inputTokens: use.total - use.read - use.written,
      outputTokens: output,
      totalTokens: use.total + output,
      cacheReadInputTokens: use.read,
      cacheWriteInputTokens: use.written,
    };
    exchange.record.usage = usage;
    const stopReason = STOP_REASONS[getStop(scripted)];
    if (!stream) {
      const message = { role: 'assistant', content };
      sendJson(exchange, 200, { output: { message }, stopReason, usage, metrics: { latencyMs: 1 } });
      return;
    }
    sendStream(exchange, makeEvents(content, scripted, stopReason, usage), framing, scripted.fault);
  }

  return startServer(script, tokensOf, answer);
}

/** Reads a Bedrock API key, or an AWS signature's key ID. */
const listKeys = ({ headers }: RecordedRequest): string[] => {
  const authorization = headers.authorization ?? '';
  return [authorization.replace(/^Bearer /, ''), /Credential=([^/]+)/.exec(authorization)?.[1] ?? ''];
};

/**
 * Splits the prompt into segments in cache order: tools, system, messages. A cache point marks the
 * segment before it.
 */
function makeSegments(body: Json, tokensOf: (content: string) => number): Segment[] {
  const tools = isObject(body['toolConfig']) ? objects(body['toolConfig']['tools']) : [];
  const blocksInOrder = [
    ...tools.map((block) => ({ block, before: 'tool' })),
    ...objects(body['system']).map((block) => ({ block, before: 'system' })),
    ...objects(body['messages']).flatMap((message) =>
      objects(message['content']).map((block) => ({ block, before: text(message['role']) })),
    ),
  ];
  const segments: Segment[] = [];
  for (const { block, before } of blocksInOrder) {
    const cachePoint = block['cachePoint'];
    const last = segments.at(-1);
    if (isObject(cachePoint)) {
      const ttl = text(cachePoint['ttl']);
      if (last) segments[segments.length - 1] = { ...last, marked: true, ...(ttl !== '' && { ttl }) };
      continue;
    }
    const tokens = BLOCK_TOKENS + tokensOf(getCountedText(block)) + countImages(block) * IMAGE_TOKENS;
    segments.push({ identity: before + JSON.stringify(block), tokens, marked: false });
  }
  return segments;
}

function getCountedText(block: Json): string {
  const { text: words, toolUse, toolResult, reasoningContent } = block;
  if (typeof words === 'string') return words;
  if (isObject(reasoningContent)) {
    const { reasoningText } = reasoningContent;
    return isObject(reasoningText) ? text(reasoningText['text']) : '';
  }
  if (isObject(toolUse)) return text(toolUse['name']) + JSON.stringify(toolUse['input']);
  if (isObject(toolResult)) {
    return objects(toolResult['content'])
      .map((part) => (part['json'] === undefined ? text(part['text']) : JSON.stringify(part['json'])))
      .join('');
  }
  return block['image'] === undefined ? JSON.stringify(block) : '';
}

const countImages = (block: Json): number => {
  const results = isObject(block['toolResult']) ? objects(block['toolResult']['content']) : [];
  return [block, ...results].filter(({ image }) => image !== undefined).length;
};

function makeContent(
  { thinking, hiddenThinking, calls = [], ...scripted }: Reply,
  signer: Signer,
  index: number,
): Json[] {
  const words = splitReply({ ...scripted, calls }).join('');
  const encodedThinking = hiddenThinking === undefined ? undefined : Buffer.from(hiddenThinking).toString('base64url');
  const sealedThinking =
    encodedThinking === undefined
      ? ''
      : Buffer.from(`${encodedThinking}.${signer.sign(encodedThinking)}`).toString('base64');
  return [
    ...(thinking === undefined
      ? []
      : [{ reasoningContent: { reasoningText: { text: thinking, signature: signer.sign(thinking) } } }]),
    ...(encodedThinking === undefined ? [] : [{ reasoningContent: { redactedContent: sealedThinking } }]),
    ...(words === '' ? [] : [{ text: words }]),
    ...calls.map((call, at) => ({
      toolUse: {
        toolUseId: call.id ?? `tooluse_${index}_${at}`,
        name: call.name,
        input: typeof call.input === 'string' ? (JSON.parse(call.input) as Json) : call.input,
      },
    })),
  ];
}

const STOP_REASONS: Readonly<Record<ScriptedStop, string>> = {
  end: 'end_turn',
  tools: 'tool_use',
  'max-tokens': 'max_tokens',
  refusal: 'content_filtered',
  filter: 'guardrail_intervened',
  window: 'model_context_window_exceeded',
};

/**
 * Only calls have a start event; texts and reasoning start with their first delta
 * (`ContentBlockStart`).
 */
function* makeEvents(
  content: readonly Json[],
  scripted: Reply,
  stopReason: string,
  usage: Json,
): Generator<WireEvent, void> {
  const event = (type: string, payload: Json, isPiece = false): WireEvent => ({
    data: eventFrame(type, payload),
    isPiece,
  });
  const calls = scripted.calls ?? [];
  yield event('messageStart', { role: 'assistant' });
  for (const [contentBlockIndex, block] of content.entries()) {
    const makePieceEvent = (delta: Json): WireEvent => event('contentBlockDelta', { delta, contentBlockIndex }, true);
    const { toolUse, reasoningContent } = block;
    if (isObject(toolUse)) {
      const startFields = { toolUse: { toolUseId: toolUse['toolUseId'], name: toolUse['name'] } };
      yield event('contentBlockStart', { start: startFields, contentBlockIndex });
      const call = calls[contentBlockIndex - (content.length - calls.length)];
      const raw = call ? rawInput(call) : '{}';
      const half = Math.ceil(raw.length / 2);
      for (const part of [raw.slice(0, half), raw.slice(half)]) yield makePieceEvent({ toolUse: { input: part } });
    } else if (isObject(reasoningContent)) {
      const { reasoningText, redactedContent } = reasoningContent;
      if (isObject(reasoningText)) {
        yield makePieceEvent({ reasoningContent: { text: reasoningText['text'] } });
        yield makePieceEvent({ reasoningContent: { signature: reasoningText['signature'] } });
      } else yield makePieceEvent({ reasoningContent: { redactedContent } });
    } else {
      for (const replyPiece of splitReply(scripted)) yield makePieceEvent({ text: replyPiece });
    }
    yield event('contentBlockStop', { contentBlockIndex });
  }
  // This event counts as a piece, so that a scripted fault can follow the last piece of the answer.
  yield event('messageStop', { stopReason }, true);
  yield event('metadata', { usage, metrics: { latencyMs: 1 } });
}

const framing = {
  contentType: 'application/vnd.amazon.eventstream',
  malformed: Buffer.from('this is no frame of an event stream at all'),
  error: ({ error }: Fault): Buffer =>
    exceptionFrame(
      error?.type ?? 'throttlingException',
      error?.message ?? 'Too many requests, please wait before trying again.',
    ),
};
