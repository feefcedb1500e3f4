import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMcpServer, serveMcp, type RecallHandler } from './server';

async function connectClient(recall: RecallHandler): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = createMcpServer(recall, '1.2.3');
  const client = new Client({ name: 'agent', version: '0' });
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  onTestFinished(() => client.close());
  return client;
}

describe('the MCP server for recall', () => {
  it('offers two read-only tools', async () => {
    const client = await connectClient(() => Promise.resolve({ text: '' }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['recall', true],
      ['search', true],
    ]);
    expect(client.getServerVersion()).toMatchObject({ name: 'context-condenser', version: '1.2.3' });
  });

  it.each([
    ['recall', { references: ['ab12cd'] }],
    ['recall', { references: ['ab12cd'], fromLine: 3, toLine: 9, maxTokens: 500 }],
    ['search', {}],
    ['search', { words: 'two words', pattern: 'a+', maxTokens: 100 }],
  ])('passes on exactly the arguments that %s is called with: %j', async (name, query) => {
    const recall = vi.fn<RecallHandler>(() => Promise.resolve({ text: 'found' }));
    const client = await connectClient(recall);
    expect(await client.callTool({ name, arguments: query })).toEqual({ content: [{ type: 'text', text: 'found' }] });
    expect(recall.mock.calls).toEqual([[query]]);
  });

  it('returns recalled images as images', async () => {
    const images = [{ mediaType: 'image/png', data: 'QUJD' }];
    const client = await connectClient(() => Promise.resolve({ text: 'one image', images }));
    expect(await client.callTool({ name: 'recall', arguments: { references: ['ab12cd'] } })).toMatchObject({
      content: [
        { type: 'text', text: 'one image' },
        { type: 'image', mimeType: 'image/png', data: 'QUJD' },
      ],
    });
  });

  it("returns a failure as the tool's result, so that the model reads it", async () => {
    const client = await connectClient(() => Promise.reject(new Error('the gateway is gone')));
    expect(await client.callTool({ name: 'search', arguments: { words: 'x' } })).toEqual({
      content: [{ type: 'text', text: 'Nothing was recalled: the gateway is gone' }],
      isError: true,
    });
  });

  it('rejects a line number below 1 without searching', async () => {
    const recall = vi.fn<RecallHandler>();
    const client = await connectClient(recall);
    await Promise.allSettled([client.callTool({ name: 'recall', arguments: { references: ['ab12cd'], fromLine: 0 } })]);
    expect(recall).not.toHaveBeenCalled();
  });

  it.each(['its input ends', 'it is interrupted', 'it was interrupted before'])('ends when %s', async (how) => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const ends = new AbortController();
    if (how.endsWith('before')) ends.abort();
    const served = serveMcp(() => Promise.resolve({ text: '' }), '0', ends.signal, { stdin, stdout });
    stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    if (how === 'it is interrupted') ends.abort();
    if (how === 'its input ends') {
      stdin.end();
      stdin.resume();
    }
    await expect(served).resolves.toBeUndefined();
  });
});
