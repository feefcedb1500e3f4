/** Source: API reference, "Streaming Messages". */
import { isRecord } from '../core/messages/blocks';
import type { Block } from '../core/messages/types';
import { parseToolCall } from './toolInput';
import type { ApiEvent, StopReason, Usage } from './types';
import { validateUsage, parseTokens } from './usage';

type WireObject = Readonly<Record<string, unknown>>;

interface StreamingBlock {
  block: WireObject;
  text: string;
  signature: string;
  json: string;
}

export async function* convertAnthropicStream(events: AsyncIterable<unknown>): AsyncGenerator<ApiEvent, void> {
  const openBlocks = new Map<unknown, StreamingBlock>();
  let usage: Usage | undefined;
  let stopReason: StopReason = 'other';
  for await (const event of events) {
    if (!isRecord(event)) continue;
    switch (event['type']) {
      case 'message_start': {
        const message = event['message'];
        if (!isRecord(message) || !isRecord(message['usage'])) break;
        usage = convertAnthropicUsage(message['usage']);
        if (usage) yield { type: 'usage', usage };
        break;
      }
      case 'content_block_start':
        if (isRecord(event['content_block'])) yield* startBlock(openBlocks, event['index'], event['content_block']);
        break;
      case 'content_block_delta':
        if (isRecord(event['delta'])) yield* appendDelta(openBlocks.get(event['index']), event['delta']);
        break;
      case 'content_block_stop': {
        const block = openBlocks.get(event['index']);
        openBlocks.delete(event['index']);
        if (block) yield* endBlock(block);
        break;
      }
      case 'message_delta':
        if (isRecord(event['usage'])) {
          usage = convertAnthropicUsage(event['usage'], usage);
          if (usage) yield { type: 'usage', usage };
        }
        if (isRecord(event['delta'])) stopReason = convertStopReason(event['delta']['stop_reason']);
        break;
      case 'message_stop':
        yield { type: 'end', stopReason };
        return;
    }
  }
}

function* startBlock(
  openBlocks: Map<unknown, StreamingBlock>,
  index: unknown,
  block: WireObject,
): Generator<ApiEvent, void> {
  openBlocks.set(index, { block, text: '', signature: '', json: '' });
  yield* appendDelta(openBlocks.get(index), { text: block['text'], thinking: block['thinking'] });
}

function* appendDelta(openBlock: StreamingBlock | undefined, delta: WireObject): Generator<ApiEvent, void> {
  if (!openBlock) return;
  const { type, text, thinking, signature, partial_json: json } = delta;
  if (type === 'compaction_delta') {
    // "The delta carries the block's final value; the start event is only a null-content shell" (@anthropic-ai/sdk 1.12, lib/middleware).
    openBlock.block = { ...openBlock.block, ...delta, type: openBlock.block['type'] };
    return;
  }
  if (typeof text === 'string' && text !== '') yield { type: 'text', text };
  if (typeof thinking === 'string' && thinking !== '') {
    openBlock.text += thinking;
    yield { type: 'thinking', text: thinking };
  }
  if (typeof signature === 'string') openBlock.signature += signature;
  if (typeof json === 'string') openBlock.json += json;
}

function* endBlock({ block, text, signature, json }: StreamingBlock): Generator<ApiEvent, void> {
  const { type, id, name } = block;
  if (type === 'text') return;
  if (type === 'tool_use' && typeof id === 'string' && typeof name === 'string') {
    yield parseToolCall(id, name, json === '' ? JSON.stringify(block['input'] ?? {}) : json);
    return;
  }
  const completeBlock: WireObject =
    type === 'thinking'
      ? { type, thinking: text, signature: signature === '' ? (block['signature'] ?? '') : signature }
      : { ...block, ...(json !== '' && { input: parseToolInput(json) }) };
  yield { type: 'block', block: completeBlock as Block };
}

function parseToolInput(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/**
 * `wire` may report only what changed since `previousUsage`; on Bedrock and older APIs, only the output.
 */
export function convertAnthropicUsage(wire: WireObject, previousUsage?: Usage): Usage | undefined {
  const compaction = findCompaction(wire);
  if (compaction) return convertAnthropicUsage(compaction, previousUsage);
  const longCacheTokens = isRecord(wire['cache_creation'])
    ? parseTokens(wire['cache_creation']['ephemeral_1h_input_tokens'])
    : undefined;
  const reasoningTokens = isRecord(wire['output_tokens_details'])
    ? parseTokens(wire['output_tokens_details']['thinking_tokens'])
    : previousUsage?.reasoningTokens;
  const longCacheWriteTokens = longCacheTokens ?? previousUsage?.longCacheWriteTokens;
  const readNewerCount = (field: string, previousCount: number | undefined): number =>
    wire[field] === undefined || wire[field] === null ? (previousCount ?? 0) : parseTokens(wire[field]);
  return validateUsage({
    accounting: 'anthropic',
    inputTokens: readNewerCount('input_tokens', previousUsage?.inputTokens),
    outputTokens: readNewerCount('output_tokens', previousUsage?.outputTokens),
    cacheReadTokens: readNewerCount('cache_read_input_tokens', previousUsage?.cacheReadTokens),
    cacheWriteTokens: readNewerCount('cache_creation_input_tokens', previousUsage?.cacheWriteTokens),
    ...(longCacheWriteTokens !== undefined && { longCacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
  });
}

/**
 * Only `iterations` reports a requested compaction: "The top-level `input_tokens` and
 * `output_tokens` are zero" (guide "Compaction on demand").
 */
function findCompaction({
  iterations,
  input_tokens: input,
  output_tokens: output,
}: WireObject): WireObject | undefined {
  if (!Array.isArray(iterations) || (input ?? 0) !== 0 || (output ?? 0) !== 0) return undefined;
  return (iterations as readonly unknown[]).filter(isRecord).find(({ type }) => type === 'compaction');
}

const STOP_REASONS: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ['end_turn', 'end_turn'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'max_tokens'],
  ['model_context_window_exceeded', 'context_window'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause_turn'],
  ['compaction', 'compaction'],
]);

const convertStopReason = (reason: unknown): StopReason => STOP_REASONS.get(reason) ?? 'other';
