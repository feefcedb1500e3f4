import { generateKeyPairSync } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { counter, collectOutcome, describeError, user } from './testing';
import { createVertexHandler, type VertexOptions } from './vertex';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

const TOKEN = 'ya29.RECOGNISABLE-token';
const hello = { messages: [user('hello')] };
const common = {
  projectId: 'proj',
  region: 'europe-west1',
  model: { id: 'claude-sonnet-4@20250514' },
  counter,
  retry: { retries: 0 },
};

async function start(options: Partial<VertexOptions> = {}, apiKey = TOKEN) {
  open = await startAnthropicServer({ script: reply('ok'), apiKey });
  const handler = createVertexHandler({
    ...common,
    credentials: { accessToken: TOKEN },
    baseUrl: `${open.url}/v1`,
    ...options,
  });
  return { server: open, handler };
}

describe('the Vertex handler', () => {
  it('streams with an access token', async () => {
    const { handler, server } = await start();
    expect(await collectOutcome(handler.stream(hello))).toMatchObject({ text: 'ok', error: undefined });
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/projects/proj/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4@20250514:streamRawPredict',
    ]);
    expect(handler.modelInfo).toMatchObject({ vendor: 'vertex', accounting: 'anthropic' });
  });

  it('never shows the token', async () => {
    const { handler } = await start({ headers: { 'x-extra': 'RECOGNISABLE-header' } }, 'another');
    const { error } = await collectOutcome(handler.stream(hello));
    expect(error?.kind).toBe('auth');
    expect(describeError(error)).not.toContain('RECOGNISABLE');
  });

  it('rejects a file that is not a key file, without showing its content', () => {
    for (const json of ['{"RECOGNISABLE', '{"client_email":"a"}', '[]']) {
      expect(() => createVertexHandler({ ...common, credentials: { serviceAccountJson: json } })).toThrow(
        /not the JSON file that Google gives/,
      );
      expect(() => createVertexHandler({ ...common, credentials: { serviceAccountJson: json } })).not.toThrow(
        /RECOGNISABLE/,
      );
    }
  });

  it('signs in once with a service account, and reports if Google rejects it', async () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const serviceAccountJson = JSON.stringify({
      type: 'service_account',
      client_email: 'me@proj.iam.gserviceaccount.com',
      private_key: privateKey,
    });
    const { handler, server } = await start({ credentials: { serviceAccountJson } });
    // Google's token endpoint is unreachable here, so the library's fetch is replaced.
    const real = globalThis.fetch;
    let signedIn = 0;
    let status = 200;
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      if (!url.includes('googleapis.com')) return real(input, init);
      signedIn++;
      expect(init?.redirect).toBe('error');
      const body =
        status === 200
          ? { access_token: TOKEN, expires_in: 3600 }
          : { error: 'invalid_grant', error_description: 'Not you.' };
      return Promise.resolve(Response.json(body, { status }));
    });
    expect(await collectOutcome(handler.stream(hello))).toMatchObject({ text: 'ok', error: undefined });
    await collectOutcome(handler.stream(hello));
    expect(signedIn).toBe(1);
    expect(server.requests).toHaveLength(2);
    status = 400;
    const other = createVertexHandler({ ...common, credentials: { serviceAccountJson }, baseUrl: `${server.url}/v1` });
    const { error } = await collectOutcome(other.stream(hello));
    fetched.mockRestore();
    expect(error?.kind).toBe('auth');
    expect(describeError(error)).not.toContain('PRIVATE KEY');
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['global', 'https://aiplatform.googleapis.com/v1/'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com/v1/'],
    ['us-east5', 'https://us-east5-aiplatform.googleapis.com/v1/'],
  ])("uses Google's address for the region %s", async (region, address) => {
    const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network here'));
    await collectOutcome(createVertexHandler({ ...common, region, credentials: { accessToken: TOKEN } }).stream(hello));
    const [url] = fetched.mock.calls[0] ?? [];
    fetched.mockRestore();
    expect(url).toContain(address);
  });
});
