/** Source: OpenAI API reference, "Chat Completions". */
import { randomUUID } from 'node:crypto';
import { isRecord } from '../core/messages/blocks';
import { convertReasoning, ReasoningDetailsCollector, type ReasoningFormat } from './chatReasoning';
import type { ChatDialect } from './dialect';
import type { ModelOptions } from './handlerOptions';
import { convertChatMessages } from './openaiMessages';
import { parseToolCall } from './toolInput';
import type { ApiEvent, ApiRequest, StopReason, ToolDeclaration, Usage } from './types';
import { parseCharge, validateUsage, parseTokens } from './usage';

type WireObject = Readonly<Record<string, unknown>>;

export function buildChatBody(request: ApiRequest, model: ModelOptions, dialect: ChatDialect): WireObject {
  const { tools, toolChoice, temperature, conversation } = request;
  const requestedMaxTokens = request.maxOutputTokens ?? model.maxOutputTokens;
  const maxTokens = requestedMaxTokens === undefined ? undefined : Math.min(requestedMaxTokens, dialect.maxTokens);
  const { conversationField } = dialect;
  const declaredTools = (tools ?? []).filter((tool) => tool.input_schema);
  return {
    model: model.id,
    messages: convertChatMessages(request, dialect),
    stream: true,
    ...(dialect.streamOptions && { stream_options: { include_usage: true } }),
    ...(maxTokens !== undefined && { [dialect.maxTokensField]: maxTokens }),
    ...(conversation !== undefined && conversationField && { [conversationField]: conversation }),
    ...(declaredTools.length > 0 && { tools: declaredTools.map((tool) => convertTool(tool, dialect)) }),
    ...(declaredTools.length > 0 &&
      toolChoice !== undefined && {
        tool_choice:
          typeof toolChoice === 'object' ? { type: 'function', function: { name: toolChoice.name } } : toolChoice,
      }),
    ...(temperature !== undefined && dialect.temperature && { temperature }),
    ...request.extraBody,
  };
}

const convertTool = (
  { name, description, input_schema: parameters, cache_control: mark }: ToolDeclaration,
  { cacheMarks }: ChatDialect,
): WireObject => ({
  type: 'function',
  function: { name, ...(description !== undefined && { description }), parameters },
  ...(cacheMarks && mark !== undefined && { cache_control: mark }),
});

interface UnfinishedCall {
  id: string;
  name: string;
  rawArguments: string;
  /** A field that the vendor adds to a call (Gemini's signature). */
  extra?: unknown;
}

/** Emits reasoning and calls after the finish reason, when they are complete. */
export async function* convertChatStream(
  chunks: AsyncIterable<unknown>,
  format: ReasoningFormat = 'nothing',
): AsyncGenerator<ApiEvent, void> {
  const calls = new UnfinishedCalls();
  let finishReason: unknown;
  let isRefused = false;
  let thoughts = '';
  const reasoningDetails = new ReasoningDetailsCollector();
  for await (const chunk of chunks) {
    if (!isRecord(chunk)) continue;
    const firstChoice: unknown = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    if (isRecord(firstChoice)) {
      const delta = isRecord(firstChoice['delta']) ? firstChoice['delta'] : {};
      thoughts += getThinkingDelta(delta);
      reasoningDetails.addPieces(delta['reasoning_details']);
      yield* convertTextDelta(delta);
      isRefused ||= typeof delta['refusal'] === 'string' && delta['refusal'] !== '';
      if (Array.isArray(delta['tool_calls']))
        delta['tool_calls'].forEach((call: unknown) => {
          calls.addCallPiece(call);
        });
      finishReason = firstChoice['finish_reason'] ?? finishReason;
    }
    // Usage arrives after the last choice (OpenAI), with it (Ollama, DeepSeek), or in every chunk
    // (xAI).
    const usage = isRecord(chunk['usage']) ? convertChatUsage(chunk['usage']) : undefined;
    if (usage) yield { type: 'usage', usage };
  }
  // A stream without a finish reason was cut off, so emit no `end` event.
  if (typeof finishReason !== 'string') return;
  const reasoning =
    calls.count > 0 ? convertReasoning(format, thoughts, calls.extras, reasoningDetails.all) : undefined;
  if (reasoning) yield { type: 'block', block: reasoning };
  yield* calls.toEvents();
  yield { type: 'end', stopReason: isRefused ? 'refusal' : convertStopReason(finishReason, calls.count > 0) };
}

