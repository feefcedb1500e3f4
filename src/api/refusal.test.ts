import { describe, expect, it } from 'vitest';
import { normalizeErrorJson } from './refusal';

const makeError = (body: unknown): unknown => {
  const text = normalizeErrorJson(JSON.stringify(body));
  return text && (JSON.parse(text) as { error: unknown }).error;
};

/** Returns OpenRouter's wrapper around its provider's message. */
const wrapped = (raw: unknown, message?: string): object => ({ error: { message, code: 400, metadata: { raw } } });

describe("a server's rejection is converted to the form that the SDKs parse", () => {
  it.each<[string, unknown, object]>([
    [
      'Gemini, in an array',
      [{ error: { code: 400, message: 'Too many tokens.', status: 'INVALID_ARGUMENT' } }],
      { code: 400, message: 'Too many tokens.', status: 'INVALID_ARGUMENT' },
    ],
    [
      'Mistral, without error',
      { object: 'error', message: 'Too large.', type: 'invalid_request_error', code: 3051 },
      { message: 'Too large.', type: 'invalid_request_error', code: 3051 },
    ],
    [
      'xAI, a string beside its code',
      { code: 'invalid', error: 'No such model.' },
      { message: 'No such model.', code: 'invalid' },
    ],
    ['LM Studio, a string', { error: 'No models loaded.' }, { message: 'No models loaded.' }],
    ['FastAPI, a text', { detail: 'Not Found' }, { message: 'Not Found' }],
    [
      'FastAPI, a list',
      { detail: [{ loc: ['body', 'model'], msg: 'field required' }] },
      { message: '[{"loc":["body","model"],"msg":"field required"}]' },
    ],
    ['an array with words without error', [{ message: 'No.' }], { message: 'No.' }],
    ['an error without a message', { error: { code: 7 } }, { code: 7, message: '{"code":7}' }],
    ['a message that is no text', { error: { message: { a: 1 } } }, { message: '{"a":1}' }],
    ['an empty error beside words', { error: '', message: 'No.' }, { message: 'No.' }],
  ])('from the body of %s', (_, body, error) => {
    expect(makeError(body)).toEqual(error);
  });

  it.each<[string, unknown, string | undefined, string]>([
    ['JSON', '{"error":{"message":"Too long."}}', 'Provider returned error', 'Provider returned error: Too long.'],
    ['JSON of another form', '{"detail":"Too long."}', 'Provider returned error', 'Provider returned error: Too long.'],
    ['a text', 'upstream timed out', 'Provider returned error', 'Provider returned error: upstream timed out'],
    ['JSON without words', '{"status":500}', 'Provider returned error', 'Provider returned error: {"status":500}'],
    ['JSON that is no object', '7', 'Provider returned error', 'Provider returned error: 7'],
    ['a text alone', 'upstream timed out', undefined, 'upstream timed out'],
  ])("with the words of OpenRouter's provider, given as %s", (_, raw, message, said) => {
    expect(makeError(wrapped(raw, message))).toMatchObject({ message: said, code: 400 });
  });

  it.each<[string, unknown]>([
    ['in order', { error: { message: 'No.', type: 't' } }],
    ['of OpenRouter itself', wrapped('', 'No credits.')],
    ['of OpenRouter with other metadata', wrapped({ a: 1 }, 'No credits.')],
    ['without words', { status: 500 }],
    ['with nothing in it', { error: null, message: '' }],
    ['a text', 'No.'],
    ['an empty list', []],
    ['a list of what is no refusal', [{ error: null }]],
  ])('unless it has that form already or contains no message: %s', (_, body) => {
    expect(makeError(body)).toBeUndefined();
  });

  it('unless it is a web page or very long', () => {
    expect(normalizeErrorJson('<html>502</html>')).toBeUndefined();
    expect(normalizeErrorJson(JSON.stringify({ error: 'x'.repeat(200_000) }))).toBeUndefined();
  });
});
