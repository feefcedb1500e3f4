/**
 * Serves Gemini's generateContent, streamGenerateContent (server-sent events or a JSON array),
 * countTokens and model list, under Google AI's and Vertex AI's paths.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Signer } from './anthropicRules';
import {
  splitReply,
  reply,
  getStop,
  type Behaviour,
  type Fault,
  type ScriptedRefusal,
  type Reply,
  type ScriptedStop,
} from './behaviour';
import { geminiFault, type GeminiStrictness } from './geminiRules';
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

export interface GeminiServerOptions extends ServerOptions {
  readonly strict?: GeminiStrictness;
  /** Existing models. Default: all. */
  readonly models?: readonly string[];
  /** Maximum request bytes. Default 20 MiB (guide "File input methods"). */
  readonly maxBytes?: number;
}

interface Route {
  readonly model: string;
  readonly method: 'generateContent' | 'streamGenerateContent' | 'countTokens' | 'get' | 'list';
  readonly sse: boolean;
}

/**
 * Tokens per image (guide "Understand and count tokens"), and per content in addition to its text.
 */
const IMAGE_TOKENS = 258;
const CONTENT_TOKENS = 2;

export function startGeminiServer(options: GeminiServerOptions = {}): Promise<ModelServer> {
  const {
    script = reply('ok'),
    apiKey,
    maxContextTokens = 1_048_576,
    tokenFactor = 1.15,
    minCacheTokens = 1024,
    maxBytes = 20 * 1024 * 1024,
    strict = {},
    models,
  } = options;
  const outputLimit = strict.maxOutputTokens ?? 65_536;
  const key = options.sealKey ?? randomBytes(16);
  const signer: Signer = { sign: (content) => createHmac('sha256', key).update(content).digest('base64url') };
  // Implicit caching reads the longest known prefix, and writes are free (guide "Context caching").
  const cache = new PromptCache({ minTokens: minCacheTokens, step: 1, ...options.cache }, options.now);
  const { countTokens: tokensOf = (content: string): number => Math.ceil((content.length / 4) * tokenFactor) } =
    options;

  const refuse = (
    exchange: Exchange,
    { status, type, message, headers, body, contentType }: ScriptedRefusal,
    inArray = false,
  ): void => {
    exchange.record.refusal = message;
    if (body !== undefined) {
      exchange.record.status = status;
      exchange.response.writeHead(status, { 'content-type': contentType ?? 'text/plain', ...headers }).end(body);
      return;
    }
    const error = { error: { code: status, message, status: type ?? STATUS_NAMES[status] ?? 'UNKNOWN' } };
    // A stream without server-sent events is an array, and so are its errors
    // (google-gemini/gemini-cli#7410).
    sendJson(exchange, status, inArray ? [error] : error, { ...headers });
  };

  async function answer(exchange: Exchange, next: (record: RecordedRequest) => Promise<Behaviour>): Promise<void> {
    const { record } = exchange;
    const route = findRoute(record);
    if (!route) {
      exchange.record.refusal = 'Not Found';
      exchange.record.status = 404;
      exchange.response.writeHead(404, { 'content-type': 'text/html' }).end('<title>Error 404 (Not Found)!!1</title>');
      return;
    }
    const isArrayStream = route.method === 'streamGenerateContent' && !route.sse;
    const invalid = (message: string): void => {
      refuse(exchange, { kind: 'error', status: 400, message }, isArrayStream);
    };
    if (apiKey !== undefined && !listKeys(record).includes(apiKey)) {
      invalid('API key not valid. Please pass a valid API key.');
      return;
    }
    if (models && route.method !== 'list' && !models.includes(route.model)) {
      const message = `models/${route.model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`;
      refuse(exchange, { kind: 'error', status: 404, message }, isArrayStream);
      return;
    }
    if (route.method === 'list' || route.method === 'get') {
      const modelDescriptions = (route.method === 'get' ? [route.model] : (models ?? [])).map((name) => ({
        name: `models/${name}`,
        displayName: name,
        inputTokenLimit: maxContextTokens,
        outputTokenLimit: outputLimit,
        supportedGenerationMethods: ['generateContent', 'countTokens'],
        thinking: true,
      }));
      sendJson(exchange, 200, route.method === 'get' ? modelDescriptions[0] : { models: modelDescriptions });
      return;
    }
    if (record.bytes > maxBytes) {
      invalid(`Request payload size exceeds the limit: ${maxBytes} bytes.`);
      return;
    }
    const body = route.method === 'countTokens' ? getCountedRequest(record.body) : record.body;
    const fault = geminiFault(body, signer, strict);
    if (fault !== undefined) {
      invalid(fault);
      return;
    }
    const segments = makeSegments(body, tokensOf);
    const total = segments.reduce((sum, segment) => sum + segment.tokens, 0);
    if (total > maxContextTokens) {
      invalid(`The input token count (${total}) exceeds the maximum number of tokens allowed (${maxContextTokens}).`);
      return;
    }
    if (route.method === 'countTokens') {
      sendJson(exchange, 200, { totalTokens: total });
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
        refuse(exchange, behaviour, isArrayStream);
        return;
      case 'reply':
        await behaviour.firstByte;
        send(exchange, route, behaviour, cache.useLongest(segments));
    }
  }

  function send(exchange: Exchange, route: Route, scripted: Reply, use: CacheUse): void {
    const thinkingTokens = tokensOf(scripted.thinking ?? scripted.hiddenThinking ?? '');
    const chunks = makeChunks(scripted, exchange.record.index, signer, strict.signatures !== false);
    const answerTokens = chunks.reduce(
      (sum, { parts }) =>
        sum +
        parts.filter((part) => part['thought'] !== true).reduce((n, part) => n + tokensOf(getCountedText(part)), 0),
      0,
    );
    // The prompt's tokens include cached ones; the candidate's tokens exclude thinking
    // (`GenerateContentResponseUsageMetadata` of @google/genai).
    const usage = {
      promptTokenCount: use.total,
      ...(use.read > 0 && { cachedContentTokenCount: use.read }),
      candidatesTokenCount: answerTokens,
      ...(thinkingTokens > 0 && { thoughtsTokenCount: thinkingTokens }),
      totalTokenCount: use.total + answerTokens + thinkingTokens,
    };
    exchange.record.usage = usage;
    const head = { modelVersion: route.model, responseId: `r${exchange.record.index}` };
    if (getStop(scripted) === 'filter') {
      // The answer to a blocked prompt has no candidate.
      const blockedAnswer = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: usage, ...head };
      if (route.sse) sendStream(exchange, [{ data: sse(blockedAnswer) }], framing, scripted.fault);
      else sendJson(exchange, 200, route.method === 'streamGenerateContent' ? [blockedAnswer] : blockedAnswer);
      return;
    }
    const stopReason = getFinishReason(scripted);
    const makeCandidateAnswer = (parts: readonly Json[], finishReason?: string): Json => ({
      candidates: [
        {
          content: parts.length === 0 ? { role: 'model' } : { role: 'model', parts },
          index: 0,
          ...(finishReason !== undefined && { finishReason }),
        },
      ],
      usageMetadata: finishReason === undefined ? { promptTokenCount: use.total, totalTokenCount: use.total } : usage,
      ...head,
    });
    if (route.method === 'generateContent') {
      sendJson(
        exchange,
        200,
        makeCandidateAnswer(
          chunks.flatMap(({ parts }) => parts),
          stopReason,
        ),
      );
      return;
    }
    const lastChunkIndex = chunks.length - 1;
    const answers =
      chunks.length === 0
        ? [makeCandidateAnswer([], stopReason)]
        : chunks.map(({ parts }, index) =>
            makeCandidateAnswer(parts, index === lastChunkIndex ? stopReason : undefined),
          );
    if (!route.sse) {
      sendJson(exchange, 200, answers);
      return;
    }
    const events = answers.map((value): WireEvent => ({ data: sse(value), isPiece: true }));
    sendStream(exchange, events, framing, scripted.fault);
  }

  return startServer(script, tokensOf, answer);
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function findRoute({ path, method }: RecordedRequest): Route | undefined {
  const [pathname = '', query = ''] = path.split('?');
  const sse = new URLSearchParams(query).get('alt') === 'sse';
  if (method === 'GET' && /^\/v1(?:beta)?\/models$/.test(pathname)) return { model: '', method: 'list', sse };
  const pathMatch =
    /^\/v1(?:beta1?)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/google\/)?models\/([^/:]+)(?::(\w+))?$/.exec(
      pathname,
    );
  const [, model = '', action] = pathMatch ?? [];
  if (!pathMatch) return undefined;
  if (method === 'GET' && action === undefined) return { model: decodeURIComponent(model), method: 'get', sse };
  return method === 'POST' &&
    (action === 'generateContent' || action === 'streamGenerateContent' || action === 'countTokens')
    ? { model: decodeURIComponent(model), method: action, sse }
    : undefined;
}

