import { describe, expect, it } from 'vitest';
import { ApiError, isApiError } from './apiError';
import { toApiError } from './classifyError';
import { findOverflow } from './tooLong';
import { CHAT_QUIRKS, chooseChatDialect } from './dialect';
import { findQuirkChange } from './quirks';
import { checkEndpoint } from './endpoint';
import { redactSecrets } from './redact';
import { DEFAULT_RETRY, computeRetryDelayMs } from './retry';

const context = { name: 'Mine', secrets: ['secret-key-0123'], now: 0 };
const answer = (fields: object): Error => Object.assign(new Error('400 no words'), fields);

describe('converting a thrown error to an API error', () => {
  it('returns our own errors unchanged, also if they are the cause of another', () => {
    const own = new ApiError('timeout', { name: 'x' });
    expect(toApiError(own, context)).toBe(own);
    expect(toApiError(new Error('outer', { cause: own }), context)).toBe(own);
    expect(isApiError(new Error())).toBe(false);
  });

  it('survives circular causes and values that are not errors', () => {
    const loop = new Error('a');
    loop.cause = loop;
    expect(toApiError(loop, context).kind).toBe('protocol');
    for (const odd of [undefined, null, 'text', 7, {}])
      expect(toApiError(odd, context).details).toEqual({ name: 'Mine' });
  });

  it.each<[string, unknown, object]>([
    [
      'a reset below the SDK',
      new Error('Connection error.', { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) }),
      { kind: 'network', canRetry: true },
    ],
    [
      'a name that is unknown',
      new TypeError('fetch failed', { cause: Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }) }),
      { kind: 'network', message: expect.stringContaining('The name of the server was not found.') },
    ],
    [
      'a certificate',
      Object.assign(new Error('x'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
      { kind: 'network', message: expect.stringContaining('not trusted (SELF_SIGNED_CERT_IN_CHAIN)') },
    ],
    ['a timeout of the SDK', new Error('Request timed out.'), { kind: 'timeout' }],
    ['no AWS credentials', new Error('Could not load credentials from any providers'), { kind: 'auth' }],
    ['text that is not JSON', new SyntaxError('Unexpected token'), { kind: 'protocol' }],
    [
      'an event of OpenRouter',
      answer({ error: { code: 502, message: 'Provider returned error' } }),
      { kind: 'server', details: { status: 502 } },
    ],
    [
      'an event of Anthropic',
      answer({ error: { type: 'error', error: { type: 'rate_limit_error', message: 'Slow' } } }),
      { kind: 'rate-limit' },
    ],
    [
      'an error that is a text',
      answer({ error: 'The number of tokens to keep from the initial prompt is greater than the context length' }),
      { kind: 'context-too-long' },
    ],
    [
      'an answer without words',
      answer({ status: 418, error: undefined }),
      { kind: 'invalid-request', details: { vendorMessage: '400 no words' } },
    ],
    [
      'an event without a type',
      answer({ error: { message: 'odd' } }),
      { kind: 'protocol', details: { vendorMessage: 'odd' } },
    ],
    ['an answer with an empty text', answer({ status: 500, error: { message: '' } }), { kind: 'server' }],
  ])('classifies %s', (_, raw, expected) => {
    expect(toApiError(raw, context)).toMatchObject(expected);
  });

  it("shortens a vendor's message to 500 characters, and ignores an invalid retry date", () => {
    const headers = new Headers({ 'retry-after': 'soon' });
    const error = toApiError(
      answer({ status: 429, headers, error: { message: `${'x'.repeat(900)} secret-key-0123` } }),
      context,
    );
    expect(error.details.vendorMessage).toHaveLength(500);
    expect(error.details).not.toHaveProperty('retryAfterMs');
    const past = new Headers({ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' });
    expect(toApiError(answer({ status: 429, headers: past }), { ...context, now: 5000 }).details.retryAfterMs).toBe(0);
    const empty = new Headers({ 'retry-after': ' ' });
    expect(toApiError(answer({ status: 429, headers: empty }), context).details.retryAfterMs).toBeUndefined();
  });

  it("names the profile, the problem, the remedy and the vendor's message", () => {
    const error = toApiError(answer({ status: 401, error: { message: 'Bad key secret-key-0123' } }), context);
    expect(error.message).toBe(
      'Mine: The API key was not accepted. Check the model’s key. The server said (401): “Bad key [key]”',
    );
  });

  it('does not attribute an SDK’s message about a failed connection to the server', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    const failed = new Error('Connection error.', { cause: new TypeError('fetch failed', { cause: refused }) });
    const { message } = toApiError(failed, context);
    expect(message).toContain('Details: “Connection error: fetch failed: connect ECONNREFUSED 127.0.0.1:1”');
    expect(message).not.toContain('The server said');
  });
});

