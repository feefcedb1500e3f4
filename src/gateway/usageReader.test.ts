import { createGunzip } from 'node:zlib';
import { expect, it } from 'vitest';
import { UsageReader } from './usageReader';
import { anthropicWire } from './wires/anthropic';

it('an answer that is not packed as it says ends without usage, and nobody waits for it', async () => {
  const reader = new UsageReader(anthropicWire, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  const bytes = Buffer.from('{"usage":{"input_tokens":5}}');
  reader.push(bytes);
  // Once another one has seen the error, this one has, too.
  const other = createGunzip().on('error', () => undefined);
  other.write(bytes);
  await new Promise((resolve) => other.once('close', resolve));
  expect(await reader.end()).toBeUndefined();
});
