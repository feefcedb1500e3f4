import { createGunzip, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { UsageReader } from './usageReader';
import { anthropicWire } from './wires/anthropic';
import { chatWire } from './wires/chat';

it('an answer that is not packed as it says ends without usage, and nobody waits for it', async () => {
  const reader = new UsageReader(anthropicWire, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  const bytes = Buffer.from('{"usage":{"input_tokens":5}}');
  reader.push(bytes);
  // Once another one has seen the error, this one has, too.
  const other = createGunzip().on('error', () => undefined);
  other.write(bytes);
  await new Promise((resolve) => other.once('close', resolve));
  expect(await reader.end()).toEqual({ usage: undefined, failure: undefined });
});

it.each<[string, (text: string) => Buffer]>([
  ['x-gzip', gzipSync],
  ['zstd', zstdCompressSync],
])('an answer that is packed with %s is read', async (encoding, pack) => {
  const reader = new UsageReader(anthropicWire, { 'content-type': 'application/json', 'content-encoding': encoding });
  reader.push(pack('{"usage":{"input_tokens":5}}'));
  expect(await reader.end()).toMatchObject({ usage: { inputTokens: 5 } });
});

it('an error is told in the form of a refusal, beside the tokens of the events before it', async () => {
  const reader = new UsageReader(anthropicWire, { 'content-type': 'text/event-stream' });
  reader.push(Buffer.from('data: {"type":"message_start","message":{"usage":{"input_tokens":5}}}\n\n'));
  reader.push(Buffer.from('event: error\ndata: {"type":"error","error":{"type":"api_error","message":"No."}}\n\n'));
  expect(await reader.end()).toMatchObject({
    usage: { inputTokens: 5 },
    failure: '{"error":{"type":"api_error","message":"No."}}',
  });
});

it('what the model writes is no error', async () => {
  const reader = new UsageReader(chatWire, { 'content-type': 'text/event-stream' });
  const delta = { choices: [{ delta: { content: '{"error":{"message":"prompt is too long"}}' } }], error: null };
  reader.push(Buffer.from(`data: ${JSON.stringify(delta)}\n\n`));
  expect((await reader.end()).failure).toBeUndefined();
});