const listKeys = ({ headers, path }: RecordedRequest): string[] => [
  text(headers['x-goog-api-key']),
  text(headers.authorization).replace(/^Bearer /, ''),
  new URLSearchParams(path.split('?')[1]).get('key') ?? '',
];

/**
 * Returns the request to count: the body itself, or the whole request inside it without its model.
 */
function getCountedRequest(body: Json): Json {
  const inner = body['generateContentRequest'];
  if (!isObject(inner)) return body;
  return Object.fromEntries(Object.entries(inner).filter(([field]) => field !== 'model'));
}

/** Returns the text that is counted; signatures cost nothing here. */
function getCountedText(part: Json): string {
  if (typeof part['text'] === 'string') return part['text'];
  const { functionCall, functionResponse } = part;
  if (isObject(functionCall)) return text(functionCall['name']) + JSON.stringify(functionCall['args'] ?? {});
  return isObject(functionResponse)
    ? text(functionResponse['name']) + JSON.stringify(functionResponse['response'])
    : '';
}

function makeSegments(body: Json, tokensOf: (content: string) => number): Segment[] {
  const system = body['systemInstruction'] ?? body['system_instruction'];
  const countContentTokens = (content: Json): number =>
    objects(content['parts']).reduce(
      (sum, part) => sum + (part['inlineData'] === undefined ? tokensOf(getCountedText(part)) : IMAGE_TOKENS),
      CONTENT_TOKENS,
    );
  const segment = (identity: string, tokens: number): Segment => ({ identity, tokens, marked: false });
  return [
    ...(isObject(system) ? [segment(JSON.stringify(system), countContentTokens(system))] : []),
    ...objects(body['tools']).map((tool) => segment(JSON.stringify(tool), tokensOf(JSON.stringify(tool)))),
    ...objects(body['contents']).map((content) => segment(JSON.stringify(content), countContentTokens(content))),
  ];
}

