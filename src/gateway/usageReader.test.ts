import { createGunzip, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { UsageStreamReader } from './usageReader';
import { anthropicWire } from './wires/anthropic';
import { chatWire } from './wires/chat';
import { geminiWire } from './wires/gemini';

it('the gateway treats the usage as unknown, without waiting, if an answer is not compressed as its header states', async () => {
  const reader = new UsageStreamReader(anthropicWire, {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  });
  const bytes = Buffer.from('{"usage":{"input_tokens":5}}');
  reader.pushChunk(bytes);
  const other = createGunzip().on('error', () => undefined);
  other.write(bytes);
  await new Promise((resolve) => other.once('close', resolve));
  expect(await reader.finishReading()).toEqual({ usage: undefined, failure: undefined });
});

it.each<[string, (text: string) => Buffer]>([
  ['x-gzip', gzipSync],
  ['zstd', zstdCompressSync],
])('the gateway reads the usage in an answer compressed with %s', async (encoding, pack) => {
  const reader = new UsageStreamReader(anthropicWire, {
    'content-type': 'application/json',
    'content-encoding': encoding,
  });
  reader.pushChunk(pack('{"usage":{"input_tokens":5}}'));
  expect(await reader.finishReading()).toMatchObject({ usage: { inputTokens: 5 } });
});

it('the gateway reports an error inside an answer like a rejection, with the tokens of earlier events', async () => {
  const reader = new UsageStreamReader(anthropicWire, { 'content-type': 'text/event-stream' });
  reader.pushChunk(Buffer.from('data: {"type":"message_start","message":{"usage":{"input_tokens":5}}}\n\n'));
  reader.pushChunk(
    Buffer.from('event: error\ndata: {"type":"error","error":{"type":"api_error","message":"No."}}\n\n'),
  );
  expect(await reader.finishReading()).toMatchObject({
    usage: { inputTokens: 5 },
    failure: '{"error":{"type":"api_error","message":"No."}}',
  });
});

it('the gateway does not take text written by the model for an error', async () => {
  const reader = new UsageStreamReader(chatWire, { 'content-type': 'text/event-stream' });
  const delta = { choices: [{ delta: { content: '{"error":{"message":"prompt is too long"}}' } }], error: null };
  reader.pushChunk(Buffer.from(`data: ${JSON.stringify(delta)}\n\n`));
  expect((await reader.finishReading()).failure).toBeUndefined();
});

it('the gateway reads the usage from a stream event in any number of chunks', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.nat(200), { maxLength: 40 }), async (cuts) => {
      const bytes = Buffer.from(
        'event: é\ndata: {"usage":{"input_tokens":5}}\r\n\ndata: {"usage":{"output_tokens":7}}',
      );
      const reader = new UsageStreamReader(anthropicWire, { 'content-type': 'text/event-stream' });
      let from = 0;
      for (const cut of cuts) {
        reader.pushChunk(bytes.subarray(from, from + cut));
        from += cut;
      }
      reader.pushChunk(bytes.subarray(from));
      expect((await reader.finishReading()).usage).toMatchObject({ inputTokens: 5, outputTokens: 7 });
    }),
  ));

it('the gateway skips a stream event that is too long, and reads later ones', async () => {
  const reader = new UsageStreamReader(anthropicWire, { 'content-type': 'text/event-stream' });
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  reader.pushChunk(Buffer.from('data: {"usage":{"input_tokens":1}, "x":"'));
  for (let at = 0; at < 17; at++) reader.pushChunk(megabyte);
  reader.pushChunk(Buffer.from('"}\n\ndata: {"usage":{"input_tokens":5}}\n\n'));
  expect((await reader.finishReading()).usage).toMatchObject({ inputTokens: 5 });
});

it('the gateway scans each chunk of a stream event only once', async () => {
  const reader = new UsageStreamReader(geminiWire, { 'content-type': 'text/event-stream' });
  const looked = vi.spyOn(String.prototype, 'indexOf');
  let chars = 0;
  looked.mockImplementation(function (this: string) {
    chars += this.length;
    return -1;
  });
  const piece = Buffer.alloc(1_000, 'x');
  for (let at = 0; at < 2_000; at++) reader.pushChunk(piece);
  looked.mockRestore();
  await reader.finishReading();
  expect(chars).toBeLessThanOrEqual(2_000_000);
});

it('the gateway does not completely unpack a compressed answer that expands a thousandfold', async () => {
  const packed = gzipSync(Buffer.alloc(256 * 1024 * 1024), { level: 9 });
  for (const type of ['application/json', 'text/event-stream']) {
    const reader = new UsageStreamReader(anthropicWire, { 'content-type': type, 'content-encoding': 'gzip' });
    const take = vi.spyOn(reader as unknown as { processChunk: (chunk: Buffer) => void }, 'processChunk');
    reader.pushChunk(packed);
    expect((await reader.finishReading()).usage).toBeUndefined();
    const taken = take.mock.calls.reduce((sum, [chunk]) => sum + chunk.length, 0);
    expect(taken).toBeLessThan(80 * 1024 * 1024);
  }
});

it('the gateway stops unpacking a compressed answer at once when it is no longer needed', async () => {
  const reader = new UsageStreamReader(anthropicWire, {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  });
  reader.pushChunk(gzipSync(Buffer.alloc(32 * 1024 * 1024 - 1), { level: 9 }));
  const ended = reader.finishReading();
  reader.stopReading();
  expect(await ended).toEqual({ usage: undefined, failure: undefined });
});
