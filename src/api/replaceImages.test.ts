import { afterEach, expect, it } from 'vitest';
import { makeErrorResponse, reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { createOpenAIHandler } from './openai';
import { assistant, call, counter, imageBlock, TEST_API_KEY, collectOutcome, result, text, user } from './testing';
import { createHandlerReplacingImages } from './replaceImages';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

const messages = [
  user([text('see'), imageBlock]),
  assistant([call('a')]),
  user([result('a', [text('a picture'), imageBlock])]),
];

/** Starts a server whose model rejects images with this message. */
async function startServerWithoutImages(words: string, status = 400): Promise<ModelServer> {
  open = await startOpenAIServer();
  open.play(({ body }) =>
    JSON.stringify(body).includes('image_url')
      ? makeErrorResponse(status, 'invalid_request_error', words)
      : reply('fine'),
  );
  return open;
}
const createHandler = (server: ModelServer, sees: boolean | undefined) =>
  createHandlerReplacingImages(
    createOpenAIHandler({
      apiKey: TEST_API_KEY,
      baseUrl: `${server.url}/v1`,
      model: { id: 'm' },
      counter,
      retry: { retries: 0 },
    }),
    sees,
  );

it.each([
  ['Failed to deserialize the JSON body: messages[3]: unknown variant `image_url`, expected `text`', 400],
  ['No endpoints found that support image input', 404],
  ['image input is not supported - hint: if this is unexpected, you may need to provide the mmproj', 500],
  ['registry.ollama.ai/library/gemma: this model does not support images', 400],
])('a handler learns from a rejection that the model cannot see images: %s', async (words, status) => {
  const server = await startServerWithoutImages(words, status);
  const handler = createHandler(server, undefined);
  expect((await collectOutcome(handler.stream({ messages }))).text).toBe('fine');
  expect((await collectOutcome(handler.stream({ messages }))).text).toBe('fine');
  expect(server.requests.map(({ status: each }) => each)).toEqual([status, 200, 200]);
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('this model sees none');
});

it('a handler sends no images to a model known not to see them, and reports other rejections', async () => {
  const server = await startServerWithoutImages('unknown variant `image_url`');
  expect((await collectOutcome(createHandler(server, false).stream({ messages }))).text).toBe('fine');
  expect((await collectOutcome(createHandler(server, true).stream({ messages }))).error?.kind).toBe('invalid-request');
  server.play(makeErrorResponse(400, 'invalid_request_error', 'something else'));
  expect((await collectOutcome(createHandler(server, undefined).stream({ messages }))).error?.kind).toBe(
    'invalid-request',
  );
  expect(server.requests).toHaveLength(3);
});