interface Chunk {
  readonly parts: readonly Json[];
}

/** If arguments aren't JSON, Gemini sends no call and ends with MALFORMED_FUNCTION_CALL. */
const isMalformed = ({ calls = [] }: Reply): boolean =>
  calls.some(({ input }) => typeof input === 'string' && !isJson(input));

function isJson(value: string): boolean {
  try {
    return isObject(JSON.parse(value));
  } catch {
    return false;
  }
}

function makeChunks(scripted: Reply, index: number, signer: Signer, signs: boolean): Chunk[] {
  const { thinking, calls = [] } = scripted;
  if (getStop(scripted) === 'refusal') return [];
  const signature = (place: string): string =>
    Buffer.from(`${index}-${place}.${signer.sign(`${index}-${place}`)}`).toString('base64');
  const replyPieces = splitReply(scripted);
  const validCalls = isMalformed(scripted) ? [] : calls;
  return [
    ...(thinking === undefined ? [] : [{ parts: [{ text: thinking, thought: true }] }]),
    ...replyPieces.map((piece) => ({ parts: [{ text: piece }] })),
    ...validCalls.map((call, at) => ({
      parts: [
        {
          functionCall: {
            ...(call.id !== undefined && { id: call.id }),
            name: call.name,
            args: typeof call.input === 'string' ? (JSON.parse(call.input) as Json) : call.input,
          },
          ...(signs && at === 0 && { thoughtSignature: signature('call') }),
        },
      ],
    })),
    // If there are no calls, the signature is sent alone at the end.
    ...(signs && validCalls.length === 0 && replyPieces.length > 0
      ? [{ parts: [{ text: '', thoughtSignature: signature('text') }] }]
      : []),
  ];
}

const FINISH_REASONS: Readonly<Record<ScriptedStop, string>> = {
  end: 'STOP',
  tools: 'STOP',
  'max-tokens': 'MAX_TOKENS',
  refusal: 'SAFETY',
  filter: 'PROHIBITED_CONTENT',
  window: 'MAX_TOKENS',
};

const getFinishReason = (scripted: Reply): string =>
  isMalformed(scripted) ? 'MALFORMED_FUNCTION_CALL' : FINISH_REASONS[getStop(scripted)];

const sse = (value: unknown): string => `data: ${JSON.stringify(value)}\r\n\r\n`;

const framing = {
  contentType: 'text/event-stream',
  malformed: 'data: {"candidates": [{"content": {"par\r\n\r\n',
  error: ({ error }: Fault): string =>
    sse({
      error: {
        code: Number(error?.code ?? 503),
        message: error?.message ?? 'The model is overloaded. Please try again later.',
        status: error?.type ?? 'UNAVAILABLE',
      },
    }),
};
