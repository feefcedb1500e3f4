/** Source: OpenAI API reference, "Responses". */
import { renderArguments } from '../conversations/formats/openai/arguments';
import { getBlocks, isImage, isRecord, isText, isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block, ToolResultBlock } from '../core/messages/types';
import type { ResponsesDialect } from './dialect';
import type { ModelOptions } from './handlerOptions';
import { convertUnsupportedToText, PHASE_BLOCK_TYPE, REASONING_BLOCK_TYPE } from './openaiBlocks';
import { getImageUrl } from './openaiMessages';
import { parseToolCall } from './toolInput';
import type { ApiEvent, ApiRequest, StopReason, ThinkingScope, Usage } from './types';
import { validateUsage, parseTokens } from './usage';

type WireObject = Readonly<Record<string, unknown>>;

export function buildResponsesBody(request: ApiRequest, model: ModelOptions, dialect: ResponsesDialect): WireObject {
  const { system, tools, toolChoice, temperature, conversation } = request;
  const instructions = typeof system === 'string' ? system : (system ?? []).map((block) => block.text).join('\n');
  const maxTokens = request.maxOutputTokens ?? model.maxOutputTokens;
  const declaredTools = (tools ?? []).filter((tool) => tool.input_schema);
  const hasPhases = request.messages.some((message) =>
    getBlocks(message).some(({ type }) => type === PHASE_BLOCK_TYPE),
  );
  return {
    model: model.id,
    ...(instructions.trim() !== '' && { instructions }),
    input: request.messages.flatMap((message) => convertMessage(message, hasPhases)),
    stream: true,
    // OpenAI stores nothing and returns reasoning encrypted instead.
    store: false,
    ...(dialect.encryptedReasoning && { include: ['reasoning.encrypted_content'] }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(conversation !== undefined && dialect.cacheKey && { prompt_cache_key: conversation }),
    ...(declaredTools.length > 0 && {
      tools: declaredTools.map(({ name, description, input_schema: parameters }) => ({
        type: 'function',
        name,
        ...(description !== undefined && { description }),
        parameters,
        strict: false,
      })),
    }),
    ...(declaredTools.length > 0 &&
      toolChoice !== undefined && {
        tool_choice: typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.name } : toolChoice,
      }),
    ...(temperature !== undefined && dialect.temperature && { temperature }),
    ...request.extraBody,
  };
}

function convertMessage({ role, content }: ApiMessage, hasPhases: boolean): WireObject[] {
  // An answer without calls ended its turn, so a missing phase must be the final one.
  const isFinalAnswer = hasPhases && role === 'assistant' && !(typeof content !== 'string' && content.some(isToolUse));
  const phase = isFinalAnswer ? { phase: 'final_answer' } : {};
  if (typeof content === 'string') return [{ role, content, ...phase }];
  const items: WireObject[] = [];
  let contentParts: WireObject[] = [];
  const closeMessage = (): void => {
    if (contentParts.length > 0) items.push({ role, content: contentParts, ...phase });
    contentParts = [];
  };
  for (const block of content) {
    if (block.type === PHASE_BLOCK_TYPE) {
      if (contentParts.length > 0) items.push({ role, content: contentParts, phase: block['phase'] });
      contentParts = [];
      continue;
    }
    const item = convertBlock(block);
    if (item) {
      closeMessage();
      items.push(item);
    } else {
      contentParts.push(...convertContentPart(block, role === 'assistant' ? 'output_text' : 'input_text'));
    }
  }
  closeMessage();
  return items;
}

function convertBlock(block: Block): WireObject | undefined {
  if (isToolUse(block)) {
    return { type: 'function_call', call_id: block.id, name: block.name, arguments: renderArguments(block) };
  }
  if (isToolResult(block))
    return { type: 'function_call_output', call_id: block.tool_use_id, output: convertToolOutput(block) };
  return block.type === REASONING_BLOCK_TYPE && isRecord(block['item']) ? block['item'] : undefined;
}

function convertToolOutput({ content }: ToolResultBlock): string | WireObject[] {
  if (!Array.isArray(content)) return (content as string | undefined) ?? '';
  return (content as readonly Block[]).flatMap((part) => convertContentPart(part, 'input_text'));
}