/** DeepSeek, vLLM and LM Studio: `reasoning_content`; OpenRouter, Ollama and newer vLLM: `reasoning`. */
function getThinkingDelta({ reasoning_content: older, reasoning }: WireObject): string {
  const thought = typeof older === 'string' && older !== '' ? older : reasoning;
  return typeof thought === 'string' ? thought : '';
}

function* convertTextDelta(delta: WireObject): Generator<ApiEvent, void> {
  const { content, refusal } = delta;
  const thinking = getThinkingDelta(delta);
  if (thinking !== '') yield { type: 'thinking', text: thinking };
  if (typeof content === 'string' && content !== '') yield { type: 'text', text: content };
  if (typeof refusal === 'string' && refusal !== '') yield { type: 'text', text: refusal };
}

/** Assembles calls by `index`, which some servers omit or repeat for all calls. */
class UnfinishedCalls {
  private readonly calls: { readonly index: unknown; readonly call: UnfinishedCall }[] = [];

  get count(): number {
    return this.calls.length;
  }

  get extras(): readonly unknown[] {
    return this.calls.map(({ call }) => call.extra ?? null);
  }

  addCallPiece(piece: unknown): void {
    if (!isRecord(piece)) return;
    const { index, id, function: functionCall, extra_content: extra } = piece;
    const { name, arguments: text } = isRecord(functionCall) ? functionCall : {};
    const openCall = this.calls.findLast((entry) => index === undefined || entry.index === index)?.call;
    const isNew = !openCall || (typeof id === 'string' && id !== '' && openCall.id !== '' && openCall.id !== id);
    const call: UnfinishedCall = isNew ? { id: '', name: '', rawArguments: '' } : openCall;
    if (isNew) this.calls.push({ index, call });
    if (typeof id === 'string' && id !== '') call.id = id;
    if (typeof name === 'string' && name !== '') call.name = name;
    if (isRecord(extra)) call.extra = extra;
    // Older versions of Ollama send arguments as an object.
    if (typeof text === 'string') call.rawArguments += text;
    else if (isRecord(text)) call.rawArguments = JSON.stringify(text);
  }

  *toEvents(): Generator<ApiEvent, void> {
    for (const { call } of this.calls) {
      yield parseToolCall(call.id === '' ? `call_${randomUUID()}` : call.id, call.name, call.rawArguments);
    }
  }
}

export function convertChatUsage(wire: WireObject): Usage | undefined {
  const promptDetails = isRecord(wire['prompt_tokens_details']) ? wire['prompt_tokens_details'] : {};
  const completionDetails = isRecord(wire['completion_tokens_details']) ? wire['completion_tokens_details'] : {};
  // DeepSeek reports cache hits at the top level.
  const cachedTokens = parseTokens(promptDetails['cached_tokens']) || parseTokens(wire['prompt_cache_hit_tokens']);
  const costUsd = findCharge(wire);
  return validateUsage({
    accounting: 'openai',
    inputTokens: parseTokens(wire['prompt_tokens']),
    outputTokens: parseTokens(wire['completion_tokens']),
    cacheReadTokens: cachedTokens,
    cacheWriteTokens: parseTokens(promptDetails['cache_write_tokens']),
    ...(typeof completionDetails['reasoning_tokens'] === 'number' && {
      reasoningTokens: parseTokens(completionDetails['reasoning_tokens']),
    }),
    ...(costUsd !== undefined && { costUsd }),
  });
}

/**
 * OpenRouter's charge. With the user's own key (`is_byok`), `cost` is only its fee and the provider
 * bills the rest (guide "Usage accounting").
 */
function findCharge(usage: WireObject): number | undefined {
  const cost = parseCharge(usage['cost']);
  if (cost === undefined || usage['is_byok'] !== true) return cost;
  const costDetails = isRecord(usage['cost_details']) ? usage['cost_details'] : {};
  const upstreamCost = parseCharge(costDetails['upstream_inference_cost']);
  // Without the provider's bill, the price table applies.
  return upstreamCost === undefined ? undefined : cost + upstreamCost;
}

const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ['stop', 'end_turn'],
  ['length', 'max_tokens'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['content_filter', 'refusal'],
]);

function convertStopReason(finish: string, hasCalls: boolean): StopReason {
  const reason = STOP_REASONS.get(finish) ?? 'other';
  // Ollama and others end a call with `stop`.
  return reason === 'end_turn' && hasCalls ? 'tool_use' : reason;
}
