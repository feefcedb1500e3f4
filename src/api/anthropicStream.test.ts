import { expect, it } from 'vitest';
import { convertAnthropicStream } from './anthropicStream';
import type { ApiEvent } from './types';

async function* sent(events: readonly unknown[]): AsyncGenerator<unknown, void> {
  for (const event of events) yield await Promise.resolve(event);
}

async function blocks(events: readonly unknown[]): Promise<unknown[]> {
  const all: ApiEvent[] = [];
  for await (const event of convertAnthropicStream(sent(events))) all.push(event);
  return all.flatMap((event) => (event.type === 'block' ? [event.block] : []));
}

/**
 * Anthropic's guide "Compaction on demand" shows the whole block at its start; the SDK reads a
 * shell and one delta: "The delta carries the block's final value; the start event is only a
 * null-content shell" (@anthropic-ai/sdk 1.12, lib/middleware and lib/BetaMessageStream).
 */
it.each([
  ['whole at its start', { content: 'All of it.', signature: 's' }, []],
  [
    'in a delta behind a shell',
    { content: null },
    [{ type: 'compaction_delta', content: 'All of it.', encrypted_content: 'e' }],
  ],
])('a compaction by Anthropic is read from the stream %s', async (_, shell, deltas) => {
  const [block] = await blocks([
    { type: 'content_block_start', index: 0, content_block: { type: 'compaction', ...shell } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_stop' },
  ]);
  expect(block).toMatchObject({ type: 'compaction', content: 'All of it.' });
});