describe('recognizing the error for a prompt that is too long', () => {
  it.each([
    'prompt is too long: 214850 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000, decrease input length',
    'Extra usage is required for long context requests',
    'Input is too long for requested model.',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
    'Your input exceeds the context window of this model.',
    'request (124315 tokens) exceeds the available context size (123904 tokens), try increasing it',
    'Trying to keep the first 111490 tokens when context the overflows.',
    'Context size has been exceeded.',
    'the input length exceeds the context length',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)',
    'Please reduce the length of the messages or completion.',
    'Message exceeds token limit.',
    'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 43245. The input or output tokens must be reduced in order to run successfully.',
  ])('succeeds for the message “%s”', (words) => {
    expect(findOverflow(words)).toBeDefined();
  });

  it("succeeds for vendors' codes of this error, and fails for other errors", () => {
    expect(findOverflow('x', undefined, 'context_length_exceeded')).toBeDefined();
    expect(findOverflow('messages: text content blocks must be non-empty', 'invalid_request_error')).toBeUndefined();
    expect(findOverflow('This request would exceed your rate limit of 40,000 input tokens per minute')).toBeUndefined();
  });
});

describe('redacting keys', () => {
  it('removes keys in every encoding but leaves short placeholders unchanged', () => {
    const key = 'my "own"/key+1';
    const text = `${key} ${encodeURIComponent(key)} ${JSON.stringify(key)} ${Buffer.from(key).toString('base64')} ollama`;
    expect(redactSecrets(text, [key, 'ollama'])).toBe('[key] [key] "[key]" [key] ollama');
  });

  it.each([
    'sk-ant-api03-abcdef',
    'sk-proj-ab****cd',
    'AKIAIOSFODNN7EXAMPLE',
    'ya29.a0AfH6SMBx',
    `AIza${'x'.repeat(30)}`,
    '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIE',
  ])('removes text that looks like a key: %s', (key) => {
    expect(redactSecrets(`a ${key}`, [])).toBe('a [key]');
    expect(redactSecrets('Bearer abcdefgh123', [])).toBe('Bearer [key]');
  });
});

describe("checking an endpoint's URL", () => {
  it.each([
    'https://api.example.com/v1',
    'http://127.0.0.1:11434/v1',
    'http://127.8.8.8',
    'http://localhost:1234',
    'http://[::1]:8080/',
  ])('accepts %s', (url) => {
    expect(checkEndpoint('x', url).href).toContain(url.slice(0, 12));
  });

  it.each([
    ['http://192.168.1.5:11434', 'not encrypted'],
    ['http://localhost.evil.example', 'not encrypted'],
    ['http://127.0.0.1.evil.example', 'not encrypted'],
    ['ftp://localhost', 'starts with ftp:'],
    ['localhost', 'not a URL'],
    ['https://user:password@api.example.com', 'user name or password'],
  ])('rejects %s', (url, words) => {
    expect(() => checkEndpoint('Mine', url)).toThrow(new RegExp(`Mine: .*${words}`));
    expect(() => checkEndpoint('Mine', url)).not.toThrow(/password@/);
  });

  it('accepts unencrypted http to another machine only if that is allowed', () => {
    expect(checkEndpoint('x', 'http://192.168.1.5:11434/v1', true).host).toBe('192.168.1.5:11434');
  });
});

describe('the delay before a retry', () => {
  const failed = new ApiError('server', { name: 'x' });

  it('doubles each time up to a maximum, minus jitter', () => {
    const waits = [0, 1, 2, 5, 9].map((tried) =>
      computeRetryDelayMs(failed, tried, { ...DEFAULT_RETRY, retries: 10 }, 0),
    );
    expect(waits).toEqual([1000, 2000, 4000, 30_000, 30_000]);
    expect(computeRetryDelayMs(failed, 0, DEFAULT_RETRY, 1)).toBe(500);
    expect(computeRetryDelayMs(failed, 3, DEFAULT_RETRY, 0)).toBeUndefined();
  });

  it('is one second for a broken connection, and undefined (no retry) if the host is not found', () => {
    const network = (code?: string): ApiError =>
      new ApiError('network', { name: 'x', ...(code !== undefined && { code }) });
    expect(computeRetryDelayMs(network(), 0, DEFAULT_RETRY, 0)).toBe(1000);
    expect(computeRetryDelayMs(network('ENOTFOUND'), 0, DEFAULT_RETRY, 0)).toBeUndefined();
  });
});

describe("adapting requests to a server's rejections", () => {
  it('learns nothing from unrelated errors', () => {
    const dialect = chooseChatDialect(new URL('https://api.openai.com/v1'));
    expect(dialect.maxTokensField).toBe('max_completion_tokens');
    expect(
      findQuirkChange(dialect, new ApiError('auth', { name: 'x', vendorMessage: 'temperature' }), CHAT_QUIRKS),
    ).toBeUndefined();
    expect(findQuirkChange(dialect, new ApiError('invalid-request', { name: 'x' }), CHAT_QUIRKS)).toBeUndefined();
    expect(
      findQuirkChange(
        dialect,
        new ApiError('server', { name: 'x', vendorMessage: 'Unknown parameter: max_completion_tokens' }),
        CHAT_QUIRKS,
      ),
    ).toEqual({ maxTokensField: 'max_tokens' });
    expect(
      findQuirkChange(
        chooseChatDialect(new URL('https://openrouter.ai/api')),
        new ApiError('invalid-request', { name: 'x', vendorMessage: "'cache_control'" }),
        CHAT_QUIRKS,
      ),
    ).toEqual({ cacheMarks: false });
  });
});