function convertContentPart(block: Block, textType: 'input_text' | 'output_text'): WireObject[] {
  if (block.type === 'thinking' || block.type === 'redacted_thinking' || block.type === REASONING_BLOCK_TYPE) return [];
  if (isText(block)) return [{ type: textType, text: block.text }];
  const url = isImage(block) && textType === 'input_text' ? getImageUrl(block) : undefined;
  if (url !== undefined) return [{ type: 'input_image', image_url: url, detail: 'auto' }];
  return [{ type: textType, text: convertUnsupportedToText(block).text }];
}

/** @throws ResponseFailure if the vendor reports one */
export async function* convertResponsesStream(events: AsyncIterable<unknown>): AsyncGenerator<ApiEvent, void> {
  let hasCalls = false;
  let isRefused = false;
  for await (const event of events) {
    if (!isRecord(event)) continue;
    switch (event['type']) {
      case 'response.output_text.delta':
        if (typeof event['delta'] === 'string') yield { type: 'text', text: event['delta'] };
        break;
      case 'response.refusal.delta':
        isRefused = true;
        if (typeof event['delta'] === 'string') yield { type: 'text', text: event['delta'] };
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        if (typeof event['delta'] === 'string') yield { type: 'thinking', text: event['delta'] };
        break;
      case 'response.output_item.done': {
        const item = event['item'];
        if (!isRecord(item)) break;
        const { type, call_id: id, name, arguments: text } = item;
        if (type === 'message' && typeof item['phase'] === 'string') {
          yield { type: 'block', block: { type: PHASE_BLOCK_TYPE, phase: item['phase'] } };
        }
        if (type === 'reasoning') yield { type: 'block', block: { type: REASONING_BLOCK_TYPE, item } };
        if (type !== 'function_call' || typeof id !== 'string' || typeof name !== 'string') break;
        hasCalls = true;
        yield parseToolCall(id, name, typeof text === 'string' ? text : '');
        break;
      }
      case 'response.completed':
      case 'response.incomplete': {
        const response = isRecord(event['response']) ? event['response'] : {};
        const usage = isRecord(response['usage']) ? convertResponsesUsage(response['usage']) : undefined;
        if (usage) yield { type: 'usage', usage };
        const scope = getThinkingScope(response);
        const stopReason = isRefused ? 'refusal' : convertStopReason(response, hasCalls);
        yield { type: 'end', stopReason, ...(scope && { thinkingScope: scope }) };
        return;
      }
      case 'response.failed':
        throw new ResponseFailure(isRecord(event['response']) ? event['response']['error'] : undefined);
      case 'error':
        throw new ResponseFailure(event);
    }
  }
}

/** A failure after the stream started; `error` is classified like an HTTP error. */
class ResponseFailure extends Error {
  constructor(readonly error: unknown) {
    super('The response failed.');
  }
}

export function convertResponsesUsage(wire: WireObject): Usage | undefined {
  const inputDetails = isRecord(wire['input_tokens_details']) ? wire['input_tokens_details'] : {};
  const outputDetails = isRecord(wire['output_tokens_details']) ? wire['output_tokens_details'] : {};
  return validateUsage({
    accounting: 'openai',
    inputTokens: parseTokens(wire['input_tokens']),
    outputTokens: parseTokens(wire['output_tokens']),
    cacheReadTokens: parseTokens(inputDetails['cached_tokens']),
    cacheWriteTokens: parseTokens(inputDetails['cache_write_tokens']),
    ...(typeof outputDetails['reasoning_tokens'] === 'number' && {
      reasoningTokens: parseTokens(outputDetails['reasoning_tokens']),
    }),
  });
}

/** For `auto`, OpenAI reports the effective value (its SDK, `reasoning.context`). */
function getThinkingScope({ reasoning }: WireObject): ThinkingScope | undefined {
  const thinkingContext = isRecord(reasoning) ? reasoning['context'] : undefined;
  return thinkingContext === 'current_turn' || thinkingContext === 'all_turns' ? thinkingContext : undefined;
}

function convertStopReason(response: WireObject, hasCalls: boolean): StopReason {
  if (response['status'] !== 'incomplete') return hasCalls ? 'tool_use' : 'end_turn';
  const details = response['incomplete_details'];
  switch (isRecord(details) ? details['reason'] : undefined) {
    case 'max_output_tokens':
      return 'max_tokens';
    case 'content_filter':
      return 'refusal';
    default:
      return 'other';
  }
}
